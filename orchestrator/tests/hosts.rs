//! Members on several hosts: agents, which here are processes beside each other, and what becomes of a run
//! when something is wrong with one of them.

mod common;

use std::fs;
use std::path::PathBuf;

use common::agents::{BESIDE, agent, agents_left, orchestrator, recording, run};
use common::processes::{Guarded, children, state, wait_until};
use common::{Place, assert_contains, row, rows, skipped};
use rustix::process::{Signal, kill_process};

#[test]
fn members_on_two_hosts_do_what_they_do_on_one() {
    let place = Place::new();
    let usual = "run raymond -n 5 --workload one-at-a-time --total 20 --seed 3";
    let one = run(&place, &format!("{usual} --out one"));
    let two = run(
        &place,
        &format!("{usual} {BESIDE} --place cyclic --out two"),
    );
    assert_eq!((one.code, two.code), (0, 0), "{}{}", two.stdout, two.stderr);
    let summary = |dir: &str| row(&place.path().join(dir).join("summary.csv"));
    for column in ["entries", "messages", "certified", "safety", "liveness"] {
        assert_eq!(summary("one")[column], summary("two")[column], "{column}");
    }
    let clocks = rows(&place.path().join("two/clocks.csv"));
    let hosts = clocks.iter().map(|row| row["host"].as_str());
    assert_eq!(hosts.collect::<Vec<_>>(), ["a", "b"]);
    assert!(!place.path().join("one/clocks.csv").exists());
    assert_eq!(run(&place, "check two").code, 0);
    assert_eq!(agents_left(&place), Vec::<PathBuf>::new());
}

#[test]
fn an_agent_that_is_killed_is_a_failure_that_names_its_host() {
    let place = Place::new();
    let line = format!("run raymond -n 4 --duration 30s {BESIDE}");
    let mut running = Guarded::start(orchestrator(&place, &line));
    wait_until("every member has recorded something", || {
        recording(&place) == 4
    });
    let killed = children(running.pid())[0];
    let members = children(killed);
    kill_process(killed, Signal::KILL).expect("it is there");
    let finished = running.finish();
    assert_eq!(finished.code, 4, "{}", finished.stderr);
    assert_contains(&finished.stderr, &["host", "is lost", "is not here"]);
    wait_until("its members are gone, too", || {
        members.iter().all(|member| state(*member).is_none())
    });
    wait_until("its files are gone, too", || agents_left(&place).is_empty());
}

#[test]
fn who_does_not_know_the_secret_stays_outside() {
    let place = Place::new();
    fs::write(place.path().join("secret"), "a secret of this test\n").expect("a file");
    fs::write(place.path().join("guess"), "another secret altogether\n").expect("a file");
    let line = "run raymond -n 2 --hosts join:1 --secret secret --listen 127.0.0.1 \
                --join-within 3s --ports 42000-42009";
    let mut running = Guarded::start(orchestrator(&place, line));
    let guess = |port: u16| {
        let line = format!("127.0.0.1:{port} --within 100ms");
        agent(&place, &line, "guess").finish()
    };
    let mut told = None;
    wait_until("an agent has reached the orchestrator", || {
        let mut agents = (42_000..42_010).map(guess);
        told = agents.find(|finished| finished.stderr.contains("hung up"));
        told.is_some()
    });
    let told = told.expect("it was reached");
    assert_eq!(told.code, 4, "{}", told.stderr);
    assert_contains(&told.stderr, &["the join secret is not that of its run"]);
    let refused = running.finish();
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert_contains(
        &refused.stderr,
        &[
            "a stranger was turned away",
            "no agent came from h1 within 3s",
        ],
    );
}

