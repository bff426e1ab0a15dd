//! Voting: worlds that are too large for the registry's tests or have no end, and the schedules of
//! the book's defects.

use algorithms::NodeId;
use algorithms::registry::LinkOrder;
use simulator::explore::Kind;

use crate::chosen::Chosen;

/// An algorithm among as many as there are wants, with these parameters and defects.
fn vote(name: &str, params: &[(&str, &str)], ids: &[&str], wants: &[u32]) -> Chosen {
    let chosen = Chosen::new(name, wants.len() as u32);
    let with = |chosen: Chosen, &(name, value): &(&str, &str)| chosen.param(name, value);
    let chosen = params.iter().fold(chosen, with);
    chosen.printed(ids).wants(wants)
}

#[test]
fn votes_that_are_handed_over_serve_everybody_whatever_tau_is() {
    for name in ["nhme", "bmav"] {
        for tau in ["0", "1"] {
            let two = vote(name, &[("tau", tau)], &[], &[1, 1, 0]);
            two.assert_all_are_served();
        }
        let silent = vote(name, &[("reject", "off")], &[], &[1, 1, 0]);
        silent.assert_all_are_served();
    }
    let rich = [("resources", "R:3=1,1,2"), ("ageing", "1")];
    vote("bmav", &rich, &[], &[1, 1, 0]).assert_all_are_served();
}

#[test]
fn a_vote_that_comes_twice_counts_once() {
    for name in ["nhme", "bmav"] {
        let twice = vote(name, &[], &[], &[1, 0, 0]).with(|options| options.duplicate = 1);
        twice.assert_all_are_served();
    }
}

#[test]
fn lost_messages_may_strand_somebody_and_let_nobody_else_in() {
    for name in ["nhme", "bmav"] {
        let lossy = vote(name, &[], &[], &[1, 1, 0]).with(|options| {
            (options.lose, options.safety_only) = (1, true);
            (options.order, options.max_states) = (LinkOrder::Fifo, 150_000);
        });
        let report = lossy.explore();
        assert!(report.finding.is_none(), "{name}: {:?}", report.finding);
    }
}

/// V11: a split vote. Two candidates among three always end.
#[test]
fn without_retry_a_split_vote_is_a_deadlock() {
    let thomas = |wants: &[u32]| vote("thomas", &[("retry", "off")], &[], wants);
    assert_eq!(thomas(&[1, 1, 1]).worst(), (Kind::Deadlock, 9));
    let four = thomas(&[1, 1, 0, 0]);
    let (kind, steps) = four.worst();
    assert_eq!(kind, Kind::Deadlock);
    assert!(steps <= 10, "{steps}");
    thomas(&[1, 1, 0]).assert_all_are_served();
    let printed = vote("thomas", &[], &["TH-D1"], &[1, 1, 1]);
    assert_eq!(printed.worst(), (Kind::Deadlock, 9));
}

/// Attempts are numbered for ever, but only their order counts; where timers wait for messages, or
/// messages are not late, these worlds have an end, and everybody can always be served.
#[test]
fn with_retry_everybody_can_always_be_served() {
    let states = |name: &str, wants: &[u32], timers: &str| {
        vote(name, &[], &[], wants)
            .timers(timers)
            .assert_all_are_served()
    };
    assert_eq!(states("thomas", &[2, 2], "patient"), 1_036);
    assert_eq!(states("thomas", &[1, 1, 1], "patient"), 120_437);
    assert_eq!(states("thomas", &[2, 2], "bounded:1"), 22_261);
    assert_eq!(states("thomas", &[1, 1, 0], "bounded:1"), 20_089);
    assert_eq!(states("tb-dva", &[2, 2], "patient"), 13_373);
    assert_eq!(states("tb-dva", &[1, 1, 0], "patient"), 48_725);
    assert_eq!(states("tb-dva", &[2, 2], "bounded:1"), 65_344);
}

/// With a time-out that may come before every answer no end is in sight: as far as the budget goes.
#[test]
fn with_retry_no_two_are_ever_inside() {
    for name in ["thomas", "tb-dva"] {
        let retry = vote(name, &[], &[], &[1, 1, 1]);
        let retry = retry.with(|options| options.max_states = 60_000);
        let report = retry.explore();
        assert!(report.finding.is_none(), "{name}: {:?}", report.finding);
        assert!(!report.complete, "{name} should have no end");
    }
}

/// V9 and V10: the shortest ways to two inside.
#[test]
fn as_printed_two_are_inside_within_six_steps() {
    for name in ["nhme", "bmav"] {
        let double = vote(name, &[], &["K1"], &[1, 1, 0]);
        assert_eq!(double.worst(), (Kind::Exclusion, 6), "{name}");
        let published = vote(name, &[], &["K3"], &[1, 1, 0]);
        assert_eq!(published.worst(), (Kind::Exclusion, 6), "{name}");
        let tau = vote(name, &[("tau", "1")], &["K3"], &[1, 1, 0]);
        assert_eq!(tau.worst(), (Kind::Exclusion, 7), "{name}");
    }
}

