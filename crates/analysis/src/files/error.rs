//! What can be wrong with a run directory.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a run directory could not be written or read.
#[derive(Debug, Error)]
pub enum FilesError {
    /// It would overwrite an earlier result.
    #[error("{0} is already there; name another directory, or remove it first")]
    Exists(PathBuf),
    /// A file is not there.
    #[error(
        "{0} is missing; a run directory has run.json, entries.csv, messages.csv, counters.csv, \
         transport.csv, nodes.csv, faults.csv, latency.hlog and summary.csv, and events.jsonl where \
         it is traced"
    )]
    Missing(PathBuf),
    /// The operating system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried: `read`, `write`.
        doing: &'static str,
        /// The file or directory that it was tried on.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A column is not there.
    #[error("{}, line 1: there is no column '{column}'; expected {expected}", path.display())]
    Header {
        /// The file whose header was read.
        path: PathBuf,
        /// The missing column.
        column: &'static str,
        /// All columns there should be.
        expected: String,
    },
    /// A field cannot be what it says.
    #[error("{}, line {line}, column {column}: found '{found}', expected {expected}", path.display())]
    Field {
        /// The file that has the field.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The column's name.
        column: &'static str,
        /// What is there.
        found: String,
        /// What would be right.
        expected: String,
    },
    /// A line does not have the form of the others.
    #[error("{}, line {line}: {why}", path.display())]
    Line {
        /// The file that has the line.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        why: String,
    },
    /// `run.json` is not what it should be.
    #[error("{}: {why}", path.display())]
    Record {
        /// Where the `run.json` is.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

impl FilesError {
    /// An error of the operating system about a file.
    pub fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        if doing == "read" && source.kind() == io::ErrorKind::NotFound {
            return Self::Missing(path.to_owned());
        }
        Self::Io {
            doing,
            path: path.to_owned(),
            source: safe_io::explained(source),
        }
    }

    pub(super) fn record(path: &Path, why: impl Into<String>) -> Self {
        Self::Record {
            path: path.to_owned(),
            why: why.into(),
        }
    }
}
