//! Banta's three algorithms: worlds that depend on their parameters, and schedules from their
//! defects that do not end.

use algorithms::NodeId;
use algorithms::registry::LinkOrder;
use simulator::explore::{Kind, Outcome, TakenStep};

use crate::chosen::Chosen;

fn preliminary(nodes: u32) -> Chosen {
    Chosen::new("banta-simple", nodes).param("rules", "preliminary")
}

/// How many states there are of three sites on links that keep order, of three on others, and of four, in all
/// of which everybody is served.
fn states(name: &str) -> [u64; 3] {
    let three = || Chosen::new(name, 3).wants(&[1, 2, 2]);
    let four = Chosen::new(name, 4).wants(&[0, 1, 1, 1]);
    [three().links(LinkOrder::Fifo), three(), four].map(|world| world.assert_all_are_served())
}

#[test]
fn the_simple_algorithm_ends_in_every_world_that_fits() {
    let twice = [2, 2, 2];
    let ordered = preliminary(3).wants(&twice).links(LinkOrder::Fifo);
    assert_eq!(ordered.assert_all_are_served(), 18_208);
    assert_eq!(preliminary(3).wants(&twice).assert_all_are_served(), 39_576);
    assert_eq!(states("banta-simple"), [10_908, 28_501, 11_273]);
}

#[test]
fn without_epochs_both_versions_deadlock_even_on_links_that_keep_order() {
    for rules in ["preliminary", "numbered"] {
        for (links, steps) in [(LinkOrder::Fifo, 20), (LinkOrder::Any, 19)] {
            let simple = Chosen::new("banta-simple", 3).param("rules", rules);
            let simple = simple.printed(&["S2"]).wants(&[1, 1, 2]).links(links);
            let finding = simple.explore().finding.expect(rules);
            assert_eq!(
                finding.kind,
                Kind::Deadlock,
                "{rules}: {}",
                finding.schedule
            );
            assert_eq!(finding.schedule.steps.len(), steps, "{}", finding.schedule);
        }
    }
}

/// 0 and 1 hand the token to and fro, and 2's request is always one step behind.
fn chase_of_two(rounds: usize) -> String {
    let start = "req 1; 1>0:REQUEST; req 2; 2>0:REQUEST".to_owned();
    let turns = [(0, 1), (1, 0)].into_iter().cycle();
    turns.take(rounds).fold(start, |schedule, (a, b)| {
        format!("{schedule}; req {a}; {a}>{b}:TOKEN; {a}>{b}:REQUEST#2; exit {b}; {a}>{b}:REQUEST")
    })
}

/// The same on links that keep order: 0, 1 and 3 hand the token round, and each forward of 2's
/// request follows it on the same link.
fn chase_of_three(rounds: usize) -> String {
    let start = "req 1; 1>0:REQUEST; req 2; 2>0:REQUEST".to_owned();
    let turns = [(0, 1, 3), (1, 3, 0), (3, 0, 1)].into_iter().cycle();
    turns.take(rounds).fold(start, |schedule, (a, b, c)| {
        format!(
            "{schedule}; {a}>{c}:UPDATE; req {c}; {c}>{b}:REQUEST; {a}>{b}:TOKEN; exit {b}; \
             {a}>{b}:REQUEST"
        )
    })
}

#[test]
fn with_the_preliminary_rules_a_request_runs_after_the_token_for_ever() {
    for printed in [&[][..], &["S2"]] {
        let outcome = preliminary(3).printed(printed).replay(&chase_of_two(50));
        assert_eq!(outcome.findings, []);
        assert!(outcome.waiting.contains(&NodeId(2)), "{outcome:?}");
        let ordered = preliminary(4).printed(printed).links(LinkOrder::Fifo);
        let outcome = ordered.replay(&chase_of_three(60));
        assert_eq!(outcome.findings, []);
        assert!(outcome.waiting.contains(&NodeId(2)), "{outcome:?}");
    }
}

/// How often a step of the outcome did something of which these are the words.
fn times(outcome: &Outcome, words: &str) -> usize {
    let effects = outcome.told.iter().flat_map(TakenStep::effects);
    effects.filter(|effect| effect.contains(words)).count()
}

#[test]
fn with_numbers_a_copy_is_there_when_the_token_comes_back() {
    // 0 kept a copy, so when it leaves in the second round 2 is on the queue.
    let numbered = Chosen::new("banta-simple", 3);
    let two_rounds = chase_of_two(2);
    let (before, last) = two_rounds.rsplit_once("; ").expect("there are steps");
    assert_eq!(last, "1>0:REQUEST");
    let outcome = numbered.replay(before);
    assert_eq!(times(&outcome, "Token([2, 1] "), 1, "{:?}", outcome.told);
    let served = format!("{before}; 0>2:TOKEN");
    assert_eq!(numbered.replay(&served).inside, [NodeId(2)]);
}