#[test]
fn wrong_hosts_are_said_before_anything_is_started() {
    let place = Place::new();
    place.refuses(&[
        ("run raymond -n 10 --hosts h1,h2", "write join:N"),
        ("run raymond -n 10 --hosts 'cmd:h1:run it'", "{agent}"),
        (
            "run raymond -n 10 --hosts join:2 --place h1=0-8",
            "member 9 is placed nowhere",
        ),
        (
            "run raymond -n 10 --hosts join:2 --engine sim",
            "the simulator has no hosts",
        ),
        (
            "run raymond -n 10 --hosts join:2 --ports 9-1",
            "no range of ports",
        ),
        (
            "run raymond -n 10 --hosts join:2 --bind 10.0.0.0/99",
            "no network",
        ),
        ("agent nowhere", "nowhere"),
    ]);
}

#[test]
fn what_cannot_be_started_says_why() {
    let place = Place::new();
    let listen = "--listen 127.0.0.1";
    let hosts = "--hosts 'cmd:a,b:echo no way to {host}; false # {agent}'";
    let finished = run(&place, &format!("run raymond -n 2 {listen} {hosts}"));
    assert_eq!(finished.code, 4, "{}", finished.stderr);
    assert_contains(&finished.stderr, &["no agent came from", "no way to"]);
    // The orchestrator itself takes the only port for TCP, and an agent takes it for UDP.
    let line = format!("run raymond -n 2 {BESIDE} --ports 43117-43117");
    let finished = run(&place, &line);
    assert_eq!(finished.code, 4, "{}", finished.stderr);
    assert_contains(&finished.stderr, &["on 127.0.0.1"]);
    assert_eq!(agents_left(&place), Vec::<PathBuf>::new());
}

#[test]
fn faults_triggers_and_traces_reach_across_hosts() {
    let place = Place::new();
    // Members 0 to 2 are on a, 3 to 5 on b.
    let faults = "--fault 'at 50ms pause host b for 150ms' --fault 'at 900ms partition hosts a|b for 300ms' \
                  --fault 'when enter 4 #2 pause 0 for 100ms' --fault 'when enter 1 #12 isolate host a for 300ms'";
    let line =
        format!("run raymond -n 6 --entries 40 --think 20ms --trace --seed 5 {faults} {BESIDE}");
    let two = run(&place, &format!("{line} --out two"));
    assert_eq!(two.code, 0, "{}{}", two.stdout, two.stderr);
    let done = rows(&place.path().join("two/faults.csv"));
    let acted = |fault: &str| {
        let of = done.iter().filter(|row| row["fault"] == fault);
        of.filter(|row| row["acted"] != "0").count()
    };
    let told = format!("{done:?}");
    assert_eq!(acted("pause"), 4, "{told}");
    assert_eq!(acted("partition"), 2, "{told}");
    let summary = row(&place.path().join("two/summary.csv"));
    assert_eq!(summary["certified"], "yes");
    assert_eq!(run(&place, "replay two").code, 0);
    assert_eq!(run(&place, "check two").code, 0);
    // The scenario says which members those were.
    let scenario = run(&place, &format!("{line} --dry-run"));
    assert_contains(&scenario.stdout, &["pause 5", "partition 0..2|3..5"]);
    assert_eq!(agents_left(&place), Vec::<PathBuf>::new());
}

#[test]
fn members_of_a_host_are_killed_and_one_starts_again() {
    let place = Place::new();
    let faults = "--fault 'at 60ms kill host b' --fault 'when enter 1 #3 restart 2 after 50ms' \
                  --detect-after 5ms..20ms";
    let line = format!("run centralised -n 6 --entries 10 --think 10ms --seed 2 {faults} {BESIDE}");
    let killed = run(&place, &format!("{line} --out r"));
    let told = format!("{}{}", killed.stdout, killed.stderr);
    // No algorithm says how to come back, so nobody can say that all is well.
    assert_eq!(killed.code, 3, "{told}");
    assert_contains(&killed.stdout, &["member 2 was restarted"]);
    let done = rows(&place.path().join("r/faults.csv"));
    let victims = |fault: &str| {
        let of = done.iter().filter(|row| row["fault"] == fault);
        let mut of = of.map(|row| row["target"].clone()).collect::<Vec<_>>();
        // They die at the same moment, and are reaped in any order.
        of.sort();
        of
    };
    assert_eq!(victims("kill"), ["3", "4", "5"], "{done:?}");
    assert_eq!(victims("restart"), ["2"], "{done:?}");
    let summary = row(&place.path().join("r/summary.csv"));
    assert_eq!(
        (&*summary["safety"], &*summary["certified"]),
        ("holds", "yes")
    );
    assert_eq!(agents_left(&place), Vec::<PathBuf>::new());
}

