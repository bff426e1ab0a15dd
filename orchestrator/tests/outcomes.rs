//! What became of each fault that was asked for: told one by one, whatever the others did.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;

use common::{Place, rows};

const ENGINES: [&str; 2] = ["sim", "cluster"];

/// A member that is dead cannot be paused.
const TOO_LATE: &str = "run raymond -n 5 --entries 5 --time-limit 3s --seed 1 \
                        --fault 'at 10ms kill 3' --fault 'at 100ms pause 3 for 50ms'";

#[test]
fn a_fault_that_found_nobody_leaves_a_run_with_all_its_files() {
    for engine in ENGINES {
        let place = Place::new();
        let line = format!("{TOO_LATE} --engine {engine} --out run");
        place
            .line(&line)
            .expect(3)
            .says("'at 100ms pause 3 for 50ms' was asked for and never");
        let out = place.path().join("run");
        assert!(out.join("report.html").is_file(), "{engine}");
        let faults = rows(&out.join("faults.csv"));
        let pause = faults.iter().find(|row| row["fault"] == "pause").unwrap();
        let columns = ["time_ns", "target", "until_ns", "acted"].map(|column| &pause[column]);
        assert_eq!(columns, ["", "3", "", "0"], "{engine}");
        let kill = faults.iter().find(|row| row["fault"] == "kill").unwrap();
        assert!(kill["remark"].contains("the token was"), "{engine}");
        place.line("check run").expect(3);
        place.line("report run").expect(0);
    }
}

#[test]
fn a_fault_that_ends_before_it_begins_is_refused_by_report_and_check() {
    let place = Place::new();
    place
        .line(&format!("{TOO_LATE} --engine sim --out run"))
        .expect(3);
    let path = place.path().join("run/faults.csv");
    let text = fs::read_to_string(&path).unwrap();
    let hostile = text.replace(",pause,3,,0,", "100000000,pause,3,0,0,");
    assert_ne!(hostile, text);
    fs::write(&path, hostile).unwrap();
    for command in ["report", "check"] {
        let finished = place.line(&format!("{command} run")).expect(2);
        finished.warns("column until_ns: found '0', expected 100000000");
    }
}

#[test]
fn two_faults_of_one_verb_answer_each_for_itself() {
    let pairs = [
        (
            "delay message REQUEST from 1 #1 by 2ms",
            "delay message REQUEST from 2 #99999 by 2ms",
        ),
        ("loss 30% on 0->1", "at 1h loss 30% on 1->2"),
        ("at 5ms pause 1 for 1ms", "at 1h pause 1 for 1ms"),
    ];
    for (first, second) in pairs {
        let place = Place::new();
        let line = format!(
            "run ricart-agrawala -n 3 --entries 3 --engine sim --seed 1 --out run \
             --fault '{first}' --fault '{second}'"
        );
        let finished = place.line(&line).expect(3);
        finished.says(&format!("the fault '{second}' was asked for and never did"));
        let faults = rows(&place.path().join("run/faults.csv"));
        assert_eq!(faults.len(), 2, "{faults:?}");
    }
}

#[test]
fn who_was_not_killed_is_not_named_among_the_dead() {
    let place = Place::new();
    let line = "run raymond -n 5 --engine sim --seed 1 --time-limit 2s \
                --fault 'at 10ms kill 0' --fault 'at 1h kill 3'";
    let finished = place.line(line).expect(3);
    finished.says("node 0: kill");
    assert!(!finished.stdout.contains("node at"), "{}", finished.stdout);
    assert!(!finished.stdout.contains("node 3:"), "{}", finished.stdout);
}

#[test]
fn a_restart_that_never_happened_is_not_told_as_one() {
    let place = Place::new();
    for line in [
        "run ricart-agrawala -n 3 --engine sim --seed 1 --workload batch \
         --fault 'when exit 1 #5 restart 1 after 1ms'",
        "run ricart-agrawala -n 5 --engine sim --seed 1 \
         --fault 'when enter 2 kill 2' --fault 'at 100ms restart 2 after 1s'",
    ] {
        let finished = place.line(line).expect(3);
        finished.says("was asked for and never did anything");
        assert!(
            !finished.stdout.contains("was restarted"),
            "{}",
            finished.stdout
        );
    }
}
