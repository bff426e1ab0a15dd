//! Files that somebody made to do harm: they get exit code 2 and one message, and nothing is written
//! anywhere but where it belongs.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::{Finished, Place, words};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};

/// Far longer than any of these takes, however busy the machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs the program; if it hangs, ends it and fails.
fn bounded(place: &Place, line: &str) -> Finished {
    let child = place
        .command(words(line))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let id = Pid::from_child(&child);
    let (tell, told) = mpsc::channel();
    // Read meanwhile: who writes much would wait for a reader otherwise.
    thread::spawn(move || tell.send(child.wait_with_output()));
    let Ok(output) = told.recv_timeout(PATIENCE) else {
        kill_process(id, Signal::KILL).expect("it is our child");
        panic!("it hangs: {line}");
    };
    Finished::new(output.expect("it is our child"))
}

fn pipe(path: &Path) {
    let _ = fs::remove_file(path);
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
}

/// A scenario of everything that may be in a file, which stays small.
const TRACED: &str = "run raymond -n 3 --engine sim --seed 1 --total 9 --trace --out";

#[test]
fn an_input_that_is_no_regular_file_is_refused() {
    let place = Place::new();
    for name in ["pipe", "pipe.toml", "claims/pipe.toml"] {
        fs::create_dir_all(place.path().join("claims")).expect("a directory");
        pipe(&place.path().join(name));
    }
    for line in [
        "run ./pipe.toml",
        "run raymond --topology file:pipe",
        "run raymond --workload trace --arrivals pipe",
        "run raymond --fault 'delay matrix pipe on all'",
        "run raymond --fault 'delay empirical pipe:rtt_ms on all'",
        "run sanders --param structure=pipe.toml",
        "structure pipe.toml",
        "sweep pipe.toml",
        "compare pipe.toml raymond",
        "reproduce --claims claims",
    ] {
        let refused = bounded(&place, line).expect(2);
        refused.warns("it is a named pipe; a regular file is needed");
    }
    bounded(&place, "run raymond --topology file:/dev/zero")
        .expect(2)
        .warns("it is a device");
    bounded(&place, "run raymond --topology file:claims")
        .expect(2)
        .warns("it is a directory");
}

#[test]
fn no_file_of_a_run_directory_may_be_a_pipe() {
    let place = Place::new();
    place.line(&format!("{TRACED} whole")).expect(0);
    let dir = place.path().join("whole");
    for name in analysis::files::FILES {
        let whole = fs::read(dir.join(name)).expect("a file");
        pipe(&dir.join(name));
        for command in ["check", "replay", "report"] {
            let finished = bounded(&place, &format!("{command} whole"));
            let unread = match command {
                // A page needs no more than it shows.
                "report" => ["events.jsonl", "summary.csv"].contains(&name),
                "replay" => name == "summary.csv",
                _ => false,
            };
            if !unread {
                assert_eq!(finished.code, 2, "{command} with {name}");
                finished.warns(if (command, name) == ("report", "run.json") {
                    "neither run.json nor sweep.toml"
                } else {
                    "it is a named pipe"
                });
            }
        }
        fs::remove_file(dir.join(name)).expect("a pipe");
        fs::write(dir.join(name), whole).expect("it can be written");
    }
    bounded(&place, "check whole").expect(0);
}

#[test]
fn a_file_that_is_too_large_is_refused_with_the_limit() {
    let place = Place::new();
    let path = place.file("large.toml", "");
    let file = fs::OpenOptions::new().write(true).open(path);
    // It takes no room on the disk.
    let long = file.and_then(|file| file.set_len(1 << 40));
    long.expect("a long file");
    let refused = bounded(&place, "run ./large.toml").expect(2);
    refused.warns("it has 1 TiB, more than the limit of 64 MiB");
}

#[test]
fn a_page_is_not_written_through_a_link() {
    let place = Place::new();
    place.line(&format!("{TRACED} run")).expect(0);
    let precious = place.file("precious", "mine");
    let page = place.path().join("run/report.html");
    fs::remove_file(&page).expect("a page");
    symlink(&precious, &page).expect("a link");
    let refused = place.line("report run").expect(2);
    refused.warns("it is a link to another place, which is not written to");
    assert_eq!(fs::read_to_string(&precious).expect("it is there"), "mine");
    fs::remove_file(&page).expect("a link");
    place.line("report run").expect(0);
}

