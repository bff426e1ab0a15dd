//! Sweeps: every run once, whatever happens in between.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use common::processes::{Guarded, wait_until};
use common::{Place, rows};
use rustix::process::{Signal, kill_process};

const SMALL: &str = "repetitions = 4\n[scenario]\nengine = \"sim\"\nentries = 5\n\
                     [grid]\nalgorithm = [\"raymond\", \"lamport\"]\nnodes = [3, 5, 7]\n\
                     [plot]\nx = \"nodes\"\ny = \"messages_per_entry\"\n";

#[test]
fn a_sweep_repeats_to_the_byte_and_adds_up() {
    let place = Place::with("small.toml", SMALL);
    for out in ["a", "b"] {
        place
            .line(&format!("sweep small.toml --out {out}"))
            .expect(0);
    }
    for file in ["runs.csv", "aggregate.csv", "plot.svg"] {
        let read = |out: &str| fs::read(place.path().join(out).join(file)).unwrap();
        assert_eq!(read("a"), read("b"), "{file}");
    }
    let runs = rows(&place.path().join("a/runs.csv"));
    assert_eq!(runs.len(), 24);
    let aggregate = rows(&place.path().join("a/aggregate.csv"));
    let row = aggregate.iter().find(|row| {
        row["algorithm"] == "lamport"
            && row["nodes"] == "5"
            && row["metric"] == "messages_per_entry"
    });
    let row = row.unwrap();
    assert_eq!(
        (row["n"].as_str(), row["mean"].as_str(), row["sd"].as_str()),
        ("4", "12", "0")
    );
}

/// A table says in which keys its cells differ, and has what the sweep is about.
#[test]
fn a_table_shows_what_varies_and_what_is_plotted() {
    let place = Place::new();
    let other = SMALL.replace("[grid]", "[grid]\nhold = [\"1ms\"]");
    place.file(
        "about.toml",
        &other.replace("messages_per_entry", "overtakes"),
    );
    let shown = place.line("sweep about.toml --out a").expect(0).stdout;
    let mut headings = shown.lines().filter(|line| line.starts_with("algorithm"));
    let headings = headings.next().expect("headings");
    let words = headings.split("  ").filter(|word| !word.is_empty());
    let words = words.map(str::trim).collect::<Vec<_>>();
    assert_eq!(
        words,
        [
            "algorithm",
            "nodes",
            "overtakes",
            "messages per entry",
            "mean wait, ms",
            "sync delay, T",
            "verdicts"
        ],
        "{shown}"
    );
    let page = place.read("a/report.html");
    assert!(page.contains(">overtakes</th>"), "{page}");
    assert_eq!(
        page.matches(">messages per entry</th>").count(),
        1,
        "{page}"
    );
}

/// A row that was cut off in the middle is run again; rows that are whole are not.
#[test]
fn what_is_done_is_not_done_again() {
    let place = Place::with("small.toml", SMALL);
    place.line("sweep small.toml --out a").expect(0);
    let whole = place.read("a/runs.csv");
    // A number that no run gives tells an old row from one that was made again.
    let marked = whole.replacen(",lamport,3,sim,1,", ",lamport,3,sim,4711,", 1);
    assert_ne!(whole, marked);
    place.file("a/runs.csv", &marked[..marked.len() - 40]);
    place.line("sweep small.toml --out a").expect(0);
    assert_eq!(place.read("a/runs.csv"), marked);
}

/// Where and when runs were made is in a file of its own, for each invocation of the program.
#[test]
fn a_sweep_says_where_it_comes_from() {
    let place = Place::with("small.toml", SMALL);
    let invocations = || {
        let text = place.read("a/sweep.json");
        let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
        whole["sittings"].as_array().unwrap().clone()
    };
    place.line("sweep small.toml --out a").expect(0);
    let [first] = &invocations()[..] else {
        panic!("one invocation: {:?}", invocations());
    };
    assert_eq!(first["runs"], 24);
    for known in ["host", "version", "started", "finished"] {
        assert!(!first[known].as_str().unwrap().is_empty(), "{first}");
    }
    let words = first["command_line"].as_array().unwrap();
    assert_eq!(words[1..], ["sweep", "small.toml", "--out", "a"]);
    // Nothing is left to do, so nobody sat down.
    place.line("sweep small.toml --out a").expect(0);
    assert_eq!(invocations().len(), 1);
    let whole = place.read("a/runs.csv");
    let half = whole.lines().take(13).collect::<Vec<_>>().join("\n") + "\n";
    place.file("a/runs.csv", &half);
    place.line("sweep small.toml --out a").expect(0);
    let made = invocations();
    let made = made.iter().map(|invocation| &invocation["runs"]);
    assert_eq!(made.collect::<Vec<_>>(), [24, 12]);
    assert_eq!(place.read("a/runs.csv"), whole);
    let page = place.read("a/report.html");
    assert!(page.contains("2 invocations"), "{page}");
    place.file("a/sweep.json", "{}");
    let refused = place.line("sweep small.toml --out a").expect(2);
    refused.warns("sweep.json cannot be understood");
}