/// V10: even if timers go off only when nothing is under way.
#[test]
fn as_printed_two_are_inside_with_accurate_timers() {
    let patient = vote("nhme", &[], &["K3"], &[1, 1, 0]).timers("patient");
    assert_eq!(patient.worst(), (Kind::Exclusion, 13));
}

/// K2: 0's own vote went to 1, so 0 has none.
#[test]
fn as_printed_tau_falls_below_zero() {
    let published = vote("nhme", &[], &["K3"], &[0, 0, 0]);
    let outcome = published.replay("req 1; 1>0:REQ; req 0; timer 0:T1");
    let last = outcome.told.last().expect("there are steps");
    let effects = last.effects().join("; ");
    assert!(effects.contains("notes negative_tau = 1"), "{effects}");
}

/// K6: 2's vote is with 0, which has lost; 1 asks for it in vain.
#[test]
fn as_printed_a_losers_votes_are_lost_to_the_others() {
    let published = vote("nhme", &[("tau", "1")], &["K3"], &[0, 0, 0, 0, 0]);
    let schedule = "req 0; req 1; 0>2:REQ; 2>0:VOTE; 0>1:REQ; 1>0:NO; 1>2:REQ; 2>1:NO";
    let outcome = published.replay(schedule);
    assert_eq!(outcome.waiting, [NodeId(0), NodeId(1)]);
}

/// V12: with n = the silent, everybody in S wins.
#[test]
fn as_printed_silence_lets_everybody_in() {
    let all = "req 0; req 1; req 2; timer 0:T1; timer 1:T1; timer 2:T1; 0>1:P2REQ; 0>2:P2REQ; \
               1>0:P2REQ; 1>2:P2REQ; 2>0:P2REQ; 2>1:P2REQ; 1>0:P2V; 2>0:P2V; 2>1:P2V; timer 0:T2; \
               timer 1:T2; timer 2:T2";
    let printed = vote("nhme", &[], &["N2"], &[0, 0, 0]).replay(all);
    assert_eq!(printed.inside, [NodeId(0), NodeId(1), NodeId(2)]);
    let reported = vote("nhme", &[], &["K3"], &[0, 0, 0]).replay(all);
    assert_eq!(reported.inside, [NodeId(0)], "who is silent may be older");
}

/// N4: 0's question came too early for 1, so 0, the oldest, is sent back.
#[test]
fn as_printed_an_early_question_is_lost() {
    let early = "req 0; req 1; timer 0:T1; 0>1:P2REQ; timer 1:T1; 1>0:P2REQ";
    let ignored = vote("nhme", &[], &["N4"], &[0, 0, 0]);
    let outcome = ignored.replay(&format!("{early}; timer 0:T2; timer 1:T2"));
    assert_eq!(outcome.inside, [NodeId(1)]);
    let parked = vote("nhme", &[], &["K3"], &[0, 0, 0]);
    let outcome = parked.replay(&format!("{early}; 1>0:P2V; timer 0:T2; timer 1:T2"));
    assert_eq!(outcome.inside, [NodeId(0)]);
}

/// V5: with B2 repaired the majority has to hold most, too.
#[test]
fn as_printed_a_majority_enters_though_what_it_needs_is_taken() {
    let resources = [("resources", "R1:2=0,1;R2:3=0,1,2")];
    let votes = "req 0; req 1; req 2; 0>2:REQ; 1>2:REQ; 2>3:REQ; 2>4:REQ; 2>5:REQ; 3>2:VOTE; \
                 4>2:VOTE; 5>2:VOTE";
    let printed = vote("bmav", &resources, &["B2"], &[0; 6]).replay(votes);
    let mishap = &printed.findings[0];
    assert_eq!(mishap.kind, Kind::ProtocolError);
    assert!(mishap.why.contains("inside without R1"), "{mishap:?}");
    let compared = vote("bmav", &resources, &["K3"], &[0; 6]).replay(votes);
    assert_eq!((compared.findings, compared.inside), (vec![], vec![]));
}

/// K4: a process inside answers BUSY, and timers go off only when nothing is under way; still a
/// question may come just before the deciding vote.
#[test]
fn as_printed_two_are_inside_though_who_is_inside_says_so() {
    for name in ["nhme", "bmav"] {
        let patient = |id| vote(name, &[], &[id], &[1, 1, 0]).timers("patient");
        assert_eq!(patient("K4").worst(), (Kind::Exclusion, 13), "{name}");
        // A node that asked before is answered on entry. Retries never end, so neither does the search.
        let mended = patient("K4'").with(|options| options.max_states = 50_000);
        let report = mended.explore();
        assert!(report.finding.is_none(), "{name}: {:?}", report.finding);
        assert!(!report.complete, "{name} should have no end");
        // An early timer is enough to undo it all.
        let free = vote(name, &[], &["K4'"], &[1, 1, 0]);
        assert_eq!(free.worst(), (Kind::Exclusion, 6), "{name}");
    }
}
