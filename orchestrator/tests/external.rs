//! Programs as algorithms: they are run, checked and explored as our own are. Bad ones are in `bad_programs.rs`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::path::PathBuf;

use common::processes::run_and_look;
use common::{Finished, Place, Row, assert_contains, row, rows, words};
use serde_json::Value;

const PYTHON: &str = "python3 ROOT/examples/ricart_agrawala.py";

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn run(place: &Place, line: &str) -> Finished {
    run_and_look(place, &line.replace("ROOT", root().to_str().unwrap()))
}

#[test]
fn python_costs_exactly_what_the_paper_says_in_both_engines() {
    for engine in ["sim", "cluster"] {
        let place = Place::new();
        let line = format!(
            "run external -n 5 --engine {engine} --seed 1 --entries 5 --out here -- {PYTHON}"
        );
        let finished = run(&place, &line);
        assert_eq!(finished.code, 0, "{}{}", finished.stdout, finished.stderr);
        let summary = row(&place.path().join("here/summary.csv"));
        assert_eq!(
            summary["messages"], "200",
            "{engine}: 25 entries, 2(N-1) each"
        );
        assert_eq!(summary["verdict"], "holds", "{engine}");
    }
}

#[test]
fn a_traced_run_of_a_program_can_be_checked_and_replayed() {
    let place = Place::new();
    let line = format!(
        "run external -n 3 --engine sim --seed 1 --entries 3 --loss 20% --trace --out here -- {PYTHON}"
    );
    let finished = run(&place, &line);
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert_eq!(run(&place, "check here").code, 0);
    let replayed = run(&place, "replay here");
    assert_eq!(replayed.code, 0, "{}", replayed.stderr);
    assert_contains(&replayed.stdout, &["came out of them", "verdict: holds"]);
    // The same seed and a program that decides nothing by chance: the same run.
    let again = run(&place, &line.replace("--out here", "--out again"));
    assert_eq!(again.code, 0);
    let events = |dir: &str| fs::read(place.path().join(dir).join("events.jsonl")).unwrap();
    assert_eq!(events("here"), events("again"));
}

/// Each of the ten sorts of random faults once; `scripts/soak` runs each a hundred times.
#[test]
fn python_holds_whatever_the_network_does() {
    let place = Place::new();
    let finished = run(
        &place,
        "sweep ROOT/examples/faults.toml --repetitions 1 --out here",
    );
    assert_eq!(finished.code, 0, "{}{}", finished.stdout, finished.stderr);
    let rows = rows(&place.path().join("here/runs.csv"));
    assert_eq!(rows.len(), 10);
    for row in rows {
        let fault = &row["cell.fault"];
        assert_eq!(row["verdict"], "holds", "{fault}");
        assert_eq!(row["messages_per_entry"], "6.0", "{fault}: 2(N-1)");
    }
}

#[test]
fn python_survives_loss_and_a_partition_as_processes() {
    let place = Place::new();
    let line = format!(
        "run external -n 4 --seed 3 --entries 4 --loss 20% \
         --fault 'at 50ms partition halves for 200ms' -- {PYTHON}"
    );
    let finished = run(&place, &line);
    assert_eq!(finished.code, 0, "{}{}", finished.stdout, finished.stderr);
}

/// Pausing a member pauses its program, killing it kills its program.
#[test]
fn a_program_is_paused_and_killed_with_its_member() {
    let place = Place::new();
    let line = format!(
        "run external -n 3 --seed 1 --duration 600ms --fault 'at 100ms pause 1 for 200ms' \
         --fault 'at 400ms kill 2' -- {PYTHON}"
    );
    let finished = run(&place, &line);
    // With a member dead the others wait for its reply; the algorithm tolerates no crash.
    assert_eq!(finished.code, 3, "{}{}", finished.stdout, finished.stderr);
    assert_contains(&finished.stdout, &["pause", "kill on 2"]);
}

