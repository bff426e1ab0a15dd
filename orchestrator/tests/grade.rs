//! `grade`: points for programs, by the course and by challenges of one's own.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Finished, Place, assert_contains};
use serde_json::Value;
use toml::Table;

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn graded(place: &Place, line: &str) -> Finished {
    place.line(&line.replace("ROOT", root().to_str().unwrap()))
}

/// The report in one line, as it is folded where it is long.
fn told(finished: &Finished) -> String {
    finished
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// The first submission of what `--json` printed.
fn submission(finished: &Finished) -> Value {
    let object: Value = serde_json::from_str(&finished.stdout).unwrap();
    object["submissions"][0].clone()
}

/// The solution of a challenge of the course gets all points, and its wrong program does not.
fn solution_and_wrong_one(file: &str) {
    let text = fs::read_to_string(root().join("experiments/course").join(file)).unwrap();
    let challenge = text.parse::<Table>().unwrap();
    let (_, name) = file.trim_end_matches(".toml").split_once('-').unwrap();
    let points = challenge["check"].as_array().unwrap().iter();
    let points = points.map(|check| check["points"].as_integer().unwrap());
    let all = points.sum::<i64>();
    let place = Place::new();
    let program = |key: &str| challenge[key].as_str().unwrap().to_owned();
    let line = |program: &str| format!("grade {name} --json -- python3 ROOT/{program}");
    let right = graded(&place, &line(&program("solution"))).expect(0);
    assert_eq!(submission(&right)["points"], all, "{}", right.stdout);
    let wrong = graded(&place, &line(&program("wrong"))).expect(1);
    let points = submission(&wrong)["points"].as_i64().unwrap();
    assert!(points < all, "{}", wrong.stdout);
}

#[test]
fn challenge_1_tells_right_from_wrong() {
    solution_and_wrong_one("1-safe.toml");
}

#[test]
fn challenge_2_tells_right_from_wrong() {
    solution_and_wrong_one("2-served.toml");
}

#[test]
fn challenge_3_tells_right_from_wrong() {
    solution_and_wrong_one("3-thrifty.toml");
}

#[test]
fn challenge_4_tells_right_from_wrong() {
    solution_and_wrong_one("4-ordered.toml");
}

#[test]
fn challenge_5_tells_right_from_wrong() {
    solution_and_wrong_one("5-few.toml");
}

#[test]
fn challenge_6_tells_right_from_wrong() {
    solution_and_wrong_one("6-lossy.toml");
}

#[test]
fn challenge_7_tells_right_from_wrong() {
    solution_and_wrong_one("7-survivor.toml");
}

/// Only what explores, so that this is quick.
const SCHEDULES: &str = "
title = \"every schedule\"
asks = \"?\"

[[check]]
name = \"two\"
points = 1
explore = { nodes = 2, max-states = 100000 }

[[check]]
name = \"three\"
points = 2
explore = { nodes = 3, max-states = 100000 }
";

/// The five classic mistakes, each with a schedule that a person can follow.
#[test]
fn the_broken_examples_are_found_with_a_short_schedule_and_a_page() {
    let place = Place::new();
    place.file("schedules.toml", SCHEDULES);
    for name in [
        "no_tie_break",
        "reply_while_inside",
        "lost_wake_up",
        "token_twice",
        "busy_polling",
    ] {
        let program = format!("python3 ROOT/examples/broken/{name}.py");
        let line = format!("grade ./schedules.toml --json --out {name} -- {program}");
        let found = submission(&graded(&place, &line).expect(1));
        let checks = found["checks"].as_array().unwrap().iter();
        let failed = checks
            .filter(|check| check["answer"] == "failed")
            .collect::<Vec<_>>();
        assert!(!failed.is_empty(), "{name}: {found}");
        let shortest = failed
            .iter()
            .map(|check| check["schedule"].as_array().unwrap().len())
            .min();
        assert!((1..=15).contains(&shortest.unwrap()), "{name}: {found}");
        for check in failed {
            let page = place
                .path()
                .join(name)
                .join(check["page"].as_str().unwrap());
            let page = fs::read_to_string(page).unwrap();
            assert!(page.contains("<html"), "{name}: {check}");
            let again = check["again"].as_str().unwrap();
            let again = place.line(again.strip_prefix("orchestrator ").unwrap());
            again.expect(1).says("violated");
        }
    }
}

const RUNS: &str = "
title = \"runs\"
asks = \"?\"

[[check]]
name = \"eight messages\"
points = 3
run = { engine = \"sim\", nodes = 5, entries = 2 }
runs = 2
expects = { always = \"messages_per_entry <= 2*(nodes-1)\" }

[[check]]
name = \"seven messages\"
points = 4
run = { engine = \"sim\", nodes = 5, entries = 2 }
expects = { always = \"messages_per_entry <= 7\" }
";

/// How many cases somebody else's reader of XML finds.
fn cases(path: &Path) -> String {
    let read = "import sys, xml.etree.ElementTree as x\n\
                print(len(x.parse(sys.argv[1]).getroot().findall('testsuite/testcase')))";
    let mut python = Command::new("python3");
    let output = python.args(["-c", read]).arg(path).output().unwrap();
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "it is no XML: {why}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Whatever a submission is called and writes, the report is one line for each thing, and XML.
#[test]
fn no_submission_writes_the_report() {
    let place = Place::new();
    place.file("runs.toml", RUNS);
    let shouts = "import sys; sys.exit('\\x1b[31m\\n\\n7 of 7 points\\n\\x00]]></failure>')";
    place.file("in/a\n7 of 7 points\n<&\".py", shouts);
    let line = "grade ./runs.toml --submissions in --junit out.xml -- python3 {}";
    let finished = graded(&place, line).expect(1);
    let told = &finished.stdout;
    assert!(!told.lines().any(|line| line == "7 of 7 points"), "{told}");
    assert!(!told.contains('\u{1b}'), "{told}");
    finished.says("0 of 7 points");
    assert_eq!(cases(&place.path().join("out.xml")), "2");
}

#[test]
fn a_folder_of_submissions_is_graded_one_by_one() {
    let place = Place::new();
    place.file("runs.toml", RUNS);
    let good = fs::read_to_string(root().join("examples/ricart_agrawala.py")).unwrap();
    place.file("in/alice.py", &good);
    place.file("in/bob.py", "raise SystemExit('I had no time <&>')");
    place.file("in/_notes.txt", "not a submission");
    place.file("seeds.txt", "11 # the first\n\n12\n");
    let line = "grade ./runs.toml --submissions in --seeds seeds.txt --junit out.xml --out pages -- python3 {}";
    let finished = graded(&place, line).expect(1);
    assert_contains(
        &finished.stdout,
        &[
            "alice.py",
            "3 of 7 points",
            "hidden seed 1",
            "alice.py/2/view.html",
            "I had no time",
            "0 of 7 points",
        ],
    );
    assert!(!finished.stdout.contains("notes"), "{}", finished.stdout);
    assert!(!finished.stdout.contains("seed 11"), "{}", finished.stdout);
    assert!(place.path().join("pages/alice.py/2/view.html").is_file());
    let junit = place.read("out.xml");
    assert_eq!(cases(&place.path().join("out.xml")), "4");
    let first = "<testsuite name=\"alice.py\" tests=\"2\" failures=\"1\" skipped=\"0\"";
    assert_contains(
        &junit,
        &[
            first,
            "name=\"bob.py\" tests=\"2\" failures=\"2\"",
            "&lt;&amp;&gt;",
        ],
    );
}

#[test]
fn what_a_submission_may_take_is_limited() {
    let place = Place::new();
    place.file("runs.toml", RUNS);
    let bad = "python3 ROOT/orchestrator/tests/programs/bad.py";
    let many =
        format!("grade ./runs.toml --program-processes 3 --answer-within 60s -- {bad} multiplies");
    assert_contains(
        &told(&graded(&place, &many).expect(1)),
        &["and 3 are allowed"],
    );
    let large =
        format!("grade ./runs.toml --program-memory 120 --answer-within 60s -- {bad} devours");
    assert_contains(
        &told(&graded(&place, &large).expect(1)),
        &["and 120 are allowed"],
    );
    let slow = format!("grade ./runs.toml --within 1ns -- {bad} nothing");
    let slow = graded(&place, &slow).expect(3);
    assert_contains(&slow.stdout, &["not run", "--within gives it more"]);
}

#[test]
fn what_is_wrong_with_a_challenge_is_said() {
    let place = Place::new();
    let wrong = |text: &str, says: &[&str]| {
        place.file("wrong.toml", text);
        let finished = graded(&place, "grade ./wrong.toml -- true").expect(2);
        assert_contains(
            &finished
                .stderr
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
            says,
        );
    };
    let head = "title = \"t\"\nasks = \"a\"\n";
    wrong(head, &["nothing is checked", "[[check]]"]);
    wrong("title = \"t\"", &["wrong.toml:1", "missing field `asks`"]);
    let check = |rest: &str| format!("{head}[[check]]\nname = \"n\"\n{rest}");
    wrong(
        &check("points = 0\nprotocol = true"),
        &["check 'n'", "points: at least 1"],
    );
    wrong(&check("points = 1"), &["one of protocol = true"]);
    wrong(
        &check("points = 1\nprotokoll = true"),
        &["wrong.toml:6", "did you mean 'protocol'?"],
    );
    wrong(
        &check("points = 1\nexplore = { nodez = 2 }"),
        &["explore", "nodez"],
    );
    wrong(
        &check("points = 1\nexplore = { program = [\"a\"] }"),
        &["program", "[declares]"],
    );
    wrong(
        &check("points = 1\nrun = { seed = 2 }"),
        &["seed", "leaves this open"],
    );
    wrong(&check("points = 1\nrun = {}\nruns = 0"), &["runs: 1 to"]);
    wrong(
        &check("points = 1\nrun = {}\nexpects = { always = \"beauty > 1\" }"),
        &["beauty"],
    );
    wrong(
        &check("points = 1\nrun = {}\nexpects = { always = \"1 > 0\" }"),
        &["cannot fail"],
    );
    wrong(
        &check("points = 1\nprotocol = true\nruns = 2"),
        &["runs: only a check with run"],
    );
    for (line, says) in [
        ("grade saffe -- true", "did you mean 'safe'?"),
        ("grade ./none.toml -- true", "cannot read the challenge"),
        (
            "grade safe --submissions none -- python3 {}",
            "--submissions: none",
        ),
        ("grade safe --submissions . -- python3", "{} in the command"),
        ("grade safe --seeds none -- true", "--seeds: none"),
        (
            "grade safe --program-processes 0 -- true",
            "--program-processes",
        ),
    ] {
        graded(&place, line).expect(2).warns(says);
    }
    place.file("seeds.txt", "1\nx\n");
    let finished = graded(&place, "grade safe --seeds seeds.txt -- true").expect(2);
    finished.warns("seeds.txt:2: 'x' is no whole number");
}

#[test]
fn a_challenge_without_a_program_is_told() {
    let place = Place::new();
    let told = place.line("grade thrifty").expect(0);
    assert_contains(
        &told.stdout,
        &["2(N-1)", "10 points", "examples/ricart_agrawala.py"],
    );
    let listed = place.line("list challenges").expect(0);
    assert_contains(&listed.stdout, &["safe", "survivor"]);
}
