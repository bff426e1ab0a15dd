//! The search itself: breadth first, then backwards from "all served".

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use algorithms::Setting;
use algorithms::registry::AlgorithmInfo;

use super::block::{Block, LARGEST, Stop, Why};
use super::replay::{Beginning, LOOKED_AHEAD, ReplayError, set_out};
use super::schedule::Schedule;
use super::states::States;
use super::world::{Seen, Successors, World};
use super::{Exploration, Finding, Kind, MOST_NODES, Options, Progress, Unfit};

/// Explores every schedule of a small world, until something bad is found or all is seen. Now and
/// then `watch` is told how far it has come, and may end it. The result is the same for any number of
/// threads.
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
        states: search.states.len() as u64,
        edges: search.edges,
        depth: search.depth(),
        complete: search.complete,
        stuck: search.stuck,
        trapped: search.trapped,
        open: search.states.len() as u64 - u64::from(search.looked_at),
        levels: search.states.last_levels(),
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
    states: States,
    threads: usize,
    max_states: u32,
    safety_only: bool,
    edges: u64,
    /// How many states were looked at.
    looked_at: u32,
    complete: bool,
    stuck: u64,
    trapped: Option<u64>,
    /// The states from which no certain way leads farther from the beginning, though not everybody who
    /// is owed it is served there.
    turning: Vec<u32>,
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
            states: States::new(world.width()),
            world,
            threads: options.threads.max(1),
            max_states: options.max_states,
            safety_only: options.safety_only,
            edges: 0,
            looked_at: 0,
            complete: false,
            stuck: 0,
            trapped: None,
            turning: Vec::new(),
        }
    }

    /// Meets every state, nearest first.
    fn forwards(
        &mut self,
        start: &[u32],
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Option<Bad> {
        self.states.begin_level();
        self.states.meet(start, 0, self.max_states);
        if let Some(bad) = self.judge_first(start) {
            return Some(bad);
        }
        let mut block = Block::default();
        let mut depth = 0;
        while self.looked_at < self.states.len() as u32 {
            let level_end = self.states.len() as u32;
            self.states.begin_level();
            while self.looked_at < level_end {
                let at = self.looked_at;
                let progress = Progress {
                    states: self.states.len() as u64,
                    open: self.states.len() as u64 - u64::from(at),
                    depth,
                };
                if watch(progress).is_break() {
                    return None;
                }
                let end = level_end.min(at.saturating_add(LARGEST));
                let (world, states) = (&mut self.world, &mut self.states);
                block.expand(world, states, at..end, self.threads);
                let most = self.max_states;
                let outcome = block.meet(world, states, most, self.safety_only, self.threads);
                self.edges += outcome.ways as u64;
                self.stuck += outcome.stuck;
                if let Some(stop) = outcome.stop {
                    self.looked_at = block.from(stop.way);
                    return self.stopped(&block, stop);
                }
                let owed = outcome.turning.into_iter().filter(|&number| {
                    let state = self.states.state(number);
                    !self.world.is_served(&state) && self.world.owes_liveness(&state)
                });
                self.turning.extend(owed);
                self.looked_at = end;
            }
            depth += 1;
        }
        self.complete = true;
        None
    }

    /// What ended the search.
    fn stopped(&mut self, block: &Block, stop: Stop) -> Option<Bad> {
        let way = stop.way;
        match stop.why {
            Why::NoRoom => None,
            Why::Bad(kind, why) => Some(Bad {
                kind,
                why,
                number: self.states.len() as u32 - 1,
                then: None,
            }),
            Why::Wrong => {
                let number = block.from(way);
                let mut successors = Successors::default();
                let state = self.states.state(number);
                self.world.expand(&state, &mut successors);
                let mut wrongs = successors.iter().filter_map(|(it, _)| it.wrong);
                let wrong = wrongs.next().expect("its first way that is wrong");
                let (kind, why) = self.world.wrong(wrong);
                Some(Bad {
                    kind,
                    why,
                    number,
                    then: Some(block.row(way).to_vec()),
                })
            }
        }
    }

    /// Looks at the state in which the world begins.
    fn judge_first(&mut self, state: &[u32]) -> Option<Bad> {
        let bad = |kind, why| {
            Some(Bad {
                kind,
                why,
                number: 0,
                then: None,
            })
        };
        if let Some((kind, why)) = self.world.fault(state, &mut Seen::default()) {
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
        if self.all_turn_to_good() {
            self.trapped = Some(0);
            return None;
        }
        let reaching = self.reaching();
        let mut trapped = (0..)
            .zip(&reaching)
            .filter(|&(number, &fine)| {
                !fine && self.world.owes_liveness(&self.states.state(number))
            })
            .map(|(number, _)| number);
        let first = trapped.next();
        self.trapped = Some(first.map_or(0, |_| 1 + trapped.count() as u64));
        let number = first.filter(|_| !self.safety_only)?;
        Some(Bad {
            kind: Kind::Trapped,
            why: self.world.trap(&self.states.state(number)),
            number,
            then: None,
        })
    }

    /// Whether everybody can be served from every state, as far as a few steps from a few of them
    /// tell.
    ///
    /// Take the states from which not everybody who is owed it can be served, and of them one that is
    /// farthest from the beginning. Its certain ways lead to such states only, so to none that is
    /// farther: it is among `turning`. So there is none if everybody can be served from all of those;
    /// and, from the farthest of them to the nearest, any state that is farther than one will do.
    fn all_turn_to_good(&mut self) -> bool {
        let mut successors = Successors::default();
        for at in (0..self.turning.len()).rev() {
            let begin = self.turning[at];
            let beyond = self.states.depth(begin) + 1;
            let mut met = BTreeSet::from([begin]);
            let mut open = vec![begin];
            loop {
                let Some(number) = open.pop() else {
                    return false;
                };
                let state = self.states.state(number);
                if self.states.depth(number) >= beyond || self.world.is_served(&state) {
                    break;
                }
                if met.len() > LOOKED_AHEAD {
                    return false;
                }
                for target in self.targets(number, &mut successors) {
                    if met.insert(target) {
                        open.push(target);
                    }
                }
            }
        }
        true
    }

    /// Where the certain ways of a state lead.
    fn targets(&mut self, number: u32, successors: &mut Successors) -> Vec<u32> {
        let state = self.states.state(number);
        self.world.expand(&state, successors);
        successors.renumber(&mut self.world);
        let certain = successors.iter().filter(|(way, _)| way.act.is_certain());
        let numbers = certain.map(|(_, next)| self.states.find(next));
        let numbers = numbers.map(|number| number.expect("every state was met"));
        numbers.collect()
    }

    /// The states from which everybody can be served.
    ///
    /// Most ways lead from an earlier state to a later one, so walking over all states from the last
    /// to the first settles nearly everything; walking back and forth until nothing changes settles
    /// the rest. Ways are worked out again each time they are needed.
    fn reaching(&mut self) -> Vec<bool> {
        let count = self.states.len() as u32;
        let served = (0..count).map(|number| self.world.is_served(&self.states.state(number)));
        let mut reaching: Vec<bool> = served.collect();
        let mut open: Vec<u32> = (0..count).filter(|&at| !reaching[at as usize]).collect();
        let mut successors = Successors::default();
        loop {
            let before = open.len();
            open.reverse();
            open.retain(|&number| {
                let targets = self.targets(number, &mut successors);
                let settled = targets.iter().any(|&target| reaching[target as usize]);
                reaching[number as usize] = settled;
                !settled
            });
            if open.len() == before {
                return reaching;
            }
        }
    }

    /// How far the last state is from the first; no other is farther.
    fn depth(&self) -> u32 {
        self.states.depth(self.states.len() as u32 - 1)
    }

    /// A shortest way to a state: all states on it, the first and the last included.
    fn path(&mut self, to: u32) -> Vec<Vec<u32>> {
        let mut path = vec![self.states.state(to)];
        let mut successors = Successors::default();
        let mut at = to;
        while at != 0 {
            let target = self.states.state(at);
            let mut parents = self.states.parents(at);
            let parent = parents.find(|&number| {
                let state = self.states.state(number);
                self.world.expand(&state, &mut successors);
                successors.renumber(&mut self.world);
                successors.iter().any(|(_, next)| next == target)
            });
            at = parent.expect("a state was met on a way from one before");
            path.push(self.states.state(at));
        }
        path.reverse();
        path
    }

    fn tell(&mut self, bad: &Bad, kinds: &'static [&'static str], after: &Schedule) -> Finding {
        let path = self.path(bad.number);
        let walk = set_out(&mut self.world, kinds, after);
        let (mut walk, before) = walk.expect("the search has begun there");
        let states = path.iter().map(Vec::as_slice);
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
