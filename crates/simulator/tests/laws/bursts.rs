//! Bursts of requests on the book's trees and digraphs: all have settled before the token moves.

use algorithms::NodeId;
use model::plan::Plan;
use model::run::End;
use model::workload::{Ask, Batch, PerNode, Quota, Urgency};

use crate::worlds::{MS, plan, simulate};

/// Node 0 is inside while so many others ask, one by one: on a graph of 22 that leads to node 0, or on a
/// tree of 20 in which nobody has more than three children.
fn burst(algorithm: &str, printed: &[&str], requests: u32, seed: u64) -> Plan {
    let tree = algorithm.starts_with("mra");
    let (nodes, topology) = if tree {
        (20, "random-tree:3")
    } else {
        (22, "oriented:3")
    };
    let mut plan = plan(algorithm, nodes, seed);
    plan.topology = topology.parse().expect("a shape");
    plan.delay = "1ms".parse().expect("a delay");
    plan.bound_ns = MS;
    plan.printed = plan.info().as_printed(printed).expect("its defects");
    let urgency = |node: u32| (u64::from(node) * 7 + seed * 3) % 10 + 1;
    let priorities = (0..nodes).map(|node| urgency(node) as u32);
    plan.workload.priority = PerNode::Each(priorities.map(Urgency::Constant).collect());
    let ask = |node| Ask::at(0, NodeId(node));
    plan.workload.arrivals = Batch {
        asks: (0..=requests).map(ask).collect(),
        settled: true,
    }
    .into();
    plan.workload.quota = Quota::Total(u64::from(requests) + 1);
    plan
}

/// How many of 40 such bursts are served to the end, for each number of requests.
fn finished<const N: usize>(algorithm: &str, printed: &[&str], requests: [u32; N]) -> [usize; N] {
    requests.map(|requests| {
        let served = |seed: &u64| {
            let plan = burst(algorithm, printed, requests, *seed);
            let run = simulate(&plan);
            let all = run.requests.iter().all(|row| row.left_ns.is_some());
            all && run.end == End::Finished && run.protocol_error_count == 0
        };
        (0..40).filter(served).count()
    })
}

/// How likely it is that two samples of 40 with the same rate come out at least as unevenly as these two:
/// Fisher's exact test.
fn alike(ours: usize, theirs: usize) -> f64 {
    let choose = |n: usize, k: usize| {
        (0..k)
            .map(|i| (n - i) as f64 / (i + 1) as f64)
            .product::<f64>()
    };
    let both = ours + theirs;
    let splits = both.saturating_sub(40)..=both.min(40);
    let chance = |one| choose(40, one) * choose(40, both - one) / choose(80, both);
    let seen = chance(ours) * (1.0 + 1e-9);
    splits.map(chance).filter(|&chance| chance <= seen).sum()
}

/// As many of 40 bursts are served as in the runs that we know of, as far as chance allows; the fewer, the
/// more ask.
fn assert_as_known<const N: usize>(
    algorithm: &str,
    printed: &[&str],
    requests: [u32; N],
    known: [usize; N],
) {
    let ours = finished(algorithm, printed, requests);
    let close = ours
        .iter()
        .zip(known)
        .all(|(&ours, known)| alike(ours, known) > 0.05);
    assert!(close, "{algorithm} {printed:?}: {ours:?}, not {known:?}");
    assert!(ours.is_sorted_by(|fewer, more| fewer >= more), "{ours:?}");
}

#[test]
fn samples_that_differ_are_told_apart() {
    assert!(alike(17, 17) > 0.99 && alike(0, 0) > 0.99);
    assert!(alike(12, 7) > 0.2 && alike(40, 34) < 0.05 && alike(29, 2) < 1e-9);
}

/// The printed machine does what the book shows, as long as requests and token never move at the same
/// time, and only in the kindest reading: each of its other rules fails where the book says nothing.
#[test]
fn printed_lfrt_serves_bursts_that_have_settled_in_its_kindest_reading_only() {
    let requests = [4, 6, 8, 12];
    assert_eq!(finished("lfrt", &[], requests), [40; 4], "repaired");
    let kindest = finished("lfrt", &["L2"], requests);
    assert_eq!(kindest, [40; 4], "dummies outward, counts from zero");
    // Counts that are not reset, and then dummies that always go.
    assert_as_known("lfrt", &["L2", "L5"], requests, [35, 33, 32, 31]);
    assert_as_known("lfrt", &["L2", "L5", "L6"], requests, [12, 0, 0, 0]);
    assert_as_known("lfrt", &["L2", "L6"], requests, [12, 0, 0, 0]);
}

/// With priorities it keeps requests back, and serves small bursts at best: in the description's way of
/// passing them on, and even fewer by the code's (kanrar-Q1).
#[test]
fn printed_lfrt_p_serves_few_bursts_even_if_they_have_settled() {
    let requests = [4, 6, 8, 10, 12];
    assert_eq!(finished("lfrt-p", &[], requests), [40; 5], "repaired");
    assert_as_known("lfrt-p", &["L2"], requests, [17, 6, 2, 0, 0]);
    assert_as_known("lfrt-p", &["L2", "Q1"], requests, [9, 0, 0, 0, 0]);
}

/// Paths lead astray as soon as a few wait at once.
#[test]
fn printed_mra_serves_small_bursts_only() {
    let requests = [2, 4, 8, 16];
    assert_eq!(finished("mra", &[], requests), [40; 4], "repaired");
    assert_as_known("mra", &["M5"], requests, [40, 11, 0, 0]);
}