#[test]
fn banta_n3_a_request_that_is_queued_is_passed_on_where_it_was_before() {
    // 2's request has been at 0 and 1, and is queued, when it reaches 0 again.
    let schedule = chase_of_two(2);
    let numbered = || Chosen::new("banta-simple", 3);
    let repaired = times(&numbered().replay(&schedule), "notes forwarded");
    let printed = numbered().printed(&["N3"]).replay(&schedule);
    assert_eq!((repaired, times(&printed, "notes forwarded")), (2, 3));
}

#[test]
fn the_efficient_algorithm_ends_in_every_world_that_fits_whenever_its_wait_is_over() {
    // A machine that forgets nothing when the token leaves has 8,898, 13,970 and 5,528 states, of
    // which those with another old mark are one here; and where what was filed joins the queue only
    // at the exit, behind what came while its site was inside, there are 4 and 16 more.
    assert_eq!(states("banta-efficient"), [8_524, 13_204, 5_516]);
}

#[test]
fn without_epochs_a_stray_comes_back_to_its_owner() {
    let efficient = Chosen::new("banta-efficient", 3).printed(&["E5b"]);
    let finding = efficient.wants(&[1, 2, 2]).explore().finding;
    let finding = finding.expect("an old update is believed");
    assert_eq!(
        (finding.kind, finding.schedule.steps.len()),
        (Kind::Deadlock, 22)
    );
}

/// The printed rules of chapter 5, read kindly: what E1, E2 and E3 say is repaired.
fn kindly(nodes: u32) -> Chosen {
    Chosen::new("banta-efficient", nodes).printed(&["E4", "E5", "E5b", "E6", "E7"])
}

#[test]
fn the_printed_rules_end_while_the_bound_is_kept_and_messages_come_first() {
    for (timers, states) in [("bounded:1", 1_747), ("bounded:2", 3_298)] {
        let three = kindly(3).wants(&[1, 1, 2]).timers(timers);
        assert_eq!(three.assert_all_are_served(), states, "{timers}");
    }
    let four = kindly(4).wants(&[0, 1, 1, 1]).timers("bounded:1");
    assert!(four.assert_all_are_served() > 1_000);
}

/// Banta's claim that two periods are necessary and sufficient, a tick up and down.
#[test]
fn two_periods_are_just_enough_if_messages_come_first() {
    let lost = |wait: &str, timers: &str| {
        let printed = kindly(3).param("wait", wait).wants(&[0, 1, 1]);
        let report = printed.timers(timers).explore();
        report.finding.map(|finding| finding.kind)
    };
    let deadlock = Some(Kind::Deadlock);
    assert_eq!(lost("2T", "bounded:1"), None);
    assert_eq!(lost("2T", "bounded:2"), None);
    assert_eq!(lost("2T", "bounded:1,ties=either"), deadlock);
    assert_eq!(lost("2T", "bounded:2,ties=either"), deadlock);
    assert_eq!(lost("1T", "bounded:1"), deadlock);
    assert_eq!(lost("1.5T", "bounded:2"), deadlock);
    assert_eq!(lost("3T", "bounded:1,ties=either"), None);
    assert_eq!(lost("2.5T", "bounded:2,ties=either"), None);
}

#[test]
fn time_stands_still_until_a_timer_that_is_due_has_gone_off() {
    let two = Chosen::new("banta-efficient", 2).timers("bounded:1");
    let outcome = two.replay("req 1; 1>0:REQUEST; tick");
    assert_eq!(outcome.possible, ["tick".parse().expect("a step")]);
    let outcome = two.replay("req 1; 1>0:REQUEST; tick; tick");
    assert_eq!(outcome.possible, ["timer 0:wait".parse().expect("a step")]);
}

#[test]
fn a_tie_is_lost_by_the_message_that_took_all_its_time() {
    let printed = kindly(3).timers("bounded:1,ties=either");
    let tie = "req 1; 1>0:REQUEST; tick; req 2; 0>2:UPDATE; tick; timer 0:wait; 2>0:REQUEST; \
               0>1:TOKEN; exit 1";
    let outcome = printed.replay(tie);
    let mishap = outcome.finding().expect("2's request is lost");
    assert_eq!(
        (mishap.kind, outcome.waiting),
        (Kind::Deadlock, vec![NodeId(2)])
    );
}

#[test]
fn banta_e7_and_k7d_an_idle_holder_pays_for_what_is_free() {
    for (name, defect) in [("banta-efficient", "E7"), ("banta-k", "K7d")] {
        let repaired = Chosen::new(name, 5).replay("req 0; exit 0");
        assert_eq!(times(&repaired, "sends"), 0, "{name}");
        let printed = Chosen::new(name, 5).printed(&[defect]);
        let outcome = printed.replay("req 0; timer 0:wait; exit 0");
        assert_eq!(times(&outcome, "sends Update"), 4, "{name}");
        assert_eq!((outcome.findings, outcome.waiting), (vec![], vec![]));
    }
}

