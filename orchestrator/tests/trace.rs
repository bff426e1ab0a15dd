//! `--trace`: everything that happened is in `events.jsonl`, and the tables agree with it.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use common::{Place, rows};
use serde_json::Value;

/// Runs in which messages meet every fate; whether nothing may be under way at the end.
const RUNS: [(&str, bool); 6] = [
    ("raymond -n 5 --entries 4", true),
    (
        "suzuki-kasami -n 6 --entries 8 --think 1ms --hold 100us --loss 20% --duplicate 10% --links any",
        true,
    ),
    (
        "suzuki-kasami -n 4 --entries 3 --fault 'duplicate message REQUEST' --fault 'delay message PRIVILEGE by 3ms'",
        true,
    ),
    (
        "ricart-agrawala -n 4 --entries 3 --fault 'lose message REPLY #2' --time-limit 2s",
        false,
    ),
    (
        "lamport -n 4 --entries 4 --fault 'when enter 2 kill 2' --detect-after 1ms..2ms --time-limit 2s",
        false,
    ),
    (
        "lfrt -n 5 --entries 4 --fault 'at 5ms cut 3 random edges for 1500ms' --time-limit 6s",
        false,
    ),
];

#[test]
fn a_trace_tells_what_the_tables_tell() {
    let mut seen = BTreeSet::new();
    for (line, settles) in RUNS {
        for engine in ["sim", "cluster"] {
            let place = Place::new();
            let line = format!("run {line} --engine {engine} --seed 3 --trace --out run");
            println!("{line}");
            let finished = place.line(&line).expect_one_of(&[0, 1, 3]);
            let run = place.path().join("run");
            let events = events(&run);
            in_order_of_time(&events, &line);
            same_messages(&events, &run, &line);
            same_entries(&events, &run, &line);
            every_message_has_one_fate(&events, settles, &line);
            if engine == "sim" {
                let whats = events.iter().filter_map(|event| event["what"].as_str());
                seen.extend(whats.map(str::to_owned));
            }
            let checked = place.line("check run");
            assert_eq!(checked.code, finished.code, "{line}: {}", checked.stderr);
            assert!(
                !checked.stderr.contains("events.jsonl"),
                "{line}: {}",
                checked.stderr
            );
            let replayed = place.line("replay run").expect(0);
            let told = format!("replayed: {} events", grouped(events.len()));
            assert!(replayed.stdout.contains(&told), "{}", replayed.stdout);
        }
    }
    for what in ["send", "receive", "lose", "hold", "tamper"] {
        assert!(seen.contains(what), "no run has a {what}: {seen:?}");
    }
}

#[test]
fn a_traced_run_is_the_same_run() {
    let lines = [
        "raymond --entries 5",
        "naimi-trehel -n 6 --entries 5 --loss 10% --reorder 20% --fault 'at 3ms rate 200kbit on all'",
        "lamport -n 5 --entries 4 --fault 'at 10ms kill 2' --fault 'duplicate message RELEASE #2'",
        "raymond -n 120 --entries 1",
    ];
    for line in lines {
        let place = Place::new();
        for (out, trace) in [("first", " --trace"), ("second", " --trace"), ("plain", "")] {
            let line = format!("run {line} --engine sim --seed 5{trace} --out {out}");
            let finished = place.line(&line);
            let judged = [0, 1, 3].contains(&finished.code);
            assert!(judged, "{line}: {}", finished.stderr);
        }
        let [first, second, plain] =
            ["first", "second", "plain"].map(|out| contents(&place.path().join(out)));
        assert!(first["events.jsonl"].len() > 1_000, "{line}");
        assert!(!plain.contains_key("events.jsonl"), "{line}");
        for (file, bytes) in &first {
            assert!(*bytes == second[file], "{line}: {file} differs");
            // A trace counts bytes, and links of large groups, besides.
            if !["events.jsonl", "messages.csv"].contains(&file.as_str()) {
                assert!(
                    *bytes == plain[file],
                    "{line}: {file} differs from an untraced run"
                );
            }
        }
    }
}

#[test]
fn processes_leave_no_events_unless_asked() {
    let place = Place::new();
    place
        .line("run raymond -n 3 --entries 2 --out run")
        .expect(0);
    assert!(!place.path().join("run/events.jsonl").exists());
}

