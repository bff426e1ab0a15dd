//! Members that die, stand still or come back, and messages that a fault names.

use algorithms::NodeId;
use analysis::Verdict;
use model::run::{End, Happened};

use crate::scenes::{MS, entries, fault, finish, judge, messages, plan, simulate};

#[test]
fn a_member_killed_inside_is_inside_until_then_and_asks_no_more() {
    let plan = plan("ricart-agrawala", 5, 1, &["when enter 2 #2 kill 2"]);
    let run = simulate(&plan);
    let row = fault(&plan, &run, "kill");
    assert_eq!((row.victim(), row.acted), (Some(NodeId(2)), 1));
    assert_eq!(entries(&run, 2).last().copied(), row.at_ns());
    assert_eq!(entries(&run, 2).len(), 2);
    assert_eq!(run.end, End::Deadlock);
    let judgement = judge(&plan, &run);
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
    assert!(judgement.safety.holds(), "{judgement:?}");
    let why = judgement.liveness.why().expect("it is not met");
    assert!(
        why.contains("1 member died and ricart-agrawala tolerates none"),
        "{why}"
    );
    // What it sent in its last moment never left, and what was sent to it never arrived.
    let (sent, received, lost) = messages(&run, "REQUEST");
    assert!(
        lost > 0 && sent == received + lost,
        "{sent} {received} {lost}"
    );
}

#[test]
fn a_death_between_entries_lets_the_others_of_a_star_go_on() {
    let plan = plan("centralised", 5, 1, &["when exit 3 kill 3"]);
    let run = simulate(&plan);
    // Its release died with it, so the coordinator waits for ever.
    assert_eq!(run.end, End::Deadlock);
    assert_eq!(messages(&run, "RELEASE").2, 1);
    assert_eq!(entries(&run, 3).len(), 1);
}

#[test]
fn a_death_before_its_request_has_left_is_nobody_elses_affair() {
    let plan = plan("centralised", 5, 1, &["when request 3 #2 kill 3"]);
    let run = finish(&plan);
    assert_eq!(entries(&run, 3).len(), 1);
    assert!(
        [0, 1, 2, 4]
            .iter()
            .all(|node| entries(&run, *node).len() == 5)
    );
    assert_eq!(judge(&plan, &run).verdict, Verdict::Holds);
}

#[test]
fn a_paused_member_only_delays() {
    let plan = plan("raymond", 5, 1, &["at 20ms pause 1 for 2s"]);
    let run = finish(&plan);
    let row = fault(&plan, &run, "pause");
    assert_eq!(row.happened, Happened::from(20 * MS, Some(2_020 * MS)));
    let quiet = 21 * MS..2_020 * MS;
    assert!(entries(&run, 1).iter().all(|ns| !quiet.contains(ns)));
    assert_eq!(entries(&run, 1).len(), 5);
    assert_eq!(judge(&plan, &run).verdict, Verdict::Holds);
}

#[test]
fn who_is_paused_for_good_is_named_and_the_run_ends() {
    let mut plan = plan("suzuki-kasami", 4, 1, &["at 15ms pause holder"]);
    let run = simulate(&plan);
    assert_eq!(run.end, End::Deadlock);
    assert_eq!(fault(&plan, &run, "pause").until_ns(), None);
    let judgement = judge(&plan, &run);
    assert_eq!(judgement.verdict, Verdict::Inconclusive, "{judgement:?}");
    plan.time_limit_ns = Some(3_000 * MS);
    let run = simulate(&plan);
    assert_eq!((run.end, run.ended_ns), (End::TimeLimit, 3_000 * MS));
}

#[test]
fn resume_ends_a_pause_and_without_one_does_nothing() {
    let faults = ["at 20ms pause 1", "at 500ms resume 1"];
    let both = plan("raymond", 5, 1, &faults);
    let mut run = simulate(&both);
    assert_eq!(run.end, End::Finished);
    assert_eq!(fault(&both, &run, "pause").until_ns(), Some(500 * MS));
    assert_eq!(fault(&both, &run, "resume").acted, 1);
    run = simulate(&plan("raymond", 5, 1, &faults[1..]));
    assert!(
        run.faults.iter().all(|row| row.acted == 0),
        "{:?}",
        run.faults
    );
}

#[test]
fn a_restarted_member_runs_no_algorithm_and_brings_no_second_token() {
    for name in ["raymond", "naimi-trehel", "suzuki-kasami"] {
        let plan = plan(name, 5, 1, &["when enter 2 #2 restart token after 5ms"]);
        let run = simulate(&plan);
        let row = fault(&plan, &run, "restart");
        assert_eq!(row.victim(), Some(NodeId(2)), "{name}: it has the token");
        assert_eq!(row.remark.as_deref(), Some("the token was with it"));
        let mut entered = run.requests.iter().filter_map(|row| row.entered_ns);
        assert!(entered.all(|ns| Some(ns) <= row.at_ns()), "{name}");
        let judgement = judge(&plan, &run);
        assert_eq!(judgement.verdict, Verdict::Inconclusive, "{name}");
        assert!(judgement.safety.holds(), "{name}");
        let mut waiting = run.requests.iter().filter(|row| row.entered_ns.is_none());
        assert!(waiting.any(|row| row.node != NodeId(2)), "{name}");
    }
}