#[test]
fn python_is_explored_with_as_many_states_as_ours() {
    let place = Place::new();
    let states = |line: &str| {
        let finished = run(&place, line);
        assert_eq!(finished.code, 0, "{}{}", finished.stdout, finished.stderr);
        let report: Value = serde_json::from_str(&finished.stdout).unwrap();
        let report = &report["report"];
        assert_eq!(report["complete"], true);
        (
            report["states"].clone(),
            report["edges"].clone(),
            report["depth"].clone(),
        )
    };
    let ours = states("explore ricart-agrawala -n 3 --json");
    let theirs = states(&format!("explore external -n 3 --json -- {PYTHON}"));
    assert_eq!(theirs, ours);
}

/// A program beside ours in one table: the same messages, from the same seeds.
#[test]
fn a_program_is_compared_with_ours() {
    let place = Place::new();
    let line = "compare ricart-agrawala external -n 3 --entries 2 --repetitions 2 --out here";
    let finished = run(&place, &format!("{line} -- {PYTHON}"));
    assert_eq!(finished.code, 0, "{}{}", finished.stdout, finished.stderr);
    let rows = finished
        .stdout
        .lines()
        .filter(|line| line.contains("4.000"));
    let rows = rows.collect::<Vec<_>>();
    assert!(
        rows.len() == 2 && rows[1].contains("ricart_agrawala.py"),
        "{}",
        finished.stdout
    );
    for (line, says) in [
        (
            "compare ricart-agrawala raymond -- true",
            "external -- python3 lock.py",
        ),
        (
            "compare ricart-agrawala external",
            "external runs a program",
        ),
    ] {
        let refused = run(&place, line);
        assert_eq!(refused.code, 2, "{line}");
        assert_contains(&refused.stderr, &[says]);
    }
}

/// Puts a program into the directory `some`, as `lock.py`.
fn put_a_program(place: &Place) {
    let program = fs::read_to_string(root().join("examples/ricart_agrawala.py"));
    place.file("some/lock.py", &program.unwrap());
}

/// A sweep over the size with a program beside its file.
#[test]
fn a_sweep_takes_a_program() {
    let place = Place::new();
    put_a_program(&place);
    let sweep = "repetitions = 2\n[scenario]\nalgorithm = \"external\"\nengine = \"sim\"\nentries = 2\n\
                 program = [\"python3\", \"lock.py\"]\n[grid]\nnodes = [2, 4]\n";
    place.file("some/sizes.toml", sweep);
    let finished = run(&place, "sweep some/sizes.toml --out here");
    assert_eq!(finished.code, 0, "{}{}", finished.stdout, finished.stderr);
    let cells = rows(&place.path().join("here/aggregate.csv"));
    let of = |nodes: &str| {
        let mut cells = cells
            .iter()
            .filter(|row| row["metric"] == "messages_per_entry");
        cells.find(|row| row["nodes"] == nodes).unwrap()["mean"].clone()
    };
    assert_eq!(
        [of("2"), of("4")].map(|mean| mean.parse::<f64>().unwrap()),
        [2.0, 6.0]
    );
    place.file("some/sizes.toml", &sweep.replace("lock.py", "none.py"));
    let refused = run(&place, "sweep some/sizes.toml --out there");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert_contains(&refused.stderr, &["none.py"]);
}

#[test]
fn a_program_that_cannot_save_is_not_explored() {
    let place = Place::new();
    let line = "explore external -n 3 -- python3 ROOT/orchestrator/tests/programs/bad.py nothing";
    let finished = run(&place, line);
    assert_eq!(finished.code, 2);
    assert_contains(&finished.stderr, &["saves", "docs/protocol.md"]);
}

#[test]
fn a_scenario_file_names_a_program_and_says_what_it_is() {
    let place = Place::new();
    put_a_program(&place);
    let scenario = "algorithm = \"external\"\nprogram = [\"python3\", \"lock.py\"]\nnodes = 3\n\
                    entries = 2\nengine = \"sim\"\n[declares]\norder = \"fifo\"\n";
    place.file("some/one.toml", scenario);
    let finished = run(&place, "run some/one.toml --seed 1");
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    let any = run(&place, "run some/one.toml --links any");
    assert_eq!(any.code, 2);
    assert_contains(&any.stderr, &["keep the order"]);
    place.file("some/two.toml", &scenario.replace("order", "ordre"));
    let wrong = run(&place, "run some/two.toml");
    assert_eq!(wrong.code, 2);
    assert_contains(&wrong.stderr, &["ordre", "two.toml:6"]);
}

