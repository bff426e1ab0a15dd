//! Every schedule of a small world, for every algorithm there is.

use std::time::Duration;

use algorithms::params::Params;
use algorithms::printed::Printed;
use algorithms::registry::{self, Entry, Graph, Order};
use algorithms::{NodeId, Setting, Topology};
use simulator::explore::{Options, Report, explore};

/// At most so many states per algorithm, so that the gate stays quick.
const BUDGET: u32 = 200_000;

/// The algorithms with more states than that for three nodes and two entries each, and the entries
/// that fit. `scripts/soak` explores the rest: `orchestrator explore NAME -n 3 --wants 2,2,2`.
const LARGE: &[(&str, [u32; 3])] = &[("lamport", [1, 1, 2])];

#[test]
fn nothing_bad_happens_to_anybody_who_wants_in_once() {
    for entry in registry::ALL {
        for nodes in [2, 3] {
            let report = search(entry, &vec![1; nodes], entry.order);
            assert_fine(entry, nodes, &report);
        }
    }
}

#[test]
fn nothing_bad_happens_to_three_who_want_in_twice() {
    for entry in registry::ALL {
        let wants = match LARGE.iter().find(|(name, _)| *name == entry.name) {
            None => [2, 2, 2],
            Some(&(_, wants)) => {
                let too_large = search(entry, &[2, 2, 2], entry.order);
                assert!(!too_large.complete, "{} is not large", entry.name);
                wants
            }
        };
        assert_fine(entry, 3, &search(entry, &wants, entry.order));
    }
}

fn assert_fine(entry: &Entry, nodes: usize, report: &Report) {
    let name = entry.name;
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

fn search(entry: &Entry, wants: &[u32], order: Order) -> Report {
    let nodes = wants.len() as u32;
    let options = Options {
        wants: wants.to_vec(),
        order,
        max_states: BUDGET,
        ..Options::new(entry, nodes)
    };
    let report = explore(entry, &setting_of(entry, nodes), &options, &mut |_| ());
    report.expect("the options fit")
}

/// The algorithm among so many nodes, everything else as it comes.
pub fn setting_of(entry: &Entry, nodes: u32) -> Setting {
    let params = Params::resolve(entry.name, entry.params, &Default::default());
    Setting::new(
        topology(entry.graph, nodes),
        NodeId(0),
        params.expect("defaults fit"),
        Printed::repaired(),
        Duration::from_millis(50),
    )
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
