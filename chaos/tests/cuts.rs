//! Cuts, partitions, healing and churn.

mod common;

use chaos::churn::{Churn, Outages};
use chaos::{Arrival, Draw, Network};
use common::{MS, SECOND, SEED, acted, assert_distributed, network, timeline};
use statrs::distribution::{ContinuousCDF, Exp};

fn passes(network: &mut Network, now_ns: u64, from: u32, to: u32) -> bool {
    !network.fate(now_ns, from, to, 100).is_lost()
}

#[test]
fn a_cut_takes_everything_while_it_lasts_and_only_on_its_links() {
    let mut network = network(&["at 2s cut 3->4 for 1s"]);
    assert!(passes(&mut network, 2 * SECOND - 1, 3, 4));
    assert!(!passes(&mut network, 2 * SECOND, 3, 4));
    assert!(passes(&mut network, 2 * SECOND, 4, 3), "one way");
    assert!(passes(&mut network, 2 * SECOND, 3, 5));
    assert!(!passes(&mut network, 3 * SECOND - 1, 3, 4));
    assert!(passes(&mut network, 3 * SECOND, 3, 4));
    assert_eq!(acted(&network), (2, 2));
}

#[test]
fn a_partition_parts_groups_and_leaves_others_alone() {
    let mut network = network(&["partition 0,1|2,3"]);
    for (from, to, expected) in [
        (0, 1, true),
        (0, 2, false),
        (3, 1, false),
        (0, 9, true),
        (9, 3, true),
    ] {
        assert_eq!(passes(&mut network, 0, from, to), expected, "{from}->{to}");
    }
}

#[test]
fn what_is_under_way_is_dropped_held_or_delivered() {
    let arrives = |policy: &str, sent_ns, now_ns| {
        let mut network = network(&[&format!("at 2s cut 3-4 {policy} for 1s")]);
        network.arrive(now_ns, 3, 4, sent_ns)
    };
    let (before, during, after) = (SECOND, 2_500 * MS, 4 * SECOND);
    for policy in ["drop", "hold", "deliver"] {
        assert_eq!(
            arrives(policy, before, 2 * SECOND - 1),
            Arrival::Deliver,
            "{policy}"
        );
        assert_eq!(
            arrives(policy, 3 * SECOND, after),
            Arrival::Deliver,
            "{policy}"
        );
    }
    assert_eq!(arrives("drop", before, during), Arrival::Drop(Some(0)));
    assert_eq!(
        arrives("drop", before, after),
        Arrival::Drop(Some(0)),
        "it was on the wire when it broke"
    );
    let until_ns = Some(3 * SECOND);
    assert_eq!(arrives("hold", before, during), Arrival::Hold { until_ns });
    assert_eq!(arrives("hold", before, after), Arrival::Deliver);
    assert_eq!(arrives("deliver", before, during), Arrival::Deliver);
}

#[test]
fn dropping_what_is_under_way_counts_as_acting() {
    let mut network = network(&["at 2s cut 3-4"]);
    network.arrive(3 * SECOND, 3, 4, SECOND);
    assert_eq!(acted(&network), (1, 1));
}

#[test]
fn healing_ends_the_cuts_in_force_and_no_later_ones() {
    let mut network = network(&[
        "cut 0-1",
        "at 3s heal",
        "at 5s cut 0->1",
        "loss 100% on 2->3",
    ]);
    assert!(!passes(&mut network, 2 * SECOND, 0, 1));
    assert!(passes(&mut network, 3 * SECOND, 0, 1));
    assert!(
        !passes(&mut network, 3 * SECOND, 2, 3),
        "loss is not healed"
    );
    assert!(!passes(&mut network, 5 * SECOND, 0, 1));
    assert!(passes(&mut network, 5 * SECOND, 1, 0));
}

#[test]
fn healing_may_be_on_some_links_or_again_and_again() {
    let mut some = network(&["partition halves", "at 3s heal 0-9"]);
    assert!(passes(&mut some, 4 * SECOND, 0, 9));
    assert!(!passes(&mut some, 4 * SECOND, 0, 8));
    let mut again = network(&["at 0s every 2s for 1900ms cut 0-1", "at 1s every 2s heal"]);
    for second in 0..10 {
        let cut = !passes(&mut again, second * SECOND + 1, 0, 1);
        assert_eq!(cut, second % 2 == 0, "second {second}");
    }
}

