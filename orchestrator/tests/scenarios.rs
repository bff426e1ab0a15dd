//! Flags and files say the same thing, and what is shown can be said again.

mod common;

use std::fs;

use common::{Place, assert_contains};

/// One line for every flag of a scenario, each with the file that says the same.
#[rustfmt::skip]
const PAIRS: &[(&[&str], &str)] = &[
    (&["raymond"], "algorithm = \"raymond\""),
    (&["lamport", "-n", "4", "--name", "four", "--holder", "3"],
     "algorithm = \"lamport\"\nnodes = 4\nname = \"four\"\nholder = 3"),
    (&["raymond", "--topology", "tree:2", "--links", "any", "--bound", "3ms"],
     "algorithm = \"raymond\"\ntopology = \"tree:2\"\nlinks = \"any\"\nbound = \"3ms\"\nengine = \"sim\""),
    (&["raymond", "--entries", "5", "--hold", "1ms,exp:2ms", "--think", "uniform:1ms..2ms"],
     "algorithm = \"raymond\"\nentries = 5\nhold = [\"1ms\", \"exp:2ms\"]\nthink = \"uniform:1ms..2ms\""),
    (&["raymond", "--duration", "2s", "--clients", "3", "--time-limit", "1min", "--delay", "5ms 1ms distribution normal"],
     "algorithm = \"raymond\"\nduration = \"2s\"\nclients = 3\ntime-limit = \"1min\"\ndelay = \"5ms 1ms distribution normal\""),
    (&["raymond", "--workload", "open", "--rate", "4", "--total", "70", "--warm-up", "7", "--weights", "1=5"],
     "algorithm = \"raymond\"\nworkload = \"open\"\ngap = \"250ms\"\ntotal = 70\nwarm-up = 7\nweights = [1, 5, 1, 1, 1, 1, 1, 1, 1, 1]"),
    (&["raymond", "--workload", "batch", "--asks", "2, 0, 3 at 5ms priority 7 hold 2ms", "--priority", "1,2"],
     "algorithm = \"raymond\"\nworkload = \"batch\"\nasks = [2, 0, \"3 at 5ms priority 7 hold 2ms\"]\npriority = [1, 2]"),
    (&["raymond", "--priority", "uniform:1..5,7"],
     "algorithm = \"raymond\"\npriority = [\"uniform:1..5\", 7]"),
    (&["raymond", "--workload", "batch", "--settled", "--asks", "4"],
     "algorithm = \"raymond\"\nworkload = \"batch\"\nasks = 4\nsettled = true"),
    (&["raymond", "--workload", "one-at-a-time", "--total", "9"],
     "algorithm = \"raymond\"\nworkload = \"one-at-a-time\"\ntotal = 9"),
    (&["raymond", "--workload", "window", "--askers", "3", "--within", "4ms"],
     "algorithm = \"raymond\"\nworkload = \"window\"\naskers = 3\nwithin = \"4ms\""),
    (&["raymond", "-n", "3", "--topology", "edges:0-1,1-2"],
     "algorithm = \"raymond\"\nnodes = 3\ntopology = \"file:traces/edges\""),
    (&["raymond", "--topology", "file:traces/edges"],
     "algorithm = \"raymond\"\nnodes = 3\ntopology = \"edges:0-1,1-2\""),
    (&["lfrt", "--name", "figure", "--topology", "kanrar:4.2"],
     "algorithm = \"lfrt\"\nname = \"figure\"\ntopology = \"kanrar:4.2\"\nnodes = 6\nholder = 4"),
    (&["lfrt", "--name", "oriented", "--topology", "oriented:3@5"],
     "algorithm = \"lfrt\"\nname = \"oriented\"\ntopology = \"oriented:3@5\"\nnodes = 10\nholder = 5"),
    (&["raymond", "--fault", "at 1s cut 0-1 for 1s"],
     "algorithm = \"raymond\"\nfault = \"at 1s cut 0-1 for 1s\""),
    (&["raymond", "--topology", "random-tree"],
     "algorithm = \"raymond\"\ntopology = \"random-tree\""),
    (&["raymond", "--workload", "trace", "--arrivals", "traces/some.csv"],
     "algorithm = \"raymond\"\nworkload = \"trace\"\narrivals = \"traces/some.csv\""),
];

