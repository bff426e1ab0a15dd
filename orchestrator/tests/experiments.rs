//! The scenario files that come with the program do what their comments say.

mod common;

use std::fs;
use std::path::PathBuf;

use common::Place;
use serde_json::Value;

#[test]
fn every_experiment_holds() {
    let files = experiments();
    assert!(files.len() >= 5, "{files:?}");
    for file in files {
        let judgement = run(&file, &[]);
        assert_eq!(judgement["verdict"], "holds", "{}", file.display());
        let warnings = judgement["warnings"].as_array().expect("a list");
        // A fault above the transport is always warned of.
        let is_expected = |warning: &&Value| {
            let text = warning.as_str().unwrap_or_default();
            text.contains("above the transport") || text.contains("longer than the bound")
        };
        let others = warnings
            .iter()
            .filter(|warning| !is_expected(warning))
            .count();
        assert_eq!(others, 0, "{}: {warnings:?}", file.display());
        let chased = file.ends_with("chase.toml");
        assert_eq!(warnings.is_empty(), !chased, "{}", file.display());
    }
}

#[test]
fn every_experiment_begins_with_what_it_is_for() {
    for file in experiments() {
        let text = fs::read_to_string(&file).expect("a readable file");
        assert!(text.starts_with("# "), "{}", file.display());
    }
}

#[test]
fn light_load_costs_what_the_closed_form_says() {
    let judgement = run(&experiment("light-load"), &[]);
    assert_eq!(judgement["theory"][0]["formula"], "H(N-1)");
    assert_eq!(judgement["theory"][0]["agrees"], true, "{judgement:#}");
}

#[test]
fn a_saturated_tree_costs_exactly_what_the_closed_form_says() {
    let judgement = run(&experiment("saturated"), &[]);
    assert_eq!(judgement["theory"][0]["formula"], "4(N-1)/N");
    assert_eq!(judgement["theory"][0]["agrees"], true, "{judgement:#}");
    // With a hold shorter than the delay the form does not apply, and the gate is silent.
    let judgement = run(&experiment("saturated"), &["--hold", "500us"]);
    assert_eq!(judgement["theory"], Value::Array(Vec::new()));
}

#[test]
fn a_hot_spot_is_cheap_where_the_token_stays() {
    let with_token = run(&experiment("hot-spot"), &[]);
    let by_permission = run(&experiment("hot-spot"), &["--algorithm", "ricart-agrawala"]);
    let cost = |judgement: &Value| judgement["summary"]["messages_per_entry"].as_f64();
    let [token, permission] = [cost(&with_token), cost(&by_permission)].map(Option::unwrap);
    assert!(token < 0.5 * permission, "{token} and {permission}");
}

#[test]
fn a_settled_batch_is_served_in_the_order_of_asking() {
    let judgement = run(&experiment("settled-batch"), &[]);
    assert_eq!(judgement["summary"]["entries"], 8);
    assert_eq!(judgement["summary"]["overtakes"], 0);
    assert_eq!(judgement["summary"]["contended"], 7);
}

#[test]
fn where_messages_overtake_so_do_requests() {
    let judgement = run(&experiment("overtaking"), &[]);
    let overtakes = judgement["summary"]["overtakes"].as_u64();
    assert!(overtakes.is_some_and(|pairs| pairs > 0), "{judgement:#}");
}

#[test]
fn a_chased_role_is_caught_only_by_telling_everybody() {
    let passed_over = |judgement: &Value| judgement["summary"]["passed_over_max"].as_u64().unwrap();
    let entries = |judgement: &Value| judgement["summary"]["entries"].as_u64().unwrap();
    let told = run(&experiment("chase"), &[]);
    let starved = run(&experiment("chase"), &["--param", "hop_limit=none"]);
    // Without the limit everybody else passes, from the beginning to the end.
    assert!(
        passed_over(&starved) + 10 > entries(&starved),
        "{starved:#}"
    );
    assert!(passed_over(&told) < 40, "{told:#}");
    assert!(entries(&told) > 300, "{told:#}");
}

fn experiments() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).expect("the experiments are there");
    let files = entries.map(|file| file.expect("a readable folder").path());
    // What the sources leave open is no scenario.
    let scenario = |path: &PathBuf| {
        let prose = ["questions", "findings"].map(std::ffi::OsStr::new);
        let prose = path.file_stem().is_some_and(|name| prose.contains(&name));
        path.extension().is_some_and(|e| e == "toml") && !prose
    };
    let mut files: Vec<_> = files.filter(scenario).collect();
    files.sort();
    files
}

fn experiment(name: &str) -> PathBuf {
    folder().join(format!("{name}.toml"))
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../experiments"))
}

/// What the program prints of a run of this file with these flags.
fn run(file: &std::path::Path, flags: &[&str]) -> Value {
    let place = Place::new();
    let file = file.to_str().expect("a path in UTF-8");
    let line = ["run", file, "--seed", "1", "--json"];
    let finished = place.run(line.iter().chain(flags)).expect(0);
    serde_json::from_str(&finished.stdout).expect("one JSON object")
}

/// Scripts learn the kinds of messages, the parameters and the notes of every algorithm.
#[test]
fn every_algorithm_is_explained_to_scripts() {
    let place = Place::new();
    for info in algorithms::registry::ALL {
        let shown = place
            .line(&format!("explain {} --json", info.name))
            .expect(0);
        let object = serde_json::from_str::<Value>(&shown.stdout).expect("JSON");
        assert_eq!(object["name"], info.name);
        let messages = object["messages"].as_array().expect("a list");
        assert!(!messages.is_empty(), "{}", info.name);
        let names = |key: &str| {
            let list = object[key].as_array().expect("a list").iter();
            list.map(|one| one["name"].as_str().expect("a name").to_owned())
                .collect::<Vec<_>>()
        };
        let params = info.more.params.iter().map(|param| param.name);
        assert_eq!(names("params"), params.collect::<Vec<_>>());
        let notes = info.more.notes.iter().map(|(name, _)| *name);
        assert_eq!(names("notes"), notes.collect::<Vec<_>>());
    }
}