/// What a flag or the name of the file decided is in the manifest.
#[test]
fn the_line_that_repeats_a_sweep_repeats_it() {
    let place = Place::new();
    place.file(
        "small.toml",
        &format!("# Small.\n{}", SMALL.replacen('4', "9", 1)),
    );
    let shown = place
        .line("sweep small.toml --repetitions 2 --out a")
        .expect(0);
    shown.says("sweep a/sweep.toml --out a.again");
    let manifest = place.read("a/sweep.toml");
    assert!(
        manifest.starts_with("# Small.\nname = \"small\"\nrepetitions = 2\n["),
        "{manifest}"
    );
    let page = place.read("a/report.html");
    assert!(page.contains("<title>small</title>"), "{page}");
    let line = "orchestrator sweep a/sweep.toml --out a.again";
    assert!(page.contains(line), "{page}");
    let line = line.strip_prefix("orchestrator ").unwrap();
    let again = place.line(line).expect(0);
    again.says("small · 6 cells · 12 runs");
    for file in ["runs.csv", "aggregate.csv", "plot.svg", "sweep.toml"] {
        let [a, b] = ["a", "a.again"].map(|out| place.read(&format!("{out}/{file}")));
        assert_eq!(a, b, "{file}");
    }
}

/// More repetitions of the same cells are the same sweep.
#[test]
fn repetitions_are_added_to_a_sweep() {
    let place = Place::with("small.toml", SMALL);
    for (repetitions, runs) in [(1, 6), (3, 18)] {
        let line = format!("sweep small.toml --repetitions {repetitions} --out a");
        place.line(&line).expect(0);
        assert_eq!(rows(&place.path().join("a/runs.csv")).len(), runs);
        let manifest = place.read("a/sweep.toml");
        assert!(
            manifest.contains(&format!("repetitions = {repetitions}\n")),
            "{manifest}"
        );
    }
    place
        .line("sweep small.toml --repetitions 2 --out a")
        .expect(2);
    let manifest = place.read("a/sweep.toml");
    assert!(manifest.contains("repetitions = 3\n"), "{manifest}");
}

/// A file that is there is never taken for one that is not, which would be the end of it.
#[test]
fn what_cannot_be_read_is_not_replaced() {
    let place = Place::with("small.toml", SMALL);
    place.line("sweep small.toml --out a").expect(0);
    let no_text = b"\"caf\xe9\"\n";
    for (name, message) in [
        ("sweep.json", "a/sweep.json cannot be understood"),
        ("runs.csv", "a/runs.csv cannot be understood"),
        ("sweep.toml", "holds another sweep"),
    ] {
        let path = place.path().join("a").join(name);
        let manifest = fs::read(&path).unwrap();
        fs::write(&path, [&manifest[..], no_text].concat()).unwrap();
        let refused = place.line("sweep small.toml --out a").expect(2);
        refused.warns(message);
        assert_eq!(refused.stdout, "", "{name}");
        assert!(fs::read(&path).unwrap().ends_with(no_text), "{name}");
        fs::write(&path, &manifest).unwrap();
        place.line("sweep small.toml --out a").expect(0);
        assert_eq!(fs::read(&path).unwrap(), manifest, "{name}");
    }
}

/// The sweep's own failure is told, and not that its invocation could not be written down besides.
#[test]
fn the_first_failure_is_the_one_that_is_told() {
    let place = Place::new();
    let both = SMALL.replace("engine = \"sim\"\n", "").replace(
        "nodes = [3, 5, 7]",
        "nodes = [3]\nengine = [\"sim\", \"cluster\"]",
    );
    place.file("both.toml", &both);
    let made = |out: &str| {
        // Processes leave their records there while they run.
        place.file(&format!("{out}/failed"), "in the way");
        place
            .line(&format!("sweep both.toml --out {out}"))
            .expect(4)
    };
    made("a").warns("cannot write results to a/failed");
    let text = place.read("a/sweep.json");
    assert!(text.contains("\"runs\": 8"), "{text}");
    // Where sweep.json should be, a link to nowhere is in the way.
    fs::create_dir(place.path().join("b")).unwrap();
    symlink("nowhere", place.path().join("b/sweep.json")).unwrap();
    let failed = made("b");
    failed.warns("cannot write b/sweep.json");
    assert!(!place.path().join("b/sweep.json").exists());
}

#[test]
fn another_sweep_is_not_mixed_in() {
    let place = Place::with("small.toml", SMALL);
    place.line("sweep small.toml --out a").expect(0);
    place.file("small.toml", &SMALL.replace("[3, 5, 7]", "[3, 5]"));
    let refused = place.line("sweep small.toml --out a").expect(2);
    refused.warns("holds another sweep");
}

