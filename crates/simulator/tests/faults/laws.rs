//! What is true of every registered algorithm on bad links.

use std::collections::BTreeSet;

use algorithms::NodeId;
use algorithms::registry::{self, AlgorithmInfo, LinkOrder};
use analysis::Certified;
use model::plan::Plan;
use model::run::End;
use model::workload::{PerNode, Quota, Span};

use crate::scenes::{MS, fault, judge, plan, simulate};

/// Entries that exclude each other do so by messages, where one may be inside.
fn expected(plan: &Plan) -> Certified {
    match (plan.info().more.admits)(&plan.params) {
        1 => Certified::Yes,
        _ => Certified::NotExercised,
    }
}

/// A small size that the algorithm admits, and has somebody to be parted from.
fn small(info: &AlgorithmInfo) -> u32 {
    let sizes = [4, 3, 5, 6, 7, 9].into_iter();
    sizes
        .clone()
        .find(|&nodes| info.admits_size(nodes))
        .unwrap_or_else(|| panic!("{} admits none of {sizes:?}", info.name))
}

pub(crate) fn bad_links(info: &AlgorithmInfo, seed: u64, faults: &[&str]) -> Plan {
    let nodes = small(info);
    let mut plan = plan(info.name, nodes, seed, faults);
    plan.holder = NodeId(seed as u32 % nodes);
    plan.delay = "2ms 1ms".parse().expect("a delay");
    plan.workload.quota = Quota::PerNode(3);
    plan.links = match info.link_order {
        LinkOrder::Any if seed % 2 == 1 => LinkOrder::Any,
        LinkOrder::Any | LinkOrder::Fifo => LinkOrder::Fifo,
    };
    plan
}

#[test]
fn loss_and_a_partition_that_heals_only_delay() {
    let faults = ["at 0s loss 10% on all", "at 15ms partition halves for 2s"];
    for info in registry::ALL {
        let mut lost = 0;
        for seed in 0..25 {
            let plan = bad_links(info, seed, &faults);
            let run = simulate(&plan);
            let judgement = judge(&plan, &run);
            assert_eq!(run.end, End::Finished, "{plan:?}");
            assert!(judgement.safety.holds(), "{judgement:?}: {plan:?}");
            assert_eq!(judgement.summary.certified, expected(&plan), "{plan:?}");
            assert!(judgement.liveness.holds(), "{judgement:?}: {plan:?}");
            assert!(
                !judgement.well_formedness.is_violated(),
                "{judgement:?}: {plan:?}"
            );
            assert!(run.ended_ns > 2_000 * MS, "{plan:?}");
            assert!(fault(&plan, &run, "partition").acted > 0, "{plan:?}");
            lost += fault(&plan, &run, "loss").acted;
            let served = run.requests.iter().filter(|row| row.left_ns.is_some());
            assert_eq!(served.count() as u32, 3 * plan.nodes, "{plan:?}");
        }
        assert!(lost > 50, "{}: only {lost} lost", info.name);
    }
}

#[test]
fn the_transport_alone_changes_no_message_count_of_a_quiet_network() {
    for info in registry::ALL {
        let mut plan = bad_links(info, 1, &[]);
        plan.workload.arrivals = model::workload::OneAtATime.into();
        // Longer than any answer takes: a vote that comes after the exit costs a message more.
        plan.workload.hold = PerNode::All(Span::Constant(5 * MS));
        let without = simulate(&plan);
        plan.transport = model::plan::UseTransport::Always;
        let with = simulate(&plan);
        assert_eq!(with.end, End::Finished, "{plan:?}");
        assert_eq!(with.requests.len(), without.requests.len(), "{plan:?}");
        assert_eq!(with.window.messages, without.window.messages, "{plan:?}");
        let sent = with
            .transport
            .values()
            .map(|row| row.datagrams_sent)
            .sum::<u64>();
        assert!(with.window.messages == 0 || sent > 0, "{plan:?}");
    }
}

/// Chance itself chooses what goes wrong: kills, pauses, cuts and losses, thousands of times.
#[test]
fn whatever_goes_wrong_nobody_meets_inside_and_every_run_ends() {
    const FAULTS: [&str; 8] = [
        "at 12ms kill random",
        "at 13ms pause holder for 40ms",
        "at 0s loss 5% on all",
        "at 14ms isolate random for 60ms",
        "when enter 1 #2 pause 2 for 25ms",
        "every 20ms for 5ms cut 1 random edges",
        "at 16ms restart random after 10ms",
        "at 0s duplicate 10% on all",
    ];
    let seeds = std::env::var("TURNSTILE_SEEDS").map_or(200, |seeds| {
        seeds.parse().expect("TURNSTILE_SEEDS is a number")
    });
    let mut acted = 0;
    let mut seen = BTreeSet::new();
    for info in registry::ALL {
        for seed in 0..seeds {
            let chosen = FAULTS.iter().enumerate();
            let chosen = chosen.filter(|(bit, _)| (seed * 37 + 11) >> bit & 1 == 1);
            let faults = chosen.map(|(_, fault)| *fault).collect::<Vec<_>>();
            let plan = bad_links(info, seed, &faults);
            let run = simulate(&plan);
            let admitted = (plan.info().more.admits)(&plan.params);
            assert!(run.most_inside <= Some(admitted), "{plan:?}");
            let judgement = judge(&plan, &run);
            assert!(!judgement.safety.is_violated(), "{judgement:?}: {plan:?}");
            let certified = judgement.summary.certified;
            assert_ne!(certified, Certified::No, "{judgement:?}: {plan:?}");
            seen.insert((certified, admitted));
            acted += run.faults.iter().filter(|row| row.acted > 0).count();
        }
    }
    assert!(acted > 2_000, "only {acted} faults acted");
    assert!(seen.contains(&(Certified::Yes, 1)), "{seen:?}");
}
