//! Runs made by hand, for tests.

use algorithms::NodeId;
use algorithms::registry::{self, ClosedForm, Entry, Family, Graph, Links, Order};
use node::plan::Plan;
use node::run::{FaultRow, RequestRow, Run};
use node::workload::{Arrivals, PerNode, Quota, Span, Workload};

/// A closed workload of that algorithm on a complete graph: a think time, a hold of 1 ms, a
/// constant delay of 1 ms.
pub(crate) fn plan(algorithm: &str, nodes: u32) -> Plan {
    let usual = Plan::usual(registered(algorithm), nodes, 1);
    Plan {
        topology: "complete".to_owned(),
        workload: Workload {
            arrivals: Arrivals::Closed {
                think: PerNode::All(Span::Exponential(10_000_000)),
            },
            quota: Quota::PerNode(1),
            ..usual.workload
        },
        ..usual
    }
}

/// An algorithm's entry by name.
pub(crate) fn registered(algorithm: &str) -> &'static Entry {
    registry::find(algorithm).expect("a registered algorithm")
}

/// An algorithm that admits so many and has these closed forms.
pub(crate) fn toy(admitted: u32, forms: &'static [ClosedForm]) -> Entry {
    Entry {
        name: "toy",
        title: "A toy",
        paper: "none",
        family: Family::Token,
        cost: "nothing",
        explanation: "It is for tests of what is said about algorithms.",
        graph: Graph::Complete,
        admits: match admitted {
            1 => |_| 1,
            _ => |_| 2,
        },
        order: Order::Any,
        links: Links::Patient,
        token: None,
        state_bytes: |_| 1,
        forms,
        machine: |params, printed| (registered("raymond").machine)(params, printed),
        ..Entry::PLAIN
    }
}

/// A request that was asked for when it arrived, and served.
pub(crate) fn entry(node: u32, arrived_ns: u64, entered_ns: u64, left_ns: u64) -> RequestRow {
    RequestRow {
        entered_ns: Some(entered_ns),
        left_ns: Some(left_ns),
        ..waiting(node, arrived_ns)
    }
}

/// A request that was asked for and never served.
pub(crate) fn waiting(node: u32, arrived_ns: u64) -> RequestRow {
    RequestRow {
        asked_ns: Some(arrived_ns),
        ..RequestRow::arrived(NodeId(node), 0, arrived_ns)
    }
}

/// A run that finished with these requests, at the last exit.
pub(crate) fn run(requests: Vec<RequestRow>) -> Run {
    let ended_ns = requests.iter().filter_map(|row| row.left_ns).max();
    let mut run = Run {
        requests,
        ended_ns: ended_ns.unwrap_or(0),
        ..Run::default()
    };
    run.window.until_ns = run.ended_ns;
    run.window.entries = run
        .requests
        .iter()
        .filter(|row| row.left_ns.is_some())
        .count() as u64;
    run
}

/// A fault that acted so often.
pub(crate) fn fault(
    time_ns: u64,
    fault: &str,
    target: &str,
    until_ns: Option<u64>,
    acted: u64,
) -> FaultRow {
    FaultRow {
        time_ns,
        fault: fault.to_owned(),
        target: target.to_owned(),
        until_ns,
        acted,
    }
}

/// One fault in a group of so many.
pub(crate) fn faults(nodes: u32, text: &str) -> chaos::Timeline {
    let group = chaos::timeline::Group {
        nodes,
        edges: chaos::partition::Edges::Complete { nodes },
        kinds: None,
        token: None,
        seed: 1,
        read: &|_| Err("there are no files".to_owned()),
    };
    let entry = chaos::Entry::parse(text, &group.scope()).expect("a fault");
    chaos::Timeline::resolve(&[entry], &group).expect("a fault that fits")
}
