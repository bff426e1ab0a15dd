//! Whatever fails when a run has begun, what was recorded is kept, marked and judged.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;

use common::processes::{Guarded, children, recorded, state, udp_port, wait_until};
use common::{Place, assert_contains, rows, words};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const LONG: &str = "run raymond -n 4 --duration 60s --think 0 --hold 100us";

/// Starts a run in this place, and waits until member 0 has recorded much.
fn begun(place: &Place, line: &str, processes: usize) -> (Guarded, Vec<Pid>) {
    let orchestrator = Guarded::start(place.command(words(line)));
    let members = orchestrator.members(processes);
    wait_until("much is recorded", || {
        drafts(place.path())
            .iter()
            .any(|draft| recorded(&draft.join("members/0.0.rec")) > 5_000)
    });
    (orchestrator, members)
}

/// The directories in the making, in this directory and those of its results.
fn drafts(dir: &Path) -> Vec<std::path::PathBuf> {
    let below = |dir: &Path| {
        let files = fs::read_dir(dir).into_iter().flatten().flatten();
        files.map(|file| file.path()).collect::<Vec<_>>()
    };
    let names = below(&dir.join("results")).into_iter();
    let all = names.flat_map(|name| below(&name)).chain(below(dir));
    all.filter(|path| path.to_string_lossy().contains(".partial-"))
        .collect()
}

fn run_json(dir: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(dir.join("run.json")).unwrap()).unwrap()
}

#[test]
fn a_member_that_dies_unasked_leaves_a_run_that_says_so() {
    let place = Place::new();
    place.line("run lamport --engine sim").expect(0);
    let line = format!("{LONG} --trace --json");
    let (mut orchestrator, members) = begun(&place, &line, 4);
    kill_process(members[2], Signal::KILL).unwrap();
    assert_eq!(orchestrator.code(), 4);
    assert!(
        orchestrator
            .stderr()
            .contains("member 2 died unexpectedly (signal: 9")
    );
    let told: Value = serde_json::from_str(orchestrator.stdout()).unwrap();
    assert_eq!(told["state"]["is"], "failed");
    assert_eq!(told["exit_code"], 4);
    let why = told["state"]["why"].as_str().unwrap();
    assert!(why.starts_with("member 2 died unexpectedly"), "{why}");
    let run = place.path().join("results/latest");
    assert_eq!(run_json(&run)["state"], told["state"]);
    assert!(rows(&run.join("entries.csv")).len() > 10);
    assert!(fs::metadata(run.join("events.jsonl")).unwrap().len() > 1_000);
    assert!(run.join("members/2.0.rec").is_file() && run.join("report.html").is_file());
    let checked = place.line("check results/latest").expect(4);
    checked.says("because the testbed failed: member 2 died unexpectedly");
    assert_eq!(checked.stderr, "", "the files agree with themselves");
    assert_eq!(drafts(place.path()), [] as [&Path; 0]);
}

#[test]
fn a_proxy_that_dies_unasked_leaves_a_run_that_says_so() {
    let place = Place::new();
    let line = format!("{LONG} --loss 1% --out run");
    let (mut orchestrator, _) = begun(&place, &line, 5);
    let is_proxy = |pid: &Pid| {
        let words = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero()));
        words.is_ok_and(|words| words.windows(7).any(|word| word == b"d=chaos"))
    };
    let proxy = children(orchestrator.pid()).into_iter().find(is_proxy);
    kill_process(proxy.unwrap(), Signal::KILL).unwrap();
    assert_eq!(orchestrator.code(), 4);
    assert_contains(orchestrator.stderr(), &["the proxy died unexpectedly"]);
    let checked = place.line("check run").expect(4);
    checked.says("the proxy died unexpectedly");
    assert!(rows(&place.path().join("run/entries.csv")).len() > 10);
}

/// A stopped member cannot be asked to finish; it is continued, and the interruption is one.
#[test]
fn ctrl_c_keeps_what_was_recorded_though_a_member_is_stopped() {
    let place = Place::new();
    let (mut orchestrator, members) = begun(&place, &format!("{LONG} --out run"), 4);
    kill_process(members[1], Signal::STOP).unwrap();
    wait_until("it is stopped", || state(members[1]) == Some('T'));
    kill_process(orchestrator.pid(), Signal::INT).unwrap();
    assert_eq!(orchestrator.code(), 130, "{}", orchestrator.stderr());
    assert_eq!(
        run_json(&place.path().join("run"))["state"]["is"],
        "interrupted"
    );
    place.line("check run").expect(3);
}

