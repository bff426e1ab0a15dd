//! Hunting as a user does it, and what hunts have found.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::processes::{Guarded, wait_until};
use common::{Place, names_in};
use rustix::process::{Signal, kill_process};
use serde_json::Value;

/// The files of a hunt by name, with what is in them.
fn files(directory: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a directory") {
            let path = entry.expect("a file").path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path
                        .strip_prefix(directory)
                        .expect("below")
                        .display()
                        .to_string();
                    files.push((name, fs::read_to_string(path).expect("a text")));
                }
            }
        }
    }
    files.sort();
    files
}

#[test]
fn a_hunt_repeats_to_the_byte_and_goes_on_where_it_was() {
    let place = Place::new();
    let whole = place.line("hunt --runs 240 --seed 1 --out here").expect(0);
    whole.says("found nothing");
    let first = files(&place.path().join("here"));
    let again = place.line("hunt --runs 240 --seed 1 --out here").expect(0);
    assert_eq!(whole.stdout, again.stdout, "all of it was done");
    fs::rename(place.path().join("here"), place.path().join("before")).expect("it can move");
    place.line("hunt --runs 100 --seed 1 --out here").expect(0);
    let parts = place.line("hunt --runs 240 --seed 1 --out here").expect(0);
    assert_eq!(whole.stdout, parts.stdout);
    assert_eq!(first, files(&place.path().join("here")));
    let rows = common::rows(&place.path().join("here/tried.csv"));
    let words = rows.iter().map(|row| row["fault"].as_str());
    let words = words.collect::<std::collections::BTreeSet<_>>();
    for word in [
        "none",
        "loss",
        "cut",
        "kill",
        "pause",
        "lose message",
        "partition",
    ] {
        assert!(words.contains(word), "no {word} among {words:?}");
    }
    let other = place.line("hunt --runs 240 --seed 2 --out here").expect(2);
    other.warns("holds another hunt");
}

#[test]
fn a_defect_is_found_and_made_small() {
    let place = Place::new();
    let found = place
        .line("hunt suzuki-kasami --as-printed=SK1 --runs 60 --out here")
        .expect(1);
    found.says("suzuki-kasami: liveness: deadlock");
    let folder = place.path().join("here/found");
    let kept = files(&folder);
    assert_eq!(kept.len(), 1, "{kept:?}");
    let (name, text) = &kept[0];
    assert!(text.starts_with("# Showed: liveness: deadlock"), "{text}");
    // Two members, one of which asks when the other has been inside.
    assert!(
        text.contains("nodes = 2") && !text.contains("fault"),
        "{text}"
    );
    let run = place
        .line(&format!("run here/found/{name} --json"))
        .expect(1);
    let judged = serde_json::from_str::<Value>(&run.stdout).expect("JSON");
    assert_eq!(judged["liveness"]["is"], "violated");
}

#[test]
fn an_interrupted_hunt_says_what_it_found_and_how_to_go_on() {
    let place = Place::new();
    let mut hunt = Guarded::start(place.command(["hunt", "--for", "10m", "--out", "here"]));
    let state = place.path().join("here/state.json");
    wait_until("the hunt has begun", || state.exists());
    kill_process(hunt.pid(), Signal::INT).expect("it is there");
    let stopped = hunt.finish().expect(130);
    stopped.says("the same command with --out here goes on from there");
    assert!(place.path().join("here/tried.csv").exists());
}

#[test]
fn wrong_words_are_refused() {
    let place = Place::new();
    place.refuses(&[
        ("hunt raimond", "raymond"),
        ("hunt raymond raymond", "named twice"),
        ("hunt --runs 0", "at least one run"),
        ("hunt --as-printed=SK1", "name the one algorithm"),
        ("hunt raymond --as-printed=SK1", "no defect"),
    ]);
    assert!(!place.path().join("results").exists());
}

fn found() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../experiments/found");
    let names = names_in(Path::new(folder)).into_iter();
    let files = names.filter(|name| name.ends_with(".toml"));
    files.map(|name| Path::new(folder).join(name)).collect()
}

/// What a hunt once found says what it showed, and does today what it says.
#[test]
fn what_was_found_does_what_it_says_today() {
    let place = Place::new();
    for file in found() {
        let name = file.display();
        let text = fs::read_to_string(&file).expect("a text");
        assert!(text.starts_with("# Showed: "), "{name}");
        let today = text.lines().find_map(|line| line.strip_prefix("# Today: "));
        let today = today.unwrap_or_else(|| panic!("{name} does not say what it does today"));
        let (verdict, property) = today.split_once(", ").unwrap_or((today, ""));
        let mut program = Command::new(env!("CARGO_BIN_EXE_orchestrator"));
        let line = [
            "run",
            &name.to_string(),
            "--engine",
            "sim",
            "--json",
            "--out",
            "run",
        ];
        let program = program.args(line);
        let output = program.current_dir(place.path()).output().expect("it runs");
        let judged = serde_json::from_slice::<Value>(&output.stdout);
        let judged = judged.unwrap_or_else(|error| panic!("{name}: {error}: {output:?}"));
        assert_eq!(judged["verdict"], verdict, "{name}: {judged:#}");
        // A closed form that was missed is in the exit code alone.
        let code = match verdict {
            "holds" => 0,
            "violated" => 1,
            _ => 3,
        };
        assert_eq!(output.status.code(), Some(code), "{name}: {judged:#}");
        // Its files say the same.
        place.line("check run").expect(code);
        fs::remove_dir_all(place.path().join("run")).expect("it was written");
        if !property.is_empty() {
            let key = property.replace('-', "_");
            assert_eq!(judged[&key]["is"], "violated", "{name}: {judged:#}");
        }
    }
}
