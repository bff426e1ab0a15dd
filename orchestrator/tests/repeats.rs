//! The same seed repeats a run to the byte, in every file but `run.json`.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use algorithms::registry;
use analysis::files::Provenance;
use common::Place;
use orchestrator::scenario::{Layers, Resolved, Scenario};

/// Scenarios that draw from every source of chance there is.
const SCENARIOS: [&[&str]; 4] = [
    &[
        "--think",
        "exp:3ms",
        "--hold",
        "uniform:1ms..2ms",
        "--delay",
        "1ms distribution exponential",
    ],
    &[
        "--workload",
        "open",
        "--rate",
        "30",
        "--entries",
        "20",
        "--weights",
        "0=5",
    ],
    &["--workload", "one-at-a-time", "--total", "100"],
    &["--workload", "window", "--askers", "5", "--within", "3ms"],
];

#[test]
fn one_seed_writes_the_same_bytes_in_one_process_or_two() {
    for (number, info) in registry::ALL.iter().enumerate() {
        // In turn, so that every algorithm and every scenario is among them.
        for flags in SCENARIOS.iter().cycle().skip(number).take(2) {
            let place = Place::new();
            let line = [
                "run", info.name, "--engine", "sim", "-n", "7", "--seed", "42",
            ];
            let processes = ["first", "second"].map(|out| {
                place
                    .run(line.iter().chain(*flags).chain(&["--out", out]))
                    .expect(0);
                contents(&place.path().join(out))
            });
            let shown = place
                .run(line.iter().chain(*flags).chain(&["--dry-run"]))
                .expect(0);
            let scenario = place.file("scenario.toml", &shown.stdout);
            let here = ["third", "fourth"].map(|out| {
                let out = place.path().join(out);
                run_here(&scenario, &out);
                contents(&out)
            });
            // The report is made by the program, not with the other files.
            let [first, second] = &processes;
            assert!(
                first["report.html"] == second["report.html"],
                "{}",
                info.name
            );
            let processes = processes.map(|mut files| {
                files.remove("report.html");
                files
            });
            let all = processes.iter().chain(&here).collect::<Vec<_>>();
            assert!(all[0].len() > 5, "{}: {:?}", info.name, all[0].keys());
            for pair in all.windows(2) {
                assert_eq!(pair[0].len(), pair[1].len(), "{} {flags:?}", info.name);
                for (file, bytes) in pair[0] {
                    let same = *bytes == pair[1][file];
                    assert!(same, "{} {flags:?} seed 42: {file} differs", info.name);
                }
            }
        }
    }
}

#[test]
fn another_seed_makes_another_run() {
    for info in registry::ALL {
        let place = Place::new();
        for seed in ["1", "2"] {
            place
                .run([
                    "run", info.name, "--engine", "sim", "--seed", seed, "--out", seed,
                ])
                .expect(0);
        }
        let [one, two] = ["1", "2"].map(|seed| contents(&place.path().join(seed)));
        assert!(one["entries.csv"] != two["entries.csv"], "{}", info.name);
    }
}

#[test]
fn the_line_at_the_end_repeats_the_run() {
    let place = Place::new();
    let line = "run naimi-trehel --engine sim --delay '2ms 1ms' --out first";
    let first = place.line(line).expect(0);
    let line = first
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("again: "));
    let line = line.expect("the last line says how to repeat the run");
    let shell = std::process::Command::new("sh")
        .args(["-c", line])
        .current_dir(place.path())
        .output()
        .expect("a shell can be started");
    assert!(shell.status.success(), "{line}");
    let [first, again] = ["first", "results/latest"].map(|dir| contents(&place.path().join(dir)));
    assert!(first == again, "{line}");
}

/// Runs a scenario file in this process.
fn run_here(scenario: &Path, out: &Path) {
    let layers = Layers::new(&scenario.to_string_lossy(), Scenario::default()).expect("a scenario");
    let Resolved { plan, topology, .. } = layers.resolve().expect("it fits");
    let mut watch = |_| ControlFlow::Continue(());
    let run = simulator::simulate(&plan, topology.clone(), &mut watch).expect("time passes");
    let judgement = analysis::judge(&plan, &topology, &run);
    fs::create_dir(out).expect("a directory can be made");
    analysis::files::write_into(out, &plan, &run, &judgement, &Provenance::default())
        .expect("files can be written");
}

/// Every file of a run but the one that tells when and where it was, and the box in its report that does.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).expect("the run's directory is there");
    let files = entries.map(|file| file.expect("a readable directory").path());
    let files = files.filter(|path| !path.ends_with("run.json"));
    files
        .map(|path| {
            let name = path.file_name().expect("a file has a name");
            let mut bytes = fs::read(&path).expect("a readable file");
            if path.ends_with("report.html") {
                let page = String::from_utf8(bytes).expect("text");
                let (before, _) = page
                    .split_once("<aside>")
                    .expect("a box with its provenance");
                bytes = before.as_bytes().to_vec();
            }
            if path.ends_with("summary.csv") {
                bytes = common::undated(&path);
            }
            (name.to_string_lossy().into_owned(), bytes)
        })
        .collect()
}
