//! The program `chaos` and its control over HTTP.
#![cfg(feature = "proxy")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(20);

/// A running proxy between two sockets; it is gone when this is.
struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
    members: Vec<UdpSocket>,
    aliases: Vec<String>,
    api: String,
    token: String,
}

impl Running {
    fn start(more: &[&str]) -> Self {
        let members = [0, 1].map(|_| {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
            socket.set_read_timeout(Some(DEADLINE)).expect("a deadline");
            socket
        });
        let address = |n: usize| members[n].local_addr().expect("an address").to_string();
        let mut child = Command::new(env!("CARGO_BIN_EXE_chaos"))
            .arg(format!("--link=a={}", address(0)))
            .arg(format!("--link=b={}", address(1)))
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut out = BufReader::new(child.stdout.take().expect("its output is ours"));
        let mut line = || {
            let mut line = String::new();
            out.read_line(&mut line).expect("a line");
            line
        };
        let last = |line: String| line.split_whitespace().last().expect("a word").to_owned();
        let aliases = vec![last(line()), last(line())];
        let control = line();
        let mut words = control.split_whitespace();
        let api = words
            .nth(1)
            .expect("an address")
            .trim_start_matches("http://")
            .to_owned();
        let token = words.next_back().expect("a token").to_owned();
        Self {
            child,
            out,
            members: members.into(),
            aliases,
            api,
            token,
        }
    }

    /// Sends a request with this token, and returns the status and the body.
    fn ask_as(&self, token: Option<&str>, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.api).expect("the port is open");
        stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
        let token = token.map_or(String::new(), |token| {
            format!("Authorization: Bearer {token}\r\n")
        });
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: chaos\r\nConnection: close\r\n{token}\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .expect("a request");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("a reply");
        let status = reply.split(' ').nth(1).and_then(|word| word.parse().ok());
        let body = reply
            .split_once("\r\n\r\n")
            .map(|(_, body)| body.to_owned());
        (status.expect("a status"), body.unwrap_or_default())
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        self.ask_as(Some(&self.token), method, path, body)
    }

    /// Whether what a sends to b arrives.
    fn passes(&self) -> bool {
        self.members[0]
            .send_to(b"ping", &self.aliases[1])
            .expect("sent");
        let patience = Duration::from_millis(100);
        self.members[1]
            .set_read_timeout(Some(patience))
            .expect("a deadline");
        self.members[1].recv(&mut [0; 10]).is_ok()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_program_carries_and_is_controlled() {
    let proxy = Running::start(&[]);
    assert!(proxy.passes());

    let (status, added) = proxy.ask("POST", "/faults", r#"{"fault": "loss 100% on a->b"}"#);
    assert_eq!(status, 200, "{added}");
    assert_eq!(
        added,
        r#"{"id":1,"fault":"loss 100% on a->b","seen":0,"acted":0}"#
    );
    assert!(!proxy.passes());
    let (_, faults) = proxy.ask("GET", "/faults", "");
    assert_eq!(
        faults,
        r#"[{"id":1,"fault":"loss 100% on a->b","seen":1,"acted":1}]"#
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
    assert_eq!(rest, "");
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

#[test]
fn whoever_sends_first_may_be_a_member() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    server.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_chaos"))
        .arg("--link=client=any")
        .arg(format!("--link=server={}", server.local_addr().unwrap()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
    let alias = out.nth(1).unwrap().unwrap();
    let alias = alias.split_whitespace().last().unwrap();
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    client.set_read_timeout(Some(DEADLINE)).unwrap();
    client.send_to(b"who am I?", alias).unwrap();
    let mut room = [0; 20];
    let (length, source) = server.recv_from(&mut room).unwrap();
    assert_eq!(&room[..length], b"who am I?");
    server.send_to(b"the client", source).unwrap();
    assert_eq!(client.recv(&mut room).unwrap(), 10);
    child.kill().unwrap();
    child.wait().unwrap();
}