#[test]
fn a_cut_is_over_when_it_is_healed_and_no_later_than_it_says() {
    for (healed, over_ns) in [("at 3s heal", 3 * SECOND), ("at 8s heal", 6 * SECOND)] {
        let timeline = timeline(5, &["at 1s cut 0-1 for 5s", healed]);
        let until_ns = |ended_ns| timeline.report(&timeline.network(), ended_ns)[0].until_ns;
        assert_eq!(until_ns(2 * SECOND), None, "{healed}");
        assert_eq!(until_ns(10 * SECOND), Some(over_ns), "{healed}");
    }
}

#[test]
fn a_held_packet_is_released_by_healing() {
    let mut network = network(&["at 1s cut 0-1 hold", "at 3s heal"]);
    let until_ns = Some(3 * SECOND);
    assert_eq!(
        network.arrive(2 * SECOND, 0, 1, 0),
        Arrival::Hold { until_ns }
    );
    assert_eq!(network.arrive(3 * SECOND, 0, 1, 0), Arrival::Deliver);
}

#[test]
fn a_rule_can_be_ended_by_hand() {
    let mut network = network(&["cut all hold"]);
    assert_eq!(
        network.arrive(SECOND, 0, 1, 0),
        Arrival::Deliver,
        "sent in the first instant of it"
    );
    assert!(!passes(&mut network, SECOND, 0, 1));
    network.end(0, 2 * SECOND);
    assert!(!passes(&mut network, 2 * SECOND - 1, 0, 1));
    assert!(passes(&mut network, 2 * SECOND, 0, 1));
}

#[test]
fn the_one_to_be_isolated_may_be_found_later() {
    let timeline = timeline(
        5,
        &[
            "at 1s isolate holder for 500ms",
            "when enter 3 cut 3-4 for 1s",
        ],
    );
    let mut network = timeline.network();
    assert_eq!(network.rules().count(), 0, "both wait for the run");
    timeline.enact(0, SECOND, Some(2), &mut network);
    assert!(!passes(&mut network, SECOND, 2, 0));
    assert!(!passes(&mut network, SECOND, 4, 2));
    assert!(passes(&mut network, SECOND, 0, 1));
    assert!(passes(&mut network, 1_500 * MS, 2, 0));
    timeline.enact(1, 7 * SECOND, None, &mut network);
    assert!(!passes(&mut network, 7 * SECOND, 3, 4));
    assert!(passes(&mut network, 8 * SECOND, 3, 4));
    let report = timeline.report(&network, 10 * SECOND);
    let shown = report
        .iter()
        .map(|did| (did.step.unwrap(), did.from_ns / MS, did.count.acted));
    assert_eq!(shown.collect::<Vec<_>>(), [(0, 1_000, 2), (1, 7_000, 1)]);
}

/// A member that was isolated is reached again when it is another one's turn, and what it lost by then
/// stays lost; a fault that comes every so often is one rule, however often it comes.
#[test]
fn one_is_isolated_at_a_time() {
    let timeline = timeline(5, &["every 1s for 900ms isolate holder"]);
    let mut network = timeline.network();
    // There was no holder at first, so that the first is isolated until 1.4 s.
    timeline.enact(0, 500 * MS, Some(2), &mut network);
    assert!(!passes(&mut network, 999 * MS, 2, 0));
    assert!(passes(&mut network, 999 * MS, 3, 0));
    timeline.enact(0, SECOND, Some(3), &mut network);
    assert!(passes(&mut network, SECOND, 2, 0), "its time is over");
    assert!(!passes(&mut network, SECOND, 3, 0));
    let under_way = |network: &mut Network, sent_ns| network.arrive(SECOND, 2, 0, sent_ns);
    assert_eq!(under_way(&mut network, 499 * MS), Arrival::Drop(Some(0)));
    assert_eq!(under_way(&mut network, SECOND), Arrival::Deliver);
    for turn in 2..100 {
        timeline.enact(0, turn * SECOND, Some(4), &mut network);
    }
    assert!(!passes(&mut network, 99 * SECOND, 0, 4));
    assert_eq!(network.rules().count(), 1);
    assert_eq!(acted(&network), (4, 4), "whomever it met");
}

