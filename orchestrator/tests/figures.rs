//! `reproduce --figures`: every published figure by one command, the same each time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use common::processes::{Guarded, wait_until};
use common::{Place, words};
use rustix::process::{Signal, kill_process};

const COSTS: &str = "repetitions = 2\n[scenario]\nengine = 'sim'\nentries = 5\n\
                     [grid]\nalgorithm = ['raymond', 'lamport']\nnodes = [3, 5]\n";

/// A place with two sweeps, of which one draws; they hide those that the program has inside.
fn place() -> Place {
    let place = Place::new();
    let drawn =
        format!("{COSTS}[plot]\nx = 'nodes'\ny = 'messages / entries'\nclaims = ['SUR-1']\n");
    place.file("experiments/sweeps/drawn.toml", &drawn);
    place.file("experiments/sweeps/told.toml", COSTS);
    place
}

#[test]
fn figures_are_made_again_to_the_byte() {
    let place = place();
    let made = place.line("reproduce --figures out --out runs").expect(0);
    for word in [
        "new       drawn.csv",
        "new       drawn.svg",
        "new       told.csv",
    ] {
        made.says(word);
    }
    assert!(!place.path().join("out/told.svg").exists());
    let table = place.read("out/drawn.csv");
    assert!(table.contains("messages / entries"), "{table}");
    assert!(!table.contains("wait_max_us"), "{table}");
    let before = place.read("out/drawn.svg");
    let again = place.line("reproduce --figures out --out other").expect(0);
    again.says("the same  drawn.svg");
    assert_eq!(place.read("out/drawn.svg"), before);
    // What somebody changed is put right, and the exit code says so.
    place.replace("out/drawn.csv", "raymond", "raymund");
    let put_right = place
        .line("reproduce drawn --figures out --out runs")
        .expect(1);
    put_right.says("changed   drawn.csv");
    put_right.says("1 figures, 1 files are not what they were");
    assert_eq!(place.read("out/drawn.csv"), table);
}

#[test]
fn only_figures_of_a_paper_or_by_name() {
    let place = place();
    let of_paper = place.line("reproduce --paper banta --figures out --out runs");
    of_paper.expect(0).says("1 figures");
    assert!(place.path().join("out/drawn.svg").exists());
    assert!(!place.path().join("out/told.csv").exists());
    place
        .line("reproduce told --figures out --out runs")
        .expect(0);
    assert!(place.path().join("out/told.csv").exists());
}

#[test]
fn what_cannot_be_is_refused_before_anything_runs() {
    let place = place();
    place.file("taken", "a file");
    place.refuses(&[
        (
            "reproduce darwn --figures out",
            "there is no figure 'darwn'; did you mean 'drawn'?",
        ),
        ("reproduce --figures drawn", "drawn is a figure; write"),
        (
            "reproduce --figures",
            "there is no directory results/reference here",
        ),
        ("reproduce --figures out --quick", "cannot be used with"),
        (
            "reproduce --figures out --engine both",
            "cannot be used with",
        ),
        (
            "reproduce --figures out --paper rana",
            "no figure is all of that at once",
        ),
        ("reproduce --figures taken --out runs", "cannot make taken"),
    ]);
    assert!(!place.path().join("out").exists());
}

/// Interrupted, the command goes on where it was.
#[test]
fn an_interrupted_command_goes_on() {
    let place = place();
    let long = COSTS.replace("repetitions = 2", "repetitions = 20000");
    place.file("experiments/sweeps/long.toml", &long);
    let runs = place.path().join("runs/figures/long/runs.csv");
    let rows = || fs::read_to_string(&runs).map_or(0, |text| text.lines().count());
    let line = "reproduce --figures out --out runs";
    let mut first = Guarded::start(place.command(words(line)));
    wait_until("some runs are over", || rows() > 20);
    kill_process(first.pid(), Signal::INT).unwrap();
    assert_eq!(first.code(), 130);
    let before = rows();
    assert!(before > 20, "{before}");
    assert!(!place.path().join("out/long.csv").exists());
    let mut second = Guarded::start(place.command(words(line)));
    wait_until("more runs are over", || rows() > before + 20);
    kill_process(second.pid(), Signal::INT).unwrap();
    assert_eq!(second.code(), 130);
}

/// Every figure in the repository is that of a sweep, and every sweep has its figure there.
#[test]
fn each_sweep_has_its_published_figure() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let named = |folder: &str, ending: &str| {
        let files = fs::read_dir(root.join(folder)).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        let paths = paths.filter(|path| path.extension().is_some_and(|found| found == ending));
        let names = paths.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
        names.collect::<BTreeSet<_>>()
    };
    let sweeps = named("experiments/sweeps", "toml");
    let mut tables = named("results/reference", "csv");
    assert!(tables.remove("claims"));
    // Nor do the tables of the hunt's campaign come from a sweep.
    tables.retain(|name| !name.starts_with("campaign-"));
    assert_eq!(tables, sweeps);
    let pictures = named("results/reference", "svg");
    for name in &sweeps {
        let text =
            fs::read_to_string(root.join(format!("experiments/sweeps/{name}.toml"))).unwrap();
        assert_eq!(text.contains("[plot]"), pictures.contains(name), "{name}");
    }
    assert!(pictures.is_subset(&sweeps));
}
