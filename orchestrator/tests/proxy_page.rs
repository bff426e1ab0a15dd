//! `docs/proxy.md` shows what `orchestrator chaos` really does: its example is run line by line.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use common::processes::OwnChild;
use common::{Place, blocks, words};

/// Longer than anything here takes on the busiest machine.
const DEADLINE: Duration = Duration::from_secs(20);
const CALL: &str = "orchestrator ";

#[test]
fn the_example_does_what_the_page_shows() {
    let page = page();
    let token = page.split("export CHAOS_TOKEN=").nth(1);
    let token = token.and_then(|rest| rest.lines().next()).expect("a token");
    let server = server_port(&page);
    let echo = Echo::start(server);
    let blocks = blocks(&page, "console");
    let mut steps = blocks.iter().flat_map(|block| steps(block));

    let (start, shown) = steps.next().expect("the page starts the proxy");
    let place = Place::new();
    let start = start.strip_prefix(CALL).expect("it is this program");
    let words = words_of(start, token);
    let mut proxy = Running::start(&place, &words, token);
    for line in shown.lines() {
        let fixed = line.find("127.0.0.1:40123").unwrap_or(line.len());
        let printed = proxy.line();
        assert!(
            printed.starts_with(&line[..fixed]),
            "{printed:?} is not {line:?}"
        );
    }

    let mut seen = 0;
    for (line, shown) in steps {
        let words = words_of(&line, token);
        match words[0].as_str() {
            "printf" => send(&words, shown.trim_end()),
            "curl" => ask_until(&words, shown.trim_end()),
            _ => panic!("the page says {line}"),
        }
        seen += 1;
    }
    assert!(seen >= 7, "only {seen} lines were found");
    drop((proxy, echo));
}

#[test]
fn the_file_on_the_page_starts_a_proxy() {
    let page = page();
    let place = Place::new();
    let toml = blocks(&page, "toml").pop().expect("a file is shown");
    place.file("proxy.toml", &toml);
    let token = "a-token-of-no-importance";
    let words = ["chaos", "--config", "proxy.toml"].map(str::to_owned);
    let mut proxy = Running::start(&place, &words, token);
    assert!(proxy.line().starts_with("server "));
    assert!(proxy.line().starts_with("client "));
    assert!(proxy.line().starts_with("control "));
    let journal = place.read("proxy.jsonl");
    let added = journal.lines().filter(|line| line.contains("\"added\""));
    assert_eq!(added.count(), 3, "{journal}");
}

#[test]
fn what_is_wrong_ends_with_two() {
    let place = Place::new();
    let finished = place.line("chaos --link a=127.0.0.1:7001 --fault 'kill a'");
    let printed = finished.expect(2).stderr;
    assert!(
        printed.contains("'kill' needs an orchestrator"),
        "{printed}"
    );
    let printed = place.line("chaos").expect(2).stderr;
    assert!(printed.contains("--link a=127.0.0.1:7001"), "{printed}");
    let help = place.line("chaos --help").expect(0).stdout;
    assert!(
        help.contains("UDP only") && help.contains("POST   /faults"),
        "{help}"
    );
}

/// The page, with ports that are free here in place of its own.
fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/proxy.md");
    let mut page = fs::read_to_string(path).expect("the page is there");
    for own in ["7001", "7100", "7101"] {
        page = page.replace(own, &free_port().to_string());
    }
    page
}

/// A port that is free. It is below those that the kernel gives to sockets that name none, so it stays free,
/// and is given out only once.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(20_000);
    loop {
        let port = NEXT.fetch_add(1, Ordering::Relaxed);
        assert!(port < 30_000, "no port is free");
        if UdpSocket::bind(("127.0.0.1", port)).is_ok()
            && TcpListener::bind(("127.0.0.1", port)).is_ok()
        {
            return port;
        }
    }
}

