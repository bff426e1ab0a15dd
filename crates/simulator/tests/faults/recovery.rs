//! Sanders' recovery: somebody dies, at any moment, and the others go on.

use model::plan::Plan;
use model::run::{End, Run};
use model::workload::{Closed, PerNode, Span};

use crate::scenes::{MS, plan, simulate};

/// A busy group of a structure in which one dies; the others learn it one after the other.
fn bereaved(structure: &str, nodes: u32, seed: u64) -> Plan {
    let (victim, at) = (seed % u64::from(nodes), 3 + seed * 7 % 60);
    let mut plan = plan(
        "sanders",
        nodes,
        seed,
        &[&format!("at {at}ms kill {victim}")],
    );
    let given = [("structure", structure), ("recovery", "on")];
    plan.params = plan.info().choose(&given).expect("the parameters fit");
    plan.delay = "2ms 2ms".parse().expect("a delay");
    plan.detect_after_ns = (0, 30 * MS);
    plan.workload.arrivals = Closed {
        think: PerNode::All(Span::Exponential(3 * MS)),
    }
    .into();
    plan
}

const STRUCTURES: [(&str, u32); 6] = [
    ("centralised", 5),
    ("complete", 4),
    ("two-hot", 4),
    ("grid", 6),
    ("plane", 7),
    ("plane", 13),
];

fn survivors_wait(run: &Run, plan: &Plan) -> bool {
    let victim = (plan.seed % u64::from(plan.nodes)) as u32;
    let unserved = run.requests.iter().filter(|row| row.entered_ns.is_none());
    unserved.into_iter().any(|row| row.node.0 != victim)
}

#[test]
fn whoever_dies_the_others_are_served_one_at_a_time() {
    for (structure, nodes) in STRUCTURES {
        for seed in 0..60 {
            let plan = bereaved(structure, nodes, seed);
            let run = simulate(&plan);
            assert_eq!(run.most_inside, Some(1), "{plan:?}");
            assert!(!survivors_wait(&run, &plan), "{plan:?}");
            assert_eq!(
                (run.end, run.protocol_error_count),
                (End::Finished, 0),
                "{plan:?}"
            );
        }
    }
}

/// sanders-L5: a site that had the grant of the dead never asks those it must ask instead.
#[test]
fn as_printed_some_wait_for_ever() {
    let stuck = |structure, nodes| {
        let runs = (0..60).filter(|&seed| {
            let mut plan = bereaved(structure, nodes, seed);
            let printed = plan.info().as_printed(&["sanders-L5"]);
            plan.printed = printed.expect("it is sanders' own");
            survivors_wait(&simulate(&plan), &plan)
        });
        runs.count()
    };
    let stuck: usize = STRUCTURES
        .into_iter()
        .map(|(name, nodes)| stuck(name, nodes))
        .sum();
    assert!(stuck > 0);
}

/// Recovery sends nothing but REQUESTs to those who were not asked before, and their answers.
#[test]
fn without_a_death_recovery_costs_nothing() {
    for (structure, nodes) in STRUCTURES {
        let sent = |recovery: &str| {
            let mut plan = bereaved(structure, nodes, 1);
            plan.faults = chaos::Timeline::default();
            let given = [
                ("structure", structure),
                ("recovery", recovery),
                ("rules", "deadlock-free"),
            ];
            plan.params = plan.info().choose(&given).expect("the parameters fit");
            simulate(&plan).messages
        };
        assert_eq!(sent("on"), sent("off"), "{structure}");
    }
}
