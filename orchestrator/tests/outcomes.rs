//! What became of each fault that was asked for: told one by one, whatever the others did.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{Place, row, rows};

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
    let line = format!("{TOO_LATE} --engine sim --out run");
    place.line(&line).expect(3);
    place.replace("run/faults.csv", ",pause,3,,0,", "100000000,pause,3,0,0,");
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

/// A delay that is in force cannot be why everybody waits for ever once nothing is under way.
#[test]
fn a_deadlock_is_violated_also_while_links_are_slow_or_lossy() {
    for engine in ENGINES {
        for faults in ["", "--fault 'delay 1ms'", "--fault 'loss 20%'"] {
            let place = Place::new();
            // Nobody gives back a vote, so that three who have one each wait for ever.
            let line = format!(
                "run thomas -n 3 --param retry=off --workload batch --seed 1 --delay 20ms \
                 --time-limit 30s --engine {engine} {faults}"
            );
            place
                .line(&line)
                .expect(1)
                .says("liveness violated: deadlock");
        }
    }
}

#[test]
fn a_long_stay_is_no_live_lock_of_those_who_try_again() {
    for algorithm in ["thomas", "tb-dva"] {
        let place = Place::new();
        let line = format!("run {algorithm} --engine sim -n 5 --hold 10s --entries 2 --seed 1");
        place.line(&line).expect(0).says("10 of 10 requests served");
    }
}

#[test]
fn a_batch_that_can_never_settle_is_refused_by_name() {
    let settled = "-n 5 --seed 1 --workload batch --settled";
    for algorithm in ["thomas", "tb-dva", "thomas --param retry=fixed"] {
        for engine in ENGINES {
            let place = Place::new();
            let line = format!("run {algorithm} --engine {engine} {settled}");
            place.line(&line).expect(2).warns("tries again and again");
            assert!(!place.path().join("results").exists());
        }
    }
    // Without retries it settles.
    let place = Place::new();
    let line = format!("run thomas --param retry=off --engine sim {settled} --asks 0,1");
    place.line(&line).expect(0);
}

#[test]
fn the_table_says_what_faults_did_and_faults_csv_has_the_delay() {
    let place = Place::new();
    let line = "run ricart-agrawala -n 5 --engine sim --seed 1 --loss 20% --delay '5ms 1ms' \
                --fault 'at 20ms kill 3' --time-limit 5s --out run";
    let finished = place.line(line).expect(3);
    finished.says("loss 20% on all");
    finished.says("5ms 1ms was asked for");
    finished.says("kill on 3");
    finished.says("sent again");
    let faults = rows(&place.path().join("run/faults.csv"));
    let delay = faults.last().unwrap();
    assert_eq!(
        (delay["fault"].as_str(), delay["target"].as_str()),
        ("delay 5ms 1ms", "all")
    );
    assert!(delay["acted"].parse::<u64>().unwrap() > 0);
    let page = place.read("run/report.html");
    assert!(page.contains("loss 20% on all"));
    place.line("check run").expect(3);
}

#[test]
fn a_row_of_summary_csv_says_which_run_it_was() {
    let place = Place::new();
    let line = "run raymond -n 3 --engine sim --seed 1 --loss 5% --hold 2ms --think exp:3ms \
                --fault 'at 10ms pause 1 for 1ms'";
    place.line(line).expect(0);
    let summary = row(&place.path().join("results/latest/summary.csv"));
    let columns = ["name", "delay", "hold", "think", "rate", "loss", "links"];
    let expected = ["raymond", "1ms 500us", "2ms", "exp:3ms", "", "5%", "fifo"];
    assert_eq!(columns.map(|column| summary[column].as_str()), expected);
    assert_eq!(summary["faults"], "loss 5% on all; at 10ms pause 1 for 1ms");
    assert!(summary["started"].ends_with('Z'), "{summary:?}");
    place.line("check results/latest").expect(0);
}

#[test]
fn one_node_is_one_node() {
    let place = Place::new();
    let one = place.line("run raymond -n 1 --engine sim --seed 1").stdout;
    assert!(one.starts_with("raymond · 1 node · "), "{one}");
}

/// How many were inside is a count and no limit.
#[test]
fn too_many_inside_are_counted() {
    let place = Place::new();
    let line = "run sanders -n 4 --engine sim --seed 1 --entries 10 --think 0s \
                --param 'structure=0/0;1/1;2/2;3/3' --param unsafe=yes";
    let finished = place.line(line).expect(1);
    finished.says("4 were inside at once; 1 may be");
    finished.says("overlaps");
}

#[test]
fn only_who_uses_the_bound_is_warned_that_it_is_broken() {
    let place = Place::new();
    let late = "-n 5 --engine sim --seed 1 --delay 5ms --bound 1ms";
    for (algorithm, warned) in [("raymond", false), ("banta-efficient", true)] {
        let finished = place.line(&format!("run {algorithm} {late}"));
        let told = finished.stderr.contains("longer than the bound");
        assert_eq!(told, warned, "{algorithm}: {}", finished.stderr);
    }
}