#[test]
fn with_nobody_inside_the_next_to_enter_is_the_holder() {
    let plan = plan("centralised", 4, 1, &["at 1ms pause holder for 100ms"]);
    let run = simulate(&plan);
    let row = fault(&plan, &run, "pause");
    let first = run
        .requests
        .iter()
        .filter_map(|row| Some((row.entered_ns?, row.node)));
    let (entered_ns, node) = first.min().expect("somebody enters");
    assert!(entered_ns > MS);
    assert_eq!((row.at_ns(), row.victim()), (Some(entered_ns), Some(node)));
    // It stands still where it is.
    let stay = run
        .requests
        .iter()
        .find(|row| row.entered_ns == Some(entered_ns));
    let left_ns = stay.and_then(|row| row.left_ns);
    assert_eq!(left_ns, Some(entered_ns + 100 * MS));
}

#[test]
fn random_victims_depend_on_the_seed_alone() {
    let victim = |seed| {
        let plan = plan("centralised", 9, seed, &["at 5ms pause random for 5ms"]);
        fault(&plan, &simulate(&plan), "pause").victim()
    };
    let victims = (0..20).map(victim).collect::<Vec<_>>();
    assert_eq!(victims, (0..20).map(victim).collect::<Vec<_>>());
    assert!(victims.iter().any(|other| *other != victims[0]));
}

#[test]
fn a_fault_that_comes_too_late_makes_it_inconclusive() {
    for late in [
        "at 1h kill 2",
        "when enter 2 #9 kill 2",
        "lose message PRIVILEGE #99",
    ] {
        let plan = plan("suzuki-kasami", 3, 1, &[late]);
        let run = simulate(&plan);
        assert_eq!(run.end, End::Finished, "{late}");
        assert_eq!(run.faults.len(), 1, "{late}");
        assert_eq!(run.faults[0].happened, Happened::Never, "{late}");
        let judgement = judge(&plan, &run);
        assert_eq!(judgement.verdict, Verdict::Inconclusive, "{late}");
    }
}

#[test]
fn what_is_done_to_a_message_is_done_to_that_message() {
    let lost = plan("suzuki-kasami", 3, 1, &["lose message PRIVILEGE #1"]);
    let run = simulate(&lost);
    assert_eq!(fault(&lost, &run, "lose").acted, 1);
    assert_eq!(messages(&run, "PRIVILEGE"), (1, 0, 1));
    assert_eq!(run.end, End::Deadlock);

    let late = ["delay message REQUEST from 1 to 2 #1 by 40ms"];
    let run = simulate(&plan("ricart-agrawala", 3, 1, &late));
    assert_eq!(run.end, End::Finished);
    assert!(entries(&run, 1)[0] >= 51 * MS, "2 heard of it 40 ms later");

    let twice = ["duplicate message REQUEST from 1 to 2 #1"];
    let twice = plan("ricart-agrawala", 3, 1, &twice);
    let run = simulate(&twice);
    assert_eq!(fault(&twice, &run, "duplicate").acted, 1);
    let without = simulate(&plan("ricart-agrawala", 3, 1, &[]));
    assert_eq!(
        messages(&run, "REQUEST").0,
        messages(&without, "REQUEST").0 + 1
    );
}

#[test]
fn an_event_strikes_before_anything_of_it_leaves() {
    // The token is on its way when its sender dies, and never was.
    let fault_text = "when message PRIVILEGE from 0 #1 kill 0";
    let plan = plan("raymond", 3, 1, &[fault_text]);
    let run = simulate(&plan);
    assert_eq!(messages(&run, "PRIVILEGE"), (1, 0, 1));
    assert_eq!(fault(&plan, &run, "kill").victim(), Some(NodeId(0)));
    let sent = (NodeId(0), Some(NodeId(1)), "PRIVILEGE");
    assert_eq!(run.messages[&sent].lost, 1);
}

#[test]
fn the_same_plan_with_faults_gives_the_same_run() {
    let faults = [
        "every 7ms for 3ms pause random",
        "at 30ms kill random",
        "when enter 1 #2 restart holder after 1ms",
    ];
    for seed in 0..20 {
        let plan = plan("naimi-trehel", 6, seed, &faults);
        let run = simulate(&plan);
        assert_eq!(run, simulate(&plan), "seed {seed}");
        assert!(run.faults.iter().any(|row| row.acted > 0), "seed {seed}");
    }
}