#[test]
fn a_program_without_external_and_external_without_a_program_are_refused() {
    let place = Place::new();
    let finished = run(&place, "run raymond -- python3 lock.py");
    assert_eq!(finished.code, 2);
    assert_contains(&finished.stderr, &["raymond is no program"]);
    let finished = run(&place, "run external");
    assert_eq!(finished.code, 2);
    assert_contains(&finished.stderr, &["-- python3 lock.py"]);
}

/// The examples, each with what it needs: a compiler and what to call it with, and how it is run.
const EXAMPLES: [(&str, &str, &str, &str); 6] = [
    (
        "python3",
        "",
        "python3 ROOT/examples/ricart_agrawala.py",
        "8.000",
    ),
    ("python3", "", "python3 ROOT/examples/suzuki_kasami.py", ""),
    ("node", "", "node ROOT/examples/lamport.js", "12.000"),
    (
        "javac",
        "javac -d HERE ROOT/examples/Centralised.java",
        "java -cp HERE Centralised",
        "",
    ),
    (
        "cc",
        "cc -O2 -Wall -Werror -o HERE/token_ring ROOT/examples/token_ring.c",
        "HERE/token_ring",
        "",
    ),
    (
        "rustc",
        "rustc -O --edition 2021 -o HERE/raymond ROOT/examples/raymond.rs",
        "HERE/raymond",
        "",
    ),
];

#[test]
fn the_examples_hold_in_both_engines_and_keep_to_the_protocol() {
    for (needs, build, program, messages_per_entry) in EXAMPLES {
        let place = Place::new();
        let here = place.path().to_str().unwrap().to_owned();
        let placed = |line: &str| {
            let line = line.replace("ROOT", root().to_str().unwrap());
            line.replace("HERE", &here)
        };
        let is_there = std::process::Command::new(needs)
            .arg("--version")
            .output()
            .is_ok();
        if !is_there {
            eprintln!("SKIPPED: {program}: there is no {needs} on this machine");
            continue;
        }
        if !build.is_empty() {
            let build = words(&placed(build));
            let built = std::process::Command::new(&build[0])
                .args(&build[1..])
                .output()
                .unwrap();
            let why = String::from_utf8_lossy(&built.stderr);
            assert!(built.status.success(), "{program}: {why}");
        }
        let program = placed(program);
        for engine in ["sim", "cluster"] {
            let line = format!(
                "run external -n 5 --engine {engine} --seed 1 --entries 4 --answer-within 60s -- {program}"
            );
            let finished = run(&place, &line);
            assert_eq!(
                finished.code, 0,
                "{line}\n{}{}",
                finished.stdout, finished.stderr
            );
            assert_contains(&finished.stdout, &["verdict: holds", messages_per_entry]);
        }
        let checked = run(
            &place,
            &format!("external --check --answer-within 60s -- {program}"),
        );
        assert_eq!(
            checked.code, 0,
            "{program}\n{}{}",
            checked.stdout, checked.stderr
        );
    }
}

/// Four screens of fifty lines, as wide as an editor has them.
#[test]
fn the_protocol_fits_on_four_screens() {
    let page = fs::read_to_string(root().join("docs/protocol.md")).unwrap();
    let screen_lines = |line: &str| line.chars().count().div_ceil(140).max(1);
    let lines = page.lines().map(screen_lines).sum::<usize>();
    assert!(lines <= 200, "{lines} lines");
}

#[test]
fn examples_are_short_and_need_nothing_of_ours() {
    for folder in ["examples", "examples/broken"] {
        let files = fs::read_dir(root().join(folder)).unwrap();
        for path in files
            .map(|file| file.unwrap().path())
            .filter(|path| path.is_file())
        {
            let text = fs::read_to_string(&path).unwrap();
            let lines = text.lines().count();
            let most = if folder == "examples" { 80 } else { 100 };
            assert!(lines < most, "{} has {lines} lines", path.display());
        }
    }
}