#[test]
fn a_trace_of_many_nodes_counts_by_link() {
    for (trace, by_link) in [("", false), ("--trace", true)] {
        let place = Place::new();
        let line = format!("run raymond -n 120 --entries 1 --engine sim {trace} --out run");
        place.line(&line).expect(0);
        let rows = rows(&place.path().join("run/messages.csv"));
        assert!(rows.len() > 100);
        assert!(rows.iter().all(|row| row["to"].is_empty() != by_link));
        assert!(rows.iter().all(|row| row["bytes"].is_empty() != by_link));
    }
}

#[test]
fn what_was_changed_afterwards_is_noticed() {
    let place = Place::new();
    place
        .line("run raymond -n 4 --entries 2 --engine sim --trace --out run")
        .expect(0);
    let whole = place.read("run/events.jsonl");
    let without = |what: &str| {
        let at = whole
            .find(&format!("\"what\":\"{what}\""))
            .expect("there is one");
        let start = whole[..at].rfind('\n').map_or(0, |end| end + 1);
        let end = at + whole[at..].find('\n').expect("a line ends") + 1;
        format!("{}{}", &whole[..start], &whole[end..])
    };
    for (what, table) in [
        ("send", "messages.csv"),
        ("receive", "messages.csv"),
        ("enter", "entries.csv"),
    ] {
        place.file("run/events.jsonl", &without(what));
        let checked = place.line("check run").expect(1);
        let printed = &checked.stderr;
        assert!(
            printed.contains("events.jsonl") && printed.contains(table),
            "{what}: {printed}"
        );
    }
    let path = place.file("run/events.jsonl", &whole[..whole.len() - 10]);
    let torn = place.line("check run").expect(2);
    let last = format!("line {}", whole.lines().count());
    assert!(torn.stderr.contains(&last), "{}", torn.stderr);
    fs::remove_file(&path).expect("it is there");
    let missing = place.line("check run").expect(2);
    missing.warns("events.jsonl is missing");
}

#[test]
fn a_replay_stops_where_it_is_told_or_where_something_is_different() {
    let place = Place::new();
    for (out, trace) in [("run", "--trace"), ("plain", "")] {
        let line = format!("run raymond -n 4 --entries 2 --engine sim {trace} --out {out}");
        place.line(&line).expect(0);
    }
    let untraced = place.line("replay plain").expect(2);
    assert!(untraced.stderr.contains("--trace"), "{}", untraced.stderr);
    let path = place.path().join("run/events.jsonl");
    let whole = fs::read_to_string(&path).expect("text");
    let lines: Vec<&str> = whole.lines().collect();
    let nth = lines.iter().position(|line| line.contains("\"receive\""));
    let nth = nth.expect("something arrives");
    let stopped = place
        .line(&format!("replay run --to {}", nth + 1))
        .expect(0);
    let shown = &stopped.stdout;
    assert!(
        shown.contains(lines[nth]) && shown.contains("is now: Raymond"),
        "{shown}"
    );
    let beyond = place.line("replay run --to 100000").expect(2);
    assert!(beyond.stderr.contains("only"), "{}", beyond.stderr);
    // It breaks off where nothing is due: the tables know that there was more.
    let last = lines.iter().rposition(|line| line.contains("\"request\""));
    let until = last.expect("somebody asks");
    fs::write(&path, lines[..until].join("\n") + "\n").expect("it can be written");
    let shorter = place.line("replay run").expect(1);
    assert!(shorter.stdout.contains(".csv"), "{}", shorter.stdout);
    // The first message is another one than was sent.
    let body = |what: &str| match what.contains("\"body\":\"00\"") {
        true => what.replace("\"body\":\"00\"", "\"body\":\"01\""),
        false => what.replace("\"body\":\"01\"", "\"body\":\"00\""),
    };
    fs::write(&path, whole.replace(lines[nth], &body(lines[nth]))).expect("it can be written");
    let different = place.line("replay run").expect(1);
    let shown = &different.stdout;
    let told = format!("because event {}: ", nth + 1);
    assert!(
        shown.contains("verdict: violated") && shown.contains(&told),
        "{shown}"
    );
}

/// With a comma between thousands, as the program shows numbers.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups = groups.map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join(",")
}

