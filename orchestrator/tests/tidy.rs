//! The boundaries of the workspace, kept by reading its text.

use std::fs;
use std::path::{Path, PathBuf};

/// What pure code never names: sockets, clocks, threads, files, processes.
const WORLDLY: [&str; 10] = [
    "std::net",
    "std::thread",
    "thread::spawn",
    "std::fs",
    "std::process",
    "tokio",
    "socket2",
    "rustix",
    "Instant::now",
    "SystemTime::now",
];

/// The places outside `orchestrator` that may touch the world, and why.
const WORLDLY_PLACES: [(&str, &str); 9] = [
    ("chaos/src/input.rs", "reads files that others give"),
    ("chaos/src/main.rs", "starts the proxy"),
    (
        "chaos/src/proxy",
        "sockets and an HTTP API around the pure model",
    ),
    (
        "crates/analysis/src/files",
        "reads and writes run directories",
    ),
    (
        "crates/simulator/src/bench.rs",
        "measures how long simulating takes",
    ),
    (
        "chaos/src/wire",
        "sockets, the clock and the alarm that members and proxy share",
    ),
    ("node/src/control.rs", "names addresses, as data"),
    ("node/src/main.rs", "starts the runtime"),
    (
        "node/src/runtime",
        "sockets, timers and files around the pure core",
    ),
];

/// Crates that are pure but for those places.
const PURE_CRATES: [&str; 5] = [
    "algorithms",
    "chaos",
    "crates/analysis",
    "crates/simulator",
    "node",
];

/// Longer files are two files.
const LONGEST_FILE: usize = 700;

#[test]
fn pure_code_never_touches_the_world() {
    for file in PURE_CRATES
        .iter()
        .flat_map(|krate| rust_files(&format!("{krate}/src")))
    {
        if WORLDLY_PLACES.iter().any(|(place, _)| {
            file.starts_with(root().join(place)) || file == root().join(format!("{place}.rs"))
        }) {
            continue;
        }
        for (number, line) in code_lines(&read(&file)) {
            for word in WORLDLY {
                assert!(
                    !line.contains(word),
                    "{}:{number} names {word}; pure code gets time and packets as arguments",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn no_file_is_longer_than_a_reader() {
    for file in all_rust_files() {
        let lines = read(&file).lines().count();
        assert!(
            lines <= LONGEST_FILE,
            "{} has {lines} lines; at most {LONGEST_FILE}, please",
            file.display()
        );
    }
}

#[test]
fn nothing_is_left_for_later() {
    // Put together here, so that this file does not name them.
    let words = [
        ["to", "do!"],
        ["unimpl", "emented!"],
        ["FIX", "ME"],
        ["X", "XX"],
        ["TO", "DO"],
    ];
    let words = words.map(|halves| halves.concat());
    for file in all_rust_files() {
        for (number, line) in read(&file).lines().enumerate() {
            for word in &words {
                let place = number + 1;
                assert!(
                    !line.contains(word.as_str()),
                    "{}:{place}: {word}",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn the_architecture_says_what_each_crate_lacks() {
    let text = read(&root().join("ARCHITECTURE.md"));
    for member in [
        "algorithms",
        "chaos",
        "node",
        "simulator",
        "analysis",
        "orchestrator",
    ] {
        let heading = format!("### `{member}`");
        let section = text.split(&heading).nth(1);
        let section = section.unwrap_or_else(|| panic!("ARCHITECTURE.md has no '{heading}'"));
        let section = section.split("\n#").next().unwrap_or_default();
        assert!(
            section.contains("Deliberately absent:"),
            "ARCHITECTURE.md does not say what is deliberately absent from {member}"
        );
    }
}

#[test]
fn every_crate_is_described() {
    let text = read(&root().join("ARCHITECTURE.md"));
    for package in packages() {
        let name = package.file_name().expect("a package has a name");
        let name = name.to_string_lossy();
        assert!(
            text.contains(&format!("### `{name}`")),
            "ARCHITECTURE.md lacks {name}"
        );
    }
}

/// What `scripts/mutants` would find out only after hours: an edit that no longer applies tests
/// nothing, and neither does a test that is not there.
#[test]
fn every_mutant_still_applies() {
    let list: toml::Table = read(&root().join("scripts/mutants.toml"))
        .parse()
        .expect("valid TOML");
    let mutants = list["mutant"].as_array().expect("an array");
    assert!(mutants.len() > 100, "only {} were found", mutants.len());
    for mutant in mutants {
        let said = |key: &str| mutant[key].as_str().expect("a text");
        let (id, file) = (said("id"), said("file"));
        let times = read(&root().join(file)).matches(said("old")).count();
        assert_eq!(times, 1, "{id}: so often its old text is in {file}");
        let words: Vec<_> = said("test").split_whitespace().collect();
        let after = |flag: &str| {
            let place = words.iter().position(|word| *word == flag)?;
            words.get(place + 1).copied()
        };
        let name = after("-p").expect("a test names its package");
        let package = packages().find(|package| package.ends_with(name));
        let package = package.unwrap_or_else(|| panic!("{id}: there is no package {name}"));
        let there = after("--test").is_none_or(|test| {
            let tests = package.join("tests");
            tests.join(format!("{test}.rs")).is_file() || tests.join(test).is_dir()
        });
        assert!(there, "{id}: {}", said("test"));
    }
}

fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package
        .parent()
        .expect("the package lies in the workspace")
        .to_owned()
}

/// The folders of the workspace's packages.
fn packages() -> impl Iterator<Item = PathBuf> {
    let folders =
        [root(), root().join("crates")].map(|folder| fs::read_dir(folder).expect("a folder"));
    let paths = folders.into_iter().flatten();
    let paths = paths.map(|entry| entry.expect("a readable folder").path());
    paths.filter(|path| path.join("Cargo.toml").is_file())
}

fn all_rust_files() -> impl Iterator<Item = PathBuf> {
    let packages = PURE_CRATES.into_iter().chain(["orchestrator"]);
    packages.flat_map(rust_files)
}

fn rust_files(folder: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the workspace") {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The lines that are not comments, with their numbers.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line));
    lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
