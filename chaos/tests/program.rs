//! The program `chaos` and its control over HTTP.
#![cfg(feature = "http")]

mod running;

use std::io::Read;
use std::net::UdpSocket;
use std::process::Command;

use running::Running;

#[test]
fn the_program_carries_and_is_controlled() {
    let proxy = Running::start(&[]);
    assert!(proxy.passes());

    let (status, added) = proxy.ask("POST", "/faults", r#"{"fault": "loss 100% on a->b"}"#);
    assert_eq!(status, 200, "{added}");
    assert_eq!(
        added,
        r#"{"id":1,"fault":"loss 100% on a->b","state":"in-force","seen":0,"acted":0}"#
    );
    assert!(!proxy.passes());
    let (_, faults) = proxy.ask("GET", "/faults", "");
    assert_eq!(
        faults,
        r#"[{"id":1,"fault":"loss 100% on a->b","state":"in-force","seen":1,"acted":1}]"#
    );
    let (status, _) = proxy.ask("PUT", "/faults/1", r#"{"fault": "loss 100% on b->a"}"#);
    assert_eq!(status, 200);
    assert!(proxy.passes());
    assert_eq!(proxy.ask("DELETE", "/faults/1", "").0, 200);
    assert_eq!(proxy.ask("DELETE", "/faults/1", "").0, 404);

    assert_eq!(
        proxy.ask("POST", "/partition", r#"{"groups": "a|b"}"#).0,
        200
    );
    assert!(!proxy.passes());
    assert_eq!(proxy.ask("POST", "/heal", r#"{"links": "a-b"}"#).0, 200);
    assert!(proxy.passes());
    assert_eq!(
        proxy.ask("POST", "/partition", r#"{"groups": "halves"}"#).0,
        200
    );
    assert!(!proxy.passes());
    assert_eq!(proxy.ask("POST", "/heal", "").0, 200);
    assert!(proxy.passes());
    assert_eq!(proxy.ask("POST", "/reset", "").0, 200);
    assert_eq!(proxy.ask("GET", "/faults", "").1, "[]");

    let (_, links) = proxy.ask("GET", "/links", "");
    assert!(
        links.contains(&proxy.aliases[1]) && links.contains(r#""name":"b""#),
        "{links}"
    );
    let (_, metrics) = proxy.ask("GET", "/metrics", "");
    let line = r#"chaos_datagrams_received_total{from="a",to="b"} 7"#;
    assert!(metrics.lines().any(|l| l == line), "{metrics}");
}

#[test]
fn what_makes_no_sense_is_refused_with_the_reason() {
    let proxy = Running::start(&[]);
    let (status, why) = proxy.ask("POST", "/faults", r#"{"fault": "losss 5%"}"#);
    assert_eq!(status, 400);
    assert!(
        why.contains("'losss' does not fit here") && why.contains("^^^^^"),
        "{why}"
    );
    assert_eq!(proxy.ask("POST", "/faults", "not json").0, 400);
    assert_eq!(
        proxy.ask("POST", "/faults", r#"{"falt": "loss 5%"}"#).0,
        400
    );
    assert_eq!(proxy.ask("POST", "/heal", r#"{"link": "a-b"}"#).0, 400);
    assert_eq!(
        proxy.ask("PUT", "/faults/9", r#"{"fault": "loss 5%"}"#).0,
        404
    );
    assert_eq!(proxy.ask("GET", "/nowhere", "").0, 404);
    assert_eq!(proxy.ask("GET", "/faults", "").1, "[]");
}

#[test]
fn without_the_token_nothing_is_told_and_nothing_changes() {
    let proxy = Running::start(&[]);
    let almost = format!("{}x", proxy.token);
    for token in [
        None,
        Some(""),
        Some("wrong"),
        Some(almost.as_str()),
        Some(&proxy.token[1..]),
    ] {
        for (method, path, body) in [
            ("POST", "/faults", r#"{"fault": "loss 100%"}"#),
            ("POST", "/partition", r#"{"groups": "a|b"}"#),
            ("POST", "/reset", ""),
            ("GET", "/links", ""),
            ("GET", "/metrics", ""),
            ("GET", "/nowhere", ""),
        ] {
            let (status, said) = proxy.ask_as(token, method, path, body);
            assert_eq!(status, 401, "{method} {path} with {token:?}");
            assert!(!said.contains(&proxy.token));
        }
    }
    assert!(proxy.passes());
    assert_eq!(proxy.ask("GET", "/faults", "").1, "[]");
}

#[test]
fn it_ends_when_asked_to_and_leaves_its_journal() {
    let journal = std::env::temp_dir().join(format!("chaos-journal-{}.jsonl", std::process::id()));
    let path = journal.display().to_string();
    let mut proxy = Running::start(&["--journal", &path, "--fault", "cut a-b"]);
    assert!(!proxy.passes());
    let pid = rustix::process::Pid::from_child(&proxy.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(proxy.child.wait().unwrap().success());
    let mut rest = String::new();
    proxy.out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, format!("help  curl http://{}/\n", proxy.api));
    let text = std::fs::read_to_string(&journal).unwrap();
    std::fs::remove_file(&journal).unwrap();
    assert!(text.contains(r#""event":"listening""#), "{text}");
    assert!(
        UdpSocket::bind(&proxy.aliases[0]).is_ok(),
        "its ports are free"
    );
}

#[test]
fn bad_arguments_are_refused() {
    let link = ["--link", "a=127.0.0.1:7001"];
    for (more, why) in [
        (&["--link", "b"][..], "write NAME=ADDRESS:PORT"),
        (
            &["--link", "all=127.0.0.1:7002"],
            "no word of the fault language",
        ),
        (&["--link", "b=localhost"], "is not ADDRESS:PORT"),
        (
            &["--link", "a=127.0.0.1:7002"],
            "two members have this name",
        ),
        (&["--fault", "loss"], "something is missing at the end"),
        (&["--fault", "loss 5% on a->b"], "'b' does not fit here"),
        (&["--fault", "kill 0"], "no hold on processes"),
        (&["--fault", "kill a"], "'kill' needs an orchestrator"),
        (
            &["--fault", "churn all fail 1ns repair 1ns"],
            "at least 1ms",
        ),
        (
            &["--fault", "delay matrix /dev/zero"],
            "a regular file is needed",
        ),
        (
            &["--link", "b=[::1]:7002"],
            "::1 cannot be reached from 127.0.0.1",
        ),
        (
            &["--link", "b=127.0.0.1:7001"],
            "two members have this address",
        ),
        (&["--link", "b@0=127.0.0.1:7002"], "'0' is not a port"),
        (&["--link", "b=127.0.0.1:0"], "is not ADDRESS:PORT"),
        (&["--token-file", "/dev/zero"], "a regular file is needed"),
        (&["--fault-files", "/nowhere"], "--fault-files /nowhere"),
        (
            &["--config", "/nowhere.toml"],
            "/nowhere.toml: No such file",
        ),
        (&["--flow-timeout", "0s"], "longer than 0"),
        (&["--queue-mib", "0"], "1..=1048576"),
        (&["--api", "0.0.0.0:0"], "can be reached from outside"),
        (&["--bind", "203.0.113.7"], "--bind 203.0.113.7"),
        (
            &["--journal", "/nowhere/at/all"],
            "--journal /nowhere/at/all",
        ),
    ] {
        let ended = Command::new(env!("CARGO_BIN_EXE_chaos"))
            .args(link)
            .args(more)
            .output()
            .unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{more:?}: {said}");
        assert!(said.contains(why), "{more:?}: {said}");
    }
}
