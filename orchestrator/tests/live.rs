//! A live run over HTTP, as a browser would speak to it and as an intruder would.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::processes::OwnChild;
use common::{Place, assert_contains, rows};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A run that waits for a person. It is ended when this is dropped.
struct LiveRun {
    child: OwnChild,
    port: u16,
    token: String,
    told: BufReader<std::process::ChildStdout>,
}

impl LiveRun {
    fn start(place: &Place, more: &str) -> Self {
        Self::of(place, &format!("--engine sim {more}"))
    }

    fn of(place: &Place, more: &str) -> Self {
        let out = if more.contains("--out") {
            ""
        } else {
            "--out r"
        };
        let line = format!("run raymond -n 5 --live --seed 4 {out} {more}");
        let mut command = place.command(common::words(&line));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut told = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut first = String::new();
        told.read_line(&mut first).expect("it tells its address");
        let address = first.trim().strip_prefix("live: http://127.0.0.1:");
        let (port, token) = address
            .and_then(|rest| rest.split_once("/?token="))
            .unwrap_or_else(|| panic!("no address: {first}"));
        let port = port.parse().expect("a port");
        let token = token.to_owned();
        Self {
            child: OwnChild(child),
            port,
            token,
            told,
        }
    }

    /// Sends a request with these further lines in its head; returns the answer's head and body.
    fn ask(&self, request: &str, more: &str, body: &str) -> String {
        let host = match more.contains("Host:") {
            true => String::new(),
            false => format!("Host: 127.0.0.1:{}\r\n", self.port),
        };
        let length = body.len();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let patience = Some(Duration::from_secs(20));
        stream.set_read_timeout(patience).expect("a timeout");
        let text = format!(
            "{request} HTTP/1.1\r\n{host}{more}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        stream.write_all(text.as_bytes()).expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    /// The cookie that the printed address gives.
    fn open(&self) -> String {
        let answer = self.ask(&format!("GET /?token={}", self.token), "", "");
        let cookie = answer
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = cookie.unwrap_or_else(|| panic!("no cookie: {answer}"));
        let value = cookie.split(';').next().expect("a value");
        assert_contains(cookie, &["HttpOnly", "SameSite=Strict"]);
        format!("Cookie: {value}\r\n")
    }

    /// This run with the cookie of a browser that has opened its page, and what that page is told.
    fn opened(self) -> (Self, String, News) {
        let cookie = self.open();
        let news = self.news(&cookie);
        (self, cookie, news)
    }

    fn act(&self, cookie: &str, act: &str) {
        let answer = self.ask("POST /act", cookie, act);
        assert!(answer.starts_with("HTTP/1.1 204 "), "{act}: {answer}");
    }

    /// What the page is told, as it is told.
    fn news(&self, cookie: &str) -> News {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let patience = Some(Duration::from_secs(20));
        stream.set_read_timeout(patience).expect("a timeout");
        let port = self.port;
        let text = format!("GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{cookie}\r\n");
        stream.write_all(text.as_bytes()).expect("it listens");
        News {
            stream: BufReader::new(stream),
            told: Vec::new(),
            looked_at: 0,
        }
    }

    fn end(mut self) -> (i32, String) {
        let mut rest = String::new();
        self.told.read_to_string(&mut rest).expect("it tells");
        let status = self.child.0.wait().expect("it ends");
        (status.code().expect("no signal ended it"), rest)
    }
}

/// What a page hears.
struct News {
    stream: BufReader<TcpStream>,
    /// All moments so far.
    told: Vec<Value>,
    /// How many of them were looked at.
    looked_at: usize,
}

impl News {
    /// Reads on until something is told for which this is true.
    fn until(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            while let Some(moment) = self.told.get(self.looked_at) {
                self.looked_at += 1;
                if is_it(moment) {
                    return moment.clone();
                }
            }
            let late = begun.elapsed() > Duration::from_secs(20);
            let mut line = String::new();
            let read = self.stream.read_line(&mut line).unwrap_or(0);
            assert!(read > 0 && !late, "{what} did not come; {:#?}", self.told);
            let Some(news) = line.strip_prefix("data: ") else {
                continue;
            };
            let news: Value = serde_json::from_str(news).expect("JSON");
            let moments = news["moments"].as_array().cloned();
            self.told.extend(moments.unwrap_or_default());
            if is_it(&news) {
                return news;
            }
        }
    }

    fn until_it(&mut self, what: &str, node: u32) -> Value {
        self.until(what, |moment| {
            moment["what"] == what && moment["node"] == node
        })
    }
}

fn is_refused(answer: &str) {
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
}

#[test]
fn nobody_acts_without_the_printed_address() {
    let place = Place::new();
    let run = LiveRun::start(&place, "--workload manual");
    let finish = r#"{"act":"finish"}"#;
    is_refused(&run.ask("GET /", "", ""));
    is_refused(&run.ask("GET /events", "", ""));
    is_refused(&run.ask("POST /act", "", finish));
    is_refused(&run.ask("GET /?token=0123456789abcdef0123456789abcdef", "", ""));
    is_refused(&run.ask("GET /", "Cookie: turnstile=0123456789abcdef\r\n", ""));
    // A name that was made to lead here, and a page from elsewhere, even with the token.
    let opening = format!("GET /?token={}", run.token);
    is_refused(&run.ask(&opening, "Host: evil.example\r\n", ""));
    is_refused(&run.ask(&opening, "Origin: http://evil.example\r\n", ""));
    let cookie = run.open();
    is_refused(&run.ask(&opening, "", ""));
    is_refused(&run.ask("GET /", &format!("Host: evil.example\r\n{cookie}"), ""));
    let foreign = format!("Origin: http://evil.example\r\n{cookie}");
    is_refused(&run.ask("POST /act", &foreign, finish));
    let page = run.ask("GET /", &cookie, "");
    assert!(page.starts_with("HTTP/1.1 200 "), "{page}");
    assert_contains(&page, &["connect-src 'self'", "<canvas"]);
    let wrong = run.ask("POST /act", &cookie, r#"{"act":"explode"}"#);
    assert!(wrong.starts_with("HTTP/1.1 400 "), "{wrong}");
    run.act(&cookie, finish);
    let (code, _) = run.end();
    assert_eq!(code, 2, "nobody asked, so there is no run");
}

/// Members on several hosts are watched and struck from the page as those of one are, and so is a host.
#[test]
fn members_on_several_hosts_are_driven_from_the_page() {
    let place = Place::new();
    let hosts = "--hosts 'cmd:a,b:exec {agent}' --listen 127.0.0.1";
    let run = LiveRun::of(&place, &format!("--entries 60 --think 20ms {hosts}"));
    let cookie = run.open();
    let mut news = run.news(&cookie);
    news.until_it("enter", 4);
    run.act(
        &cookie,
        r#"{"act":"fault","words":"pause host b for 100ms"}"#,
    );
    news.until("the pause", |moment| {
        moment["fault"] == "pause" && moment["node"] == 4
    });
    news.until_it("enter", 3);
    run.act(&cookie, r#"{"act":"finish"}"#);
    let (code, told) = run.end();
    assert_eq!(code, 0, "{told}");
    let faults = rows(&place.path().join("r/faults.csv"));
    let victims = faults.iter().map(|row| (&*row["fault"], &*row["target"]));
    assert_eq!(
        victims.collect::<Vec<_>>(),
        [("pause", "3"), ("pause", "4")]
    );
    assert!(place.read("r/live.toml").contains("pause 4"));
}

/// What was done during a run that goes by itself is in its files, and its scenario repeats it.
#[test]
fn an_act_is_recorded_and_the_scenario_repeats_it() {
    let place = Place::new();
    let run = LiveRun::start(&place, "--entries 40 --think 2ms --pace 1");
    let cookie = run.open();
    run.act(&cookie, r#"{"act":"stop"}"#);
    for words in ["cut 1-3 for 5ms", "pause 2 for 3ms", "loss 10% on all"] {
        run.act(&cookie, &format!(r#"{{"act":"fault","words":"{words}"}}"#));
    }
    run.act(&cookie, r#"{"act":"step"}"#);
    run.act(&cookie, r#"{"act":"fault","words":"nonsense"}"#);
    run.act(&cookie, r#"{"act":"finish"}"#);
    let (code, told) = run.end();
    assert!([0, 3].contains(&code), "{told}");
    assert_contains(&told, &["again: orchestrator run r/live.toml"]);
    let faults = rows(&place.path().join("r/faults.csv"));
    let faults: Vec<_> = faults.iter().map(|row| row["fault"].as_str()).collect();
    for wanted in ["cut", "pause", "loss"] {
        assert!(
            faults.iter().any(|fault| fault.starts_with(wanted)),
            "{faults:?}"
        );
    }
    let again = place.line("run r/live.toml --out again");
    assert_eq!(again.code, code, "{}", again.stderr);
    for file in ["entries.csv", "faults.csv", "events.jsonl", "messages.csv"] {
        let [one, two] = ["r", "again"].map(|dir| place.read(&format!("{dir}/{file}")));
        assert!(one == two, "{file} differs");
    }
}

/// Who entered, in which order, and what was done to whom.
fn account(place: &Place, dir: &str) -> (Vec<String>, Vec<String>) {
    let mut entries = rows(&place.path().join(dir).join("entries.csv"));
    entries.retain(|row| !row["enter_ns"].is_empty());
    entries.sort_by_key(|row| row["enter_ns"].parse::<u64>().expect("a time"));
    let entries = entries.iter().map(|row| row["node"].clone()).collect();
    let faults = rows(&place.path().join(dir).join("faults.csv"));
    let faults = faults
        .iter()
        .map(|row| format!("{} {}", row["fault"], row["target"]));
    (entries, faults.collect())
}

/// Asks, strikes and leaves among real processes: each act is a fault or a request with its time, and the
/// scenario makes the same entries and faults again.
#[test]
fn a_person_drives_processes_and_the_scenario_repeats_it() {
    let place = Place::new();
    let (run, cookie, mut news) = LiveRun::of(&place, "--workload manual").opened();
    run.act(&cookie, r#"{"act":"ask","node":3}"#);
    let entered = news.until_it("enter", 3);
    run.act(&cookie, r#"{"act":"ask","node":1}"#);
    news.until_it("request", 1);
    run.act(&cookie, r#"{"act":"fault","words":"kill 4"}"#);
    let struck = news.until_it("fault", 4);
    assert!(struck["time_ns"].as_u64() > entered["time_ns"].as_u64());
    run.act(
        &cookie,
        r#"{"act":"fault","words":"loss 20% on all for 10ms"}"#,
    );
    news.until("the end of the loss", |moment| {
        moment["fault"] == "loss 20%" && moment["what"] == "fault-over"
    });
    run.act(&cookie, r#"{"act":"stop"}"#);
    let paused = |node| move |moment: &Value| moment["fault"] == "pause" && moment["node"] == node;
    news.until("a pause", paused(0));
    run.act(&cookie, r#"{"act":"go-on"}"#);
    run.act(&cookie, r#"{"act":"leave","node":3}"#);
    news.until_it("release", 3);
    // The state of its algorithm comes with what happened to it.
    let entered = news.until_it("enter", 1);
    assert!(entered["time_ns"].as_u64() > struck["time_ns"].as_u64());
    assert!(
        news.told
            .iter()
            .any(|moment| moment["node"] == 1 && moment["set"].is_array())
    );
    for wrong in [
        r#"{"act":"step"}"#,
        r#"{"act":"ask","node":9}"#,
        r#"{"act":"ask","node":4}"#,
        r#"{"act":"fault","words":"lose message 1 on all"}"#,
        r#"{"act":"fault","words":"nonsense"}"#,
    ] {
        run.act(&cookie, wrong);
        news.until(wrong, |news| news["refused"].is_string());
    }
    run.act(&cookie, r#"{"act":"finish"}"#);
    let done = news.until("the end", |news| news["done"].is_object());
    let (code, told) = run.end();
    // The loss may have met nobody.
    assert!([0, 3].contains(&code), "{told}");
    let (entries, faults) = account(&place, "r");
    assert_eq!(entries, ["3", "1"]);
    let mut expected = vec!["kill 4", "loss 20% all"];
    expected.extend(["pause 0", "pause 1", "pause 2", "pause 3"]);
    expected.extend(["resume 0", "resume 1", "resume 2", "resume 3"]);
    assert_eq!(faults, expected);
    let offered = done["done"]["scenario"].as_str().expect("a scenario");
    assert_eq!(offered, place.read("r/live.toml"));
    place.file("offered.toml", offered);
    let again = place.line("run offered.toml --out again");
    assert!([0, 3].contains(&again.code), "{}", again.stderr);
    assert_eq!(account(&place, "again"), (entries, faults));
}

/// Processes ask by themselves, faster or slower as the person likes; the requests are in the scenario as
/// they came.
#[test]
fn clients_that_were_slowed_down_come_as_they_came() {
    let place = Place::new();
    let (run, cookie, mut news) = LiveRun::of(&place, "--entries 3 --think 1ms").opened();
    run.act(&cookie, r#"{"act":"faster","times":0.1}"#);
    news.until("slower", |news| news["stretch"] == 10.0);
    news.until("rest", |news| news["status"] == "quiet");
    run.act(&cookie, r#"{"act":"finish"}"#);
    let (code, told) = run.end();
    assert_eq!(code, 0, "{told}");
    let count = |dir: &str| {
        let (mut entries, _) = account(&place, dir);
        entries.sort();
        entries
    };
    assert_eq!(count("r").len(), 15);
    assert_contains(
        &place.read("r/live.toml"),
        &["workload = \"batch\"", " hold "],
    );
    assert_eq!(place.line("run r/live.toml --out again").code, 0);
    assert_eq!(count("again"), count("r"));
}

/// A live run of processes that is interrupted keeps what there is, and the scenario of it.
#[test]
fn an_interrupted_live_run_keeps_what_was_done() {
    let place = Place::new();
    let (run, cookie, mut news) = LiveRun::of(&place, "--workload manual").opened();
    run.act(&cookie, r#"{"act":"ask","node":2}"#);
    news.until_it("enter", 2);
    let pid = Pid::from_child(&run.child.0);
    kill_process(pid, Signal::INT).expect("it runs");
    news.until("the end", |news| news["done"].is_object());
    let (code, told) = run.end();
    assert_eq!(code, 130, "{told}");
    assert_contains(&place.read("r/live.toml"), &["asks = \"2 at "]);
    // One whose page nobody has opened yet has nothing to keep.
    let run = LiveRun::of(&place, "--workload manual --out other");
    kill_process(Pid::from_child(&run.child.0), Signal::INT).expect("it runs");
    assert_eq!(run.end().0, 130);
    assert!(!place.path().join("other").exists());
}

#[test]
fn what_cannot_be_live_is_refused() {
    let place = Place::new();
    place.refuses(&[
        ("run raymond --engine sim --workload manual", "--live"),
        ("compare raymond lamport --workload manual", "--live"),
        ("run raymond --engine sim --live --pace 0", "is no pace"),
        ("run raymond --engine sim --pace 1", "--live"),
        ("run raymond --engine sim --live=70000", "70000"),
    ]);
}
