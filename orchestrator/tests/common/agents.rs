//! Agents that are processes of this host, and what they leave.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::processes::Guarded;
use super::{Finished, Place, words};

/// Two hosts beside each other, without namespaces.
pub(crate) const BESIDE: &str = "--hosts 'cmd:a,b:exec {agent}' --listen 127.0.0.1";

/// The directories of agents that are still there.
pub(crate) fn agents_left(place: &Place) -> Vec<PathBuf> {
    let files = fs::read_dir(place.path()).expect("the directory is there");
    let paths = files.flatten().map(|file| file.path());
    let of_agent = |path: &PathBuf| path.to_string_lossy().contains("/turnstile-agent-");
    paths.filter(of_agent).collect()
}

/// How many members of agents have recorded something.
pub(crate) fn recording(place: &Place) -> usize {
    let dirs = agents_left(place).into_iter();
    let files = dirs.filter_map(|dir| fs::read_dir(dir.join("members")).ok());
    let sizes = files.flatten().flatten().filter_map(|file| {
        let path = file.path();
        let is_record = path.extension().is_some_and(|end| end == "rec");
        is_record.then(|| file.metadata().map_or(0, |found| found.len()))
    });
    sizes.filter(|size| *size > 0).count()
}

/// The program with these words, whose agents have their directories in the test's own.
pub(crate) fn orchestrator(place: &Place, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orchestrator"));
    command.args(words(line)).stdin(Stdio::null());
    command
        .current_dir(place.path())
        .env("TMPDIR", place.path());
    command
}

/// Runs it to its end.
pub(crate) fn run(place: &Place, line: &str) -> Finished {
    Guarded::start(orchestrator(place, line)).finish()
}

/// An agent that reads the secret from that file.
pub(crate) fn agent(place: &Place, line: &str, secret: &str) -> Guarded {
    let secret = fs::File::open(place.path().join(secret)).expect("a file");
    let mut command = orchestrator(place, &format!("agent {line}"));
    command.stdin(secret);
    Guarded::start(command)
}