/// As above, but somebody stops it again and again, so that it can never finish.
#[test]
fn ctrl_c_keeps_what_was_recorded_though_a_member_never_finishes() {
    let place = Place::new();
    let (mut orchestrator, members) = begun(&place, &format!("{LONG} --out run"), 4);
    let victim = members[1];
    kill_process(victim, Signal::STOP).unwrap();
    wait_until("it is stopped", || state(victim) == Some('T'));
    let stopper = thread::spawn(move || {
        while kill_process(victim, Signal::STOP).is_ok() {
            thread::yield_now();
        }
    });
    kill_process(orchestrator.pid(), Signal::INT).unwrap();
    let code = orchestrator.code();
    stopper.join().unwrap();
    assert_eq!(code, 130, "{}", orchestrator.stderr());
    place.line("check run").expect(3);
    wait_until("no member is left", || {
        members.iter().all(|pid| state(*pid).is_none())
    });
}

/// The run may end, or be the member's turn, before it has said hello.
#[test]
fn a_member_that_comes_back_as_the_run_ends_is_no_failure() {
    for seed in 1..=12 {
        let place = Place::new();
        let (total, after) = match seed % 2 {
            0 => (10, "100ms"),
            _ => (40, "1ms"),
        };
        let line = format!(
            "run raymond -n 3 --seed {seed} --workload one-at-a-time --total {total} --hold 1ms \
             --fault 'at 5ms restart 2 after {after}' --out run"
        );
        let finished = place.line(&line);
        assert!(
            [0, 3].contains(&finished.code),
            "{}{}",
            finished.stdout,
            finished.stderr
        );
        place.line("check run").expect(finished.code);
    }
}

#[test]
fn a_port_that_was_taken_while_its_member_was_down_is_named() {
    let place = Place::new();
    let line = format!("{LONG} --fault 'at 50ms restart 2 after 2s' --out run");
    let orchestrator = Guarded::start(place.command(words(&line)));
    let members = orchestrator.members(4);
    let port = udp_port(members[2]).unwrap();
    let mut orchestrator = orchestrator;
    let mut taken = None;
    wait_until("its port is free", || {
        taken = UdpSocket::bind(("127.0.0.1", port)).ok();
        taken.is_some()
    });
    assert_eq!(orchestrator.code(), 4);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "Address already in use (os error 98); another process has taken this member's port";
    let printed = orchestrator.stderr();
    assert!(words(printed).contains(why), "{printed}");
    let checked = place.line("check run").expect(4);
    assert!(words(&checked.stdout).contains(why), "{}", checked.stdout);
}

#[test]
fn a_name_that_is_taken_during_the_run_costs_nothing() {
    let place = Place::new();
    let (mut orchestrator, _) = begun(&place, &format!("{LONG} --out run"), 4);
    fs::write(place.path().join("run/mine"), "somebody else's").unwrap();
    kill_process(orchestrator.pid(), Signal::INT).unwrap();
    assert_eq!(orchestrator.code(), 4);
    let warning = "somebody took run during the run";
    assert_contains(orchestrator.stderr(), &[warning]);
    place.line("check run.2").expect(3);
    assert!(place.path().join("run/mine").is_file());
}

#[test]
fn what_a_killed_orchestrator_leaves_is_found_again() {
    let place = Place::new();
    let (orchestrator, members) = begun(&place, LONG, 4);
    kill_process(orchestrator.pid(), Signal::KILL).unwrap();
    wait_until("no member is left", || {
        members.iter().all(|pid| state(*pid).is_none())
    });
    drop(orchestrator);
    let left = drafts(place.path());
    assert_eq!(left.len(), 1);
    // One that has recorded nothing, as of a simulated run.
    let silent = place.path().join("results/raymond/.silent.partial-abc");
    let mut builder = fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&silent).unwrap();
    fs::create_dir(place.path().join("results/raymond/silent")).unwrap();
    let finished = place.line("list runs --json").expect(0);
    finished.warns("a run was abandoned");
    let listed: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(listed[0]["state"]["is"], "abandoned");
    assert_eq!(
        (&listed[0]["name"], &listed[0]["nodes"]),
        (&"raymond".into(), &4.into())
    );
    place.line("list runs").expect(0).says("abandoned");
    assert_eq!(drafts(place.path()), [] as [&Path; 0]);
    let runs = fs::read_dir(place.path().join("results/raymond")).unwrap();
    let runs = runs.flatten().map(|run| run.path()).collect::<Vec<_>>();
    assert_eq!(runs.len(), 1, "{runs:?}");
    assert_eq!(run_json(&runs[0])["state"]["is"], "abandoned");
    assert!(rows(&runs[0].join("entries.csv")).len() > 10);
    let checked = place.run(["check".as_ref(), runs[0].as_os_str()]).expect(3);
    checked.says("its orchestrator was killed");
    let again = place.line("run lamport --engine sim").expect(0);
    assert_eq!(again.stderr, "", "it is found once");
}

