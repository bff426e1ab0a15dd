//! What holds of every algorithm holds with the other rules that its source describes.

use algorithms::registry;
use analysis::judge;
use model::run::End;
use model::workload::{Quota, Span};

use crate::common::VARIANTS;
use crate::worlds::{MS, ask, batch, closed, plan, set, simulate, worlds};

#[test]
fn with_other_rules_too_everyone_gets_in_and_never_too_many_at_once() {
    for &(algorithm, with) in VARIANTS {
        let info = registry::find(algorithm).expect("it is registered");
        for (mut plan, requests) in worlds(info, 6) {
            if (info.more.refuses)(&info.choose(with).expect("they fit"), plan.nodes).is_some() {
                continue;
            }
            set(&mut plan, with);
            let run = simulate(&plan);
            assert_eq!(run.end, End::Finished, "{plan:?}");
            assert_eq!(run.protocol_errors, [], "{plan:?}");
            let served = run.requests.iter().filter(|row| row.left_ns.is_some());
            let served = served.count();
            assert_eq!(served, run.requests.len(), "{plan:?}");
            assert!(
                requests.is_none_or(|made| made == served as u64),
                "{plan:?}"
            );
            let admitted = (info.more.admits)(&plan.params);
            assert!(run.most_inside <= Some(admitted), "{plan:?}");
            assert!(run.requests.iter().all(|row| !row.uninvited), "{plan:?}");
            let mut rows = run.messages.values();
            assert!(rows.all(|row| row.sent == row.received), "{plan:?}");
            let topology = plan.build_topology().expect("the usual shape always fits");
            for line in judge(&plan, &topology, &run).theory {
                assert!(!line.missed(), "{line:?}: {plan:?}");
            }
        }
    }
}

/// An algorithm knows no clock: the run times its second phase. P2REQ there and P2V back are two delays.
#[test]
fn phase_2_of_nhme_is_timed_from_the_question_to_the_entry() {
    let mut plan = plan("nhme", 6, 1);
    let asks = (0..6).map(|node| ask(node, 0)).collect();
    plan.workload.arrivals = batch(asks, false);
    plan.workload.quota = Quota::PerNode(1);
    let run = simulate(&plan);
    let [began, took] = ["phase_2_began", "phase_2_us"].map(|name| &run.window.notes[name]);
    assert_eq!(began.count, 6);
    assert!(took.count <= began.count && took.count > 0, "{took:?}");
    assert_eq!(took.min, 2_000, "links take a millisecond: {took:?}");
}

/// MRA's queue is at the holder while requests wait, and empty when all are served: only the peak shows it.
#[test]
fn the_largest_state_of_a_run_is_known_not_only_the_last() {
    let sizes = |nodes: u32| {
        let mut plan = plan("mra", nodes, 1);
        let asks = (0..nodes).map(|node| ask(node, 0)).collect();
        plan.workload.arrivals = batch(asks, false);
        plan.workload.quota = Quota::PerNode(1);
        let run = simulate(&plan);
        (run.state_bytes.max, run.state_bytes.peak)
    };
    let (last, peak) = sizes(9);
    assert!(peak > Some(last), "{last}, {peak:?}");
    let (_, more) = sizes(18);
    assert!(more > peak, "{peak:?}, {more:?}");
    assert_eq!(sizes(65).1, None, "large groups are not watched");
}

/// CDC and DDC serve in the order in which controllers took the requests, wherever the role goes.
#[test]
fn controllers_note_in_which_order_they_took_requests() {
    for name in ["cdc", "ddc"] {
        for max_req in ["1", "3", "1000"] {
            let mut plan = plan(name, 6, 3);
            set(&mut plan, &[("max_req", max_req)]);
            plan.workload.arrivals = closed(Span::Exponential(3 * MS));
            plan.workload.quota = Quota::PerNode(20);
            let run = simulate(&plan);
            let mut rows = run.requests.iter();
            assert!(rows.all(|row| row.registered.is_some()), "{plan:?}");
            let topology = plan.build_topology().expect("the usual shape always fits");
            let summary = judge(&plan, &topology, &run).summary;
            assert_eq!(summary.registration_inversions, Some(0), "{plan:?}");
        }
    }
}
