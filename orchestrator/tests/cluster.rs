//! Real processes: they agree with the simulator, survive what they should, and leave nothing
//! behind.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::io::Read;
use std::net::UdpSocket;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use algorithms::registry::{self, Graph};
use common::processes::{Guarded, recorded, state, udp_port, udp_queue, wait_until};
use common::{Place, row, rows, words};
use rustix::process::{Signal, kill_process};

#[test]
fn every_algorithm_runs_at_every_size_it_admits() {
    for info in registry::ALL {
        for nodes in [1, 2, 5, 25] {
            let place = Place::new();
            let name = info.name;
            let line =
                format!("run {name} -n {nodes} --entries 3 --think exp:2ms --hold 200us --out run");
            let finished = place.line(&line);
            if !info.admits_size(nodes) {
                assert_eq!(finished.code, 2, "{} -n {nodes}", info.name);
                continue;
            }
            // A group of one shows nothing about exclusion, which is inconclusive.
            let expected = if nodes == 1 { [0, 3] } else { [0, 0] };
            assert!(
                expected.contains(&finished.code),
                "{} -n {nodes}: {}{}",
                info.name,
                finished.stdout,
                finished.stderr
            );
            let summary = row(&place.path().join("run/summary.csv"));
            assert_eq!(summary["entries"], (3 * nodes).to_string(), "{}", info.name);
            assert_eq!(summary["witness_refusals"], "0", "{}", info.name);
            let certified = match (info.more.admits)(&info.defaults()) {
                1 => "yes",
                _ => "not exercised",
            };
            assert_eq!(summary["certified"], certified, "{} -n {nodes}", info.name);
        }
    }
}

/// One who died inside shares its index with one that was told of the death, and that is said; a restarted
/// member runs no algorithm and changes nothing of it.
#[test]
fn entries_are_certified_though_a_member_died_inside() {
    let line = "run sanders -n 3 --param structure=complete --param recovery=on --entries 5 --detect-after 5ms..10ms";
    for (engine, fault) in [
        ("cluster", "when enter 2 kill 2"),
        ("sim", "when enter 2 kill 2"),
        ("cluster", "when enter 2 restart 2 after 20ms"),
        ("sim", "when enter 2 restart 2 after 20ms"),
    ] {
        let place = Place::new();
        let line = format!("{line} --engine {engine} --fault '{fault}' --out run");
        let finished = place.line(&line);
        let summary = row(&place.path().join("run/summary.csv"));
        let told = format!("{line}: {}{}", finished.stdout, finished.stderr);
        assert_ne!(summary["safety"], "violated", "{told}");
        assert_eq!(summary["certified"], "yes", "{told}");
        assert!(told.contains("the dead are not inside"), "{told}");
    }
}

#[test]
fn the_other_machines_of_the_taxonomy_are_processes_too() {
    // One cell of each machine that the default is not.
    let cells = [
        "queue=hierarchical migrate=each",
        "queue=hierarchical routing=static",
        "queue=replicated routing=static max_req=1",
        "queue=distributed routing=static migrate=each",
        "migrate=timer max_time=3000 inform=none",
    ];
    for cell in cells {
        run_cell(cell, 5, "");
    }
}

/// Every cell of the table; `scripts/soak` has the time for it.
#[test]
#[ignore = "200 clusters take a while"]
fn every_cell_of_the_taxonomy_is_processes_too() {
    // Frequent enough that each acts, though few datagrams travel.
    let bad_links = "--loss 15% --duplicate 20% --reorder 30% --delay '2ms 1ms'";
    for cell in algorithms::taxonomy::of("controller") {
        let params = cell
            .params
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let params = params.collect::<Vec<_>>().join(" ");
        for (nodes, network) in [(3, ""), (12, ""), (40, ""), (7, bad_links)] {
            run_cell(&params, nodes, network);
        }
    }
}

