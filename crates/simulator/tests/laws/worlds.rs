//! The worlds that the laws are tried in.

use std::ops::ControlFlow;

use algorithms::NodeId;
use algorithms::registry::{self, AlgorithmInfo, LinkOrder};
use model::plan::Plan;
use model::run::Run;
use model::workload::{
    Arrivals, Ask, Batch, Closed, OneAtATime, Open, PerNode, Quota, Span, Window, Workload,
};

/// A millisecond, in nanoseconds.
pub(crate) const MS: u64 = 1_000_000;

/// The registered algorithm, saturated, on links of one millisecond.
pub(crate) fn plan(algorithm: &str, nodes: u32, seed: u64) -> Plan {
    let info = registry::find(algorithm).expect("a registered algorithm");
    Plan::usual(info, nodes, seed)
}

/// The same with these parameters, the others as they come.
pub(crate) fn set(plan: &mut Plan, params: &[(&str, &str)]) {
    let info = plan.info();
    plan.params = info.choose(params).expect("they are there");
    let refused = (info.more.refuses)(&plan.params, plan.nodes);
    assert_eq!(refused, None, "{params:?}");
}

/// Simulates a plan from its first event to its last.
pub(crate) fn simulate(plan: &Plan) -> Run {
    let topology = plan.build_topology().expect("the usual shape always fits");
    simulator::simulate(plan, topology, &mut |_| ControlFlow::Continue(()))
        .unwrap_or_else(|stuck| panic!("{stuck}: {plan:?}"))
}

/// A closed loop.
pub(crate) fn closed(think: Span) -> Arrivals {
    Closed {
        think: PerNode::All(think),
    }
    .into()
}

/// Whether losers withdraw and try again after a time that is drawn: chance is part of every plan of
/// such an algorithm, and no batch settles while somebody waits.
pub(crate) fn retries(info: &AlgorithmInfo) -> bool {
    (info.more.retries)(&info.defaults())
}

/// A name, a workload for so many nodes, and how many requests it makes, where that is certain.
pub(crate) type Load = (&'static str, fn(u32) -> Workload, fn(u64) -> Option<u64>);

/// Workloads of every kind, each small.
pub(crate) const LOADS: &[Load] = &[
    (
        "saturated",
        |_| load(closed(Span::Constant(0)), Quota::PerNode(4)),
        |nodes| Some(4 * nodes),
    ),
    (
        "thinking",
        |_| Workload {
            hold: PerNode::All(Span::Uniform(0, 2 * MS)),
            ..load(closed(Span::Exponential(20 * MS)), Quota::PerNode(4))
        },
        |nodes| Some(4 * nodes),
    ),
    (
        "three clients each",
        |_| Workload {
            clients: 3,
            ..load(closed(Span::Exponential(5 * MS)), Quota::PerNode(6))
        },
        |nodes| Some(6 * nodes),
    ),
    (
        "open",
        |nodes| {
            let mean_gap_ns = 4 * MS * u64::from(nodes);
            load(Open { mean_gap_ns }.into(), Quota::PerNode(4))
        },
        |nodes| Some(4 * nodes),
    ),
    (
        "all at once, the last first",
        |nodes| {
            let asks = (0..nodes).rev().map(|node| ask(node, 0)).collect();
            load(batch(asks, false), Quota::PerNode(1))
        },
        Some,
    ),
    (
        "settled batch",
        |nodes| {
            let asks = (0..nodes).map(|node| ask(node, 0)).collect();
            load(batch(asks, true), Quota::PerNode(1))
        },
        Some,
    ),
    (
        "one at a time",
        |_| load(OneAtATime.into(), Quota::PerNode(4)),
        |nodes| Some(4 * nodes),
    ),
    (
        "half of them within a window",
        |nodes| {
            let arrivals = Window {
                nodes: nodes.div_ceil(2),
                within_ns: 3 * MS,
            }
            .into();
            load(arrivals, Quota::PerNode(1))
        },
        |nodes| Some(nodes.div_ceil(2)),
    ),
    (
        "a hot spot",
        |nodes| Workload {
            weights: (0..nodes)
                .map(|node| f64::from(node.min(1)) + 0.25)
                .collect(),
            ..load(closed(Span::Exponential(5 * MS)), Quota::Total(17))
        },
        |_| Some(17),
    ),
    (
        "until the time is up",
        |_| load(closed(Span::Exponential(5 * MS)), Quota::Until(40 * MS)),
        |_| None,
    ),
];

/// Every kind of delay.
pub(crate) const DELAYS: &[&str] = &[
    "1ms",
    "5ms 5ms",
    "2ms distribution exponential",
    "3ms 2ms distribution normal",
];

/// Small plans of an algorithm that differ in everything, and how many requests each makes.
pub(crate) fn worlds(
    info: &AlgorithmInfo,
    seeds: u64,
) -> impl Iterator<Item = (Plan, Option<u64>)> {
    let sizes = [1, 2, 3, 5, 9].into_iter();
    let sizes = sizes.filter(|&nodes| info.admits_size(nodes));
    let (name, needs, retries) = (info.name, info.link_order, retries(info));
    sizes.flat_map(move |nodes| {
        let fits = move |(load, ..): &&Load| *load != "settled batch" || !retries;
        LOADS
            .iter()
            .filter(fits)
            .flat_map(move |(_, load, requests)| {
                (0..seeds).map(move |seed| {
                    let mut plan = plan(name, nodes, seed);
                    plan.workload = load(nodes);
                    plan.holder = NodeId(seed as u32 % nodes);
                    plan.delay = DELAYS[seed as usize % DELAYS.len()]
                        .parse()
                        .expect("a delay");
                    plan.bound_ns = plan.delay.largest_ns().unwrap_or(50 * MS);
                    plan.links = match needs {
                        LinkOrder::Any if seed % 3 > 0 => LinkOrder::Any,
                        LinkOrder::Any | LinkOrder::Fifo => LinkOrder::Fifo,
                    };
                    (plan, requests(u64::from(nodes)))
                })
            })
    })
}

/// A request of a batch.
pub(crate) fn ask(node: u32, at_ns: u64) -> Ask {
    Ask {
        priority: Some(node % 3),
        ..Ask::at(at_ns, NodeId(node))
    }
}

/// A batch of requests.
pub(crate) fn batch(asks: Vec<Ask>, settled: bool) -> Arrivals {
    Batch { asks, settled }.into()
}

fn load(arrivals: Arrivals, quota: Quota) -> Workload {
    Workload {
        arrivals,
        hold: PerNode::All(Span::Constant(MS)),
        quota,
        priority: PerNode::All(0.into()),
        weights: Vec::new(),
        clients: 1,
    }
}
