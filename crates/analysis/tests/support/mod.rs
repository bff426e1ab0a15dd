//! Plans and simulated runs for the tests of this folder.

use std::ops::ControlFlow;

use algorithms::Topology;
use algorithms::registry;
use model::plan::Plan;
use model::run::Run;
use model::workload::{Closed, PerNode, Quota, Span, Workload};

/// A closed workload with some competition, links of 1 ms, holds of 1 ms.
pub(crate) fn plan(algorithm: &str, nodes: u32) -> Plan {
    let info = registry::find(algorithm).expect("a registered algorithm");
    let usual = Plan::usual(info, nodes, 7);
    Plan {
        workload: Workload {
            arrivals: Closed {
                think: PerNode::All(Span::Exponential(10_000_000)),
            }
            .into(),
            quota: Quota::PerNode(20),
            ..usual.workload
        },
        ..usual
    }
}

/// The links of the plan.
pub(crate) fn topology(plan: &Plan) -> Topology {
    plan.build_topology().expect("a valid topology")
}

/// Simulates the plan.
pub(crate) fn simulate(plan: &Plan) -> Run {
    simulator::simulate(plan, topology(plan), &mut |_| ControlFlow::Continue(()))
        .expect("time passes in these plans")
}