fn run_cell(params: &str, nodes: u32, network: &str) {
    let params = params.split(' ').map(|param| format!("--param {param}"));
    let params = params.collect::<Vec<_>>().join(" ");
    for links in ["fifo", "any"] {
        let place = Place::new();
        let load = "--entries 4 --think exp:2ms --hold 200us";
        let line = format!(
            "run controller -n {nodes} {params} --links {links} {load} {network} --out run"
        );
        let finished = place.line(&line);
        assert_eq!(
            finished.code, 0,
            "{line}: {}{}",
            finished.stdout, finished.stderr
        );
    }
}

#[test]
fn the_log_of_latencies_has_round_trips_where_the_transport_runs() {
    for (flags, measured) in [
        ("", true),
        ("--engine sim", false),
        ("--engine sim --loss 5%", true),
    ] {
        let place = Place::new();
        let line = format!("run raymond -n 4 --entries 5 {flags} --out run");
        place.line(&line);
        let log = place.read("run/latency.hlog");
        for (tag, there) in [("wait", true), ("turnaround", true), ("rtt", measured)] {
            let found = log.contains(&format!("Tag={tag},"));
            assert_eq!(found, there, "{line}: {tag}\n{log}");
        }
    }
}

#[test]
fn deterministic_counts_are_those_of_the_simulator() {
    for (algorithm, each) in [("ricart-agrawala", 8.0), ("lamport", 12.0)] {
        for engine in ["sim", "cluster"] {
            let place = Place::new();
            let line = format!("run {algorithm} -n 5 --entries 10 --engine {engine} --out run");
            place.line(&line).expect(0);
            let summary = row(&place.path().join("run/summary.csv"));
            assert_eq!(
                summary["messages_per_entry"].parse(),
                Ok(each),
                "{algorithm} {engine}"
            );
        }
    }
}

/// Where nobody competes, the same nodes ask in the same order, and every message is determined: both
/// engines count the same, whatever the algorithm. Not so on a digraph, where a request floods and the
/// way it first comes decides, and that is the network's choice.
#[test]
fn one_at_a_time_costs_the_same_in_both_engines() {
    let determined = registry::ALL
        .iter()
        .filter(|info| info.graph != Graph::Digraph);
    for info in determined {
        let place = Place::new();
        let messages = ["sim", "cluster"].map(|engine| {
            let nodes = if info.admits_size(4) { 4 } else { 7 };
            let line = format!(
                "run {} -n {nodes} --workload one-at-a-time --total 20 --seed 7 --hold 20ms \
                 --engine {engine} --out {engine}",
                info.name
            );
            place.line(&line).expect(0);
            row(&place.path().join(engine).join("summary.csv"))["messages"].clone()
        });
        assert_eq!(messages[0], messages[1], "{}", info.name);
    }
}

/// Three may be inside: the kernel lends three files, never refuses one, and the records agree.
#[test]
fn k_members_inside_hold_k_witness_files() {
    for (algorithm, mode) in [
        ("raymond-k", ""),
        ("banta-k", "--param mode=drain"),
        ("banta-k", "--param mode=pipeline"),
    ] {
        let place = Place::new();
        let line = format!(
            "run {algorithm} -n 7 --param k=3 {mode} --entries 4 --think 0s --hold 20ms \
             --bound 5ms --out run"
        );
        place.line(&line).expect(0);
        let summary = row(&place.path().join("run/summary.csv"));
        assert_eq!(summary["witness_refusals"], "0", "{algorithm} {mode}");
        let most: u32 = summary["max_inside"].parse().unwrap();
        assert!((2..=3).contains(&most), "{algorithm} {mode}: {most} inside");
        let entries = rows(&place.path().join("run/entries.csv"));
        let slots = entries.iter().map(|row| row["witness_slot"].parse::<u32>());
        let slots = slots.collect::<Result<Vec<_>, _>>().unwrap();
        assert_eq!(slots.len(), 28, "{algorithm} {mode}");
        let largest = slots.into_iter().max().unwrap();
        assert!(
            (1..=2).contains(&largest),
            "{algorithm} {mode}: slot {largest}"
        );
    }
}