/// Five classic mistakes, with how many nodes it takes to see them and what is found.
const BROKEN: [(&str, u32, &str); 5] = [
    ("no_tie_break", 2, "exclusion"),
    ("reply_while_inside", 2, "exclusion"),
    ("lost_wake_up", 3, "deadlock"),
    ("token_twice", 2, "uninvited"),
    ("busy_polling", 2, "exclusion"),
];

#[test]
fn the_broken_examples_are_found_in_few_steps() {
    let place = Place::new();
    for (name, nodes, kind) in BROKEN {
        let program = format!("python3 ROOT/examples/broken/{name}.py");
        let finished = run(
            &place,
            &format!("explore external -n {nodes} --json -- {program}"),
        );
        assert_eq!(
            finished.code, 1,
            "{name}\n{}{}",
            finished.stdout, finished.stderr
        );
        let report: Value = serde_json::from_str(&finished.stdout).unwrap();
        let finding = &report["report"]["finding"];
        assert_eq!(finding["kind"], kind, "{name}: {finding}");
        let steps = finding["told"].as_array().unwrap().len();
        assert!(steps <= 15, "{name}: {steps} steps");
    }
}

#[test]
fn what_a_program_does_not_do_is_said_line_by_line() {
    let place = Place::new();
    let checked = |wrong: &str| {
        let program = format!("python3 ROOT/orchestrator/tests/programs/bad.py '{wrong}'");
        run(
            &place,
            &format!("external --check --answer-within 4s -- {program}"),
        )
    };
    let finished = checked("dies inside");
    assert_eq!(finished.code, 1, "{}", finished.stdout);
    assert_contains(
        &finished.stdout,
        &[
            "yes       answers init",
            "no        answers a release that comes without an entry",
            "exit status: 9",
            "need not  saves and loads",
        ],
    );
    let finished = checked("forgets to save");
    assert_eq!(finished.code, 1);
    let says = "`save` does not say all it knows";
    let told = finished.stdout.split_whitespace().collect::<Vec<_>>();
    assert_contains(&told.join(" "), &["no saves and loads", says]);
    let finished = checked("raises at once");
    assert_eq!(finished.code, 1);
    assert_contains(
        &finished.stdout,
        &["no        answers init", "ValueError", "1 thing"],
    );
}

/// A member that enters while somebody else stays for long enough is refused by the witness, whether that one was
/// refused or not.
#[test]
fn the_witness_refuses_all_who_enter_beside_somebody() {
    // The soak asks for more of them.
    let wanted = std::env::var("TURNSTILE_DOUBLES").map_or(30, |wanted| wanted.parse().unwrap());
    // Of four entries about three are for long enough beside another.
    let entries = wanted * 2 / 3;
    let place = Place::new();
    let line = format!(
        "run external -n 3 --entries {entries} --think uniform:0..50ms --hold 120ms --time-limit 10m --out run -- \
         python3 ROOT/orchestrator/tests/programs/greedy.py"
    );
    let finished = run(&place, &line);
    assert_eq!(finished.code, 1, "{}{}", finished.stdout, finished.stderr);
    let entries = rows(&place.path().join("run/entries.csv"));
    let ns = |row: &Row, column: &str| row[column].parse::<u64>().unwrap();
    // A process may lose the processor between looking at the clock and entering.
    let margin_ns = 25_000_000;
    let is_beside = |one: &Row, other: &Row| {
        let since_ns = ns(one, "enter_ns").saturating_sub(ns(other, "enter_ns"));
        let left_ns = ns(other, "exit_ns").saturating_sub(ns(one, "enter_ns"));
        one["node"] != other["node"] && since_ns > margin_ns && left_ns > margin_ns
    };
    let double = entries
        .iter()
        .filter(|one| entries.iter().any(|other| is_beside(one, other)));
    let double = double.collect::<Vec<_>>();
    let missed = double.iter().filter(|row| row["witness_refused"] != "1");
    let missed = missed.collect::<Vec<_>>();
    assert!(missed.is_empty(), "{missed:?}");
    println!("{} double entries, each refused", double.len());
    assert!(double.len() >= wanted, "{}", double.len());
}
