//! Every schedule of a small world, for every algorithm there is.

use std::ops::ControlFlow;
use std::time::Duration;

use algorithms::printed::{Defect, Fails, Printed, Shows};
use algorithms::registry::{self, AlgorithmInfo, Graph, LinkOrder};
use algorithms::{NodeId, Setting, Topology};
use simulator::explore::{Exploration, Kind, Options, Schedule, explore, replay};

/// At most so many states per algorithm, so that the gate stays quick.
const BUDGET: u32 = 200_000;

/// The algorithms with more states than that for three nodes and two entries each, and the entries
/// that fit. `scripts/soak` explores the rest: `orchestrator explore NAME -n 3 --wants 2,2,2`.
const LARGE: &[(&str, [u32; 3])] = &[
    ("lamport", [1, 1, 2]),
    ("banta-simple", [1, 2, 2]),
    ("singhal-heuristic", [1, 1, 2]),
    ("raymond-k", [1, 1, 2]),
    ("lfrt", [0, 1, 2]),
    ("lfrt-p", [0, 1, 2]),
    ("bmav", [1, 1, 0]),
    ("nhme", [1, 1, 0]),
];

/// Those in which even three who want in once have more.
const VAST: &[&str] = &["bmav", "nhme"];

/// Where a time-out may come before the answers, messages of ever more attempts are under way, so
/// these worlds have no end. `votes.rs` explores them with patient timers and with messages in time.
const ENDLESS: &[&str] = &["thomas", "tb-dva"];

#[test]
fn nothing_bad_happens_to_anybody_who_wants_in_once() {
    for info in finite() {
        assert_fine(info, 2, &search(info, &[1, 1], info.link_order));
        assert_fine(info, 3, &search(info, &once(info), info.link_order));
    }
}

#[test]
fn nothing_bad_happens_to_three_who_want_in_twice() {
    for info in finite() {
        let wants = match LARGE.iter().find(|(name, _)| *name == info.name) {
            None => [2, 2, 2],
            Some(&(_, wants)) => {
                let too_large = search(info, &[2, 2, 2], info.link_order);
                assert!(!too_large.complete, "{} is not large", info.name);
                wants
            }
        };
        assert_fine(info, 3, &search(info, &wants, info.link_order));
    }
}

#[test]
fn lamport_on_unordered_links_lets_two_in() {
    let info = registry::find("lamport").expect("it is registered");
    let report = search(info, &[1, 1], LinkOrder::Any);
    let finding = report.finding.expect("an ACK overtakes a REQUEST");
    assert_eq!(finding.kind, Kind::Exclusion);
    let schedule = finding.schedule.to_string();
    assert_eq!(schedule, "req 0; req 1; 1>0:REQUEST; 0>1:ACK");
}

#[test]
fn who_keeps_no_order_needs_none() {
    for info in finite().filter(|info| info.link_order == LinkOrder::Any) {
        assert_fine(info, 3, &search(info, &once(info), LinkOrder::Fifo));
    }
}

#[test]
fn every_schedule_of_a_defect_shows_it() {
    for info in registry::ALL {
        for defect in info
            .more
            .defects
            .iter()
            .filter(|defect| !defect.rules.is_empty())
        {
            let id = defect.id;
            let schedule: Schedule = match defect.schedule.parse() {
                Ok(schedule) => schedule,
                Err(error) => panic!("{id}: {error}"),
            };
            let nodes = schedule.nodes().max(info.more.sizes.least);
            let mut setting = printed_setting(info, nodes, defect);
            if let Some(shape) = &schedule.on {
                let topology = shape.build(nodes, 0).expect(id);
                let Setting {
                    holder,
                    params,
                    printed,
                    bound,
                    ..
                } = setting;
                setting = Setting::new(topology, holder, params, printed, bound);
            }
            let nobody_else_asks = Options {
                wants: vec![0; nodes as usize],
                ..Options::new(info, nodes)
            };
            let outcome = match replay(info, &setting, &nobody_else_asks, &schedule) {
                Ok(outcome) => outcome,
                Err(error) => panic!("{id}: {error}"),
            };
            // No schedule of what only costs messages or time ends badly.
            let costly = match defect.shows {
                Shows::World(world) => world.fails == Fails::Messages,
                Shows::Run(_) | Shows::Nothing => true,
            };
            if costly {
                assert_eq!(outcome.findings, [], "{id} is not merely costly");
                continue;
            }
            let mishap = outcome.finding().expect(id);
            assert_eq!(mishap.step, schedule.steps.len(), "{id}: {mishap:?}");
        }
    }
}

