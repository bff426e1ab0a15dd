//! The documents show what the program really prints, and the columns it writes are explained.

mod common;
#[path = "docs/made.rs"]
mod made;
#[path = "docs/print.rs"]
mod print;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use std::sync::{Mutex, PoisonError};

use clap::Args;
use common::{Place, blocks, words};
use orchestrator::scenario::Scenario;

/// How the documents call the program: where it is installed, and in a clone.
const CALLS: [&str; 3] = ["orchestrator ", "cargo run -- ", "cargo run --release -- "];

/// What stands after the program in a line that calls it.
fn called(line: &str) -> Option<&str> {
    CALLS.iter().find_map(|call| line.strip_prefix(call))
}

/// The documents in which commands stand with what they print.
fn showing() -> Vec<String> {
    let mut documents = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    documents.extend(pages().into_iter().filter(|page| page != PROXY));
    documents
}

/// The page whose commands stay until they are ended; `proxy_page.rs` runs them.
const PROXY: &str = "docs/proxy.md";

/// The page with a command for each algorithm.
const READING: &str = "docs/reading.md";

/// The pages of the documentation.
fn pages() -> Vec<String> {
    pages_in("docs")
}

/// The chapters of the tutorial, whose commands `tutorial.rs` runs.
fn tutorial() -> Vec<String> {
    pages_in("docs/tutorial")
}

fn pages_in(folder: &str) -> Vec<String> {
    let files = fs::read_dir(root().join(folder)).expect("a folder of documents");
    let names = files.map(|file| file.expect("a readable folder").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    let mut pages = names
        .filter(|name| name.ends_with(".md"))
        .map(|name| format!("{folder}/{name}"))
        .collect::<Vec<_>>();
    pages.sort();
    assert!(pages.len() >= 4, "{pages:?}");
    pages
}

/// How much there is to check in all pages that show commands.
fn in_all_pages(check: fn(&str) -> usize) -> usize {
    showing().iter().map(|page| check(page)).sum()
}

#[test]
fn documents_show_what_the_program_prints() {
    let shown = in_all_pages(shows_what_the_program_prints);
    assert!(shown >= 10, "only {shown} blocks were found");
}

/// Checks the blocks of a document, and says how many there are.
fn shows_what_the_program_prints(document: &str) -> usize {
    let blocks = blocks(&read(document), "console");
    for block in &blocks {
        let (line, shown) = block.split_once('\n').unwrap_or((block, ""));
        let line = line.trim_start_matches("$ ");
        let printed = as_shown(&print_of(line));
        if print::shows(line, shown, &printed) {
            continue;
        }
        assert!(
            updating() && !print::leaves_out(shown),
            "{line}\nprints:\n{printed}\nUPDATE=1 cargo test -p orchestrator --test docs rewrites \
             {document}, where it leaves nothing out"
        );
        rewrite(document, |text| {
            text.replace(block, &format!("$ {line}\n{printed}"))
        });
    }
    blocks.len()
}

/// Whether the documents are to be written as they should be.
fn updating() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// Writes a document, one test at a time.
fn rewrite(document: &str, change: impl Fn(&str) -> String) {
    static WRITING: Mutex<()> = Mutex::new(());
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let text = change(&read(document));
    fs::write(root().join(document), text).expect("a document can be written");
}

/// The README is for visitors; what is longer has a page of its own.
#[test]
fn the_readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(lines <= 200, "README.md has {lines} lines");
}

#[test]
fn every_command_of_the_documents_works() {
    let seen = in_all_pages(every_command_works);
    assert!(seen >= 20, "only {seen} commands were found");
    assert!(read("README.md").contains("scripts/test"));
}