#[test]
fn a_member_killed_inside_stays_on_record() {
    let place = Place::new();
    let line = "run naimi-trehel -n 4 --fault 'when enter 2 kill 2' --out run";
    let finished = place.line(line).expect(3);
    let out = place.path().join("run");
    finished.says("2: kill (the token was with it)");
    let entries = rows(&out.join("entries.csv"));
    let killed = entries
        .iter()
        .filter(|row| row["node"] == "2" && !row["enter_ns"].is_empty());
    let killed = killed.collect::<Vec<_>>();
    assert_eq!(killed.len(), 1, "its entry is on record");
    assert_eq!(killed[0]["exit_ns"], "", "it never left");
    let faults = rows(&out.join("faults.csv"));
    assert_eq!(faults[0]["target"], "2");
}

#[test]
fn a_member_paused_for_two_seconds_only_delays() {
    let place = Place::new();
    let fault = "at 50ms pause 1 for 2s";
    let line = format!("run raymond -n 5 --entries 20 --fault '{fault}' --out run");
    place.line(&line).expect(0);
    let summary = row(&place.path().join("run/summary.csv"));
    assert_eq!(summary["entries"], "100");
    let longest: f64 = summary["wait_max_us"].parse().unwrap();
    assert!(
        longest > 1_000_000.0,
        "somebody waited for the paused one: {longest} us"
    );
}

#[test]
fn a_restarted_member_brings_no_second_token() {
    let place = Place::new();
    let line = "run naimi-trehel -n 4 --fault 'at 30ms restart 0 after 50ms' --out run";
    place.line(line).expect(3).says("member 0 was restarted");
    let summary = row(&place.path().join("run/summary.csv"));
    assert_eq!(
        (&*summary["safety"], &*summary["witness_refusals"]),
        ("holds", "0")
    );
}

/// What any other member could have seen of a killed one is in its file: what others received from
/// it, it had recorded as sent.
#[test]
fn nothing_that_others_saw_is_lost_with_a_killed_member() {
    // The soak asks for more of them.
    let kills = std::env::var("TURNSTILE_KILLS").map_or(5, |kills| kills.parse().unwrap());
    let mut inside = 0;
    for kill in 0..kills {
        let place = Place::new();
        let victim = (kill % 3 + 1).to_string();
        let fault = match kill % 2 {
            0 => format!("when enter {victim} #{} kill {victim}", kill % 40 + 1),
            _ => format!(
                "when message TOKEN from {victim} #{} kill {victim}",
                kill % 20 + 1
            ),
        };
        let line = format!(
            "run naimi-trehel -n 4 --think exp:500us --hold 100us --fault '{fault}' --out run"
        );
        place.line(&line).expect(3);
        let out = place.path().join("run");
        for link in rows(&out.join("messages.csv")) {
            let [sent, received] =
                ["sent", "received"].map(|name| link[name].parse::<u64>().unwrap());
            assert!(received <= sent, "kill {kill}: {link:?}");
        }
        let entries = rows(&out.join("entries.csv"));
        let open = entries
            .iter()
            .filter(|row| !row["enter_ns"].is_empty() && row["exit_ns"].is_empty());
        inside += open.count();
    }
    println!("{inside} of {kills} were killed between enter and exit");
    assert!(inside >= 2 * kills / 5);
}

#[test]
fn a_killed_orchestrator_leaves_nobody() {
    for paused in [false, true] {
        let place = Place::new();
        let fault = if paused {
            "at 10ms pause 1"
        } else {
            "at 1h kill 0"
        };
        let line = format!("run raymond -n 5 --duration 60s --think exp:5ms --fault '{fault}'");
        let orchestrator = Guarded::start(place.command(words(&line)));
        let members = orchestrator.members(5);
        if paused {
            wait_until("a member is paused", || {
                members.iter().any(|pid| state(*pid) == Some('T'))
            });
        }
        kill_process(orchestrator.pid(), Signal::KILL).unwrap();
        let since = Instant::now();
        wait_until("no member is left", || {
            members.iter().all(|pid| state(*pid).is_none())
        });
        assert!(
            since.elapsed() < Duration::from_secs(1),
            "it took {:?}",
            since.elapsed()
        );
    }
}