#[test]
fn a_file_says_the_same_as_flags() {
    for (flags, file) in PAIRS {
        let place = place_with_trace();
        place.file("raymond.toml", file);
        let by_flags = dry_run(&place, flags);
        let by_file = dry_run(&place, &["raymond.toml"]);
        assert_eq!(by_flags, by_file, "{flags:?}\n{file}");
    }
}

#[test]
fn a_dry_run_can_be_fed_back() {
    for (flags, _) in PAIRS {
        let place = place_with_trace();
        let shown = dry_run(&place, flags);
        place.file("again.toml", &shown);
        assert_eq!(dry_run(&place, &["again.toml"]), shown, "{flags:?}");
    }
}

#[test]
fn the_default_time_limit_leaves_time_to_drain() {
    let place = Place::new();
    place.file("late.csv", "node,request_ns\n2,100000000000\n");
    for (line, limit) in [
        ("raymond", Some("1min")),
        ("raymond --duration 20s", Some("1min")),
        ("raymond --duration 70s", Some("100s")),
        (
            "raymond --workload batch --asks '1 at 100s, 2'",
            Some("130s"),
        ),
        ("raymond --workload trace --arrivals late.csv", Some("130s")),
        ("raymond --workload window --within 2min", Some("150s")),
        ("raymond --duration 70s --time-limit 65s", Some("65s")),
        ("raymond --duration 70s --engine sim", None),
    ] {
        let shown = place.line(&format!("run {line} --dry-run")).expect(0);
        let expected = limit.map(|limit| format!("time-limit = \"{limit}\""));
        let mut lines = shown.stdout.lines();
        let found = lines.find(|line| line.starts_with("time-limit"));
        assert_eq!(found, expected.as_deref(), "{line}");
    }
}

#[test]
fn the_flag_that_ended_a_run_is_named() {
    let place = Place::new();
    let line = "run raymond --engine sim --seed 1 --duration 2s --time-limit 1s";
    let done = place.line(line).expect(3);
    let named = "the time limit of 1 s (--time-limit, in a file time-limit) ended the run at 1 s";
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&done.stdout).contains(named), "{}", done.stdout);
}

#[test]
fn the_head_of_a_run_names_what_was_chosen() {
    let place = Place::new();
    let line = "run mra-p -n 3 --holder 1 --priority 1,2 --engine sim --seed 1 --out a";
    let head = "mra-p · 3 nodes · tree:2 · closed · holder 1 · priority 1,2 · ";
    let done = place.line(line).expect(0);
    assert!(done.stdout.starts_with(head), "{}", done.stdout);
    let checked = place.line("check a").expect(0);
    assert!(checked.stdout.starts_with(head), "{}", checked.stdout);
}

#[test]
fn flags_win_over_the_file() {
    let place = Place::new();
    place.file(
        "some.toml",
        "algorithm = \"raymond\"\nnodes = 4\nthink = \"9ms\"\nentries = 3\nhold = \"4ms\"",
    );
    let shown = dry_run(&place, &["some.toml", "-n", "6", "--total", "12"]);
    assert_contains(&shown, &["nodes = 6", "total = 12"]);
    assert_contains(&shown, &["think = \"9ms\"", "hold = \"4ms\""]);
    assert!(
        !shown.contains("entries"),
        "--total replaces the file's entries\n{shown}"
    );
    // Another workload takes what belongs to the file's with it.
    let shown = dry_run(&place, &["some.toml", "--workload", "open"]);
    assert!(!shown.contains("think"), "{shown}");
    assert!(shown.contains("hold = \"4ms\""), "{shown}");
    let shown = dry_run(&place, &["some.toml", "--workload", "closed"]);
    assert!(shown.contains("think = \"9ms\""), "{shown}");
    let shown = dry_run(&place, &["some.toml", "--algorithm", "lamport"]);
    assert!(shown.contains("algorithm = \"lamport\""), "{shown}");
}