const SWEEP: &str = "repetitions = 1\n[scenario]\nengine = \"sim\"\ntotal = 5\nnodes = 3\n\
                     [grid]\nalgorithm = [\"raymond\"]\nhold = [\"1ms\", \"2ms\"]\n";

#[test]
fn a_sweep_is_not_written_through_a_link() {
    let place = Place::new();
    place.file("small.toml", SWEEP);
    let elsewhere = place.path().join("elsewhere");
    for name in ["runs.csv", "sweep.json", "aggregate.csv", "report.html"] {
        fs::create_dir(place.path().join("out")).expect("a directory");
        symlink(&elsewhere, place.path().join("out").join(name)).expect("a link");
        let refused = place.line("sweep small.toml --out out");
        refused.warns("it is a link to another place");
        assert!(!elsewhere.exists(), "{name}");
        fs::remove_dir_all(place.path().join("out")).expect("a directory");
    }
}

#[test]
fn names_in_files_lead_nowhere() {
    let place = Place::new();
    let claim = "[[claim]]\nid = \"X-1\"\nplace = \"p\"\nsays = \"s\"\nkind = \"value\"\nlab = \"l\"\n\
                 [[claim.test]]\nsweep = \"NAME\"\nvalue = \"entries\"\nequals = \"5\"\nwithin = 0\n";
    let book = |source: &str, name: &str| {
        let sweep = SWEEP
            .replace("[scenario]", &format!("[sweep.\"{name}\".scenario]"))
            .replace("[grid]", &format!("[sweep.\"{name}\".grid]"))
            .replace(
                "repetitions = 1\n",
                &format!("[sweep.\"{name}\"]\nrepetitions = 2\n"),
            );
        format!(
            "source = \"{source}\"\ntitle = \"t\"\n{}\n{sweep}",
            claim.replace("NAME", name)
        )
    };
    for (source, name, culprit) in [
        ("../../up", "small", "source: '../../up'"),
        ("mine", "../../up", "sweep.../../up: '../../up'"),
    ] {
        place.file("claims/one.toml", &book(source, name));
        let refused = place.line("reproduce --claims claims --papers claims --out out/here");
        refused.expect(2).warns(culprit);
    }
    place.file("sweep.toml", &format!("name = \"../up\"\n{SWEEP}"));
    place
        .line("sweep sweep.toml")
        .expect(2)
        .warns("name: '../up'");
    place.file("one.toml", "algorithm = \"raymond\"\nname = \"../up\"\n");
    place
        .line("run ./one.toml")
        .expect(2)
        .warns("name: '../up'");
    let there = fs::read_dir(place.path()).expect("a directory");
    let names = there.map(|entry| entry.expect("a name").file_name());
    let mut names = names.collect::<Vec<_>>();
    names.sort();
    assert_eq!(names, ["claims", "one.toml", "sweep.toml"]);
}

#[test]
fn what_a_terminal_would_obey_is_written_out() {
    let place = Place::new();
    place.file(
        "title.toml",
        "algorithm = \"raymond\"\n\"\\u001b]0;x\\u0007\" = 1\n",
    );
    place.file("edges", "0-1\n\u{1b}]0;x\u{7}\n");
    place.line(&format!("{TRACED} run")).expect(0);
    let altered = "\"reasons\": [\"\\u001b]0;x\\u0007\"]";
    place.replace("run/run.json", "\"reasons\": []", altered);
    for (line, code) in [
        ("run ./title.toml", 2),
        ("run raymond --topology file:edges", 2),
        ("check run", 1),
        ("run \u{1b}]0;x\u{7}", 2),
        ("run raymond --engine \u{1b}]0;x\u{7}", 2),
    ] {
        let message = bounded(&place, line).expect(code);
        message.warns("\\u001b]0;x\\u0007");
        for text in [message.stdout, message.stderr] {
            assert!(!text.contains('\u{1b}'), "{line}: {text:?}");
        }
    }
}

