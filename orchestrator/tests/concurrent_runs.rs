//! Nothing that was run is lost: names are taken at the start, and results are safe before anything
//! that could fail.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Stdio};

use common::{Finished, Place, names_in, words};

/// Runs all of these at once.
fn at_once(place: &Place, lines: &[String]) -> Vec<Finished> {
    let start = |line: &String| -> Child {
        let mut command = place.command(words(line));
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let children = lines.iter().map(start).collect::<Vec<_>>();
    let finished = children.into_iter().map(Child::wait_with_output);
    finished
        .map(|output| Finished::new(output.unwrap()))
        .collect()
}

#[test]
fn runs_that_begin_in_the_same_second_all_keep_their_results() {
    let place = Place::new();
    let lines = (1..=6).map(|seed| format!("run raymond --engine sim --seed {seed}"));
    for finished in at_once(&place, &lines.collect::<Vec<_>>()) {
        finished.expect(0);
    }
    let directories = names_in(&place.path().join("results/raymond"));
    assert_eq!(directories.len(), 6, "{directories:?}");
    for run in directories {
        place
            .line(&format!("check results/raymond/{run}"))
            .expect(0);
    }
}

#[test]
fn comparisons_that_begin_in_the_same_second_all_keep_their_results() {
    let place = Place::new();
    let line = "compare raymond lamport -n 3 --repetitions 2".to_owned();
    for finished in at_once(&place, &vec![line; 3]) {
        finished.expect(0);
    }
    let directories = names_in(&place.path().join("results/compare"));
    assert_eq!(directories.len(), 3, "{directories:?}");
    for comparison in directories {
        let directory = place.path().join("results/compare").join(comparison);
        assert_eq!(common::rows(&directory.join("runs.csv")).len(), 4);
    }
}

#[test]
fn of_two_runs_with_one_name_the_second_is_refused_at_the_start() {
    let place = Place::new();
    let lines = (1..=3).map(|seed| format!("run raymond --engine sim --seed {seed} --out here"));
    let finished = at_once(&place, &lines.collect::<Vec<_>>());
    let mut codes = finished.iter().map(|one| one.code).collect::<Vec<_>>();
    codes.sort_unstable();
    assert_eq!(codes, [0, 2, 2]);
    let refused = finished.iter().find(|one| one.code == 2).unwrap();
    refused.warns("here is already there");
    assert_eq!(names_in(place.path()), ["here"]);
    place.line("check here").expect(0);
}

#[test]
fn a_directory_that_leads_nowhere_is_refused_at_the_start() {
    let place = Place::new();
    symlink("nothing", place.path().join("here")).unwrap();
    let finished = place.line("run raymond --engine sim --out here").expect(2);
    finished.warns("here is already there");
    assert_eq!(names_in(place.path()), ["here"]);
}

#[test]
fn the_latest_result_is_that_of_the_last_command() {
    let place = Place::new();
    let latest = || fs::read_link(place.path().join("results/latest")).unwrap();
    place.line("run raymond --engine sim --seed 1").expect(0);
    assert!(latest().starts_with("raymond"), "{:?}", latest());
    place
        .line("compare raymond lamport -n 3 --repetitions 2")
        .expect(0);
    assert!(latest().starts_with("compare"), "{:?}", latest());
    let sweep = "name = 'small'\nrepetitions = 1\n[scenario]\nengine = 'sim'\n[grid]\nalgorithm = ['lamport']\n";
    place.file("small.toml", sweep);
    place.line("sweep small.toml").expect(0);
    assert_eq!(latest(), Path::new("small.sweep"));
    place
        .line("run raymond --engine sim --seed 1 --out elsewhere")
        .expect(0);
    assert_eq!(
        latest(),
        Path::new("small.sweep"),
        "it leads to what is in results"
    );
    place
        .line("run raymond --engine sim --seed 1 --out results/mine")
        .expect(0);
    assert_eq!(latest(), Path::new("mine"));
}