/// Runs the commands of a document, and says how many there are.
fn every_command_works(document: &str) -> usize {
    // A line may go on in the next.
    let readme = read(document).replace("\\\n", " ");
    let fenced = readme.split("```").skip(1).step_by(2);
    let lines = fenced.flat_map(str::lines).map(|line| {
        let line = line.trim_start_matches("$ ");
        let line = line.split(" #").next().unwrap_or_default();
        line.split(" > ").next().unwrap_or_default().trim()
    });
    // The reading order is a table, in which the commands stand between strokes.
    let rows = readme
        .lines()
        .filter(|line| line.starts_with('|') && document == READING);
    let cells = rows.flat_map(|line| line.split('`').skip(1).step_by(2));
    let lines = lines.chain(cells).filter_map(called);
    let mut seen = 0;
    let mut latest = None;
    for line in lines {
        seen += 1;
        let place = place();
        let mut words = words(line);
        if words.iter().any(|word| word == "results/latest") {
            let run: &Vec<String> = latest
                .as_ref()
                .expect("a run is made before it is looked at");
            place.run(run).expect_one_of(&[0, 1, 3]);
        }
        if words[0] == "run" {
            latest = Some(words.clone());
        }
        let is_said = |flag: &str| words.iter().any(|word| word == flag);
        let whole = is_said("--dry-run") || is_said("--json");
        if ["run", "compare"].contains(&words[0].as_str()) && !whole {
            // What stands after two dashes is for a program.
            let place = words.iter().position(|word| word == "--");
            words.insert(place.unwrap_or(words.len()), "--dry-run".to_owned());
        }
        let finished = place.run(&words);
        // What the explorer shows, and a hunt finds, may well be a violation.
        let expected = if ["explore", "hunt"].contains(&words[0].as_str()) {
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
    for script in readme
        .split('`')
        .filter(|words| words.starts_with("scripts/"))
    {
        // What comes after the first word is for the script.
        let script = script.split_whitespace().next().unwrap_or(script);
        assert!(root().join(script).exists(), "{script} is not there");
    }
    seen
}

/// What stands in a sentence may leave things open, but the command is one that there is.
#[test]
fn every_command_that_is_named_is_there() {
    let commands = made::commands();
    let documents = showing().into_iter().chain([PROXY.to_owned()]);
    let documents = documents.chain(tutorial());
    for document in documents {
        let text = read(&document);
        let named = quoted(&text).filter_map(|words| words.strip_prefix("orchestrator "));
        for words in named.filter(|words| words.starts_with(char::is_lowercase)) {
            let command = words.split_whitespace().next().unwrap_or_default();
            let is_there = commands.iter().any(|(name, _)| name == command);
            assert!(is_there, "{document}: orchestrator {words}");
        }
    }
}

#[test]
fn links_in_the_documents_lead_somewhere() {
    let more = [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        PROXY,
        "results/README.md",
        "experiments/README.md",
        "experiments/claims/README.md",
    ];
    let tutorial = tutorial().into_iter();
    for document in showing()
        .into_iter()
        .chain(more.map(str::to_owned))
        .chain(tutorial)
    {
        let text = read(&document);
        let folder = root().join(&document);
        let folder = folder.parent().expect("a document lies in a folder");
        let targets = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.starts_with("http")) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = match file.is_empty() {
                true => root().join(&document),
                false => folder.join(file),
            };
            assert!(file.exists(), "{document} leads to {target}");
            if !heading.is_empty() {
                let text = fs::read_to_string(&file).expect("a document");
                let headings = text.lines().filter(|line| line.starts_with('#'));
                let mut anchors = headings.map(|line| {
                    let words = line.trim_start_matches('#').trim().to_lowercase();
                    words.replace(' ', "-")
                });
                assert!(
                    anchors.any(|anchor| anchor == heading),
                    "{document} leads to {target}"
                );
            }
        }
    }
}

/// The tables of docs/scenarios.md are the help of the flags, which has every key.
#[test]
fn every_key_of_a_scenario_file_is_documented() {
    let page = read("docs/scenarios.md");
    let (before, _) = page.split_once("## Keys\n").expect("a heading");
    let fresh = format!("{before}## Keys\n{}", scenario_keys());
    if fresh != page && updating() {
        fs::write(root().join("docs/scenarios.md"), &fresh).expect("a page can be written");
        return;
    }
    let differs = fresh.lines().zip(page.lines()).find(|(a, b)| a != b);
    assert!(
        fresh == page,
        "UPDATE=1 cargo test -p orchestrator --test docs rewrites docs/scenarios.md\n{differs:#?}"
    );
}