#[test]
fn an_interrupted_sweep_goes_on() {
    let place = Place::new();
    let long = SMALL.replace("repetitions = 4", "repetitions = 3000");
    place.file("long.toml", &long);
    let mut sweep = Guarded::start(place.command(["sweep", "long.toml", "--out", "a"]));
    let runs = place.path().join("a/runs.csv");
    let lines = || fs::read_to_string(&runs).map_or(0, |text| text.lines().count());
    wait_until("some runs are written down", || lines() >= 50);
    kill_process(sweep.pid(), Signal::INT).unwrap();
    assert_eq!(sweep.code(), 130);
    let done = lines();
    assert!((50..18_001).contains(&done), "{done}");
    assert!(!place.path().join("a/aggregate.csv").exists());
}

#[test]
fn wrong_sweeps_are_refused_before_anything_runs() {
    let place = Place::new();
    for (wrong, message) in [
        (
            SMALL.replace("raymond", "raymnod"),
            "did you mean 'raymond'",
        ),
        (SMALL.replace("[3, 5, 7]", "[]"), "a list of values"),
        (SMALL.replace("[grid]", "[gird]"), "there is no key 'gird'"),
        (
            SMALL.replace("entries = 5", "entires = 5"),
            "there is no key 'entires'",
        ),
        (
            SMALL.replace("x = \"nodes\"", "x = \"noodles\""),
            "not in the grid",
        ),
    ] {
        place.file("wrong.toml", &wrong);
        let refused = place.line("sweep wrong.toml").expect(2);
        refused.warns(message);
        assert!(!place.path().join("results").exists());
    }
    place.line("sweep nowhere.toml").expect(2);
}

#[test]
fn the_sweeps_that_come_with_it_can_be_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../experiments/sweeps");
    let mut seen = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let place = Place::new();
        let path = path.to_str().unwrap();
        let shown = place.run(["sweep", path, "--dry-run"]).expect(0);
        assert!(
            shown.stdout.contains(" cells, "),
            "{path}: {}",
            shown.stdout
        );
        seen += 1;
    }
    assert!(seen > 0);
}

/// A product of what --grid says, and one factor at a time of what --vary says.
#[test]
fn a_small_sweep_needs_no_file() {
    let place = Place::new();
    let line = "sweep raymond --entries 3 --repetitions 2 --grid nodes=3,5 --vary think=1ms,20ms \
                --vary hold=2ms";
    let shown = place.line(&format!("{line} --dry-run")).expect(0).stdout;
    let base = "variant=base nodes=3\nvariant=base nodes=5\nvariant=think=1ms think=1ms nodes=3\n";
    assert!(shown.starts_with(base), "{shown}");
    assert!(shown.ends_with("8 cells, 16 runs\n"), "{shown}");
    let done = place.line(&format!("{line} --out a")).expect(0);
    done.says("variant     nodes  messages per entry");
    let runs = rows(&place.path().join("a/runs.csv"));
    let of = |row: &common::Row| {
        ["algorithm", "engine", "nodes", "cell.think", "cell.hold"].map(|key| row[key].clone())
    };
    assert_eq!(of(&runs[0]), ["raymond", "sim", "3", "", ""]);
    assert_eq!(of(&runs[4]), ["raymond", "sim", "3", "1ms", ""]);
    assert_eq!(of(&runs[15]), ["raymond", "sim", "5", "", "2ms"]);
    assert!(place.path().join("a/plot.svg").exists());
    // The manifest is a sweep file that means the same.
    place.line("sweep a/sweep.toml --out b").expect(0);
    assert_eq!(place.read("a/runs.csv"), place.read("b/runs.csv"));
}

#[test]
fn a_table_can_be_markdown() {
    let place = Place::new();
    let small = "--entries 2 --repetitions 2 --markdown";
    let done = place.line(&format!("sweep lamport --grid nodes=3,4 {small} --out a"));
    let done = done.expect(0);
    for part in [
        "| nodes | messages per entry |",
        "|---|---|",
        "| 3 | 6.00 |",
    ] {
        done.says(part);
    }
    let done = place.line(&format!("compare lamport raymond -n 3 {small} --out b"));
    done.expect(0).says("| lamport | complete | 6.00 |");
}

#[test]
fn what_is_typed_wrong_is_named() {
    let place = Place::with("small.toml", SMALL);
    place.refuses(&[
        ("sweep", "name a sweep file, or say what varies"),
        ("sweep raymond", "raymond is an algorithm; say what varies"),
        ("sweep --grid nodes=5", "no algorithm is named"),
        ("sweep raymond --grid nodes", "write nodes=5,10,20"),
        (
            "sweep raymond --grid nodes=3 --vary nodes=5",
            "nodes: its values are given twice",
        ),
        (
            "sweep raymond --grid nods=5",
            "there is no key 'nods'; did you mean 'nodes'?",
        ),
        (
            "sweep small.toml -n 5",
            "--nodes: small.toml says in [scenario]",
        ),
        ("sweep small.toml --grid nodes=5", "this is a sweep"),
    ]);
}