/// Numbers that would take all memory or time, or overflow, are refused by name.
#[test]
fn numbers_have_bounds_that_are_named() {
    let place = Place::new();
    place.file(
        "seed.toml",
        "algorithm = \"raymond\"\nseed = 9223372036854775808\n",
    );
    place.file(
        "total.toml",
        "algorithm = \"raymond\"\ntotal = 9223372036854775808\n",
    );
    place.file(
        "warm.toml",
        "algorithm = \"raymond\"\nwarm-up = 18446744073709551615\n",
    );
    place.file(
        "clients.toml",
        "algorithm = \"raymond\"\nclients = 4294967295\n",
    );
    let faults = "\"loss 1%\", ".repeat(10_001);
    place.file(
        "faults.toml",
        &format!("algorithm = \"raymond\"\nfault = [{faults}]\n"),
    );
    place.file(
        "often.toml",
        &SWEEP.replace("= 1\n", "= 18446744073709551615\n"),
    );
    place.file("many.toml", &SWEEP.replace("= 1\n", "= 100000000\n"));
    let deep = format!("{}nodes{}", "(".repeat(1_900), ")".repeat(1_900));
    let curve = format!(
        "[plot]\nx = \"nodes\"\ny = \"messages\"\n[[plot.curve]]\nlabel = \"c\"\nformula = \"{deep}\"\n"
    );
    let sizes = SWEEP.replace("nodes = 3\n", "") + "nodes = [3, 5]\n" + &curve;
    place.file("curve.toml", &sizes);
    let trees = format!(
        "algorithm = \"raymond\"\ntopology = \"{}ring\"\n",
        "tree-of:".repeat(100_000)
    );
    place.file("trees.toml", &trees);
    place.file("late.csv", "node,request_ns\n0,18446744073709551615\n");
    for (line, culprit) in [
        (
            "run ./seed.toml",
            "seed.toml:2: '9223372036854775808' is not a whole number below 2^63",
        ),
        ("run ./total.toml", "below 2^63"),
        ("run ./warm.toml", "below 2^63"),
        (
            "run ./clients.toml",
            "4294967295 clients at each of 10 nodes are too many",
        ),
        (
            "run ./faults.toml",
            "10001 faults are too many; at most 10000",
        ),
        ("sweep often.toml", "below 2^63"),
        ("sweep many.toml", "more than 1000000 runs"),
        ("sweep curve.toml", "nested more than 100 deep"),
        ("sweep often.toml --repetitions 7", "below 2^63"),
        ("run ./trees.toml", "a tree of a tree is that tree"),
        (
            "run lfrt -n 10 --topology ring-chords:13000000",
            "each has only 9 others",
        ),
        (
            "run raymond --workload trace --arrivals late.csv",
            "more than a year",
        ),
        (
            "run raymond --engine sim --fault 'every 2ns isolate random for 1ns'",
            "write at least every 1ms",
        ),
        (
            "run raymond --engine sim --fault 'every 2ns loss 1% for 1ns'",
            "write at least every 1us",
        ),
        (
            "run raymond --fault 'delay message REQUEST by 1000000000000T'",
            "a delay of more than a year",
        ),
        ("run raymond --delay 3153600000s", "of at most a year"),
        (
            "run raymond --workload open --rate 0.000000001",
            "cannot be",
        ),
    ] {
        let refused = bounded(&place, line).expect(2);
        let words = refused.stderr.split_whitespace().collect::<Vec<_>>();
        let message = words.join(" ");
        assert!(message.contains(culprit), "{line}: {message}");
    }
}