/// Where the server of the example is.
fn server_port(page: &str) -> u16 {
    let rest = page.split("=127.0.0.1:").nth(1);
    let port = rest.and_then(|rest| rest.split(' ').next());
    port.and_then(|port| port.parse().ok()).expect("a port")
}

/// What is typed in a block, and what each line shows.
fn steps(block: &str) -> Vec<(String, String)> {
    let steps = block.split("$ ").skip(1);
    let whole = steps.map(|step| step.split_once('\n').unwrap_or((step, "")));
    whole
        .map(|(line, shown)| (line.to_owned(), shown.to_owned()))
        .collect()
}

/// The words of a line as a shell would split it, with the token in place of its variable.
fn words_of(line: &str, token: &str) -> Vec<String> {
    words(&line.replace("$CHAOS_TOKEN", token))
}

/// Does what `printf WORD | nc -u -w 1 HOST PORT` does; where nothing is shown nothing is waited for.
fn send(words: &[String], shown: &str) {
    let [_, text, .., host, port] = words else {
        panic!("{words:?}");
    };
    let client = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    client.set_read_timeout(Some(DEADLINE)).expect("a deadline");
    let port = port.parse::<u16>().expect("a port");
    client
        .send_to(text.as_bytes(), (host.as_str(), port))
        .expect("it is sent");
    if !shown.is_empty() {
        let mut room = [0; 100];
        let length = client.recv(&mut room).expect("an answer");
        assert_eq!(String::from_utf8_lossy(&room[..length]), shown);
    }
}

/// Does what `curl` does, until it shows what the page shows if that is only a question.
fn ask_until(words: &[String], shown: &str) {
    let after = |flag: &str| {
        let place = words.iter().position(|word| word == flag)?;
        words.get(place + 1).map(String::as_str)
    };
    let header = after("-H").expect("a header");
    let body = after("-d").unwrap_or_default();
    let usual = if body.is_empty() { "GET" } else { "POST" };
    let method = after("-X").unwrap_or(usual);
    let url = words.last().and_then(|word| word.strip_prefix("http://"));
    let (host, path) = url.and_then(|url| url.split_once('/')).expect("an address");
    let began = Instant::now();
    loop {
        let printed = ask(host, &format!("{method} /{path}"), header, body);
        if printed == shown {
            return;
        }
        let waits = method == "GET" && began.elapsed() < DEADLINE;
        assert!(waits, "{words:?} shows {printed}");
    }
}

fn ask(host: &str, what: &str, header: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(host).expect("the port is open");
    stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
    let length = body.len();
    // As curl says it.
    let form = "Content-Type: application/x-www-form-urlencoded";
    write!(
        stream,
        "{what} HTTP/1.1\r\nHost: {host}\r\n{header}\r\n{form}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .expect("a request");
    let reply = std::io::read_to_string(stream).expect("a reply");
    let (_, body) = reply.split_once("\r\n\r\n").expect("a body");
    body.to_owned()
}

/// A running proxy; it is gone when this is.
struct Running {
    _child: OwnChild,
    out: BufReader<std::process::ChildStdout>,
}

impl Running {
    fn start(place: &Place, words: &[String], token: &str) -> Self {
        let mut command = place.command(words);
        command.env("CHAOS_TOKEN", token).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let out = child.stdout.take().expect("its output is ours");
        Self {
            _child: OwnChild(child),
            out: BufReader::new(out),
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("a line");
        line
    }
}

/// A server that sends back what it gets; it is gone when this is.
struct Echo {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Echo {
    fn start(port: u16) -> Self {
        let socket = UdpSocket::bind(("127.0.0.1", port)).expect("the port is free");
        let patience = Some(Duration::from_millis(50));
        socket.set_read_timeout(patience).expect("a deadline");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut room = [0; 100];
            while !stopped.load(Ordering::Relaxed) {
                if let Ok((length, from)) = socket.recv_from(&mut room) {
                    let _ = socket.send_to(&room[..length], from);
                }
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
