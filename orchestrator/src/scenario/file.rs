//! Scenario files, and what is wrong with them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::de::DeTable;

use super::Scenario;
use crate::embedded;
use crate::suggest::did_you_mean;

/// A scenario file that was read.
#[derive(Debug)]
pub(super) struct File {
    /// The path of the file.
    pub(super) path: PathBuf,
    /// The scenario that the file describes.
    pub(super) scenario: Scenario,
    /// The line in which each key stands.
    pub(super) lines: BTreeMap<String, usize>,
}

/// Reads a scenario file.
pub(super) fn read(path: &Path) -> Result<File, String> {
    let text = embedded::read_text(path)
        .map_err(|error| format!("cannot read the scenario {}: {error}", path.display()))?;
    if let Ok(table) = text.parse::<toml::Table>()
        && ["grid", "variant", "scenario"]
            .iter()
            .any(|key| table.contains_key(*key))
    {
        let path = path.display();
        return Err(format!(
            "{path}: this is a sweep; use `orchestrator sweep {path}`"
        ));
    }
    let scenario = toml::from_str(&text).map_err(|error| complaint(path, &text, &error))?;
    let keys = DeTable::parse(&text).map_err(|error| complaint(path, &text, &error))?;
    let lines = keys.get_ref().keys().map(|key| {
        let line = line_of(&text, key.span().start);
        (key.get_ref().clone().into_owned(), line)
    });
    Ok(File {
        path: path.to_owned(),
        scenario,
        lines: lines.collect(),
    })
}

/// Reads a file of data that one type describes; `what` says what it holds.
pub(crate) fn read_toml<T: DeserializeOwned>(path: &Path, what: &str) -> Result<T, String> {
    let text = embedded::read_text(path)
        .map_err(|error| format!("cannot read the {what} {}: {error}", path.display()))?;
    toml::from_str(&text).map_err(|error| complaint(path, &text, &error))
}

/// What is wrong, in which line.
pub(crate) fn complaint(path: &Path, text: &str, error: &toml::de::Error) -> String {
    let start = error.span().map_or(0, |span| span.start);
    let number = line_of(text, start);
    let line = text.lines().nth(number - 1).unwrap_or_default().trim();
    let why = in_our_words(error.message());
    format!("{}:{number}: {why}\nin: {line}", path.display())
}

/// What serde says, for somebody who does not write Rust; with the name that was probably meant.
pub(super) fn in_our_words(message: &str) -> String {
    let unknown = |of: &str, what: &str| {
        let names = message.strip_prefix(of)?;
        let mut names = names.split('`').skip(1).step_by(2);
        let given = names.next()?;
        let known = names.collect::<Vec<_>>();
        let hint = did_you_mean(given, known.iter().copied());
        let known = known.join(", ");
        Some(format!(
            "there is no {what} '{given}'{hint}\nThere are {known}."
        ))
    };
    unknown("unknown field ", "key")
        .or_else(|| unknown("unknown variant ", "choice"))
        .unwrap_or_else(|| {
            let message = message.replace("expected u32", "expected a whole number");
            message.replace("expected u64", "expected a whole number")
        })
}

/// The number, from 1, of the line in which the byte lies.
fn line_of(text: &str, byte: usize) -> usize {
    let before = text.as_bytes().iter().take(byte);
    1 + before.filter(|&&byte| byte == b'\n').count()
}