/// What is allowed adds up, also in a build that checks every sum.
#[test]
fn the_longest_times_overflow_nothing() {
    let place = Place::new();
    for flags in [
        "--delay 8760h",
        "--delay '8760h distribution exponential'",
        "--delay '8760h 8760h distribution pareto'",
        "--hold 8760h --entries 60",
        "--think exp:8760h",
        "--fault 'delay message REQUEST by 8760h'",
        "--fault 'delay 8760h' --fault 'delay 8760h' --fault 'delay 8760h'",
        "--workload open --gap 8760h",
        "--fault 'at 8760h kill random' --time-limit 8760h",
        "--fault 'rate 1bit'",
    ] {
        let line = format!("run raymond -n 3 --engine sim --seed 1 --entries 2 {flags}");
        let line = line.replace(
            "--entries 2 --hold 8760h --entries 60",
            "--hold 8760h --entries 60",
        );
        let finished = bounded(&place, &line);
        assert!(
            [0, 3].contains(&finished.code),
            "{flags}: {}",
            finished.stderr
        );
    }
}

/// Counts are summed over the rows, so a count in a table has an upper bound.
#[test]
fn counts_in_tables_have_a_bound_that_is_named() {
    let place = Place::new();
    place
        .line(&format!("{TRACED} run --transport always"))
        .expect(0);
    let half = 1_u64 << 52;
    for (name, column, count, line) in [
        ("transport.csv", "bytes", u64::MAX, 2),
        ("transport.csv", "acks", half + 1, 3),
        ("messages.csv", "sent", u64::MAX, 2),
        ("messages.csv", "lost", half + 1, 3),
    ] {
        let path = place.path().join("run").join(name);
        let whole = fs::read_to_string(&path).expect("a table");
        let header = whole.lines().next().expect("a header").split(',');
        let at = header.clone().position(|known| known == column);
        let at = at.expect("the column is there");
        let altered = whole.lines().enumerate().map(|(nth, line)| {
            let mut cells = line.split(',').map(str::to_owned).collect::<Vec<_>>();
            if nth > 0 {
                cells[at] = count.to_string();
            }
            cells.join(",") + "\n"
        });
        fs::write(&path, altered.collect::<String>()).expect("it can be written");
        for command in ["check", "report", "replay"] {
            let refused = place.line(&format!("{command} run")).expect(2);
            let words = refused.stderr.split_whitespace().collect::<Vec<_>>();
            let message = words.join(" ");
            for part in [name, &format!("line {line}"), column, "at most 2^53"] {
                assert!(message.contains(part), "no '{part}' in {message}");
            }
        }
        fs::write(&path, whole).expect("it can be written");
    }
}

/// What no table repeats is compared all the same.
#[test]
fn check_notices_altered_logs_windows_and_events() {
    let place = Place::new();
    place.line(&format!("{TRACED} run")).expect(0);
    let edit = |name: &str, alter: &dyn Fn(&str) -> String, message: &str| {
        let path = place.path().join("run").join(name);
        let text = fs::read_to_string(&path).expect("a file");
        let altered = alter(&text);
        assert_ne!(altered, text, "{name}");
        fs::write(&path, altered).expect("it can be written");
        let found = place.line("check run").expect(1);
        let words = found.stderr.split_whitespace().collect::<Vec<_>>();
        assert!(
            words.join(" ").contains(message),
            "{name}: {}",
            found.stderr
        );
        fs::write(&path, text).expect("it can be written");
    };
    let half = |text: &str| text[..text.len() / 2].to_owned();
    let garbage = |_: &str| "garbage\n".repeat(50);
    edit("latency.hlog", &half, "latency.hlog");
    edit("latency.hlog", &garbage, "latency.hlog, line 1");
    let without_last = |text: &str| {
        let end = text.trim_end().rfind('\n').expect("several events");
        text[..=end].to_owned()
    };
    edit("events.jsonl", &without_last, "events, run.json says");
    for key in ["entries", "messages"] {
        let more = |text: &str| {
            let window = text.find("\"window\"").expect("a window");
            let name = format!("\"{key}\": ");
            let start = window + text[window..].find(&name).expect("a count") + name.len();
            let end = start + text[start..].find(',').expect("more");
            let count: u64 = text[start..end].parse().expect("a number");
            format!("{}{}{}", &text[..start], count + 1, &text[end..])
        };
        edit("run.json", &more, &format!("run.window.{key} was"));
    }
    place.line("check run").expect(0);
}