#[test]
fn a_host_that_is_not_there_cannot_be_struck() {
    let place = Place::new();
    for (line, words) in [
        (
            format!("{BESIDE} --fault 'at 1s kill host c'"),
            "the hosts are a, b",
        ),
        (
            "--fault 'at 1s kill host a'".to_owned(),
            "name the hosts by --hosts",
        ),
        (
            "--engine sim --fault 'partition hosts a|b'".to_owned(),
            "name the hosts by --hosts",
        ),
        (
            format!("{BESIDE} --place 'a=0-3' --fault 'at 1s kill host b'"),
            "no members",
        ),
    ] {
        let refused = run(&place, &format!("run raymond -n 4 {line}"));
        assert_eq!(refused.code, 2, "{line}: {}", refused.stderr);
        assert_contains(&refused.stderr, &[words]);
    }
}

#[test]
fn members_take_addresses_of_the_sixth_version_and_ports_of_a_range() {
    let place = Place::new();
    if std::net::UdpSocket::bind("[::1]:0").is_err() {
        skipped("there is no loopback of IPv6 here");
        return;
    }
    let hosts = "--hosts 'cmd:a,b:exec {agent}' --listen ::1 --ports 45200-45399";
    let six = run(
        &place,
        &format!("run raymond -n 6 --entries 5 --loss 5% {hosts} --out six"),
    );
    assert_eq!(six.code, 0, "{}{}", six.stdout, six.stderr);
    let seen = run(&place, &format!("hosts {hosts}"));
    assert_eq!(seen.code, 0, "{}{}", seen.stdout, seen.stderr);
    assert_contains(&seen.stdout, &["::1", "8952 B"]);
}

#[test]
fn an_orchestrator_that_is_killed_leaves_nothing_on_its_hosts() {
    let place = Place::new();
    let line = format!("run raymond -n 4 --duration 30s --loss 5% {BESIDE} --out r");
    let running = Guarded::start(orchestrator(&place, &line));
    wait_until("every member has recorded something", || {
        recording(&place) == 4
    });
    let agents = children(running.pid());
    let members = agents.iter().flat_map(|agent| children(*agent));
    let all = agents.iter().copied().chain(members).collect::<Vec<_>>();
    assert!(all.len() >= 2 + 4 + 2, "{all:?}");
    kill_process(running.pid(), Signal::KILL).expect("it is there");
    wait_until("all that it started is gone", || {
        all.iter().all(|pid| state(*pid).is_none())
    });
    assert_eq!(agents_left(&place), Vec::<PathBuf>::new());
    let later = run(&place, "list runs .");
    assert_contains(
        &later.stderr,
        &[
            "a run on several hosts was abandoned",
            "there are no tables of it",
        ],
    );
}

#[test]
fn a_name_that_leads_nowhere_is_said() {
    let place = Place::new();
    fs::write(place.path().join("secret"), "a secret of this test\n").expect("a file");
    let lost = agent(&place, "no-such-host.invalid:4000 --within 300ms", "secret").finish();
    assert_eq!(lost.code, 4, "{}", lost.stderr);
    assert_contains(
        &lost.stderr,
        &[
            "cannot reach the orchestrator",
            "no-such-host.invalid:4000: ",
        ],
    );
}