#[test]
fn a_file_names_its_trace_relative_to_itself() {
    let place = Place::new();
    place.file("far/away/some.csv", "node,request_ns\n2,1000\n");
    let text = "algorithm = \"raymond\"\nworkload = \"trace\"\narrivals = \"some.csv\"";
    place.file("far/away/some.toml", text);
    let shown = dry_run(&place, &["far/away/some.toml"]);
    assert!(shown.contains("asks = \"2 at 1us\""), "{shown}");
    assert!(shown.contains("name = \"some\""), "{shown}");
}

#[test]
fn a_runs_entries_are_a_trace() {
    let place = Place::new();
    place
        .line("run raymond --engine sim --entries 3 --hold exp:2ms --out first")
        .expect(0);
    let line = [
        "run",
        "lamport",
        "--engine",
        "sim",
        "--workload",
        "trace",
        "--arrivals",
        "first/entries.csv",
    ];
    place.run(line.iter().chain(&["--out", "second"])).expect(0);
    let asked = |dir: &str| {
        let path = place.path().join(dir).join("entries.csv");
        let mut reader = csv::Reader::from_path(path).expect("a table");
        let rows = reader.deserialize().map(|row| row.expect("a row"));
        let mut asked: Vec<(u64, u32, u64)> = rows
            .map(|row: Row| (row.request_ns, row.node, row.exit_ns - row.enter_ns))
            .collect();
        asked.sort_unstable();
        asked
    };
    assert_eq!(asked("first"), asked("second"));
}

#[derive(serde::Deserialize)]
struct Row {
    node: u32,
    request_ns: u64,
    enter_ns: u64,
    exit_ns: u64,
}

#[test]
fn help_tells_units_and_defaults() {
    let place = Place::new();
    let help = place.line("run --help").expect(0).stdout;
    let flags = help.split("\n      --").skip(1);
    let mut seen = 0;
    for flag in flags {
        seen += 1;
        let name = flag.split([' ', '\n', '[', '=']).next().unwrap_or_default();
        let said = [
            "[default",
            "and run nothing",
            "instead of",
            "may be given several times",
        ];
        let told = said.iter().any(|words| flag.contains(words))
            || ["duration", "gap", "arrivals"].contains(&name);
        assert!(told, "--{name} does not tell its default:\n{flag}");
        if flag.contains("<TIME>") {
            assert!(
                flag.contains("ms")
                    || flag.contains("s;")
                    || flag.contains("60s")
                    || flag.contains("10s"),
                "--{name} shows no unit:\n{flag}"
            );
        }
    }
    assert!(seen > 25, "only {seen} flags were found:\n{help}");
    for command in ["run", "list", "explain", "check"] {
        let short = place.run([command, "-h"]).expect(0).stdout;
        assert!(
            short.starts_with(|c: char| c.is_uppercase()),
            "{command}: {short}"
        );
    }
}

fn place_with_trace() -> Place {
    let place = Place::new();
    place.file("traces/edges", "# three in a row\n0-1\n1-2\n");
    place.file(
        "traces/some.csv",
        "node,request_ns,priority,hold_ns\n3,500,,\n1,0,4,1000000\n",
    );
    place
}

/// The resolved scenario, always of the same seed.
fn dry_run(place: &Place, line: &[&str]) -> String {
    let arguments =
        ["run"]
            .iter()
            .chain(line)
            .chain(&["--engine", "sim", "--seed", "5", "--dry-run"]);
    let finished = place.run(arguments).expect(0);
    assert!(fs::read_dir(place.path()).is_ok_and(|mut entries| {
        entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() != "results"))
    }));
    finished.stdout
}
