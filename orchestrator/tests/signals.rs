//! Whatever signal stops a run or a sweep, what was recorded is kept and accounted for.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs::{self, OpenOptions};
use std::process::Command;
use std::thread;
use std::time::Duration;

use common::processes::{self, Guarded, catches, cpu_ticks, state, wait_until};
use common::{Place, rows, words};
use rustix::process::{Signal, kill_process};
use serde_json::Value;

const LONG: &str = "run raymond -n 3 --duration 60s --think 0 --hold 100us";

/// A sweep that takes longer than a test looks on.
const SWEEP: &str = "repetitions = 4000\n[scenario]\nengine = 'sim'\nnodes = 9\nentries = 40\n\
                     [grid]\nalgorithm = ['lamport', 'raymond']\n";

/// Starts a run, and waits until its first member has recorded something.
fn begun(place: &Place, line: &str) -> Guarded {
    let orchestrator = Guarded::start(place.command(words(line)));
    wait_until("something is recorded", || recorded(place) > 1_000);
    orchestrator
}

/// Starts a run from a shell that has done this before.
fn begun_after(before: &str, place: &Place) -> Guarded {
    let program = env!("CARGO_BIN_EXE_orchestrator");
    let line = format!("{before}; exec {program} {LONG} --out run");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(place.path());
    Guarded::start(command)
}

fn recorded(place: &Place) -> u64 {
    let dirs = fs::read_dir(place.path()).unwrap().flatten();
    let records = dirs.map(|dir| dir.path().join("members/0.0.rec"));
    let sizes = records.map(|file| processes::recorded(&file));
    sizes.max().unwrap_or(0)
}

#[test]
fn every_signal_that_stops_keeps_what_was_recorded() {
    for signal in [Signal::TERM, Signal::HUP, Signal::QUIT, Signal::USR1] {
        let place = Place::new();
        let mut orchestrator = begun(&place, &format!("{LONG} --out run"));
        kill_process(orchestrator.pid(), signal).unwrap();
        assert_eq!(orchestrator.code(), 130, "{signal:?}");
        place.line("check run").expect(3);
    }
}

/// `timeout` sends its signal to the process, and right after to its group.
#[test]
fn two_signals_in_a_row_are_one() {
    for _ in 0..5 {
        let place = Place::new();
        let mut orchestrator = begun(&place, &format!("{LONG} --out run"));
        for _ in 0..3 {
            kill_process(orchestrator.pid(), Signal::TERM).unwrap();
        }
        assert_eq!(orchestrator.code(), 130);
        assert_eq!(orchestrator.stderr(), "");
        assert!(orchestrator.stdout().contains("files: run"));
        place.line("check run").expect(3);
    }
}

/// Judging and writing a run of that many entries takes longer than a user waits.
#[test]
fn a_second_signal_ends_it_at_once_and_says_what_is_dropped() {
    let place = Place::new();
    let line = "run raymond --engine sim --total 40000000 --seed 7 --name long";
    let mut orchestrator = Guarded::start(place.command(words(line)));
    let pid = orchestrator.pid();
    wait_until("it has simulated much", || cpu_ticks(pid) > 300);
    let impatient = thread::spawn(move || {
        while state(pid).is_some() {
            let _ = kill_process(pid, Signal::INT);
            thread::park_timeout(Duration::from_millis(50));
        }
    });
    let code = orchestrator.code();
    impatient.join().unwrap();
    assert_eq!(code, 130);
    let printed = orchestrator.stderr();
    assert!(
        printed.contains("stopped at once by a second signal"),
        "{printed}"
    );
    assert!(printed.contains("--seed 7 repeats"), "{printed}");
    // Whatever is left of it is swept by the next run.
    place.line("run raymond --engine sim --name long").expect(0);
    let left = fs::read_dir(place.path().join("results/long")).unwrap();
    assert_eq!(left.count(), 1);
}

#[test]
fn a_run_that_ignores_the_end_of_the_terminal_goes_on() {
    let place = Place::new();
    let mut orchestrator = begun_after("trap '' HUP", &place);
    wait_until("it watches for signals", || {
        catches(orchestrator.pid(), Signal::INT)
    });
    assert!(!catches(orchestrator.pid(), Signal::HUP));
    wait_until("something is recorded", || recorded(&place) > 1_000);
    kill_process(orchestrator.pid(), Signal::INT).unwrap();
    assert_eq!(orchestrator.code(), 130);
}

/// The runs of a sweep, and the sum of its accounts.
fn accounts(place: &Place) -> (usize, u64) {
    let text = place.read("out/sweep.json");
    let whole: Value = serde_json::from_str(&text).unwrap();
    let invocations = whole["sittings"].as_array().unwrap().iter();
    let runs = invocations.map(|one| one["runs"].as_u64().unwrap());
    (rows(&place.path().join("out/runs.csv")).len(), runs.sum())
}

fn sweeping(place: &Place) -> Guarded {
    let path = place.path().join("out/runs.csv");
    let before = fs::metadata(&path).map_or(0, |file| file.len());
    let sweep = Guarded::start(place.command(["sweep", "big.toml", "--out", "out"]));
    wait_until("some runs are written down", || {
        fs::metadata(&path).is_ok_and(|file| file.len() > before + 2_000)
    });
    sweep
}

#[test]
fn every_run_of_a_stopped_sweep_belongs_to_an_account() {
    let place = Place::new();
    place.file("big.toml", SWEEP);
    let mut sweep = sweeping(&place);
    for _ in 0..2 {
        kill_process(sweep.pid(), Signal::TERM).unwrap();
    }
    assert_eq!(sweep.code(), 130);
    let (runs, accounted) = accounts(&place);
    assert_eq!(runs as u64, accounted);
    // The next one is killed; the one after it finds out how many it had made.
    let sweep = sweeping(&place);
    kill_process(sweep.pid(), Signal::KILL).unwrap();
    drop(sweep);
    let mut sweep = sweeping(&place);
    let second = place.line("sweep big.toml --out out").expect(2);
    second.warns("another sweep is at work in out");
    kill_process(sweep.pid(), Signal::INT).unwrap();
    assert_eq!(sweep.code(), 130);
    let (more, accounted) = accounts(&place);
    assert!(more > runs);
    assert_eq!(more as u64, accounted);
}

#[test]
fn a_full_disk_under_stderr_is_no_panic() {
    let place = Place::new();
    let line = "run suzuki-kasami --engine sim --as-printed=SK1 --seed 3";
    let mut command = place.command(words(line));
    command.stderr(OpenOptions::new().write(true).open("/dev/full").unwrap());
    assert_eq!(command.output().unwrap().status.code(), Some(1));
    let mut command = place.command(["run", "nobody"]);
    command.stderr(OpenOptions::new().write(true).open("/dev/full").unwrap());
    assert_eq!(command.output().unwrap().status.code(), Some(2));
}

#[test]
fn a_limit_on_the_size_of_files_is_named() {
    let place = Place::new();
    let mut orchestrator = begun_after("ulimit -f 64", &place);
    assert_eq!(orchestrator.code(), 4);
    let printed = orchestrator.stderr();
    assert!(printed.contains("(ulimit -f)"), "{printed}");
    place.line("check run").expect(4);
}