fn in_order_of_time(events: &[Value], line: &str) {
    let times = events.iter().map(|event| number(event, "time_ns"));
    assert!(times.is_sorted(), "{line}");
}

/// By (from, to, kind): sent, received, lost.
fn same_messages(events: &[Value], run: &Path, line: &str) {
    let mut told = BTreeMap::<_, [u64; 3]>::new();
    for event in events {
        let (link, fate) = match fate(event) {
            Some((from, to, fate)) if from != to => ((from, to), fate),
            _ => continue,
        };
        let kind = event["kind"].as_str().expect("a kind").to_owned();
        told.entry((link, kind)).or_default()[fate] += 1;
    }
    let rows = rows(&run.join("messages.csv")).into_iter().map(|row| {
        let count = |column: &str| row[column].parse::<u64>().expect("a number");
        let link = (count("from"), count("to"));
        let counts = ["sent", "received", "lost"].map(count);
        ((link, row["kind"].clone()), counts)
    });
    assert_eq!(told, rows.collect(), "{line}");
}

fn same_entries(events: &[Value], run: &Path, line: &str) {
    let told = events.iter().filter(|event| event["what"] == "enter");
    let told: BTreeSet<_> = told
        .map(|event| (number(event, "node"), number(event, "time_ns")))
        .collect();
    let rows = rows(&run.join("entries.csv")).into_iter();
    let rows = rows.filter(|row| !row["enter_ns"].is_empty()).map(|row| {
        let count = |column: &str| row[column].parse::<u64>().expect("a number");
        (count("node"), count("enter_ns"))
    });
    assert_eq!(told, rows.collect(), "{line}");
    assert!(!told.is_empty(), "{line}");
}

/// A message arrives or is lost as often as it was sent, never before, and as what it was sent.
fn every_message_has_one_fate(events: &[Value], settles: bool, line: &str) {
    let mut under_way = BTreeMap::<_, (u64, String)>::new();
    let mut last = BTreeMap::<u64, u64>::new();
    for event in events {
        let what = event["what"].as_str().expect("a word");
        let body = event["body"].as_str().unwrap_or_default().to_owned();
        if ["send", "hold", "post"].contains(&what) {
            let made = last.entry(number(event, "node")).or_default();
            let this = number(event, "number");
            assert!(this <= *made + 1, "{line}: {event} skips a number");
            *made = this.max(*made);
        }
        let Some((from, to, fate)) = fate(event) else {
            continue;
        };
        let id = (from, to, number(event, "number"));
        if fate == 0 {
            under_way.entry(id).or_insert((0, body)).0 += 1;
            continue;
        }
        let sent = under_way.get_mut(&id);
        let (copies, sent) = sent.unwrap_or_else(|| panic!("{line}: {event} was not sent"));
        assert!(what == "lose" || *sent == body, "{line}: {event}");
        *copies = copies
            .checked_sub(1)
            .unwrap_or_else(|| panic!("{line}: {event} again"));
    }
    if settles {
        under_way.retain(|_, (copies, _)| *copies > 0);
        assert_eq!(under_way, BTreeMap::new(), "{line}");
    }
}

/// The sender, the addressee, and whether it is sent, received or lost; a post counts as sent.
fn fate(event: &Value) -> Option<(u64, u64, usize)> {
    let node = number(event, "node");
    match event["what"].as_str().expect("a word") {
        "send" => Some((node, number(event, "to"), 0)),
        "post" => Some((node, node, 0)),
        "receive" => Some((number(event, "from"), node, 1)),
        "lose" => Some((node, number(event, "to"), 2)),
        _ => None,
    }
}

fn number(event: &Value, field: &str) -> u64 {
    event[field].as_u64().unwrap_or(u64::MAX)
}

fn events(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("events.jsonl")).expect("a trace");
    let event = |line| serde_json::from_str(line).expect("an event");
    text.lines().map(event).collect()
}

/// Every file but those that tell when and where it was.
fn contents(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(run)
        .expect("a run")
        .map(|file| file.expect("a file"));
    let files = files.map(|file| {
        let name = file.file_name().to_string_lossy().into_owned();
        let bytes = match name.as_str() {
            "summary.csv" => common::undated(&file.path()),
            _ => fs::read(file.path()).expect("a file"),
        };
        (name, bytes)
    });
    let pages = ["run.json", "report.html", "view.html"];
    let told = |name: &String| !pages.contains(&name.as_str());
    files.filter(|(name, _)| told(name)).collect()
}

