//! The boundaries of the workspace: what Cargo says of its crates, and what its files say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every crate and those of the workspace that it uses: the arrows of ARCHITECTURE.md.
const ARROWS: [(&str, &[&str]); 14] = [
    ("algorithms", &[]),
    ("chaos", &[]),
    ("transport", &["algorithms"]),
    ("model", &["algorithms", "chaos", "transport"]),
    ("member", &["algorithms", "chaos", "model"]),
    (
        "simulator",
        &["algorithms", "chaos", "member", "model", "transport"],
    ),
    (
        "analysis",
        &["algorithms", "chaos", "model", "safe-io", "transport"],
    ),
    ("safe-io", &[]),
    ("wire", &[]),
    ("external", &["algorithms", "safe-io"]),
    (
        "node",
        &[
            "algorithms",
            "external",
            "member",
            "model",
            "safe-io",
            "transport",
            "wire",
        ],
    ),
    (
        "cluster",
        &[
            "algorithms",
            "chaos",
            "external",
            "member",
            "model",
            "node",
            "safe-io",
            "transport",
            "wire",
        ],
    ),
    (
        "orchestrator",
        &[
            "algorithms",
            "analysis",
            "chaos",
            "cluster",
            "external",
            "model",
            "safe-io",
            "simulator",
            "wire",
        ],
    ),
    (
        "bench",
        &[
            "algorithms",
            "chaos",
            "cluster",
            "external",
            "model",
            "node",
            "orchestrator",
            "safe-io",
            "simulator",
            "transport",
            "wire",
        ],
    ),
];

/// Crates that touch nothing but their arguments: neither they nor anything below them has these.
const PURE_CRATES: [&str; 6] = [
    "algorithms",
    "chaos",
    "model",
    "transport",
    "member",
    "simulator",
];

/// What reaches sockets, clocks, threads and the kernel.
const WORLDLY_CRATES: [&str; 9] = [
    "tokio",
    "socket2",
    "quinn-udp",
    "rustix",
    "axum",
    "hyper",
    "signal-hook",
    "tracing-subscriber",
    "wire",
];

/// Longer files are two files.
const LONGEST_FILE: usize = 700;

#[test]
fn crates_use_each_other_as_the_architecture_says() {
    assert_eq!(ARROWS.len(), packages().count(), "a crate is missing here");
    for (package, expected) in ARROWS {
        let direct = dependencies(package, &["--depth", "1"]);
        let ours = |name: &String| ARROWS.iter().any(|(known, _)| known == name);
        let mut used: Vec<_> = direct.into_iter().skip(1).filter(ours).collect();
        used.sort();
        assert_eq!(used, expected, "{package}");
    }
}

#[test]
fn pure_crates_have_nothing_worldly_below_them() {
    for package in PURE_CRATES {
        let below = dependencies(package, &[]);
        assert!(below.contains(&package.to_owned()), "{below:?}");
        let worldly = |name: &&String| WORLDLY_CRATES.contains(&name.as_str());
        let found: Vec<_> = below.iter().filter(worldly).collect();
        assert!(found.is_empty(), "{package} reaches {found:?}");
    }
    // It reads and writes files, but knows no network and no process.
    let below = dependencies("analysis", &[]);
    for name in ["tokio", "socket2", "quinn-udp", "wire", "node", "simulator"] {
        assert!(!below.contains(&name.to_owned()), "analysis reaches {name}");
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
    for package in packages() {
        let name = package.file_name().expect("a package has a name");
        let member = name.to_string_lossy();
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

/// What `scripts/mutants` would find out only after hours: an edit that no longer applies tests
/// nothing, and neither does a test that is not there.
/// A path with a folder begins at the top; a name without one is of a file that lies beside, or below,
/// something that its line names.
#[test]
fn every_path_that_the_architecture_names_is_there() {
    let page = read(&root().join("ARCHITECTURE.md"));
    let (mut in_text, mut seen) = (false, 0);
    for line in page.lines() {
        in_text ^= line.starts_with("```");
        let quoted = line.split('`').skip(1).step_by(2);
        let quoted = quoted.filter(|_| !in_text && !line.starts_with("```"));
        let (paths, names): (Vec<_>, Vec<_>) = quoted
            .filter(|word| !word.contains(' ') && is_path(word))
            .partition(|word| word.contains('/'));
        let paths = paths.into_iter().flat_map(alternatives).collect::<Vec<_>>();
        for path in &paths {
            assert!(root().join(path).exists(), "{path}: {line}");
        }
        for name in &names {
            let mut places = paths.iter().flat_map(|path| {
                let place = root().join(path);
                [place.with_file_name(name), place.join(name)]
            });
            let is_there = root().join(name).exists() || places.any(|place| place.exists());
            assert!(is_there, "{name}: {line}");
        }
        seen += paths.len() + names.len();
    }
    assert!(seen > 50, "only {seen} paths");
}

/// Whether a quoted word of a page is a path.
fn is_path(word: &str) -> bool {
    let endings = [".rs", ".md", ".js", ".toml"];
    word.contains('/') || endings.iter().any(|ending| word.ends_with(ending))
}

/// The paths that a path with `{one,another}` or a last `*.` stands for.
fn alternatives(path: &str) -> Vec<String> {
    let path = path.split_once('*').map_or(path, |(folder, _)| folder);
    let Some((before, rest)) = path.split_once('{') else {
        return vec![path.to_owned()];
    };
    let (among, after) = rest.split_once('}').expect("a brace that is closed");
    let each = among.split(',').map(|one| format!("{before}{one}{after}"));
    each.collect()
}

#[test]
fn every_mutant_still_applies() {
    let list: toml::Table = read(&root().join("scripts/mutants.toml"))
        .parse()
        .expect("valid TOML");
    let mutants = list["mutant"].as_array().expect("an array");
    assert!(mutants.len() > 100, "only {} were found", mutants.len());
    for mutant in mutants {
        let text = |key: &str| mutant[key].as_str().expect("a text");
        let (id, file) = (text("id"), text("file"));
        let times = read(&root().join(file)).matches(text("old")).count();
        assert_eq!(times, 1, "{id}: how often its old text is in {file}");
        let words: Vec<_> = text("test").split_whitespace().collect();
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
        assert!(there, "{id}: {}", text("test"));
    }
}

/// The crates that a package is built from, itself among them, as Cargo says.
fn dependencies(package: &str, options: &[&str]) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--edges", "normal", "--prefix", "none"])
        .args(["--format", "{p}", "--package", package])
        .args(options)
        .current_dir(root())
        .output()
        .expect("cargo is there");
    let text = String::from_utf8_lossy(&tree.stdout);
    let why = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "{package}: {why}");
    let names = text.lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
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
    packages().flat_map(|package| rust_files(&package))
}

fn rust_files(package: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![package.to_owned()];
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

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
