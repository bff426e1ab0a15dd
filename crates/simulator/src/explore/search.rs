//! The search itself: breadth first, then backwards from "all served".

use std::ops::ControlFlow;

use algorithms::Setting;
use algorithms::registry::AlgorithmInfo;

use super::graph::{Graph, Met};
use super::replay::{Beginning, ReplayError, set_out};
use super::schedule::Schedule;
use super::world::{Successors, World};
use super::{Exploration, Finding, Kind, MOST_NODES, Options, Progress, Unfit};

/// How many states are looked at between two glances of the watcher.
const WATCHED_EVERY: usize = 1 << 12;

/// Explores every schedule of a small world, until something bad is found or all is seen. Now and
/// then `watch` is told how far it has come, and may end it.
pub fn explore(
    info: &AlgorithmInfo,
    setting: &Setting,
    options: &Options,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Exploration, ReplayError> {
    let Beginning {
        world,
        options,
        kinds,
        state,
    } = Beginning::of(info, setting, options)?;
    let mut search = Search::new(world, &options);
    let bad = search.forwards(&state, watch);
    let bad = match bad {
        None if search.complete => search.backwards(),
        bad => bad,
    };
    let finding = bad.map(|bad| search.tell(&bad, kinds, &options.after));
    Ok(Exploration {
        states: search.graph.len() as u64,
        edges: search.edges,
        depth: search.depth(),
        complete: search.complete,
        stuck: search.stuck,
        trapped: search.trapped,
        finding,
    })
}

impl Options {
    /// Whether there is one of everything for each node.
    pub fn fit(&self, nodes: u32) -> Result<(), Unfit> {
        if !(1..=MOST_NODES).contains(&nodes) {
            return Err(Unfit::Size { nodes });
        }
        let nodes = nodes as usize;
        let count = |what, given| match given == nodes {
            true => Ok(()),
            false => Err(Unfit::Count { what, given, nodes }),
        };
        count("wants", self.wants.len())?;
        if !self.priorities.is_empty() {
            count("priorities", self.priorities.len())?;
        }
        match self.max_states {
            0 => Err(Unfit::NoStates),
            _ => Ok(()),
        }
    }
}

struct Search {
    world: World,
    graph: Graph,
    max_states: u32,
    safety_only: bool,
    edges: u64,
    complete: bool,
    stuck: u64,
    trapped: Option<u64>,
}

/// A bad thing, before its schedule is told.
struct Bad {
    kind: Kind,
    why: String,
    /// The last state that is fine, or the bad one itself.
    number: u32,
    /// The state after that, where the step there is bad.
    then: Option<Vec<u32>>,
}

impl Search {
    fn new(world: World, options: &Options) -> Self {
        Self {
            graph: Graph::new(world.width()),
            world,
            max_states: options.max_states,
            safety_only: options.safety_only,
            edges: 0,
            complete: false,
            stuck: 0,
            trapped: None,
        }
    }

    /// Meets every state, nearest first.
    fn forwards(
        &mut self,
        start: &[u32],
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Option<Bad> {
        self.graph.meet(start, 0, self.max_states);
        if let Some(bad) = self.judge(start, 0) {
            return Some(bad);
        }
        let mut successors = Successors::default();
        let mut targets = Vec::new();
        let (mut at, mut depth, mut layer_end) = (0, 0, 1);
        while at < self.graph.len() {
            if at == layer_end {
                layer_end = self.graph.len();
                depth += 1;
            }
            let progress = Progress {
                states: self.graph.len() as u64,
                open: (self.graph.len() - at) as u64,
                depth,
            };
            if at.is_multiple_of(WATCHED_EVERY) && watch(progress).is_break() {
                return None;
            }
            let from = at as u32;
            self.world.expand(self.graph.state(from), &mut successors);
            successors.renumber(&mut self.world);
            targets.clear();
            for (transition, next) in successors.iter() {
                self.edges += 1;
                if let Some(wrong) = transition.wrong {
                    let (kind, why) = self.world.wrong(wrong);
                    return Some(Bad {
                        kind,
                        why,
                        number: from,
                        then: Some(next.to_vec()),
                    });
                }
                let target = match self.graph.meet(next, from, self.max_states) {
                    Met::Known(number) => number,
                    Met::NoRoom => return None,
                    Met::New(number) => {
                        if let Some(bad) = self.judge(next, number) {
                            return Some(bad);
                        }
                        number
                    }
                };
                if transition.act.is_certain() {
                    targets.push(target);
                }
            }
            self.graph.expanded(&targets);
            at += 1;
        }
        self.complete = true;
        None
    }

    /// Looks at a new state.
    fn judge(&mut self, state: &[u32], number: u32) -> Option<Bad> {
        let bad = |kind, why| {
            Some(Bad {
                kind,
                why,
                number,
                then: None,
            })
        };
        if let Some((kind, why)) = self.world.fault(state) {
            return bad(kind, why);
        }
        if self.world.is_stuck(state) {
            self.stuck += 1;
            if !self.safety_only {
                return bad(Kind::Deadlock, self.world.deadlock(state));
            }
        }
        None
    }

    /// Finds the states from which not everybody can be served.
    fn backwards(&mut self) -> Option<Bad> {
        let reaching = self.graph.reaching(|state| self.world.is_served(state));
        let mut trapped = (0..)
            .zip(&reaching)
            .filter(|&(number, &fine)| !fine && self.world.owes_liveness(self.graph.state(number)))
            .map(|(number, _)| number);
        let first = trapped.next();
        self.trapped = Some(first.map_or(0, |_| 1 + trapped.count() as u64));
        let number = first.filter(|_| !self.safety_only)?;
        Some(Bad {
            kind: Kind::Trapped,
            why: self.world.trap(self.graph.state(number)),
            number,
            then: None,
        })
    }

    /// How far the last state is from the first; no other is farther.
    fn depth(&self) -> u32 {
        let last = self.graph.len() as u32 - 1;
        self.graph.path(last).len() as u32 - 1
    }

    fn tell(&mut self, bad: &Bad, kinds: &'static [&'static str], after: &Schedule) -> Finding {
        let path = self.graph.path(bad.number);
        let walk = set_out(&mut self.world, kinds, after);
        let (mut walk, before) = walk.expect("the search has begun there");
        let states = path.iter().map(|&number| self.graph.state(number));
        let told: Vec<_> = states
            .chain(bad.then.as_deref())
            .skip(1)
            .map(|state| walk.go_to(state))
            .collect();
        let ending = walk.ending(&told);
        Finding {
            kind: bad.kind,
            why: bad.why.clone(),
            schedule: Schedule::of(told.iter().map(|told| told.step.clone()).collect()),
            before,
            told,
            ending,
        }
    }
}