#[test]
fn a_member_ends_with_its_stdin() {
    let place = Place::new();
    let mut child = place.command(["--child=node"]);
    let mut child = child
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdin.take());
    let mut printed = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut printed)
        .unwrap();
    assert!(printed.contains("hello"), "{printed}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_port_in_use_is_named() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let place = Place::new();
    let finished = place
        .run(["--child=node".to_owned(), format!("--port={port}")])
        .expect(4);
    assert!(
        finished.stderr.contains(&port.to_string()),
        "{}",
        finished.stderr
    );
}

#[test]
fn hostile_datagrams_are_counted_and_change_nothing() {
    let place = Place::new();
    let line = "run naimi-trehel -n 4 --duration 60s --think exp:2ms --hold 200us --out run";
    let mut orchestrator = Guarded::start(place.command(words(line)));
    let member = orchestrator.members(4)[0];
    let port = udp_port(member).expect("a socket");
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let garbage = (0..=255).cycle().take(20_000).collect::<Vec<u8>>();
    // Nothing at all, too short, another version, the right version and nonsense, far too long.
    let kinds: [&[u8]; 6] = [&[], &[1], &[9; 64], &[1; 200], &garbage[..1_200], &garbage];
    for _ in 0..500 {
        for kind in kinds {
            socket.send_to(kind, ("127.0.0.1", port)).unwrap();
        }
        // The member gets its turn now and then, or the kernel drops nearly all of it.
        thread::park_timeout(Duration::from_millis(1));
    }
    let mut unseen = 0;
    wait_until("the member has taken what the kernel kept", || {
        let (waiting, dropped) = udp_queue(port).expect("the socket is open");
        unseen = dropped;
        waiting == 0
    });
    kill_process(orchestrator.pid(), Signal::INT).unwrap();
    assert_eq!(orchestrator.code(), 130);
    let summary = row(&place.path().join("run/summary.csv"));
    assert_eq!(
        (
            summary["safety"].as_str(),
            summary["protocol_errors"].as_str()
        ),
        ("holds", "0")
    );
    let transport = rows(&place.path().join("run/transport.csv"));
    let rejected = transport.iter().map(|row| row["rejected"].parse::<u64>());
    let rejected: u64 = rejected.map(Result::unwrap).sum();
    // Every single one, but for what the kernel had no room for; it may drop honest ones, too.
    let sent = 500 * kinds.len() as u64;
    assert!(
        0 < rejected && rejected <= sent && sent <= rejected + unseen,
        "of {sent}, {rejected} were rejected and {unseen} dropped by the kernel"
    );
}

#[test]
fn ctrl_c_keeps_what_was_recorded() {
    let place = Place::new();
    let line = "run raymond -n 3 --duration 60s --think 0 --hold 100us --out run";
    let mut orchestrator = Guarded::start(place.command(words(line)));
    let members = orchestrator.members(3);
    wait_until("much is recorded", || {
        let begun = fs::read_dir(place.path()).unwrap().flatten();
        let mut records = begun.map(|dir| dir.path().join("members/0.0.rec"));
        records.any(|file| recorded(&file) > 10_000)
    });
    kill_process(orchestrator.pid(), Signal::INT).unwrap();
    assert_eq!(orchestrator.code(), 130);
    // What members did until they heard of it is part of the run.
    let checked = place.line("check run");
    assert_eq!(checked.code, 3, "{}{}", checked.stdout, checked.stderr);
    let entries = rows(&place.path().join("run/entries.csv"));
    assert!(entries.len() > 10, "{}", entries.len());
    wait_until("no member is left", || {
        members.iter().all(|pid| state(*pid).is_none())
    });
}
