//! Behaviour as text: every `transcripts/*.txt` is played and must say what happens.
//!
//! A transcript is a list of blocks: comments that say what to look at, a command, `----`, and what
//! came of it. `UPDATE=1 cargo test` rewrites what came of it; the diff is then part of the change.
//! The commands are those of [`cluster::Cluster::perform`].

#[path = "transcripts/cluster.rs"]
mod cluster;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use algorithms::registry;
use cluster::Cluster;

#[test]
fn transcripts_say_what_happens() {
    let mut wrong = String::new();
    for path in transcripts() {
        let text = fs::read_to_string(&path).expect("a transcript can be read");
        let played = play(&path, &text);
        if played == text {
            continue;
        }
        if updating() {
            // Whole or not at all: the other test may be reading it.
            let new = path.with_extension("new");
            let written = fs::write(&new, played).and_then(|()| fs::rename(&new, &path));
            written.expect("a transcript can be written");
        } else {
            wrong.push_str(&difference(&path, &text, &played));
        }
    }
    assert!(
        wrong.is_empty(),
        "{wrong}\nIf that is as it should be: UPDATE=1 cargo test -p algorithms"
    );
}

#[test]
fn every_algorithm_has_a_transcript() {
    let texts: Vec<_> = transcripts()
        .iter()
        .map(|path| fs::read_to_string(path).expect("a transcript can be read"))
        .collect();
    for info in registry::ALL {
        let command = format!("cluster {} ", info.name);
        assert!(
            texts.iter().any(|text| text.contains(&command)),
            "write tests/transcripts/{}.txt, the paper's worked example first",
            info.name
        );
    }
}

fn transcripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let files = fs::read_dir(folder).expect("the transcripts are there");
    let mut paths: Vec<_> = files
        .map(|file| file.expect("a folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no transcript was found");
    paths
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test asks its user; no algorithm does"
)]
fn updating() -> bool {
    std::env::var("UPDATE").is_ok_and(|value| value == "1")
}

/// The transcript with what really happens.
fn play(path: &Path, text: &str) -> String {
    let mut played = String::new();
    let mut cluster = None;
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        played.push_str(line);
        played.push('\n');
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let place = format!("{}:{}", path.display(), number + 1);
        let result = Cluster::perform(&mut cluster, line);
        let happened = result.unwrap_or_else(|why| panic!("{place}: '{line}': {why}"));
        // Replaces what the transcript says up to the end of the block.
        match lines.next() {
            Some((_, "----")) => {}
            other => panic!("{place}: a command is followed by ----, not by {other:?}"),
        }
        while lines.next_if(|(_, line)| !line.trim().is_empty()).is_some() {}
        played.push_str("----\n");
        match happened.as_slice() {
            [] => played.push_str("(nothing)\n"),
            happened => happened.iter().for_each(|line| {
                played.push_str(line);
                played.push('\n');
            }),
        }
    }
    played
}

/// The first place where the two differ, with its block.
fn difference(path: &Path, written: &str, played: &str) -> String {
    let same = |(a, b): &(&str, &str)| a == b;
    let first = written.lines().zip(played.lines()).take_while(same).count();
    let mut text = format!("{}:{}\n", path.display(), first + 1);
    let from = first.saturating_sub(6);
    for (name, whole) in [("it says", written), ("it is", played)] {
        _ = writeln!(text, "  {name}");
        for line in whole.lines().skip(from).take(first - from + 8) {
            _ = writeln!(text, "    {line}");
        }
    }
    text
}
