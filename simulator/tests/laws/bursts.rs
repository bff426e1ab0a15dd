//! Bursts of requests on the book's digraphs: all have settled before the token moves.

use algorithms::NodeId;
use node::plan::Plan;
use node::run::End;
use node::workload::{Arrivals, Ask, Quota};

use crate::worlds::{MS, plan, simulate};

/// Node 0 is inside while so many others ask, one by one, on a graph of 22 that leads to node 0.
fn burst(algorithm: &str, printed: &[&str], requests: u32, seed: u64) -> Plan {
    let mut plan = plan(algorithm, 22, seed);
    plan.topology = "oriented:3".to_owned();
    plan.delay = "1ms".parse().expect("a delay");
    plan.bound_ns = MS;
    plan.printed = plan.entry().as_printed(printed).expect("its defects");
    let ask = |node| Ask::at(0, NodeId(node));
    plan.workload.arrivals = Arrivals::Batch {
        asks: (0..=requests).map(ask).collect(),
        settled: true,
    };
    plan.workload.quota = Quota::Total(u64::from(requests) + 1);
    plan
}

/// How many of 40 such bursts are served to the end, for each number of requests.
fn finished(algorithm: &str, printed: &[&str]) -> [usize; 4] {
    [4, 6, 8, 12].map(|requests| {
        let served = |seed: &u64| {
            let plan = burst(algorithm, printed, requests, *seed);
            let run = simulate(&plan);
            let all = run.requests.iter().all(|row| row.left_ns.is_some());
            all && run.end == End::Finished && run.protocol_error_count == 0
        };
        (0..40).filter(served).count()
    })
}

/// The printed machine does what the book shows, as long as requests and token never move at the same
/// time, and only in the kindest reading: each of its other rules fails where the book says nothing.
#[test]
fn printed_lfrt_serves_bursts_that_have_settled_in_its_kindest_reading_only() {
    assert_eq!(finished("lfrt", &[]), [40; 4], "repaired");
    let kindest = finished("lfrt", &["L2"]);
    let counted_once = finished("lfrt", &["L2", "L5"]);
    let literal = finished("lfrt", &["L2", "L6"]);
    println!(
        "of 40 bursts of 4, 6, 8 and 12: {kindest:?} with dummies outward and counts anew, \
         {counted_once:?} with counts kept, {literal:?} with dummies always"
    );
    assert_eq!(kindest, [40; 4]);
    assert!(
        counted_once.iter().all(|&bursts| bursts < 40),
        "{counted_once:?}"
    );
    assert!(literal.iter().all(|&bursts| bursts < 40), "{literal:?}");
}