#[test]
fn what_the_printed_text_leaves_out_is_found() {
    let expected = [
        ("suzuki-kasami", "banta-SK1", Kind::Deadlock),
        ("naimi-trehel", "banta-NT1", Kind::Deadlock),
    ];
    for (name, id, kind) in expected {
        let info = registry::find(name).expect("it is registered");
        let defect = info.more.defects.iter().find(|defect| defect.id == id);
        let setting = printed_setting(info, 2, defect.expect(id));
        let options = Options {
            wants: vec![0, 1],
            ..Options::new(info, 2)
        };
        let report = explore(info, &setting, &options, &mut |_| ControlFlow::Continue(()));
        let finding = report.expect("the options fit").finding.expect(id);
        assert_eq!(finding.kind, kind, "{id}: {}", finding.schedule);
        let shown = info.more.defects.iter().find(|defect| defect.id == id);
        assert_eq!(finding.schedule.to_string(), shown.expect(id).schedule);
    }
}

/// The algorithms whose small worlds have an end.
pub(crate) fn finite() -> impl Iterator<Item = &'static AlgorithmInfo> {
    let all = registry::ALL.iter().copied();
    all.filter(|info| !ENDLESS.contains(&info.name))
}

/// One entry each, for as many of three as fit.
pub(crate) fn once(info: &AlgorithmInfo) -> [u32; 3] {
    let third = u32::from(!VAST.contains(&info.name));
    [1, 1, third]
}

fn assert_fine(info: &AlgorithmInfo, nodes: usize, report: &Exploration) {
    let name = info.name;
    if let Some(finding) = &report.finding {
        let (kind, why, schedule) = (finding.kind, &finding.why, &finding.schedule);
        panic!("{name}, {nodes} nodes: {kind}: {why}\n{schedule}");
    }
    let states = report.states;
    assert!(
        report.complete,
        "{name}, {nodes} nodes: cut off at {states}"
    );
    assert_eq!(report.trapped, Some(0), "{name}, {nodes} nodes");
    assert!(states > 10, "{name}, {nodes} nodes: only {states} states");
}

fn search(info: &AlgorithmInfo, wants: &[u32], order: LinkOrder) -> Exploration {
    let nodes = wants.len() as u32;
    let options = Options {
        wants: wants.to_vec(),
        priorities: apart(nodes),
        order,
        max_states: BUDGET,
        ..Options::new(info, nodes)
    };
    let report = explore(info, &setting_of(info, nodes), &options, &mut |_| {
        ControlFlow::Continue(())
    });
    report.expect("the options fit")
}

/// Priorities of which each may overtake each lower one even where those age: two apart at least.
pub(crate) fn apart(nodes: u32) -> Vec<u32> {
    [5, 1, 9, 3, 7].into_iter().take(nodes as usize).collect()
}

/// The algorithm among so many nodes, everything else as it comes.
pub(crate) fn setting_of(info: &AlgorithmInfo, nodes: u32) -> Setting {
    Setting::new(
        topology(info.graph, nodes),
        NodeId(0),
        info.defaults(),
        Printed::repaired(),
        Duration::from_millis(50),
    )
}

/// The same, with one defect left unrepaired and the parameters under which it shows.
pub(crate) fn printed_setting(
    info: &'static AlgorithmInfo,
    nodes: u32,
    defect: &Defect,
) -> Setting {
    let id = defect.id;
    let params = info.choose(defect.with).expect(id);
    assert_eq!((info.more.refuses)(&params, nodes), None, "{id}");
    let printed = info.as_printed(&[id]);
    let mut setting = setting_of(info, nodes);
    setting.params = params;
    setting.printed = printed.expect("the defect is the algorithm's own");
    setting
}

fn topology(graph: Graph, nodes: u32) -> Topology {
    let path: Vec<_> = (1..nodes).map(|to| (NodeId(to - 1), NodeId(to))).collect();
    match graph {
        Graph::Complete => Topology::complete(nodes),
        Graph::Tree => Topology::undirected(nodes, &path),
        Graph::Digraph => {
            let ring = (0..nodes).map(|from| (NodeId(from), NodeId((from + 1) % nodes)));
            Topology::directed(nodes, &ring.collect::<Vec<_>>())
        }
    }
}