/// Nothing can be written where the tables go, as on a full disk: the records are kept all the same.
#[test]
fn tables_that_cannot_be_written_do_not_cost_the_records() {
    let place = Place::new();
    let (mut orchestrator, _) = begun(&place, &format!("{LONG} --out run"), 4);
    let draft = drafts(place.path()).pop().unwrap();
    fs::create_dir(draft.join("entries.csv")).unwrap();
    kill_process(orchestrator.pid(), Signal::INT).unwrap();
    assert_eq!(orchestrator.code(), 4);
    let printed = orchestrator.stderr();
    assert!(
        printed.contains("what its members recorded is in run"),
        "{printed}"
    );
    assert!(place.path().join("run/members/0.0.rec").is_file());
    let checked = place.line("check run").expect(4);
    checked.warns("entries.csv");
}

#[test]
fn a_member_stopped_by_hand_shows_among_the_faults() {
    let place = Place::new();
    let line = format!("{LONG} --fault 'at 10ms pause 3 for 200ms' --out run");
    let (mut orchestrator, members) = begun(&place, &line, 4);
    kill_process(members[1], Signal::STOP).unwrap();
    wait_until("it is stopped", || state(members[1]) == Some('T'));
    kill_process(members[1], Signal::CONT).unwrap();
    wait_until("it goes on", || state(members[1]) != Some('T'));
    kill_process(members[2], Signal::STOP).unwrap();
    wait_until("it is stopped", || state(members[2]) == Some('T'));
    kill_process(orchestrator.pid(), Signal::INT).unwrap();
    assert_eq!(orchestrator.code(), 130);
    let faults = rows(&place.path().join("run/faults.csv"));
    let told = faults.iter().map(|row| (&*row["fault"], &*row["target"]));
    let told = told.collect::<Vec<_>>();
    let expected = [
        ("pause", "3"),
        ("unasked pause", "1"),
        ("unasked pause", "2"),
    ];
    assert_eq!(told, expected);
    assert_ne!(faults[1]["until_ns"], "");
    assert_eq!(faults[2]["until_ns"], "");
    place.line("check run").expect(3);
}

/// A build that goes on during a run must not bring another program into it.
#[test]
fn a_replaced_program_does_not_serve_a_restart() {
    let place = Place::new();
    let copy = place.path().join("copy");
    fs::copy(env!("CARGO_BIN_EXE_orchestrator"), &copy).unwrap();
    let mut command = Command::new(&copy);
    let line = format!("{LONG} --fault 'when enter 1 #50 restart 2 after 1s' --out run");
    command.args(words(&line)).current_dir(place.path());
    let mut orchestrator = Guarded::start(command);
    orchestrator.members(4);
    fs::remove_file(&copy).unwrap();
    fs::write(&copy, "#!/bin/sh\ntouch fake\n").unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    wait_until("the member is back", || {
        let mut drafts = drafts(place.path()).into_iter();
        drafts.any(|draft| draft.join("members/2.1.rec").exists())
    });
    kill_process(orchestrator.pid(), Signal::INT).unwrap();
    assert_eq!(orchestrator.code(), 130, "{}", orchestrator.stderr());
    assert!(!place.path().join("fake").exists());
}

#[test]
fn members_and_proxy_can_be_told_apart() {
    let place = Place::new();
    let (orchestrator, processes) = begun(&place, &format!("{LONG} --loss 1% --out run"), 5);
    let words = |pid: &Pid| {
        let text = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap();
        String::from_utf8(text).unwrap().replace('\0', " ")
    };
    let lines = processes.iter().map(words).collect::<Vec<_>>();
    for member in 0..4 {
        let own = lines
            .iter()
            .filter(|line| line.contains(&format!("--member={member} ")));
        assert_eq!(own.count(), 1, "{lines:?}");
    }
    assert!(
        lines
            .iter()
            .all(|line| line.contains("--run=.run.partial-")),
        "{lines:?}"
    );
    let proxies = lines.iter().filter(|line| line.contains("--child=chaos"));
    assert_eq!(proxies.count(), 1);
    drop(orchestrator);
}
