//! Tables as text: cells between commas, lines that begin with `#` are remarks.

use thiserror::Error;

/// What is wrong with a table, and where. It never quotes the file: whoever may ask for a file by its
/// name need not be somebody who may read it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {why}")]
pub struct TableError {
    /// The line, from 1.
    pub line: usize,
    /// The cell of that line, from 1.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub why: String,
}

/// A cell of a table, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell<'a> {
    pub line: usize,
    pub column: usize,
    pub text: &'a str,
}

impl Cell<'_> {
    pub fn error(&self, why: impl Into<String>) -> TableError {
        TableError {
            line: self.line,
            column: self.column,
            why: why.into(),
        }
    }
}

/// The rows of a table, without remarks and empty lines.
pub(crate) fn rows(text: &str) -> impl Iterator<Item = Vec<Cell<'_>>> {
    let lines = text.lines().enumerate();
    let told = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    told.map(|(number, line)| {
        let cells = line.split(',').enumerate();
        cells
            .map(|(column, text)| Cell {
                line: number + 1,
                column: column + 1,
                text: text.trim(),
            })
            .collect()
    })
}