/// A table of keys for each group of flags.
fn scenario_keys() -> String {
    let command = Scenario::augment_args(clap::Command::new("run"));
    let mut keys = vec!["engine", "declares"];
    let mut groups: Vec<(&str, String)> = Vec::new();
    for flag in command.get_arguments() {
        let name = flag.get_long().unwrap_or(flag.get_id().as_str());
        let key = if name == "param" { "params" } else { name };
        keys.push(key);
        let choices = flag.get_possible_values();
        let choices = choices
            .iter()
            .map(|choice| format!("`{}`", choice.get_name()));
        let value = match choices.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => {
                let names = flag.get_value_names().unwrap_or_default();
                names.iter().map(ToString::to_string).collect()
            }
            choices => choices,
        };
        let help = flag
            .get_long_help()
            .or(flag.get_help())
            .expect("a help text");
        let help = help.to_string().replace('|', "\\|");
        let paragraphs = help.split("\n\n").map(|paragraph| {
            let words = paragraph.split_whitespace().collect::<Vec<_>>();
            words.join(" ").trim_end_matches('.').to_owned()
        });
        let help = paragraphs.collect::<Vec<_>>().join(". ");
        let group = flag.get_help_heading().expect("a group");
        if groups.last().is_none_or(|(last, _)| *last != group) {
            groups.push((group, String::new()));
        }
        let (_, rows) = groups.last_mut().expect("it was just put there");
        *rows += &format!("| `{key}` | {value} | {help} |\n");
    }
    let engine = "| `engine` | `cluster`, `sim` | What runs it: processes that speak UDP, or the \
                  simulator in virtual time [default: cluster] |\n";
    let declares = "| `declares` | table | external: What the program is, where it does not say so itself: \
                    the keys of `declares` in [protocol.md](protocol.md#what-a-program-declares) |\n";
    let (_, group) = groups.first_mut().expect("several groups");
    group.push_str(declares);
    let (_, run) = groups.last_mut().expect("several groups");
    run.insert_str(0, engine);
    // The message for an unknown key names all keys.
    let unknown = toml::from_str::<Scenario>("nonsense = 1");
    let unknown = unknown
        .expect_err("there is no such key")
        .message()
        .to_owned();
    let known = quoted(&unknown).skip(1).collect::<BTreeSet<_>>();
    assert_eq!(keys.into_iter().collect::<BTreeSet<_>>(), known);
    let tables = groups.iter().map(|(group, rows)| {
        format!("\n### {group}\n\n| key | value | meaning |\n|---|---|---|\n{rows}")
    });
    tables.collect()
}

/// The files that the pages show are files that the program takes.
#[test]
fn files_in_the_documents_are_taken() {
    let place = Place::new();
    for (page, file, line) in [
        ("docs/scenarios.md", "some.toml", "run some.toml --dry-run"),
        ("docs/sweeps.md", "some.toml", "sweep some.toml --dry-run"),
        ("docs/grading.md", "some.toml", "grade some.toml"),
        (
            "docs/claims.md",
            "claims/some.toml",
            "reproduce --claims claims --out here",
        ),
    ] {
        let blocks = blocks(&read(page), "toml");
        assert_eq!(blocks.len(), 1, "{page}");
        place.file(file, &blocks[0]);
        place.line(line).expect(0);
    }
}

/// The pictures in the documents are those that their sweeps draw.
#[test]
fn pictures_are_what_their_sweeps_draw() {
    for name in ["light-load", "banta-figure-5.2"] {
        let place = place();
        let line = format!("sweep experiments/sweeps/{name}.toml --out here");
        place.line(&line).expect(0);
        let drawn = fs::read(place.path().join("here/plot.svg")).expect("a plot");
        let shown = root().join(format!("results/reference/{name}.svg"));
        if updating() {
            fs::write(&shown, &drawn).expect("a picture can be written");
        }
        let same = fs::read(&shown).is_ok_and(|shown| shown == drawn);
        assert!(
            same,
            "UPDATE=1 cargo test -p orchestrator --test docs draws {} again",
            shown.display()
        );
    }
}

#[test]
fn every_column_is_explained() {
    let explained = read("results/README.md");
    let place = Place::new();
    place.line("run raymond --engine sim --out here").expect(0);
    let directory = place.path().join("here");
    for file in fs::read_dir(&directory).expect("the run's directory is there") {
        let path = file.expect("a readable directory").path();
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
    // The message for an unknown word names all words.
    let unknown = serde_json::from_str::<model::event::What>(r#"{"what":"nonsense"}"#);
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

/// The texts between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// What the program prints on this line of the README.
fn print_of(line: &str) -> String {
    let words = words(called(line).expect("a line calls the program"));
    place().run(words).stdout
}

/// A place from which the README's paths lead to the same files.
fn place() -> Place {
    let place = Place::new();
    fs::create_dir(place.path().join("results")).expect("a directory can be made");
    for part in ["experiments", "examples", "results/papers"] {
        std::os::unix::fs::symlink(root().join(part), place.path().join(part))
            .expect("a link can be made");
    }
    place
}

/// Stands for the commit that the program was built from: every reader has another.
const COMMIT: &str = "/COMMIT";

/// The print as the documents show it, with the program called by its name and its commit by that word.
fn as_shown(text: &str) -> String {
    let commit = option_env!("TURNSTILE_COMMIT").unwrap_or("unknown");
    let text = text.replace(env!("CARGO_BIN_EXE_orchestrator"), "orchestrator");
    text.replace(&format!("/{commit}\n"), &format!("{COMMIT}\n"))
}

fn read(document: &str) -> String {
    let path = root().join(document);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