/// The fields of a protobuf message: the number of each, and its value or its bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (first, rest) = bytes.split_first().expect("a number ends");
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                break;
            }
        }
        value
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = match tag & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (number, rest) = bytes.split_first_chunk().expect("eight bytes");
                bytes = rest;
                Field::Number(u64::from_le_bytes(*number))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (inner, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(inner)
            }
            other => panic!("wire type {other}"),
        };
        fields.push((tag >> 3, value));
    }
    fields
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Each message that arrived is a flow with a beginning and an end, slices are closed, and times rise.
#[test]
fn every_flow_of_a_perfetto_trace_ends_where_its_message_arrives() {
    let place = Place::new();
    place
        .line("run raymond -n 5 --engine sim --entries 4 --trace --out run")
        .expect(0);
    place.line("trace run --format perfetto").expect(0);
    let bytes = fs::read(place.path().join("run/trace.perfetto")).unwrap();
    let (mut begun, mut ended) = (Vec::new(), Vec::new());
    let mut last_ns = 0;
    let mut open = BTreeMap::new();
    for (field, packet) in fields(&bytes) {
        assert_eq!(field, 1);
        let Field::Bytes(packet) = packet else {
            panic!("a packet is a message");
        };
        let packet = fields(packet);
        let of = |packet: &[(u64, Field<'_>)], number| {
            let found = packet.iter().find(|(field, _)| *field == number);
            found.map(|(_, value)| match value {
                Field::Number(number) => *number,
                Field::Bytes(_) => panic!("field {number} is a number"),
            })
        };
        let Some((_, Field::Bytes(event))) = packet.iter().find(|(field, _)| *field == 11) else {
            continue;
        };
        let time_ns = of(&packet, 8).expect("a time");
        assert!(time_ns >= last_ns);
        last_ns = time_ns;
        let event = fields(event);
        let track = of(&event, 11).expect("a track");
        match of(&event, 9) {
            Some(1) => assert_eq!(open.insert(track, time_ns), None),
            Some(2) => assert!(open.remove(&track).is_some()),
            _ => {}
        }
        begun.extend(of(&event, 47));
        ended.extend(of(&event, 48));
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(begun.len() > 20, "{}", begun.len());
    begun.sort_unstable();
    ended.sort_unstable();
    assert_eq!(begun, ended);
}

#[test]
fn a_run_is_drawn_and_what_cannot_be_is_refused() {
    let place = Place::new();
    place
        .line("run raymond -n 5 --engine sim --entries 4 --trace --out run")
        .expect(0);
    for format in ["svg", "shiviz"] {
        let line = format!("trace run --format {format} --from 0s --out file");
        place.line(&line).expect(0);
        assert!(place.read("file").contains("PRIVILEGE"), "{format}");
    }
    assert!(
        place
            .read("run/report.html")
            .contains("The last two entries")
    );
    place.refuses(&[
        (
            "trace run --format svg --around violation",
            "exclusion was kept",
        ),
        ("trace run --format svg --nodes 7", "no member 7"),
        (
            "trace run --format svg --from 9ms --to 1ms",
            "later than --to",
        ),
        ("trace run --format png", "png"),
        ("trace run --format svg --around soon", "violation, or end"),
        ("trace nowhere --format svg", "nowhere"),
    ]);
    place
        .line("run raymond -n 5 --engine sim --entries 4 --out plain")
        .expect(0);
    let refused = place.line("trace plain --format svg").expect(2);
    assert!(refused.stderr.contains("--trace"), "{}", refused.stderr);
}

/// The picture in the documents is drawn again and compared; `UPDATE=1` writes it.
#[test]
fn the_picture_of_the_documents_is_what_the_program_draws() {
    let place = Place::new();
    let line = "run bmav -n 3 --engine sim --as-printed=kanrar-K4 --entries 10 --think exp:3ms --hold 200us --seed 2";
    place.line(&format!("{line} --trace --out run")).expect(1);
    place.line("trace run --format svg").expect(0);
    let drawn = place.read("run/trace.svg");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures/space-time.svg");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &drawn).expect("it can be written");
    }
    assert_eq!(drawn, fs::read_to_string(&path).unwrap_or_default());
}
