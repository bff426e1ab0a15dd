//! Plans in which something goes wrong.

use std::ops::ControlFlow;

use algorithms::registry;
use algorithms::{NodeId, Topology};
use analysis::Judgement;
use chaos::Timeline;
use chaos::partition::Edges;
use chaos::timeline::Group;
use model::plan::Plan;
use model::run::{End, FaultOutcome, Run};
use model::workload::{Closed, PerNode, Span, Workload};

/// A millisecond, in nanoseconds.
pub(crate) const MS: u64 = 1_000_000;

/// Members that think 10 ms, stay inside for 1 ms, and enter five times each over links of 1 ms,
/// while these faults happen.
pub(crate) fn plan(algorithm: &str, nodes: u32, seed: u64, faults: &[&str]) -> Plan {
    let info = registry::find(algorithm).expect("a registered algorithm");
    let usual = Plan::usual(info, nodes, seed);
    let mut plan = Plan {
        workload: Workload {
            arrivals: Closed {
                think: PerNode::All(Span::Constant(10 * MS)),
            }
            .into(),
            ..usual.workload
        },
        bound_ns: 50 * MS,
        ..usual
    };
    let topology = plan.build_topology().expect("the usual shape always fits");
    plan.faults = timeline(&plan, &topology, faults);
    plan
}

/// These faults, for the plan.
pub(crate) fn timeline(plan: &Plan, topology: &Topology, faults: &[&str]) -> Timeline {
    let read = |_: &str| Err("there are no files here".to_owned());
    let group = Group {
        nodes: plan.nodes,
        edges: match topology.is_complete() {
            true => Edges::Complete { nodes: plan.nodes },
            false => Edges::Listed(topology.edges().map(|(a, b)| (a.0, b.0)).collect()),
        },
        kinds: Some(plan.machine().kinds()),
        token: Some(plan.info().token.is_some()),
        seed: plan.seed,
        read: &read,
    };
    let entries = faults.iter().map(|text| text.parse());
    let entries = entries.collect::<Result<Vec<_>, _>>();
    let entries = entries.unwrap_or_else(|error| panic!("{error}"));
    Timeline::resolve(&entries, &group).unwrap_or_else(|error| panic!("{error}"))
}

/// Simulates a plan from its first event to its last.
pub(crate) fn simulate(plan: &Plan) -> Run {
    let topology = plan.build_topology().expect("the usual shape always fits");
    simulator::simulate(plan, topology, &mut |_| ControlFlow::Continue(()))
        .unwrap_or_else(|stuck| panic!("{stuck}: {plan:?}"))
}

/// Simulates a plan in which everybody is served.
#[track_caller]
pub(crate) fn finish(plan: &Plan) -> Run {
    let run = simulate(plan);
    assert_eq!(run.end, End::Finished);
    run
}

/// What is to be said of a run.
pub(crate) fn judge(plan: &Plan, run: &Run) -> Judgement {
    analysis::judge(plan, &plan.build_topology().expect("it was built"), run)
}

/// The one outcome of the run about that fault.
pub(crate) fn fault<'a>(plan: &Plan, run: &'a Run, name: &str) -> &'a FaultOutcome {
    let about = |fault: &&FaultOutcome| fault.name(&plan.faults).starts_with(name);
    let mut outcomes = run.faults.iter().filter(about);
    match (outcomes.next(), outcomes.next()) {
        (Some(outcome), None) => outcome,
        _ => panic!("one outcome of {name}: {:?}", run.faults),
    }
}

/// When each entry of a member began.
pub(crate) fn entries(run: &Run, node: u32) -> Vec<u64> {
    let own = run.requests.iter().filter(|row| row.node == NodeId(node));
    own.filter_map(|row| row.entered_ns).collect()
}

/// How many messages of a kind were sent, received and lost.
pub(crate) fn messages(run: &Run, kind: &str) -> (u64, u64, u64) {
    let rows = run.messages.iter().filter(|((_, _, of), _)| *of == kind);
    rows.fold((0, 0, 0), |(sent, received, lost), (_, row)| {
        (sent + row.sent, received + row.received, lost + row.lost)
    })
}
