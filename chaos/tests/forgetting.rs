//! Faults that are over are forgotten, and what they did to datagrams under way stays done.

mod common;

use chaos::{Arrival, Network, Reach, Rule, TimeWindow};
use common::{MS, network};

/// The rule that a fault is made of.
fn rule(fault: &str) -> Rule {
    let network = network(&[fault]);
    let first = network.rules().next();
    first.expect("a rule").0.clone()
}

/// The rule, from this moment on.
fn from(at_ms: u64, fault: &str) -> Rule {
    Rule {
        window: TimeWindow {
            from_ns: at_ms * MS,
            ..TimeWindow::ALWAYS
        },
        ..rule(fault)
    }
}

#[test]
fn a_forgotten_rule_is_on_no_link_and_its_place_is_used_again() {
    let mut network = Network::new(common::SEED, 10);
    for round in 0..1_000 {
        let number = network.add(rule("loss 100% on 0->1"));
        assert_eq!(number, 0, "round {round}");
        assert!(network.fate(round * MS, 0, 1, 100).is_lost());
        let count = network.forget(number, round * MS);
        assert_eq!((count.seen, count.acted), (1, 1));
        assert_eq!(network.stack(0, 1).count(), 0);
        assert!(!network.fate(round * MS, 0, 1, 100).is_lost());
    }
    assert_eq!(network.rules().count(), 0);
}

/// A rule that stands where another stood remembers nothing of what that one saw.
#[test]
fn the_next_in_the_place_begins_anew() {
    let mut network = Network::new(common::SEED, 10);
    let first = network.add(rule("loss every 3 on 0->1"));
    network.fate(0, 0, 1, 100);
    network.fate(0, 0, 1, 100);
    network.forget(first, 0);
    assert_eq!(network.add(rule("loss every 2 on 0->1")), first);
    let lost = [(); 4].map(|()| network.fate(0, 0, 1, 100).is_lost());
    assert_eq!(lost, [false, true, false, true]);
}

#[test]
fn what_a_forgotten_cut_met_under_way_stays_cut() {
    let mut network = Network::new(common::SEED, 10);
    network.fate(0, 0, 1, 100);
    let cut = network.add(from(5, "cut 0-1"));
    network.forget(cut, 10 * MS);
    assert_eq!(network.arrive(20 * MS, 0, 1, 0), Arrival::Drop(None));
    assert_eq!(network.arrive(20 * MS, 0, 1, 7 * MS), Arrival::Deliver);
    // The rule that gets its place is not blamed for it.
    let other = network.add(rule("loss 1% on 0->1"));
    assert_eq!(other, cut);
    assert_eq!(network.arrive(20 * MS, 0, 1, 0), Arrival::Drop(None));
    assert_eq!(network.count(other).acted, 0);
}

#[test]
fn healings_are_forgotten_and_what_they_healed_stays_healed() {
    let mut network = Network::new(common::SEED, 10);
    let cut = network.add(from(0, "cut 0-1"));
    for at_ms in 1..=500 {
        network.heal(from(at_ms, "loss 1%").window, Reach::All);
        network.heal(from(at_ms, "loss 1%").window, Reach::edge(2, 3));
        network.forget_healings(at_ms * MS);
        assert!(network.healings() <= 2, "{}", network.healings());
        assert!(!network.fate(at_ms * MS, 0, 1, 100).is_lost());
    }
    assert!(network.is_over(cut, 500 * MS) && !network.is_in_force(cut, 500 * MS));
    // One that is yet to come is needed, whatever there is to heal now.
    network.heal(from(600, "loss 1%").window, Reach::All);
    network.forget(cut, 500 * MS);
    network.forget_healings(500 * MS);
    assert_eq!(network.healings(), 1);
    network.forget_healings(601 * MS);
    assert_eq!(network.healings(), 0);
}
