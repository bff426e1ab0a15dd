//! What holds in every world of every algorithm.

use algorithms::registry;
use model::plan::Plan;
use model::run::{End, Run};

use crate::worlds::{simulate, worlds};

const SEEDS: u64 = 12;

#[test]
fn never_more_inside_than_admitted() {
    every_world(|plan, run, _| {
        let admitted = (plan.info().more.admits)(&plan.params);
        let most = run.most_inside.expect("the simulator sees every event");
        assert!(most <= admitted, "{most} inside: {plan:?}");
        assert!(most_inside(run) <= most, "{plan:?}");
    });
}

/// An algorithm that the registry says does not use the bound is not misled by one that is broken.
#[test]
fn who_does_not_use_the_bound_does_the_same_whatever_it_is() {
    for info in registry::ALL.iter().filter(|info| !info.more.uses_bound) {
        let nodes = (5..).find(|&nodes| info.admits_size(nodes));
        let mut plan = Plan::usual(info, nodes.expect("it admits some size"), 3);
        plan.delay = "2ms 1ms".parse().expect("a delay");
        let [short, long] = [1_000, 5_000_000_000].map(|bound_ns| {
            plan.bound_ns = bound_ns;
            simulate(&plan)
        });
        assert!(short.bound_broken > 0, "{plan:?}");
        let (short, long) = (
            (&short.requests, &short.messages),
            (&long.requests, &long.messages),
        );
        assert_eq!(short, long, "{plan:?}");
    }
}

#[test]
fn everyone_who_asks_gets_in_and_leaves() {
    every_world(|plan, run, requests| {
        assert_eq!(run.end, End::Finished, "{plan:?}");
        let made = run.requests.len() as u64;
        match requests {
            Some(requests) => assert_eq!(made, requests, "{plan:?}"),
            None => assert!(made > 0, "{plan:?}"),
        }
        for row in &run.requests {
            let moments = [
                Some(row.arrived_ns),
                row.asked_ns,
                row.entered_ns,
                row.left_ns,
            ];
            assert!(moments.iter().all(Option::is_some), "{row:?}: {plan:?}");
            assert!(moments.is_sorted(), "{row:?}: {plan:?}");
        }
    });
}

#[test]
fn nothing_happens_that_should_not() {
    every_world(|plan, run, _| {
        assert_eq!(run.protocol_errors, [], "{plan:?}");
        assert!(run.requests.iter().all(|row| !row.uninvited), "{plan:?}");
        if plan.delay.largest_ns().is_some() {
            assert_eq!(run.bound_broken, 0, "{plan:?}");
        }
    });
}

#[test]
fn all_is_quiet_at_the_end() {
    every_world(|plan, run, _| {
        let rows = run.messages.values();
        assert!(rows.clone().all(|row| row.sent == row.received), "{plan:?}");
        let received = rows.map(|row| row.received).sum::<u64>();
        assert_eq!(run.link_delay_count, received, "{plan:?}");
        assert_eq!(run.window.messages, received, "{plan:?}");
        assert_eq!(run.window.entries, run.requests.len() as u64, "{plan:?}");
    });
}

#[test]
fn messages_are_charged_to_requests_or_not_at_all() {
    every_world(|plan, run, _| {
        let charged = run.requests.iter().filter_map(|row| row.messages);
        let charged = charged.sum::<u64>();
        assert!(charged <= run.window.messages, "{plan:?}");
    });
}

/// Each entry knows of the exit of the one before it, by messages alone.
#[test]
fn where_one_may_be_inside_the_entries_of_a_run_are_certified() {
    every_world(|plan, run, _| {
        let mut indices = run.requests.iter().map(|row| row.index).collect::<Vec<_>>();
        indices.sort_unstable();
        let expected = match (plan.info().more.admits)(&plan.params) {
            1 => (1..=indices.len() as u32).map(Some).collect(),
            _ => vec![None; indices.len()],
        };
        assert_eq!(indices, expected, "{plan:?}");
    });
}

/// Shows every small world of every algorithm to a law.
fn every_world(law: impl Fn(&Plan, &Run, Option<u64>)) {
    let mut tried = 0;
    for info in registry::ALL {
        for (plan, requests) in worlds(info, SEEDS) {
            law(&plan, &simulate(&plan), requests);
            tried += 1;
        }
    }
    assert!(tried >= 1_000, "only {tried} worlds were tried");
}

/// The most that were inside at once, from the rows alone. A member that leaves makes room for one that
/// enters at the same moment, so a stay that takes no time is not seen.
fn most_inside(run: &Run) -> u32 {
    let entered = run
        .requests
        .iter()
        .filter_map(|row| Some((row.entered_ns?, 1)));
    let left = run
        .requests
        .iter()
        .filter_map(|row| Some((row.left_ns?, -1)));
    let mut changes = entered.chain(left).collect::<Vec<_>>();
    changes.sort_unstable();
    let inside = changes.into_iter().scan(0, |inside, (_, change)| {
        *inside += change;
        Some(*inside)
    });
    inside.max().unwrap_or(0) as u32
}
