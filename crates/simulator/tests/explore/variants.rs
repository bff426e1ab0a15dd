//! Every schedule of three nodes, with the other rules that an algorithm's source describes.

use algorithms::registry::LinkOrder;
use simulator::explore::Kind;

use crate::chosen::Chosen;

#[test]
fn the_lowest_number_first_serves_everybody_who_stops_asking() {
    for order in [LinkOrder::Fifo, LinkOrder::Any] {
        let lowest = Chosen::new("ricart-agrawala-token", 3).param("next", "lowest");
        let states = lowest
            .wants(&[2, 2, 2])
            .links(order)
            .assert_all_are_served();
        assert!(states > 1_000, "{states}");
    }
}

#[test]
fn the_rules_of_chapter_3_serve_everybody_once_they_are_repaired() {
    for order in [LinkOrder::Fifo, LinkOrder::Any] {
        let basic = Chosen::new("banta-simple", 3).param("rules", "basic");
        let states = basic.wants(&[1, 1, 2]).links(order).assert_all_are_served();
        assert!(states > 1_000, "{states}");
    }
}

/// The thesis says so itself: the draft is safe, and loses requests.
#[test]
fn the_first_draft_of_chapter_3_loses_requests_and_lets_no_two_in() {
    let draft = |wants: &[u32]| {
        let draft = Chosen::new("banta-simple", 3).param("rules", "draft");
        draft.wants(wants)
    };
    assert_eq!(draft(&[0, 1, 1]).worst().0, Kind::Deadlock);
    let safety = draft(&[1, 1, 2]).with(|options| options.safety_only = true);
    let report = safety.explore();
    assert!(report.finding.is_none(), "{:?}", report.finding);
    assert!(report.complete && report.states > 100, "{report:?}");
    draft(&[0, 1, 0]).assert_all_are_served();
}

#[test]
fn late_requests_before_the_good_site_are_served_all_the_same() {
    for wait in ["2T", "0s"] {
        let before = Chosen::new("banta-efficient", 3).param("late", "before");
        let before = before.param("wait", wait).wants(&[1, 2, 2]);
        let states = before.assert_all_are_served();
        assert!(states > 1_000, "{states}");
    }
}

#[test]
fn one_arbiter_may_serve_who_comes_first() {
    let fcfs = Chosen::new("sanders", 3).param("structure", "centralised");
    fcfs.param("policy", "fcfs")
        .wants(&[2, 2, 2])
        .assert_all_are_served();
}

/// Where two arbiters see two requests in different orders, each grants to another.
#[test]
fn two_arbiters_that_serve_who_comes_first_deadlock() {
    let two = Chosen::new("sanders", 3).param("structure", "complete");
    let two = two.param("rules", "basic").param("unsafe", "yes");
    let (kind, _) = two.param("policy", "fcfs").wants(&[1, 1, 1]).worst();
    assert_eq!(kind, Kind::Deadlock);
}

#[test]
fn whatever_the_buffer_everybody_is_elected_in_the_end() {
    for buffer in ["0s", "1T", "4T"] {
        let tb_dva = Chosen::new("tb-dva", 3).param("buffer", buffer);
        tb_dva
            .timers("patient")
            .wants(&[1, 1, 0])
            .assert_all_are_served();
    }
}

#[test]
fn a_chain_of_votes_serves_everybody_with_weights_too() {
    for votes in ["", "2,1,1", "3,1,1"] {
        for order in [LinkOrder::Fifo, LinkOrder::Any] {
            let chain = Chosen::new("thomas", 3).param("ask", "chain");
            let chain = chain.param("votes", votes).timers("patient");
            chain.wants(&[1, 1, 1]).links(order).assert_all_are_served();
        }
    }
    let stuck = Chosen::new("thomas", 3).param("ask", "chain");
    let (kind, _) = stuck.param("retry", "off").wants(&[1, 1, 1]).worst();
    assert_eq!(kind, Kind::Deadlock);
}

#[test]
fn any_majority_voting_can_be_the_first_phase_of_nhme() {
    for (name, value) in [("queue", "arrival"), ("votes", "2,1,1"), ("votes", "3,1,1")] {
        let nhme = Chosen::new("nhme", 3).param(name, value);
        nhme.wants(&[1, 1, 0]).assert_all_are_served();
    }
}

#[test]
fn priorities_and_aging_keep_nobody_out() {
    for ageing in ["0", "1"] {
        let nhme = Chosen::new("nhme", 3)
            .param("priority", "on")
            .param("ageing", ageing);
        let nhme = nhme.with(|options| options.priorities = vec![1, 5, 0]);
        nhme.wants(&[1, 1, 0]).assert_all_are_served();
    }
}