#[test]
fn banta_nq2_without_path_reversal_the_detour_is_paid_again() {
    let schedule = "req 1; 1>0:REQUEST; 0>1:TOKEN; exit 1; req 2; 2>0:REQUEST; 0>1:REQUEST; \
                    1>2:TOKEN; exit 2; req 0";
    let queue = || Chosen::new("naimi-trehel-queue", 3);
    let asks = |chosen: Chosen, whom: &str| times(&chosen.replay(schedule), whom);
    let (direct, detour) = ("Request { site: 0 } to 2", "Request { site: 0 } to 1");
    assert_eq!(asks(queue(), direct), 1);
    assert_eq!(asks(queue().printed(&["NQ2"]), detour), 1);
}

#[test]
fn k_slots_are_enough_in_every_world_that_fits() {
    let drain = |k, nodes| Chosen::new("banta-k", nodes).param("k", k);
    for k in ["1", "2", "3"] {
        assert!(
            drain(k, 3).wants(&[1, 2, 2]).assert_all_are_served() > 10_000,
            "{k}"
        );
    }
    assert!(drain("2", 4).wants(&[0, 1, 1, 2]).assert_all_are_served() > 20_000);
    let pipeline = |k, nodes| drain(k, nodes).param("mode", "pipeline");
    assert!(pipeline("1", 3).wants(&[1, 2, 2]).assert_all_are_served() > 20_000);
    assert!(pipeline("2", 3).wants(&[1, 1, 2]).assert_all_are_served() > 10_000);
    assert!(
        pipeline("2", 4)
            .wants(&[0, 1, 1, 1])
            .assert_all_are_served()
            > 20_000
    );
}

/// All others have asked 0 while it was inside, and it has left: the queue is [1 2 … n-1*]. In a
/// pipeline the cycle began with the first of them, and the others are late.
fn everybody_asked(nodes: u32) -> String {
    let asked = (1..nodes).map(|node| format!("req {node}; {node}>0:REQUEST; "));
    format!("req 0; {}exit 0", asked.collect::<String>())
}

/// The queue is [1 2* 3 4]: two cycles are certain.
const TWO_ARE_LATE: &str = "req 0; req 1; req 2; 1>0:REQUEST; 2>0:REQUEST; exit 0; req 3; req 4; \
                            3>0:REQUEST; 4>0:REQUEST";

#[test]
fn k_slots_are_enough_when_everybody_is_on_the_queue() {
    for mode in ["drain", "pipeline"] {
        let queued = |k: &str, wants: &[u32], after: &str| {
            let chosen = Chosen::new("banta-k", wants.len() as u32);
            let chosen = chosen.param("k", k).param("mode", mode);
            chosen.wants(wants).after(after).assert_all_are_served()
        };
        for k in ["1", "2", "3", "5"] {
            for nodes in 4..=6 {
                let states = queued(k, &vec![1; nodes as usize], &everybody_asked(nodes));
                // Nothing is left to chance but when the token, slots and updates arrive.
                assert!(states > 15, "{mode} k={k}, {nodes} nodes: {states}");
            }
            queued(k, &[1; 5], TWO_ARE_LATE);
        }
        queued("2", &[2, 2, 1, 1], &everybody_asked(4));
    }
}

/// Some ask again, so that the queue of the next cycle is whatever it can be.
#[test]
fn k_slots_are_enough_when_the_queued_ask_again() {
    let again = |k: &str, wants: &[u32], after: &str| {
        let drain = Chosen::new("banta-k", wants.len() as u32).param("k", k);
        drain.wants(wants).after(after).assert_all_are_served()
    };
    assert_eq!(again("2", &[1, 2, 2, 1, 1], TWO_ARE_LATE), 18_080);
    let six = everybody_asked(6);
    assert_eq!(again("2", &[1, 1, 1, 2, 2, 2], &six), 96_721);
}

#[test]
fn banta_k8_a_free_slot_is_used_by_the_pipeline_alone() {
    let asked = "req 0; req 1; 1>0:REQUEST";
    let drain = Chosen::new("banta-k", 2).replay(asked);
    assert_eq!(
        (drain.inside, drain.waiting),
        (vec![NodeId(0)], vec![NodeId(1)])
    );
    assert_eq!(drain.possible, ["exit 0".parse().expect("a step")]);
    let pipeline = Chosen::new("banta-k", 2).param("mode", "pipeline");
    let outcome = pipeline.replay(&format!("{asked}; timer 0:wait; 0>1:TOKEN"));
    assert_eq!(outcome.inside, [NodeId(0), NodeId(1)]);
    assert_eq!(outcome.findings, []);
}
