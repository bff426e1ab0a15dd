//! Deaths that are guessed from silence: the dead are found out, and some are not dead.

use algorithms::NodeId;
use analysis::Verdict;
use model::plan::{Detector, Plan};
use model::run::{End, FaultKind, FaultOutcome, Run};
use model::workload::Quota;

use crate::scenes::{MS, entries, judge, plan, simulate};

const SILENCE_NS: u64 = 100 * MS;

/// Five members of sanders with recovery, each of which needs everybody's consent.
fn watchful(seed: u64, faults: &[&str]) -> Plan {
    let mut plan = plan("sanders", 5, seed, faults);
    let given = [("structure", "complete"), ("recovery", "on")];
    plan.params = plan.info().choose(&given).expect("the parameters fit");
    plan.detector = Detector::Timeout(SILENCE_NS);
    plan
}

fn false_suspicions(run: &Run) -> Vec<&FaultOutcome> {
    let untrue = |row: &&FaultOutcome| matches!(row.kind, FaultKind::FalseSuspicion { .. });
    run.faults.iter().filter(untrue).collect()
}

#[test]
fn the_dead_are_found_out_and_the_others_go_on() {
    for seed in 0..20 {
        let plan = watchful(seed, &["when enter 3 #2 kill 3"]);
        let run = simulate(&plan);
        assert_eq!(
            false_suspicions(&run),
            Vec::<&FaultOutcome>::new(),
            "{plan:?}"
        );
        assert_eq!(judge(&plan, &run).verdict, Verdict::Holds, "{plan:?}");
        // Nobody enters without the consent of the dead before it is taken for dead, and a silence
        // begins with a question that leaves within a quarter of it.
        let died_ns = run.faults[0].at_ns().expect("it was killed");
        let mut entered = run.requests.iter().filter_map(|row| row.entered_ns);
        let next_ns = entered.find(|&ns| ns > died_ns).expect("the others go on");
        let found_out = SILENCE_NS / 2..=SILENCE_NS * 3 / 2;
        assert!(found_out.contains(&(next_ns - died_ns)), "{plan:?}");
    }
}

#[test]
fn who_stands_still_inside_is_taken_for_dead_and_the_violation_says_so() {
    let plan = watchful(1, &["when enter 3 #2 pause 3 for 1s"]);
    let run = simulate(&plan);
    let suspicions = false_suspicions(&run);
    assert_eq!(
        suspicions[0].kind,
        FaultKind::FalseSuspicion { of: NodeId(3) }
    );
    let judgement = judge(&plan, &run);
    assert_eq!(judgement.verdict, Verdict::Violated);
    let why = judgement.safety.why().expect("it is violated");
    let after = format!(
        "after a false suspicion of 3 by node {}",
        suspicions[0].target
    );
    assert!(why.contains(&after), "{why}");
}

#[test]
fn who_is_slow_is_taken_for_dead_though_nothing_may_come_of_it() {
    // Its answers take longer than anybody waits for one.
    let mut plan = watchful(1, &["at 0s delay 150ms on 2->0"]);
    plan.workload.weights = vec![1.0, 0.0, 0.0, 0.0, 0.0];
    plan.workload.quota = Quota::Total(25);
    let run = simulate(&plan);
    let suspected = false_suspicions(&run);
    let names = suspected.iter().map(|row| (row.kind, row.victim()));
    let expected = (FaultKind::FalseSuspicion { of: NodeId(2) }, Some(NodeId(0)));
    assert_eq!(names.collect::<Vec<_>>(), [expected]);
    assert_eq!(entries(&run, 0).len(), 25, "it goes on without the other");
    let judgement = judge(&plan, &run);
    assert!(
        judgement
            .safety
            .why()
            .is_none_or(|why| !why.contains("suspicion"))
    );
    let warned = judgement
        .warnings
        .iter()
        .any(|text| text.contains("1 false suspicion"));
    assert!(warned, "{:?}", judgement.warnings);
}

#[test]
fn who_begins_another_life_at_once_is_known_to_have_died() {
    let plan = watchful(2, &["when enter 3 #2 restart 3 after 5ms"]);
    let run = simulate(&plan);
    assert_eq!(false_suspicions(&run), Vec::<&FaultOutcome>::new());
    assert_eq!(run.end, End::Finished);
    let survivors = run.requests.iter().filter(|row| row.node.0 != 3);
    assert!(survivors.into_iter().all(|row| row.left_ns.is_some()));
}

#[test]
fn without_anything_wrong_nobody_is_suspected_and_the_messages_are_the_same() {
    let watched = watchful(3, &[]);
    let mut told = watchful(3, &[]);
    told.detector = Detector::Told;
    let [watched, told] = [watched, told].map(|plan| simulate(&plan));
    assert_eq!(watched.faults, []);
    assert_eq!(
        watched.messages.values().map(|row| row.sent).sum::<u64>(),
        told.messages.values().map(|row| row.sent).sum::<u64>()
    );
    let sent = |run: &Run| {
        run.transport
            .values()
            .map(|row| row.datagrams_sent)
            .sum::<u64>()
    };
    assert_eq!(sent(&told), 0, "no heartbeats unless they are asked for");
    assert!(sent(&watched) > 0);
}
