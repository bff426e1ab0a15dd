//! The search as plainly as can be, against which the other one is checked: one thread, every state as
//! it is, every way stored, and backwards over all of them.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::Duration;

use algorithms::printed::{Defect, Printed, Shows};
use algorithms::registry::{self, AlgorithmInfo, Graph, LinkOrder};
use algorithms::topology::Shape;
use algorithms::{NodeId, Setting, Topology};

use super::replay::{Beginning, set_out};
use super::world::{Seen, Successors};
use super::{Kind, Options, Schedule, explore};

/// What both searches must find alike.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    states: u64,
    edges: u64,
    depth: u32,
    complete: bool,
    stuck: u64,
    trapped: Option<u64>,
    finding: Option<(Kind, String, String)>,
}

fn found(info: &AlgorithmInfo, setting: &Setting, options: &Options) -> Found {
    let report = explore(info, setting, options, &mut |_| ControlFlow::Continue(()));
    let report = report.expect("the options fit");
    let finding = report.finding;
    Found {
        states: report.states,
        edges: report.edges,
        depth: report.depth,
        complete: report.complete,
        stuck: report.stuck,
        trapped: report.trapped,
        finding: finding.map(|it| (it.kind, it.why, it.schedule.to_string())),
    }
}

/// The states met so far, from where each was reached, and the certain ways of those looked at.
#[derive(Default)]
struct Met {
    states: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, usize>,
    parents: Vec<usize>,
    ways: Vec<Vec<usize>>,
}

impl Met {
    fn path(&self, to: usize) -> Vec<usize> {
        let mut path = vec![to];
        while path[path.len() - 1] != 0 {
            path.push(self.parents[path[path.len() - 1]]);
        }
        path.reverse();
        path
    }

    fn reaching(&self, goals: Vec<bool>) -> Vec<bool> {
        let mut reaching = goals;
        loop {
            let mut changed = false;
            for state in (0..reaching.len()).rev() {
                let settled = self.ways[state].iter().any(|&target| reaching[target]);
                changed |= settled && !reaching[state];
                reaching[state] |= settled;
            }
            if !changed {
                return reaching;
            }
        }
    }
}

/// What the plain search finds.
fn plainly_found(info: &AlgorithmInfo, setting: &Setting, options: &Options) -> Found {
    let beginning = Beginning::of(info, setting, options).expect("the options fit");
    let (mut world, options) = (beginning.world, beginning.options);
    let mut met = Met::default();
    met.states.push(beginning.state.clone());
    met.numbers.insert(beginning.state, 0);
    met.parents.push(0);
    let mut found = Found::default();
    let mut bad = None;
    let mut successors = Successors::default();
    let mut at = 0;
    'search: loop {
        if at == met.states.len() {
            found.complete = true;
            break;
        }
        world.expand(&met.states[at].clone(), &mut successors);
        successors.renumber(&mut world);
        met.ways.push(Vec::new());
        for (transition, next) in successors.iter() {
            found.edges += 1;
            if let Some(wrong) = transition.wrong {
                bad = Some(world.wrong(wrong));
                found.states = met.states.len() as u64;
                met.states.push(next.to_vec());
                met.parents.push(at);
                break 'search;
            }
            let known = met.numbers.get(next).copied();
            let target = known.unwrap_or(met.states.len());
            if known.is_none() {
                if target == options.max_states as usize {
                    break 'search;
                }
                met.states.push(next.to_vec());
                met.numbers.insert(next.to_vec(), target);
                met.parents.push(at);
                bad = world.fault(next, &mut Seen::default());
                if bad.is_none() && world.is_stuck(next) {
                    found.stuck += 1;
                    let dead = || (Kind::Deadlock, world.deadlock(next));
                    bad = (!options.safety_only).then(dead);
                }
                if bad.is_some() {
                    break 'search;
                }
            }
            if transition.act.is_certain() {
                met.ways[at].push(target);
            }
        }
        at += 1;
    }
    let mut last = met.states.len() - 1;
    if found.states == 0 {
        found.states = met.states.len() as u64;
    }
    found.depth = met.path(found.states as usize - 1).len() as u32 - 1;
    if found.complete {
        let served = met.states.iter().map(|state| world.is_served(state));
        let reaching = met.reaching(served.collect());
        let mut trapped = (0..met.states.len())
            .filter(|&state| !reaching[state] && world.owes_liveness(&met.states[state]))
            .collect::<Vec<_>>();
        found.trapped = Some(trapped.len() as u64);
        trapped.truncate(usize::from(!options.safety_only));
        if let [first] = *trapped {
            bad = Some((Kind::Trapped, world.trap(&met.states[first])));
            last = first;
        }
    }
    found.finding = bad.map(|(kind, why)| {
        let walk = set_out(&mut world, beginning.kinds, &options.after);
        let (mut walk, _) = walk.expect("the search has begun there");
        let path = met.path(last).into_iter().skip(1);
        let steps = path.map(|state| walk.go_to(&met.states[state]).step);
        (kind, why, Schedule::of(steps.collect()).to_string())
    });
    found
}

