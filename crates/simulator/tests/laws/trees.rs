//! Random trees, delays that vary, everybody at it: the tree algorithms of the book and what they come
//! from.

use algorithms::registry::LinkOrder;
use analysis::{Verdict, judge};
use model::run::End;
use model::workload::{Closed, PerNode, Quota, Span, Urgency};

use crate::worlds::{MS, plan, set, simulate};

/// How many trees there are; `TURNSTILE_TREES` asks for more, as `scripts/soak` does.
fn trees() -> u64 {
    let more = std::env::var("TURNSTILE_TREES").map(|trees| trees.parse());
    more.map_or(8, |trees| trees.expect("TURNSTILE_TREES is a number"))
}

#[test]
fn on_random_trees_nobody_meets_anybody_and_everybody_is_served() {
    let (mut entries, mut runs) = (0, 0);
    for seed in 0..trees() {
        for (algorithm, aging) in [
            ("fapp", Some("step")),
            ("raymond", None),
            ("mra", None),
            ("mra-p", Some("off")),
            ("mra-p", Some("step")),
        ] {
            let nodes = 6 + (seed * 11 % 15) as u32;
            let mut plan = plan(algorithm, nodes, seed);
            plan.topology = "random-tree".parse().expect("a shape");
            (plan.delay, plan.bound_ns) = ("1ms 900us".parse().expect("a delay"), 2 * MS);
            plan.links = LinkOrder::Fifo;
            if let Some(aging) = aging {
                set(&mut plan, &[("aging", aging)]);
            }
            plan.workload.arrivals = Closed {
                think: PerNode::All(Span::Exponential(20 * MS)),
            }
            .into();
            plan.workload.hold = PerNode::All(Span::Uniform(0, 3 * MS));
            let urgency = |node| (node * 4 + seed as u32) % 9 + 1;
            plan.workload.priority =
                PerNode::Each((0..nodes).map(urgency).map(Urgency::Constant).collect());
            plan.workload.quota = Quota::PerNode(4);
            let run = simulate(&plan);
            let topology = plan.build_topology().expect("it was built");
            let judgement = judge(&plan, &topology, &run);
            assert_eq!(run.end, End::Finished, "{plan:?}");
            assert_eq!(run.protocol_error_count, 0, "{plan:?}");
            assert_eq!(judgement.verdict, Verdict::Holds, "{judgement:?}: {plan:?}");
            let served = run.requests.iter().filter(|row| row.left_ns.is_some());
            assert_eq!(served.count() as u32, 4 * nodes, "{plan:?}");
            entries += 4 * u64::from(nodes);
            runs += 1;
        }
    }
    println!("{entries} entries in {runs} runs");
}
