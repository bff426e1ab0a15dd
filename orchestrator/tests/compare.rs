//! Comparing: one scenario, several algorithms.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;

use common::{Place, assert_contains, rows};

const LINE: &str = "compare ricart-agrawala lamport raymond -n 5 --workload one-at-a-time --total 20 \
                    --repetitions 3";

#[test]
fn a_comparison_repeats_to_the_byte_and_has_theory_beside_it() {
    let place = Place::new();
    let [a, b] = ["a", "b"].map(|out| place.line(&format!("{LINE} --out {out}")).expect(0).stdout);
    assert_eq!(a.lines().count(), b.lines().count());
    for file in ["runs.csv", "aggregate.csv", "sweep.toml", "plot.svg"] {
        let read = |out: &str| fs::read(place.path().join(out).join(file)).unwrap();
        assert_eq!(read("a"), read("b"), "{file}");
    }
    // 2(N-1) and 3(N-1), measured and expected.
    for (algorithm, cost) in [("ricart-agrawala", "8.00"), ("lamport", "12.0")] {
        let line = a.lines().find(|line| line.starts_with(algorithm)).unwrap();
        let words = line.split_whitespace().collect::<Vec<_>>();
        let theory = format!("{:.3}", cost.parse::<f64>().unwrap());
        assert_eq!(words[1..4], ["complete", cost, &theory], "{line}");
        assert!(line.ends_with("3 holds"), "{line}");
    }
    let svg = place.read("a/plot.svg");
    assert_contains(&svg, &["ricart-agrawala", "raymond"]);
    assert_contains(&svg, &["closed form", "messages per entry"]);
}

/// What it writes is a sweep, and the sweep's own file makes the same runs.
#[test]
fn a_comparison_is_a_sweep() {
    let place = Place::new();
    place.line(&format!("{LINE} --out a")).expect(0);
    assert_eq!(rows(&place.path().join("a/runs.csv")).len(), 9);
    place.line("sweep a/sweep.toml --out b").expect(0);
    assert_eq!(place.read("a/runs.csv"), place.read("b/runs.csv"));
    let shown = place.line(&format!("{LINE} --dry-run")).expect(0);
    shown.says("\n3 cells, 9 runs\n");
}

#[test]
fn a_file_says_the_scenario_and_a_parameter_is_for_one_alone() {
    let place = Place::new();
    place.file("here.toml", "nodes = 7\nentries = 4\nengine = \"sim\"\n");
    let line = "compare here.toml sanders lamport --param sanders.structure=plane --repetitions 1";
    let finished = place.line(&format!("{line} --out a")).expect(0);
    let runs = rows(&place.path().join("a/runs.csv"));
    let nodes = runs
        .iter()
        .map(|run| run["nodes"].as_str())
        .collect::<Vec<_>>();
    assert_eq!(nodes, ["7", "7"]);
    assert!(runs[0]["params"].contains("plane"), "{:?}", runs[0]);
    finished.says("sanders plane");
}

/// What a file says about its own algorithm is about no other.
#[test]
fn a_file_brings_its_algorithm() {
    let place = Place::new();
    place.file(
        "here.toml",
        "algorithm = \"sanders\"\nparams.structure = \"plane\"\nas-printed = []\n\
         nodes = 7\nentries = 2\n",
    );
    let algorithms = |out: &str| {
        let runs = rows(&place.path().join(out).join("runs.csv"));
        let names = runs.iter().map(|run| run["algorithm"].clone());
        names.collect::<Vec<_>>()
    };
    let line = "compare here.toml lamport maekawa --repetitions 1";
    let shown = place.line(&format!("{line} --out a")).expect(0);
    assert_eq!(algorithms("a"), ["sanders", "lamport", "maekawa"]);
    shown.says("sanders repaired plane");
    let line = "compare lamport here.toml sanders --repetitions 1";
    place.line(&format!("{line} --out b")).expect(0);
    assert_eq!(algorithms("b"), ["sanders", "lamport"]);
    place
        .line("compare here.toml")
        .expect(2)
        .warns("at least two");
    place
        .line("compare here.toml sanders")
        .expect(2)
        .warns("at least two");
}

#[test]
fn topologies_that_differ_are_shown() {
    let place = Place::new();
    let run = |names: &str, out: &str| {
        let line = format!("compare {names} -n 5 --entries 2 --repetitions 1 --out {out}");
        place.line(&line).expect(0).stdout
    };
    let shown = run("lamport raymond", "a");
    assert!(shown.contains("algorithm  topology  "), "{shown}");
    assert!(shown.contains("raymond    tree:2  "), "{shown}");
    let shown = run("raymond mra", "b");
    assert!(!shown.contains("topology"), "{shown}");
}

/// Counts that no schedule changes are the same for processes.
#[test]
fn both_engines_are_compared() {
    let place = Place::new();
    let line =
        "compare ricart-agrawala lamport -n 3 --entries 3 --engine both --repetitions 2 --out a";
    let finished = place.line(line).expect(0);
    let runs = rows(&place.path().join("a/runs.csv"));
    let engines = runs
        .iter()
        .map(|run| run["engine"].as_str())
        .collect::<Vec<_>>();
    assert_eq!(engines, ["sim", "sim", "cluster", "cluster"].repeat(2));
    let differences = finished
        .stdout
        .split("cluster against sim, in %")
        .nth(1)
        .unwrap();
    for algorithm in ["ricart-agrawala", "lamport"] {
        let line = differences
            .lines()
            .find(|line| line.starts_with(algorithm))
            .unwrap();
        let words = line.split_whitespace().collect::<Vec<_>>();
        assert_eq!(words[1..3], ["0.0", "="], "{line}");
    }
}

/// A difference of which the cause is known is explained.
#[test]
fn a_longer_bound_is_told() {
    let place = Place::new();
    let line = "compare banta-efficient lamport -n 3 --entries 4 --engine both --repetitions 1";
    let shown = place.line(line).expect(0).stdout;
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "banta-efficient waits for the bound on a message's delay that it is told: 1500us in \
               the simulator, 51500us on the cluster, where 50ms are added for the machine itself.";
    assert!(words.contains(why), "{shown}");
    assert!(!shown.contains("lamport waits"), "{shown}");
    let shown = place.line(&format!("{line} --bound 30ms")).expect(0).stdout;
    assert!(!shown.contains("waits for the bound"), "{shown}");
}

/// A file may say the engine, the flag wins, and there is one such flag.
#[test]
fn the_engine_is_said_in_one_place() {
    let place = Place::new();
    let scenario = "nodes = 3\nentries = 2\nengine = \"cluster\"\n";
    place.file("here.toml", scenario);
    let line = "compare here.toml lamport raymond --engine sim --repetitions 1 --out a";
    place.line(line).expect(0);
    let runs = rows(&place.path().join("a/runs.csv"));
    assert!(runs.iter().all(|run| run["engine"] == "sim"), "{runs:?}");
    let help = place.line("compare --help").expect(0).stdout;
    assert_eq!(help.matches("--engine").count(), 1, "{help}");
    place
        .line("compare lamport raymond --engine-of-the-scenario sim")
        .expect(2);
}

#[test]
fn what_is_refused_is_not_offered() {
    let place = Place::new();
    for help in ["-h", "--help"] {
        let shown = place.line(&format!("compare {help}")).expect(0).stdout;
        assert!(!shown.contains("--trace"), "{shown}");
        place.line(&format!("run {help}")).expect(0).says("--trace");
    }
    let refused = place.line("compare lamport raymond --trace").expect(2);
    refused.warns("trace one with run");
}