/// Fails unless one, two and three threads find what the plain search finds; says how much it was.
fn agree(info: &AlgorithmInfo, setting: &Setting, options: &Options) -> Found {
    let expected = plainly_found(info, setting, options);
    for threads in 1..=3 {
        let options = Options {
            threads,
            ..options.clone()
        };
        let name = info.name;
        let found = found(info, setting, &options);
        assert_eq!(found, expected, "{name}, {options:?}");
    }
    expected
}

fn setting_of(info: &AlgorithmInfo, nodes: u32) -> Setting {
    let ring = (0..nodes).map(|from| (NodeId(from), NodeId((from + 1) % nodes)));
    let path = (1..nodes).map(|to| (NodeId(to - 1), NodeId(to)));
    let topology = match info.graph {
        Graph::Complete => Topology::complete(nodes),
        Graph::Tree => Topology::undirected(nodes, &path.collect::<Vec<_>>()),
        Graph::Digraph => Topology::directed(nodes, &ring.collect::<Vec<_>>()),
    };
    let bound = Duration::from_millis(50);
    Setting::new(
        topology,
        NodeId(0),
        info.defaults(),
        Printed::repaired(),
        bound,
    )
}

/// One requester each, also two each; links in order, and any order where it is admitted; what is larger
/// is cut off at the same state.
#[test]
fn it_finds_in_every_algorithm_what_the_plain_search_finds() {
    let (mut worlds, mut whole, mut in_parallel) = (0, 0, 0);
    for info in registry::ALL {
        for order in [LinkOrder::Fifo, LinkOrder::Any] {
            if info.link_order == LinkOrder::Fifo && order == LinkOrder::Any {
                continue;
            }
            for wants in [[1, 1, 1], [2, 2, 2]] {
                let options = Options {
                    wants: wants.to_vec(),
                    order,
                    priorities: vec![5, 1, 9],
                    max_states: 6_000,
                    ..Options::new(info, 3)
                };
                let found = agree(info, &setting_of(info, 3), &options);
                worlds += 1;
                whole += u32::from(found.complete);
                in_parallel += u32::from(found.states == 6_000);
            }
        }
    }
    assert!(
        worlds > 80 && whole > 40 && in_parallel > 20,
        "{worlds} {whole} {in_parallel}"
    );
}

/// Faults, timers and crashes lead to states that nobody is owed anything in, and to trapped ones.
#[test]
fn it_finds_under_faults_what_the_plain_search_finds() {
    let mut trapped = 0;
    for info in registry::ALL {
        for (lose, duplicate, crash) in [(1, 0, 0), (0, 1, 0), (0, 0, 1)] {
            for safety_only in [false, true] {
                let options = Options {
                    wants: vec![1, 0, 1],
                    lose,
                    duplicate,
                    crash,
                    safety_only,
                    max_states: 3_000,
                    ..Options::new(info, 3)
                };
                let found = agree(info, &setting_of(info, 3), &options);
                trapped += u32::from(found.trapped.is_some_and(|trapped| trapped > found.stuck));
            }
        }
    }
    assert!(
        trapped > 10,
        "only {trapped} worlds had trapped states that are not stuck"
    );
}

#[test]
fn it_finds_of_every_defect_what_the_plain_search_finds() {
    let mut bad = 0;
    for info in registry::ALL {
        for defect in info.more.defects {
            if let Shows::World(world) = defect.shows
                && !defect.rules.is_empty()
                && !defect.is_replayed()
            {
                bad += u32::from(shown(info, defect, &world).finding.is_some());
            }
        }
    }
    assert!(bad > 50, "only {bad} defects were found");
}

fn shown(
    info: &'static AlgorithmInfo,
    defect: &Defect,
    world: &algorithms::printed::World,
) -> Found {
    let (id, nodes) = (defect.id, world.wants.len() as u32);
    let setting = setting_of(info, nodes);
    let topology = match world.topology {
        "" => setting.topology,
        shape => {
            let shape: Shape = shape.parse().expect(id);
            shape.build(nodes, 0).expect(id)
        }
    };
    let params = info.choose(defect.with).expect(id);
    let printed = info.as_printed(&[id]).expect(id);
    let setting = Setting::new(topology, NodeId(0), params, printed, setting.bound);
    let options = Options {
        wants: world.wants.to_vec(),
        priorities: world.priorities.to_vec(),
        after: world.after.parse().expect(id),
        timers: match world.timers {
            "" if world.cut > 0 => super::Timers::Patient,
            "" => super::Timers::Free,
            timers => timers.parse().expect(id),
        },
        crash: world.crash,
        cut: world.cut,
        safety_only: world.safety_only,
        max_states: 20_000,
        ..Options::new(info, nodes)
    };
    agree(info, &setting, &options)
}
