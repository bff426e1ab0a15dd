//! The README shows what the program really prints, and the columns it writes are explained.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use algorithms::registry;
use common::Place;

/// How the README calls the program.
const CALL: &str = "cargo run --release -- ";

/// The documents in which commands stand with what they print.
const SHOWING: [&str; 2] = ["README.md", "experiments/README.md"];

#[test]
fn documents_show_what_the_program_prints() {
    for document in SHOWING {
        shows_what_the_program_prints(document);
    }
}

fn shows_what_the_program_prints(document: &str) {
    let readme = read(document);
    let blocks = blocks(&readme, "console");
    assert!(blocks.len() >= 2, "only {} blocks were found", blocks.len());
    let update = std::env::var_os("UPDATE").is_some();
    let mut fresh = readme.clone();
    for block in &blocks {
        let (line, shown) = block.split_once('\n').unwrap_or((block, ""));
        let printed = print_of(line.trim_start_matches("$ "));
        let printed = as_shown(&printed);
        let same = steady(&printed) == steady(shown);
        assert!(
            same || update,
            "{line}\nprints:\n{printed}\nUPDATE=1 cargo test -p orchestrator --test docs rewrites {document}"
        );
        if !same {
            fresh = fresh.replace(block, &format!("{line}\n{printed}"));
        }
    }
    if fresh != readme {
        fs::write(root().join(document), &fresh).expect("a document can be written");
    }
}

#[test]
fn every_command_of_the_documents_works() {
    for document in SHOWING {
        every_command_works(document);
    }
    assert!(read("README.md").contains("scripts/test"));
}

fn every_command_works(document: &str) {
    // A line may go on in the next.
    let readme = read(document).replace("\\\n", " ");
    let lines = readme.lines().filter_map(|line| {
        let line = line.trim_start_matches("$ ");
        let line = line.split(" #").next()?.trim();
        line.strip_prefix(CALL)
    });
    let mut seen = 0;
    for line in lines {
        seen += 1;
        let place = place();
        let mut words = words(line);
        if ["run", "compare"].contains(&words[0].as_str()) {
            words.push("--dry-run".to_owned());
        }
        let finished = place.run(&words);
        // What the explorer shows may well be a violation.
        let expected = if words[0] == "explore" {
            [0, 1]
        } else {
            [0, 0]
        };
        assert!(
            expected.contains(&finished.code),
            "{line}\n{}",
            finished.stderr
        );
    }
    assert!(seen >= 2, "only {seen} commands were found");
    for script in readme
        .split('`')
        .filter(|words| words.starts_with("scripts/"))
    {
        // What comes after the first word is for the script.
        let script = script.split_whitespace().next().unwrap_or(script);
        assert!(root().join(script).exists(), "{script} is not there");
    }
}

#[test]
fn links_in_the_documents_lead_somewhere() {
    let documents = [
        "README.md",
        "ARCHITECTURE.md",
        "results/README.md",
        "experiments/README.md",
    ];
    for document in documents {
        let text = read(document);
        let folder = root().join(document);
        let folder = folder.parent().expect("a document lies in a folder");
        let targets = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.starts_with("http")) {
            assert!(folder.join(target).exists(), "{document} leads to {target}");
        }
    }
}

#[test]
fn the_readme_names_every_algorithm() {
    let readme = read("README.md");
    for entry in registry::ALL {
        assert!(
            readme.contains(entry.name),
            "the README lacks {}",
            entry.name
        );
    }
}

/// The picture in the guide is the one that its sweep draws.
#[test]
fn the_guides_picture_is_what_its_sweep_draws() {
    let place = place();
    let line = "sweep experiments/sweeps/banta-figure-5.2.toml --out here";
    place.line(line).expect(0);
    let drawn = fs::read(place.path().join("here/plot.svg")).expect("a plot");
    let shown = root().join("results/reference/banta-figure-5.2.svg");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&shown, &drawn).expect("a picture can be written");
    }
    let same = fs::read(&shown).is_ok_and(|shown| shown == drawn);
    assert!(
        same,
        "UPDATE=1 cargo test -p orchestrator --test docs draws {} anew",
        shown.display()
    );
}

#[test]
fn every_column_is_explained() {
    let explained = read("results/README.md");
    let place = Place::new();
    place.line("run raymond --engine sim --out here").expect(0);
    let directory = place.path().join("here");
    for entry in fs::read_dir(&directory).expect("the run's directory is there") {
        let path = entry.expect("a readable directory").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        assert!(
            explained.contains(&format!("`{name}`")),
            "{name} is not explained"
        );
        if path.extension().is_some_and(|extension| extension == "csv") {
            let text = fs::read_to_string(&path).expect("a table");
            for column in text.lines().next().unwrap_or_default().split(',') {
                let explained = explained.contains(&format!("`{column}`"));
                assert!(explained, "column {column} of {name} is not explained");
            }
        }
    }
}

/// The words for what happened are those of a trace, each of them.
#[test]
fn every_event_is_explained() {
    // Whoever reads a word that there is not is told all that there are.
    let unknown = serde_json::from_str::<node::trace::What>(r#"{"what":"nonsense"}"#);
    let known = unknown.expect_err("there is no such word").to_string();
    let known = known.split("expected one of").nth(1).expect("all words");
    let explained = read("results/README.md");
    let table = explained.split("| `what` |").nth(1).expect("a table");
    let table = table.split("\n\n").next().expect("it ends");
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let words = rows.map(|row| row.split('|').nth(1).expect("a cell"));
    let explained = words.flat_map(quoted).collect::<BTreeSet<_>>();
    assert_eq!(explained, quoted(known).collect());
}

/// The words between strokes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// What the program prints on this line of the README.
fn print_of(line: &str) -> String {
    let words = words(line.strip_prefix(CALL).expect("a line calls the program"));
    place().run(words).stdout
}

/// A place from which the README's paths lead to the same files.
fn place() -> Place {
    let place = Place::new();
    fs::create_dir(place.path().join("results")).expect("a directory can be made");
    for part in ["experiments", "results/papers"] {
        std::os::unix::fs::symlink(root().join(part), place.path().join(part))
            .expect("a link can be made");
    }
    place
}

/// The lines that are the same wherever and whenever the program runs.
fn steady(text: &str) -> Vec<&str> {
    let passing = ["files: ", "again: ", "replay: ", "plot: ", "  time "];
    let passes =
        |line: &str| passing.iter().any(|start| line.starts_with(start)) && !line.ends_with(COMMIT);
    let lines = text.trim_end().lines();
    lines.filter(|line| !passes(line)).collect()
}

/// Stands for the commit that the program was built from: every reader has another.
const COMMIT: &str = "/COMMIT";

/// The print as the README shows it, with the program called by its name and its commit by that word.
fn as_shown(text: &str) -> String {
    let commit = option_env!("TURNSTILE_COMMIT").unwrap_or("unknown");
    let text = text.replace(
        env!("CARGO_BIN_EXE_orchestrator"),
        "target/release/orchestrator",
    );
    text.replace(&format!("/{commit}\n"), &format!("{COMMIT}\n"))
}

/// The fenced blocks of that language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    let blocks = text.split(&opening).skip(1);
    blocks
        .filter_map(|rest| Some(rest.split("```").next()?.to_owned()))
        .collect()
}

/// The words of a line, as a shell would split it.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('"').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

fn read(document: &str) -> String {
    let path = root().join(document);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
