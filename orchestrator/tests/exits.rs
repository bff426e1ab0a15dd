//! The exit codes that scripts rely on, and Ctrl-C.

mod common;

use std::fs;
use std::process::Stdio;

use common::processes::{Guarded, catches, wait_until};
use common::{Place, assert_contains, words};
use rustix::process::{Signal, kill_process};

#[test]
fn a_run_that_holds_ends_with_0() {
    let place = Place::new();
    let finished = place.line("run raymond --engine sim").expect(0);
    finished.says("verdict: holds");
    assert_eq!(finished.stderr, "", "a run in a pipe is quiet");
}

#[test]
fn results_appear_whole_and_latest_leads_to_them() {
    let place = Place::new();
    place.line("run raymond --engine sim --seed 1").expect(0);
    place.line("run lamport --engine sim --seed 2").expect(0);
    let runs =
        |name: &str| fs::read_dir(place.path().join("results").join(name)).map(Iterator::count);
    assert_eq!(runs("raymond").ok(), Some(1));
    assert_eq!(runs("lamport").ok(), Some(1));
    assert_contains(&place.read("results/latest/summary.csv"), &["lamport"]);
    let checked = place.line("check results/latest").expect(0);
    assert!(checked.stdout.starts_with("lamport"), "{}", checked.stdout);
}

#[test]
fn a_printed_defect_that_shows_ends_with_1() {
    let place = Place::new();
    let line = "run suzuki-kasami --engine sim --as-printed=SK1 --seed 3";
    let finished = place.line(line).expect(1);
    finished.says("because liveness violated: deadlock");
    finished.says("as printed: banta-SK1");
    finished.warns("ran as printed");
}

#[test]
fn files_that_disagree_with_themselves_end_with_1() {
    let place = Place::new();
    place.line("run lamport --engine sim --out here").expect(0);
    place.replace("here/summary.csv", "holds", "violated");
    let finished = place.line("check here").expect(1);
    finished.warns("summary.csv");
}

#[test]
fn two_inside_at_once_end_with_1() {
    let place = Place::new();
    place
        .line("run raymond --engine sim -n 3 --seed 1 --out here")
        .expect(0);
    // The second entry begins before the first has left.
    let path = place.path().join("here/entries.csv");
    let mut reader = csv::Reader::from_path(&path).expect("a table");
    let headings = reader.headers().expect("headings").clone();
    let column = |name| {
        headings
            .iter()
            .position(|heading| heading == name)
            .expect(name)
    };
    let (enter, exit) = (column("enter_ns"), column("exit_ns"));
    let mut rows: Vec<Vec<String>> = reader
        .records()
        .map(|row| row.expect("a row").iter().map(str::to_owned).collect())
        .collect();
    let last = rows
        .iter()
        .map(|row| row[exit].parse::<u64>().expect("a time"))
        .max();
    rows[0][exit] = last.expect("a row").to_string();
    assert_ne!(rows[0][enter], rows[0][exit]);
    let mut writer = csv::Writer::from_path(&path).expect("a table");
    writer.write_record(&headings).expect("a row");
    for row in rows {
        writer.write_record(row).expect("a row");
    }
    writer.flush().expect("a file can be written");
    drop(writer);
    let checked = place.line("check here").expect(1).stdout;
    assert_contains(&checked, &["verdict: violated", "because safety"]);
}

#[test]
fn a_time_limit_that_cuts_a_run_ends_with_3() {
    let place = Place::new();
    let finished = place.line("run raymond --engine sim --time-limit 50ms");
    finished.expect(3).says("verdict: inconclusive");
}

/// One mistake has one exit code, whichever command meets it.
#[test]
fn a_scenario_in_which_time_stands_still_ends_with_2() {
    let place = Place::new();
    let still = "--delay 0s --hold 0s --workload one-at-a-time --total 4000000";
    let finished = place.line(&format!("run centralised --engine sim {still}"));
    finished.expect(2).warns("time stands still");
    let finished = place.line(&format!("compare centralised lamport {still}"));
    finished.expect(2).warns("time stands still");
}

#[test]
fn a_directory_that_holds_no_run_ends_with_2() {
    let place = Place::new();
    let finished = place.line("check .").expect(2);
    finished.warns("run.json");
}

#[test]
fn json_is_one_object_on_stdout() {
    let place = Place::new();
    let json = |line: &str| -> serde_json::Value {
        let printed = place.line(line).expect(0).stdout;
        serde_json::from_str(&printed).expect("one JSON object")
    };
    let object = json("run lamport --engine sim --workload one-at-a-time --json");
    assert_eq!(object["summary"]["messages_per_entry"], 27.0);
    assert_eq!(object["summary"]["expected_messages_per_entry"], 27.0);
    assert_eq!(object["exit_code"], 0);
    let directory = object["directory"].as_str().expect("a path");
    assert!(place.path().join(directory).join("run.json").is_file());
    let checked = json(&format!("check {directory} --json"));
    assert_eq!(checked["summary"], object["summary"]);
    let listed = json("list --json");
    let names = listed.as_array().map(Vec::len);
    assert_eq!(names, Some(algorithms::registry::ALL.len()));
}

#[test]
fn a_reader_that_has_read_enough_is_no_failure() {
    let place = Place::new();
    let mut command = place.command(["explain", "raymond"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn ctrl_c_keeps_what_was_recorded() {
    let place = Place::new();
    // A run of an hour, at least: it does not end by itself while the test looks on.
    let line = words("run raymond --engine sim --total 40000000 --name long");
    let mut run = Guarded::start(place.command(line));
    // The directory in the making is there before the run begins.
    let results = place.path().join("results/long");
    wait_until("there is a directory", || {
        fs::read_dir(&results).is_ok_and(|mut entries| entries.next().is_some())
    });
    kill_process(run.pid(), Signal::INT).expect("it is alive");
    run.finish().expect(130).says("interrupted");
    let checked = place.line("check results/latest").expect(3);
    checked.says("verdict: inconclusive");
    assert!(place.path().join("results/latest/summary.csv").is_file());
    let left = fs::read_dir(&results)
        .expect("the results are there")
        .count();
    assert_eq!(left, 1, "only the run itself is left");
}

/// More states would not have helped a search that somebody stopped.
#[test]
fn an_interrupted_search_says_so() {
    let place = Place::new();
    // More states than can be looked at while the test looks on.
    let mut search =
        Guarded::start(place.command(["explore", "lamport", "-n", "4", "--wants", "9"]));
    wait_until("it catches signals", || catches(search.pid(), Signal::INT));
    kill_process(search.pid(), Signal::INT).expect("it is alive");
    let finished = search.finish().expect(130);
    finished.says("because it was interrupted");
    assert!(
        !finished.stdout.contains("--max-states"),
        "{}",
        finished.stdout
    );
}
