//! Plans and simulated runs for the tests of this folder.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use algorithms::params::Params;
use algorithms::printed::Printed;
use algorithms::registry::{self, Graph, Order};
use algorithms::{NodeId, Topology};
use chaos::Delay;
use node::plan::Plan;
use node::run::Run;
use node::workload::{Arrivals, PerNode, Quota, Span, Workload};

/// A closed workload with some competition, links of 1 ms, holds of 1 ms.
pub fn plan(algorithm: &str, nodes: u32) -> Plan {
    let entry = registry::find(algorithm).expect("a registered algorithm");
    Plan {
        algorithm: algorithm.to_owned(),
        nodes,
        topology: match entry.graph {
            Graph::Complete => "complete".to_owned(),
            Graph::Tree | Graph::Digraph => "tree:2".to_owned(),
        },
        holder: NodeId(0),
        params: Params::resolve(entry.name, entry.params, &BTreeMap::new())
            .expect("defaults are valid"),
        printed: Printed::repaired(),
        workload: Workload {
            arrivals: Arrivals::Closed {
                think: PerNode::All(Span::Exponential(10_000_000)),
            },
            hold: PerNode::All(Span::Constant(1_000_000)),
            quota: Quota::PerNode(20),
            priority: PerNode::All(0),
            weights: Vec::new(),
            clients: 1,
        },
        delay: Delay::Constant { ns: 1_000_000 },
        links: Order::Fifo,
        bound_ns: 1_000_000,
        seed: 7,
        time_limit_ns: None,
        warm_up_entries: 0,
        trace: false,
        faults: chaos::Timeline::default(),
        detect_after_ns: node::plan::default_detect_after_ns(),
        detector: node::plan::Detector::default(),
        transport: node::plan::UseTransport::Auto,
    }
}

/// The links of the plan.
pub fn topology(plan: &Plan) -> Topology {
    plan.build_topology().expect("a valid topology")
}

/// Simulates the plan.
pub fn simulate(plan: &Plan) -> Run {
    simulator::simulate(plan, topology(plan), &mut |_| ControlFlow::Continue(()))
        .expect("time passes in these plans")
}
