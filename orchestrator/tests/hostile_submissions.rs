//! Submissions that attack the grader, each within bounds: what is theirs to take is limited, and what
//! comes after them is graded as if they had not been.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::processes::run_and_look;
use common::{Finished, Place, assert_contains};

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

const CHALLENGE: &str = "
title = \"one run\"
asks = \"?\"

[[check]]
name = \"it holds\"
points = 1
run = { engine = \"sim\", nodes = 2, entries = 1 }
";

const PROTOCOL: &str = "
title = \"the protocol\"
asks = \"?\"

[[check]]
name = \"it keeps to it\"
points = 1
protocol = true
";

fn place(challenge: &str) -> Place {
    let place = Place::new();
    place.file("one.toml", challenge);
    place
}

fn hostile(attack: &str) -> String {
    let program = root().join("orchestrator/tests/programs/hostile.py");
    format!("python3 {} '{attack}'", program.display())
}

/// The report in one line, as it is folded where it is long.
fn told(finished: Finished) -> String {
    let finished = finished.expect(1);
    finished
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn graded(place: &Place, flags: &str, attack: &str) -> Finished {
    let line = format!(
        "grade ./one.toml {flags} --answer-within 60s -- {}",
        hostile(attack)
    );
    let finished = run_and_look(place, &line);
    let got_through = place.path().join("got-through");
    assert!(
        !got_through.exists(),
        "{attack}: {}",
        place.read("got-through")
    );
    finished
}

#[test]
fn a_submission_that_multiplies_is_ended_with_all_that_it_started() {
    let finished = graded(&place(CHALLENGE), "", "multiplies");
    assert_contains(&told(finished), &["and 16 are allowed"]);
}

#[test]
fn a_submission_that_devours_memory_is_ended() {
    let finished = graded(&place(CHALLENGE), "--program-memory 200", "devours");
    assert_contains(&told(finished), &["MiB of memory, and 200 are allowed"]);
}

#[test]
fn messages_that_pile_up_end_the_run() {
    let finished = graded(&place(CHALLENGE), "", "floods");
    assert_contains(&told(finished), &["more than 64 MiB of messages"]);
}

/// The time of a submission is over even while it is walked through the protocol.
#[test]
fn a_submission_that_dawdles_is_not_waited_for() {
    let begun = Instant::now();
    let finished = graded(&place(PROTOCOL), "--within 3s", "dawdles");
    finished.expect(3).says("not run");
    // Three seconds, and one answer; the rest is for a busy machine.
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "{:?}",
        begun.elapsed()
    );
}

/// Seeds that come through a pipe are nowhere to be found.
#[test]
fn hidden_seeds_may_come_through_a_pipe() {
    let place = place(CHALLENGE);
    place.file("seeds.txt", "424242\n");
    let line = format!(
        "grade ./one.toml --seeds - --json -- {}",
        hostile("finds the seeds")
    );
    let program = env!("CARGO_BIN_EXE_orchestrator");
    let output = Command::new("sh")
        .args(["-c", &format!("cat seeds.txt | {program} {line}")])
        .current_dir(place.path())
        .output();
    let output = output.unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        told.contains("\"checks\""),
        "{told}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(!place.path().join("got-through").exists());
}

/// In a terminal, which Python makes: what a program writes to it would be taken for ours.
#[test]
fn a_submission_has_no_terminal() {
    let place = place(CHALLENGE);
    let line = format!("grade ./one.toml -- {}", hostile("writes to the terminal"));
    let in_terminal = "import pty, sys; pty.spawn(sys.argv[1:])";
    let program = env!("CARGO_BIN_EXE_orchestrator");
    let output = Command::new("python3")
        .args(["-c", in_terminal, program])
        .args(common::words(&line))
        .current_dir(place.path())
        .stdin(Stdio::null())
        .output();
    let told = String::from_utf8_lossy(&output.unwrap().stdout).into_owned();
    assert!(told.contains("one run"), "{told}");
    assert!(!told.contains("says the submission"), "{told}");
    assert!(!place.path().join("got-through").exists());
}

/// In a namespace of processes of its own a submission sees nobody whom it could kill, and those that come after it
/// are graded. The page on grading shows this command.
#[test]
fn a_submission_in_a_namespace_of_its_own_cannot_kill_the_grader() {
    let page = std::fs::read_to_string(root().join("docs/grading.md")).unwrap();
    let shown = page
        .lines()
        .find_map(|line| line.split_once("-- unshare "))
        .unwrap()
        .1;
    let unshare = format!("unshare {}", shown.split_once(" python3").unwrap().0);
    let words = common::words(&unshare);
    let there = Command::new(&words[0])
        .args(&words[1..])
        .arg("true")
        .output();
    if !there.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: {unshare}: namespaces cannot be made here");
        return;
    }
    let place = place(CHALLENGE);
    let right = root().join("examples/ricart_agrawala.py");
    let all = root().join("orchestrator/tests/programs/hostile.py");
    place.file("in/a.py", &std::fs::read_to_string(all).unwrap());
    place.file("in/b.py", &std::fs::read_to_string(right).unwrap());
    let line = "grade ./one.toml --submissions in --answer-within 60s";
    let finished = run_and_look(
        &place,
        &format!("{line} -- {unshare} python3 {{}} 'kills the grader'"),
    );
    let finished = finished.expect(1);
    finished.says("a.py        0/1");
    finished.says("b.py        1/1");
}
