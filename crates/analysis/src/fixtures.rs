//! Runs made by hand, for tests.

use algorithms::NodeId;
use algorithms::registry::{
    self, AlgorithmInfo, ClosedForm, Family, Graph, LinkContract, LinkOrder, More,
};
use model::plan::Plan;
use model::run::{FaultKind, FaultOutcome, Happened, RequestRow, Run};
use model::workload::{Closed, PerNode, Quota, Span, Workload};

/// A closed workload of that algorithm on a complete graph: a think time, a hold of 1 ms, a
/// constant delay of 1 ms.
pub(crate) fn plan(algorithm: &str, nodes: u32) -> Plan {
    let usual = Plan::usual(registered(algorithm), nodes, 1);
    Plan {
        topology: "complete".parse().expect("a shape"),
        workload: Workload {
            arrivals: Closed {
                think: PerNode::All(Span::Exponential(10_000_000)),
            }
            .into(),
            quota: Quota::PerNode(1),
            ..usual.workload
        },
        ..usual
    }
}

/// An algorithm's entry by name.
pub(crate) fn registered(algorithm: &str) -> &'static AlgorithmInfo {
    registry::find(algorithm).expect("a registered algorithm")
}

/// An algorithm that admits so many and has these closed forms.
pub(crate) fn toy(admitted: u32, forms: &'static [ClosedForm]) -> AlgorithmInfo {
    AlgorithmInfo {
        name: "toy",
        title: "A toy",
        paper: "none",
        family: Family::Token,
        cost: "nothing",
        explanation: "It is for tests of what is said about algorithms.",
        graph: Graph::Complete,
        link_order: LinkOrder::Any,
        link_contract: LinkContract::Patient,
        token: None,
        state_bytes: |_| 1,
        machine: registered("raymond").machine,
        more: More {
            admits: match admitted {
                1 => |_| 1,
                _ => |_| 2,
            },
            forms,
            ..More::NONE
        },
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

/// A run that finished with these requests, each served: the node, when the request arrived, when its
/// client entered and when it left.
pub(crate) fn served<const N: usize>(entries: [(u32, u64, u64, u64); N]) -> Run {
    let row =
        |(node, arrived_ns, entered_ns, left_ns)| entry(node, arrived_ns, entered_ns, left_ns);
    run(entries.map(row).into())
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

/// The fault of the timeline with these words was in force for that time and acted so often.
pub(crate) fn fault(
    faults: &chaos::Timeline,
    words: &str,
    (at_ns, until_ns): (u64, Option<u64>),
    acted: u64,
) -> FaultOutcome {
    FaultOutcome {
        happened: Happened::from(at_ns, until_ns),
        acted,
        ..never(faults, words)
    }
}

/// The fault of the timeline with these words never happened.
pub(crate) fn never(faults: &chaos::Timeline, words: &str) -> FaultOutcome {
    let mut steps = faults.steps.iter();
    let step = steps.position(|step| step.text.contains(words));
    FaultOutcome::never(step.expect("a fault of these words"), faults)
}

/// A member died, and no fault of the plan asked for it.
pub(crate) fn death(node: u32, at_ns: u64) -> FaultOutcome {
    FaultOutcome::unasked(FaultKind::Kill, NodeId(node), Happened::from(at_ns, None))
}

/// Faults in a group of so many.
pub(crate) fn faults<const N: usize>(nodes: u32, texts: [&str; N]) -> chaos::Timeline {
    let group = chaos::timeline::Group::complete(nodes, 1);
    let entry = |text| chaos::FaultSpec::parse(text, &group.scope()).expect("a fault");
    chaos::Timeline::resolve(&texts.map(entry), &group).expect("faults that fit")
}
