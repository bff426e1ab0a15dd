//! The tutorial: every command in it is run, and every output, picture and piece of a program is what it shows.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod common;
#[path = "docs/print.rs"]
mod print;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Place, blocks, words};

/// What `print` leaves alone in a line: nothing here shows a commit.
const COMMIT: &str = "/COMMIT";

const CALL: &str = "orchestrator ";

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// A place from which the paths of the tutorial lead to the same files.
fn place() -> Place {
    let place = Place::new();
    for part in ["experiments", "examples"] {
        std::os::unix::fs::symlink(root().join(part), place.path().join(part)).unwrap();
    }
    place
}

/// How wide columns are depends on the time that something took, which is left out.
fn narrow(text: &str) -> String {
    let lines = text.lines().map(|line| match line.starts_with("  time ") {
        true => line.to_owned(),
        false => line.split_whitespace().collect::<Vec<_>>().join(" "),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether this chapter can be run here, reported on stderr if not.
fn has_python(chapter: &str) -> bool {
    let there = Command::new("python3").arg("--version").output().is_ok();
    if !there {
        eprintln!("SKIPPED: {chapter}: there is no python3 on this machine");
    }
    there
}

/// Runs what a chapter shows.
fn chapter(name: &str) {
    if !has_python(name) {
        return;
    }
    let path = root().join("docs/tutorial").join(name);
    let mut page = fs::read_to_string(&path).unwrap();
    let whole = page.clone();
    let mut sweeps = 0;
    let shown = blocks(&whole, "console");
    assert!(shown.len() >= 3, "{name} shows {} commands", shown.len());
    for block in &shown {
        let (line, shown) = block.split_once('\n').unwrap();
        let line = line.trim_start_matches("$ ");
        let place = place();
        let finished = place.run(words(line.strip_prefix(CALL).unwrap()));
        let finished = finished.expect_one_of(&[0, 1]);
        // Whether it holds is in what is shown.
        let failed = ["violated", "  failed ", "that it does not do"]
            .iter()
            .any(|word| shown.contains(word));
        let program = env!("CARGO_BIN_EXE_orchestrator");
        let printed = finished.stdout.replace(program, "orchestrator");
        if let Some(sweep) = words(line).iter().find(|word| word.ends_with(".toml")) {
            sweeps += 1;
            same_picture(&place, Path::new(sweep));
        }
        if print::shows(line, &narrow(shown), &narrow(&printed)) {
            assert_eq!(failed, finished.code == 1, "{line}");
            continue;
        }
        assert!(
            std::env::var_os("UPDATE").is_some() && !print::leaves_out(shown),
            "{line}\nprints:\n{printed}\nUPDATE=1 cargo test -p orchestrator --test tutorial rewrites {name}, \
             where it leaves nothing out"
        );
        page = page.replace(block, &format!("$ {line}\n{printed}"));
        fs::write(&path, &page).unwrap();
    }
    assert_eq!(sweeps, 1, "{name} ends with a plot");
    for block in blocks(&page, "sh") {
        for line in block.lines().filter_map(|line| line.strip_prefix(CALL)) {
            let line = line.split("    #").next().unwrap_or(line);
            let line = line.replace(" -- ", " --dry-run -- ");
            place().line(&line).expect(0);
        }
    }
}

/// The picture of a chapter is the one that its sweep draws.
fn same_picture(place: &Place, sweep: &Path) {
    let stem = sweep.file_stem().unwrap().to_str().unwrap();
    let drawn = place.path().join(format!("results/{stem}.sweep/plot.svg"));
    let drawn = fs::read(drawn).unwrap();
    let kept = root().join(format!("docs/pictures/{stem}.svg"));
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&kept, &drawn).unwrap();
    }
    let same = fs::read(&kept).is_ok_and(|kept| kept == drawn);
    assert!(same, "UPDATE=1 draws {} again", kept.display());
}

#[test]
fn chapter_1_shows_what_happens() {
    chapter("1-a-first-lock.md");
}

#[test]
fn chapter_2_shows_what_happens() {
    chapter("2-lamport.md");
}

#[test]
fn chapter_3_shows_what_happens() {
    chapter("3-ricart-agrawala.md");
}

#[test]
fn chapter_4_shows_what_happens() {
    chapter("4-maekawa.md");
}

#[test]
fn chapter_5_shows_what_happens() {
    chapter("5-a-token.md");
}

#[test]
fn chapter_6_shows_what_happens() {
    chapter("6-a-tree.md");
}

/// Each chapter begins with something that goes wrong, and what it quotes of a program stands there.
#[test]
fn chapters_begin_with_a_failure_and_quote_programs_as_they_are() {
    let mut programs = String::new();
    for folder in ["examples", "examples/tutorial", "examples/broken"] {
        for file in fs::read_dir(root().join(folder)).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "py") {
                programs += &fs::read_to_string(path).unwrap();
            }
        }
    }
    let mut chapters = 0;
    for file in fs::read_dir(root().join("docs/tutorial")).unwrap() {
        chapters += 1;
        let path = file.unwrap().path();
        let page = fs::read_to_string(&path).unwrap();
        let first = blocks(&page, "console").remove(0);
        assert!(first.contains("violated"), "{}: {first}", path.display());
        for block in blocks(&page, "python") {
            let stands = programs.contains(&block);
            assert!(stands, "{}: nowhere stands\n{block}", path.display());
        }
        assert!(page.contains("**Exercise.**"), "{}", path.display());
    }
    assert_eq!(chapters, 6);
}