/// Each time somebody is isolated is told for itself, with what was lost that time.
#[test]
fn every_isolation_is_told_with_its_own_victim_and_time() {
    let timeline = timeline(5, &["every 1s for 900ms isolate holder"]);
    let mut network = timeline.network();
    assert!(passes(&mut network, 499 * MS, 0, 2));
    for (at_ms, who) in [(500, 2), (1_000, 3), (2_000, 4), (3_000, 3)] {
        timeline.enact(0, at_ms * MS, Some(who), &mut network);
        // Nobody sends anything while 4 is isolated.
        if who != 4 {
            assert!(!passes(&mut network, at_ms * MS, who, 0));
        }
    }
    // What was under way when the first and the last of these isolations began.
    assert_eq!(
        network.arrive(3_500 * MS, 0, 2, 499 * MS),
        Arrival::Drop(Some(0))
    );
    for _ in 0..2 {
        let arrival = network.arrive(3_500 * MS, 3, 1, 2_500 * MS);
        assert_eq!(arrival, Arrival::Drop(Some(0)));
    }
    let told = |network: &Network, ended_ns| {
        let report = timeline.report(network, ended_ns).into_iter();
        let told = report.map(|did| {
            let until_ms = did.until_ns.map(|until_ns| until_ns / MS);
            (did.from_ns / MS, did.reach, until_ms, did.count.acted)
        });
        told.collect::<Vec<_>>()
    };
    let [two, three] =
        ["2|0,1,3,4", "3|0..2,4"].map(|links| links.parse::<chaos::Reach>().unwrap());
    let expected = [
        (500, two.clone(), Some(1_000), 2),
        (1_000, three.clone(), Some(1_900), 1),
        (3_000, three, None, 3),
    ];
    assert_eq!(told(&network, 3_600 * MS), expected);
    // What never did anything is told once.
    let mut idle = timeline.network();
    for (at_ms, who) in [(500, 2), (1_000, 3)] {
        timeline.enact(0, at_ms * MS, Some(who), &mut idle);
    }
    let expected = [(500, two, Some(1_000), 0)];
    assert_eq!(told(&idle, 5_000 * MS), expected);
}

const CHURN: Churn = Churn {
    fail_ns: 5 * SECOND,
    repair_ns: SECOND,
};

#[test]
fn outages_come_and_go_with_the_asked_rates() {
    let outages = Outages::new(CHURN, &Draw::new([SEED]), (3, 4), 0).take(20_000);
    let outages = outages.collect::<Vec<_>>();
    let seconds = |ns: u64| ns as f64 / SECOND as f64;
    let down = outages
        .iter()
        .map(|outage| seconds(outage.until_ns - outage.from_ns));
    let up = outages
        .windows(2)
        .map(|pair| seconds(pair[1].from_ns - pair[0].until_ns));
    let (repair, fail) = (Exp::new(1.0).unwrap(), Exp::new(0.2).unwrap());
    assert_distributed(down.collect(), 20_000.0, |value| repair.cdf(value));
    assert_distributed(up.collect(), 20_000.0, |value| fail.cdf(value));
}

#[test]
fn both_directions_of_an_edge_fail_together_and_other_edges_do_not() {
    let mut network = network(&["churn edges fail 5s repair 1s"]);
    let (mut down, mut both) = (0, 0);
    for n in 0..60_000_u64 {
        let now_ns = n * 100 * MS;
        let there = passes(&mut network, now_ns, 3, 4);
        assert_eq!(passes(&mut network, now_ns, 4, 3), there, "at {now_ns}");
        let elsewhere = passes(&mut network, now_ns, 5, 6);
        down += u32::from(!there);
        both += u32::from(!there && !elsewhere);
    }
    // A sixth of 6 000 s in about 1 000 outages: a standard deviation of about 4 %.
    let share = f64::from(down) / 60_000.0;
    assert!((share - 1.0 / 6.0).abs() < 0.02, "{share}");
    let together = f64::from(both) / 60_000.0;
    assert!((together - 1.0 / 36.0).abs() < 0.012, "{together}");
}

#[test]
fn churn_does_not_depend_on_who_sends_when() {
    let mut often = network(&["churn edges fail 5s repair 1s"]);
    let mut seldom = network(&["churn edges fail 5s repair 1s"]);
    for n in 0..10_000_u64 {
        let there = passes(&mut often, n * 100 * MS, 3, 4);
        if n % 37 == 0 {
            assert_eq!(passes(&mut seldom, n * 100 * MS, 3, 4), there);
        }
    }
}

#[test]
fn churn_ends_with_its_window() {
    let mut network = network(&["at 10s churn edges fail 1s repair 1s for 20s"]);
    let mut lost_at = Vec::new();
    for n in 0..1_000_u64 {
        if !passes(&mut network, n * 100 * MS, 0, 1) {
            lost_at.push(n / 10);
        }
    }
    assert!(!lost_at.is_empty());
    assert!(lost_at.iter().all(|second| (10..30).contains(second)));
}
