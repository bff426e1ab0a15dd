//! The door of a run: agents that come early or late, and strangers that try it.

mod common;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

use common::agents::{agent, agents_left, orchestrator, run};
use common::processes::{Guarded, wait_until};
use common::{Place, assert_contains};

/// A run that waits for agents at this port, and knows the secret in the file `secret`.
fn awaiting(place: &Place, agents: u32, port: u16) -> Guarded {
    fs::write(place.path().join("secret"), "a secret of this test\n").expect("a file");
    // The orchestrator takes the first port; members take those above it.
    let line = format!(
        "run raymond -n 4 --entries 5 --hosts join:{agents} --secret secret --listen 127.0.0.1 \
         --ports {port}-{} --join-within 60s --out r",
        port + 30
    );
    let running = Guarded::start(orchestrator(place, &line));
    wait_until("it listens", || {
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    running
}

#[test]
fn an_agent_that_comes_early_waits_for_the_others() {
    let place = Place::new();
    let mut running = awaiting(&place, 2, 45_000);
    let mut early = agent(&place, "127.0.0.1:45000", "secret");
    let began = Instant::now();
    // Either side takes the other for lost when it is silent for five seconds.
    wait_until("more than that has passed", || {
        began.elapsed() > Duration::from_millis(6_500)
    });
    let mut late = agent(&place, "127.0.0.1:45000", "secret");
    let finished = running.finish();
    assert_eq!(finished.code, 0, "{}{}", finished.stdout, finished.stderr);
    for agent in [&mut early, &mut late] {
        let agent = agent.finish();
        assert_eq!(agent.code, 0, "{}", agent.stderr);
    }
    assert!(agents_left(&place).is_empty());
}

#[test]
fn an_agent_that_ends_before_the_others_come_ends_the_wait() {
    for _ in 0..4 {
        let place = Place::new();
        let mut running = awaiting(&place, 2, 45_040);
        let early = agent(&place, "127.0.0.1:45040 --name h2", "secret");
        wait_until("it was let in", || !agents_left(&place).is_empty());
        drop(early);
        let finished = running.finish();
        assert_eq!(finished.code, 4, "{}", finished.stderr);
        wait_until("its files are gone", || agents_left(&place).is_empty());
        // Its files are there a moment before it says that it is ready: ended in between, it never came.
        if finished.stderr.contains("it hung up before it was ready") {
            continue;
        }
        assert_contains(&finished.stderr, &["host h2 is lost"]);
        return;
    }
    panic!("it was ended before it was ready, each time");
}

#[test]
fn strangers_do_not_keep_agents_out() {
    let place = Place::new();
    let mut running = awaiting(&place, 1, 45_080);
    let knock = || TcpStream::connect(("127.0.0.1", 45_080)).expect("it listens");
    let mut silent = (0..200).map(|_| knock()).collect::<Vec<_>>();
    for words in [
        &b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"[..],
        &[0xff; 70_000],
        &[0, 0, 0, 0],
        &[0, 48],
    ] {
        let mut stream = knock();
        // It may hang up in the middle of it.
        let _ = stream.write_all(words);
        silent.push(stream);
    }
    let mut agent = agent(&place, "127.0.0.1:45080", "secret");
    let finished = running.finish();
    assert_eq!(finished.code, 0, "{}{}", finished.stdout, finished.stderr);
    assert_contains(
        &finished.stderr,
        &[
            "a stranger was turned away",
            "more strangers were turned away",
        ],
    );
    // Few are told of one by one.
    assert!(finished.stderr.lines().count() < 30, "{}", finished.stderr);
    assert_eq!(agent.finish().code, 0);
}

/// The first words of an agent, which somebody between it and the orchestrator has recorded.
fn recorded(place: &Place) -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it has one").port();
    let mut agent = agent(place, &format!("127.0.0.1:{port}"), "secret");
    let (mut stream, _) = listener.accept().expect("an agent");
    let mut length = [0; 2];
    stream.read_exact(&mut length).expect("a length");
    let mut words = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut words).expect("words");
    drop(stream);
    let agent = agent.finish();
    assert_eq!(agent.code, 4, "{}", agent.stderr);
    [&length[..], &words].concat()
}

#[test]
fn words_that_were_recorded_take_no_place() {
    let place = Place::new();
    let mut running = awaiting(&place, 1, 45_120);
    let words = recorded(&place);
    let mut played_again = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(("127.0.0.1", 45_120)).expect("it listens");
        stream.write_all(&words).expect("it listens");
        let mut length = [0; 2];
        // It answers, as it would an agent; but only an agent could go on.
        stream.read_exact(&mut length).expect("an answer");
        played_again.push(stream);
    }
    let mut agent = agent(&place, "127.0.0.1:45120", "secret");
    let finished = running.finish();
    assert_eq!(finished.code, 0, "{}{}", finished.stdout, finished.stderr);
    assert_eq!(agent.finish().code, 0);
}

#[test]
fn what_does_not_answer_as_an_orchestrator_is_left() {
    let place = Place::new();
    fs::write(place.path().join("secret"), "a secret of this test\n").expect("a file");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it has one").port();
    let mut agent = agent(&place, &format!("127.0.0.1:{port}"), "secret");
    let (_stream, _) = listener.accept().expect("an agent");
    let agent = agent.finish();
    assert_eq!(agent.code, 4, "{}", agent.stderr);
    assert_contains(
        &agent.stderr,
        &["did not answer as an orchestrator within 10s"],
    );
}

#[test]
fn an_agent_of_another_build_is_refused_by_name() {
    let place = Place::new();
    // The same program, whose version says another commit.
    let version = place.line("--version").expect(0).stdout;
    let version = version
        .split_once(' ')
        .expect("a name and a version")
        .1
        .trim();
    let other = version.replace(['0', '1', '2', '3', '4'], "9");
    assert_eq!(version.len(), other.len());
    let path = place.path().join("other");
    fs::copy(env!("CARGO_BIN_EXE_orchestrator"), &path).expect("a file");
    let changed = Command::new("sed")
        .env("LC_ALL", "C")
        .args(["-i", &format!("s/{version}/{other}/g")])
        .arg(&path)
        .status();
    assert!(changed.expect("sed is there").success());
    let hosts = "--hosts 'cmd:a:set -- {agent}; shift; exec ./other \"$@\"' --listen 127.0.0.1";
    let refused = run(&place, &format!("run raymond -n 2 {hosts}"));
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    let build = format!("is of build {other}, and this orchestrator is of {version}");
    // A terminal's lines are shorter than that.
    let said = refused.stderr.split_whitespace().collect::<Vec<_>>();
    assert_contains(&said.join(" "), &["the agent on a", &build]);
    assert!(agents_left(&place).is_empty());
}
