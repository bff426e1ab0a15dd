//! What the program `chaos` promises to those who ask it over HTTP, and what it keeps from others.
#![cfg(feature = "http")]

mod running;

use std::fs;
use std::io::{Read, Write};
use std::net::UdpSocket;
use std::time::Instant;

use running::{DEADLINE, Running, chaos, socket};
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// The header that says the token.
fn bearer(proxy: &Running) -> String {
    format!("Authorization: Bearer {}\r\n", proxy.token)
}

#[test]
fn every_error_is_json() {
    let proxy = Running::start(&[]);
    let token = bearer(&proxy);
    let long = format!(r#"{{"fault": "{}"}}"#, "x".repeat(100_000));
    for (expected, method, path, body) in [
        (400, "DELETE", "/faults/x", ""),
        (400, "DELETE", "/faults/-1", ""),
        (400, "PUT", "/faults/1.5", r#"{"fault": "loss 5%"}"#),
        (400, "DELETE", "/faults/99999999999999999999", ""),
        (400, "POST", "/faults", ""),
        (400, "POST", "/faults", "loss 5%"),
        (400, "POST", "/faults", "\u{0}"),
        (400, "POST", "/faults", r#"{"fault": 5}"#),
        (400, "POST", "/heal", "["),
        (404, "DELETE", "/faults/7", ""),
        (404, "GET", "/nowhere", ""),
        (405, "GET", "/reset", ""),
        (405, "DELETE", "/faults", ""),
        (405, "PATCH", "/faults/1", ""),
        (413, "POST", "/faults", &long),
    ] {
        let (status, head, said) = proxy.ask_with(&token, method, path, body);
        assert_eq!(status, expected, "{method} {path}: {said}");
        assert!(head.contains("content-type: application/json"), "{head}");
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        let why = said["error"].as_str().unwrap();
        assert!(!why.is_empty(), "{method} {path}");
        assert_eq!(said.as_object().unwrap().len(), 1);
        assert_eq!(head.contains("\r\nallow: "), status == 405, "{head}");
    }
    let (status, head, said) = proxy.ask_with("", "PATCH", "/faults/x", "");
    assert_eq!(status, 401, "{said}");
    assert!(head.contains("www-authenticate: bearer"), "{head}");
    assert!(said.starts_with(r#"{"error":"#), "{said}");
}

/// As `curl -d` sends it.
#[test]
fn a_body_needs_no_content_type() {
    let proxy = Running::start(&[]);
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    for head in [bearer(&proxy), format!("{}{form}", bearer(&proxy))] {
        let body = r#"{"fault": "loss 100% on a->b"}"#;
        let (status, _, said) = proxy.ask_with(&head, "POST", "/faults", body);
        assert_eq!(status, 200, "{said}");
    }
    assert!(!proxy.passes());
}

#[test]
fn the_api_is_explained_to_everybody_and_the_metrics_to_whom_they_are_open() {
    let proxy = Running::start(&[]);
    let (status, help) = proxy.ask_as(None, "GET", "/", "");
    assert_eq!(status, 200);
    for place in ["/links", "/faults/ID", "/partition", "/heal", "/reset"] {
        assert!(help.contains(place), "{help}");
    }
    let flag = String::from_utf8(chaos().arg("--help").output().unwrap().stdout).unwrap();
    let lines = help.lines().map(str::trim);
    for line in lines.filter(|line| line.starts_with("POST") || line.starts_with("GET")) {
        assert!(flag.contains(line), "--help lacks {line}");
    }
    assert!(flag.contains("UDP only"), "{flag}");
    assert_eq!(proxy.ask_as(None, "POST", "/", "").0, 405);
    assert_eq!(proxy.ask_as(None, "GET", "/metrics", "").0, 401);
    let open = Running::start(&["--open-metrics"]);
    assert_eq!(open.ask_as(None, "GET", "/metrics", "").0, 200);
    assert_eq!(open.ask_as(None, "GET", "/faults", "").0, 401);
    assert_eq!(open.ask_as(None, "POST", "/reset", "").0, 401);
}

/// A client that opens connections and sends nothing keeps nobody else out, and is disconnected.
#[test]
fn half_sent_requests_are_dropped_and_others_answered() {
    let proxy = Running::start(&[]);
    let mut half = Vec::new();
    for n in 0..300 {
        let mut stream = proxy.connect();
        // The oldest may be gone by the time the others come.
        let _ = stream.write_all(b"POST /faults HTTP/1.1\r\nHost: chaos\r\nContent-Le");
        half.push(stream);
        if n % 50 == 49 {
            assert_eq!(proxy.ask("GET", "/faults", "").0, 200, "after {n}");
        }
    }
    let open = fs::read_dir(format!("/proc/{}/fd", proxy.child.id())).unwrap();
    let open = open.count();
    assert!(open < 100, "{open} files are open for 300 connections");
    // A body that never comes is no better than half a head.
    let mut slow = proxy.connect();
    let length = "Content-Length: 100\r\n\r\n{";
    write!(slow, "POST /faults HTTP/1.1\r\n{}{length}", bearer(&proxy)).unwrap();
    half.push(slow);
    let began = Instant::now();
    for mut stream in half {
        // Closed or reset; a time-out would say that it is still open.
        let mut said = String::new();
        if let Err(error) = stream.read_to_string(&mut said) {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        }
        assert!(began.elapsed() < DEADLINE);
    }
    assert_eq!(proxy.ask("GET", "/faults", "").1, "[]");
    assert!(proxy.passes());
}

#[test]
fn files_are_read_only_below_the_directory_that_was_named() {
    let place = tempfile::tempdir().unwrap();
    let (inside, outside) = (place.path().join("inside"), place.path().join("secret.csv"));
    fs::create_dir(&inside).unwrap();
    fs::write(&outside, "hunter2,rtt_ms\n1,2\n").unwrap();
    fs::write(inside.join("wan.csv"), "site,x,y\nx,,1ms\ny,1ms,\n").unwrap();
    fs::write(inside.join("passwd"), "root:hunter2:0:0\n").unwrap();
    std::os::unix::fs::symlink(&outside, inside.join("link.csv")).unwrap();
    mknodat(CWD, inside.join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let large = fs::File::create(inside.join("large.csv")).unwrap();
    large.set_len(5 << 20).unwrap();

    let proxy = Running::start(&[]);
    let ask = |proxy: &Running, fault: &str| {
        let body = serde_json::json!({ "fault": fault }).to_string();
        proxy.ask("POST", "/faults", &body)
    };
    let name = inside.join("wan.csv").display().to_string();
    let (status, said) = ask(&proxy, &format!("delay matrix \"{name}\""));
    assert_eq!(status, 400);
    assert!(said.contains("--fault-files"), "{said}");

    let folder = inside.display().to_string();
    let proxy = Running::start(&["--fault-files", &folder]);
    assert_eq!(ask(&proxy, "delay matrix wan.csv").0, 200);
    for (file, why) in [
        ("../secret.csv", "not below"),
        ("link.csv", "not below"),
        ("/etc/shadow", "not below"),
        ("/dev/zero", "not below"),
        ("pipe", "named pipe"),
        (".", "not below"),
        ("large.csv", "limit of 4 MiB"),
        ("nowhere.csv", "No such file"),
        ("passwd", "line 1"),
    ] {
        for fault in [
            format!("delay empirical {file}:rtt_ms"),
            format!("delay matrix {file}"),
        ] {
            let (status, said) = ask(&proxy, &fault);
            assert_eq!(status, 400, "{fault}: {said}");
            assert!(said.contains(why), "{fault}: {said}");
            assert!(!said.contains("hunter2"), "{fault}: {said}");
        }
    }
    assert!(proxy.passes(), "it goes on");
}

#[test]
fn names_stay_names_and_faults_say_whether_they_are_in_force() {
    let proxy = Running::start(&["--fault", "at 1h loss 2% on a->b"]);
    proxy.ask("POST", "/partition", r#"{"groups": "a|b"}"#);
    let rows = |proxy: &Running| {
        let rows: serde_json::Value =
            serde_json::from_str(&proxy.ask("GET", "/faults", "").1).unwrap();
        let row = |n: usize| format!("{} {}", rows[n]["fault"], rows[n]["state"]);
        [row(0), row(1)]
    };
    let waiting = r#""at 1h loss 2% on a->b" "waiting""#;
    assert_eq!(rows(&proxy), [waiting, r#""partition a|b" "in-force""#]);
    proxy.ask("POST", "/heal", "");
    assert_eq!(rows(&proxy), [waiting, r#""partition a|b" "over""#]);
    let metrics = proxy.ask("GET", "/metrics", "").1;
    assert!(
        metrics.contains(r#"fault="at 1h loss 2% on a->b""#),
        "{metrics}"
    );
    let (_, said) = proxy.ask("POST", "/faults", r#"{"fault": "kill a"}"#);
    assert!(said.contains("'kill' needs an orchestrator"), "{said}");
}

#[test]
fn the_token_may_come_from_a_file_or_the_environment() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("token");
    fs::write(&file, "a-token-in-a-file\n").unwrap();
    let proxy = Running::start(&["--token-file", &file.display().to_string()]);
    assert_eq!(proxy.ask("GET", "/links", "").0, 401);
    let right = Some("a-token-in-a-file");
    assert_eq!(proxy.ask_as(right, "GET", "/links", "").0, 200);

    let members = [socket(), socket()];
    let mut command = chaos();
    command.env("CHAOS_TOKEN", "a-token-in-the-environment");
    for (name, member) in ["a", "b"].iter().zip(&members) {
        command.arg(format!("--link={name}={}", member.local_addr().unwrap()));
    }
    let proxy = Running::spawn(command, members);
    assert_eq!(proxy.ask("GET", "/links", "").0, 200);

    for (token, why) in [("short", "16 to 256"), ("with a space in it", "no spaces")] {
        let refused = chaos()
            .args(["--link=a=127.0.0.1:9"])
            .env("CHAOS_TOKEN", token)
            .output()
            .unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(why) && !said.contains(token), "{said}");
    }
}

/// Two free ports of loopback, below those that the kernel gives to sockets that name none.
fn free_ports() -> [u16; 2] {
    let mut free = (30_000..32_000).filter(|port| UdpSocket::bind(("127.0.0.1", *port)).is_ok());
    [(); 2].map(|()| free.next().expect("a free port"))
}

#[test]
fn a_file_says_what_flags_say() {
    let place = tempfile::tempdir().unwrap();
    let members = [socket(), socket()];
    let at = |n: usize| members[n].local_addr().unwrap().port();
    let [first, second] = free_ports();
    let text = format!(
        r#"
        links = ["a@{first}=localhost:{}", "b@{second}=127.0.0.1:{}"]
        faults = ["loss 100% on b->a", {{ fault = "cut a-b", at = "1h", for = "1s" }}]
        token-file = "token"
        journal = "journal.jsonl"
        flow-timeout = "5s"
        open-metrics = true
        "#,
        at(0),
        at(1)
    );
    fs::write(place.path().join("proxy.toml"), text).unwrap();
    fs::write(place.path().join("token"), "a-token-in-a-file").unwrap();
    let mut command = chaos();
    command.arg("--config").arg(place.path().join("proxy.toml"));
    command.args(["--fault", "duplicate 100% on a->b"]);
    let proxy = Running::spawn(command, members);
    assert_eq!(
        proxy.aliases,
        [first, second].map(|port| format!("127.0.0.1:{port}"))
    );
    let (_, faults) = proxy.ask_as(Some("a-token-in-a-file"), "GET", "/faults", "");
    let faults: serde_json::Value = serde_json::from_str(&faults).unwrap();
    let faults = faults.as_array().unwrap().iter();
    let texts = faults.map(|row| row["fault"].as_str().unwrap());
    let expected = [
        "loss 100% on b->a",
        "at 1h cut a-b for 1s",
        "duplicate 100% on a->b",
    ];
    assert_eq!(texts.collect::<Vec<_>>(), expected);
    assert!(proxy.passes());
    let journal = fs::read_to_string(place.path().join("journal.jsonl")).unwrap();
    assert!(journal.contains("at 1h cut a-b for 1s"), "{journal}");

    fs::write(place.path().join("bad.toml"), "linkz = []").unwrap();
    let bad = chaos()
        .arg("--config")
        .arg(place.path().join("bad.toml"))
        .output();
    let bad = bad.unwrap();
    let said = String::from_utf8(bad.stderr).unwrap();
    assert_eq!(bad.status.code(), Some(2), "{said}");
    assert!(said.contains("unknown field `linkz`"), "{said}");
}
