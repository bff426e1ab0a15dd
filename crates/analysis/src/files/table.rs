//! CSV files with errors that say where.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use algorithms::NodeId;
use model::plan::Plan;
use safe_io::input;

use super::FilesError;

/// A CSV file in a run directory: its name and its columns.
pub(super) struct Table {
    pub name: &'static str,
    pub columns: &'static [&'static str],
}

/// Columns that runs of earlier versions do not have.
const ADDED: [&str; 6] = [
    "overtaken",
    "remark",
    "step",
    "unsent",
    "overflowed",
    "index",
];

/// The same, for all columns that begin so.
const ADDED_KIND: &str = "rejected_";

/// The most rows of a table: as many requests as a run may record.
const MOST_ROWS: usize = (model::plan::MEMORY_LIMIT_BYTES / model::plan::REQUEST_BYTES) as usize;

/// The most that the counts of a column may come to: a floating-point number says it exactly, and
/// sums of several columns stay far from overflowing.
pub(super) const MOST_COUNTED: u64 = 1 << 53;

/// What a field holds when it is written: empty if unknown.
pub(super) type Field = Option<String>;

/// A known value.
pub(super) fn known(value: &impl ToString) -> Field {
    Some(value.to_string())
}

/// A value that may be unknown.
pub(super) fn maybe(value: Option<impl ToString>) -> Field {
    value.map(|value| value.to_string())
}

impl Table {
    /// Writes the header and the rows.
    pub(super) fn write<R: IntoIterator<Item = Field>>(
        &self,
        dir: &Path,
        rows: impl Iterator<Item = R>,
    ) -> Result<(), FilesError> {
        let path = dir.join(self.name);
        let write = || {
            let mut writer = csv::Writer::from_path(&path)?;
            writer.write_record(self.columns)?;
            for row in rows {
                writer.write_record(row.into_iter().map(Option::unwrap_or_default))?;
            }
            writer.flush()?;
            Ok(())
        };
        write().map_err(|error| written(&path, error))
    }

    /// Reads every row.
    pub(super) fn read<T>(
        &self,
        dir: &Path,
        mut read_row: impl FnMut(&Row<'_>) -> Result<T, FilesError>,
    ) -> Result<Vec<T>, FilesError> {
        let path = dir.join(self.name);
        let file = input::open(&path, input::TABLE_BYTES)
            .map_err(|source| FilesError::io("read", &path, source))?;
        let mut reader = csv::Reader::from_reader(file);
        let header = reader.headers().map_err(|error| unreadable(&path, error))?;
        let place = |&column: &&'static str| {
            let place = header.iter().position(|name| name == column);
            let added = ADDED.contains(&column) || column.starts_with(ADDED_KIND);
            let missing = added.then_some(header.len());
            place.or(missing).ok_or_else(|| FilesError::Header {
                path: path.clone(),
                column,
                expected: self.columns.join(","),
            })
        };
        let places = self.columns.iter().map(place);
        let places = places.collect::<Result<Vec<_>, _>>()?;
        let totals = RefCell::new(vec![0; self.columns.len()]);
        let mut rows = Vec::new();
        let mut record = csv::StringRecord::new();
        while reader
            .read_record(&mut record)
            .map_err(|error| unreadable(&path, error))?
        {
            if rows.len() == MOST_ROWS {
                return Err(FilesError::Line {
                    path: path.clone(),
                    line: record.position().map_or(0, csv::Position::line),
                    why: format!(
                        "there are more than {MOST_ROWS} rows, the most that fit in memory"
                    ),
                });
            }
            rows.push(read_row(&Row {
                table: self,
                path: &path,
                places: &places,
                record: &record,
                totals: &totals,
            })?);
        }
        Ok(rows)
    }
}

/// One line of a table.
pub(super) struct Row<'a> {
    table: &'a Table,
    path: &'a PathBuf,
    places: &'a [usize],
    record: &'a csv::StringRecord,
    /// What each column's counts come to so far.
    totals: &'a RefCell<Vec<u64>>,
}

impl Row<'_> {
    /// What the column says; nothing if an earlier version wrote the file, which did not have it.
    pub(super) fn text(&self, column: &'static str) -> &str {
        self.field(column).unwrap_or("")
    }

    /// Whether the file has the column.
    pub(super) fn has(&self, column: &'static str) -> bool {
        self.field(column).is_some()
    }

    fn field(&self, column: &'static str) -> Option<&str> {
        self.record.get(self.places[self.place(column)])
    }

    fn place(&self, column: &'static str) -> usize {
        let columns = &mut self.table.columns.iter();
        let place = columns.position(|name| *name == column);
        place.expect("only the table's own columns are asked for")
    }

    /// A member of the run.
    pub(super) fn member(&self, column: &'static str, plan: &Plan) -> Result<NodeId, FilesError> {
        match self.text(column).parse() {
            Ok(number) if number < plan.nodes => Ok(NodeId(number)),
            Ok(_) | Err(_) => {
                let last = plan.nodes.saturating_sub(1);
                Err(self.unfit(column, format!("a node from 0 to {last}")))
            }
        }
    }

    /// A number that must be there.
    pub(super) fn number<T: FromStr>(&self, column: &'static str) -> Result<T, FilesError> {
        let text = self.text(column);
        text.parse()
            .map_err(|_| self.unfit(column, format!("a {}", number_word::<T>())))
    }

    /// A number, or nothing.
    pub(super) fn optional<T: FromStr>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, FilesError> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        let number = text
            .parse()
            .map_err(|_| self.unfit(column, format!("a {} or nothing", number_word::<T>())))?;
        Ok(Some(number))
    }

    /// A count that must be there: a number of something, which is summed over the rows.
    pub(super) fn count(&self, column: &'static str) -> Result<u64, FilesError> {
        self.counted(column, self.number(column)?)
    }

    /// A count, or nothing.
    pub(super) fn optional_count(&self, column: &'static str) -> Result<Option<u64>, FilesError> {
        let count = self.optional(column)?;
        count.map(|count| self.counted(column, count)).transpose()
    }

    fn counted(&self, column: &'static str, count: u64) -> Result<u64, FilesError> {
        let total = &mut self.totals.borrow_mut()[self.place(column)];
        let left = MOST_COUNTED - *total;
        if count > left {
            let expected = format!("at most {left}, as a column comes to at most 2^53");
            return Err(self.unfit(column, expected));
        }
        *total += count;
        Ok(count)
    }

    /// The error that this field is not what it should be.
    pub(super) fn unfit(&self, column: &'static str, expected: impl Into<String>) -> FilesError {
        FilesError::Field {
            path: self.path.clone(),
            line: self.record.position().map_or(0, csv::Position::line),
            column,
            found: self.text(column).to_owned(),
            expected: expected.into(),
        }
    }
}

fn number_word<T>() -> &'static str {
    match std::any::type_name::<T>() {
        "f64" => "number",
        _ => "whole number",
    }
}

/// What went wrong when a table was written, as the system says it.
pub(super) fn written(path: &Path, error: csv::Error) -> FilesError {
    let source = match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        kind => io::Error::other(format!("{kind:?}")),
    };
    FilesError::io("write", path, source)
}

fn unreadable(path: &Path, error: csv::Error) -> FilesError {
    let line = error.position().map_or(1, csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Io(source) => FilesError::io("read", path, source),
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => FilesError::Line {
            path: path.to_owned(),
            line,
            why: format!("it has {len} fields, expected {expected_len}"),
        },
        csv::ErrorKind::Utf8 { .. } => FilesError::Line {
            path: path.to_owned(),
            line,
            why: "it is not UTF-8 text".to_owned(),
        },
        other => FilesError::Line {
            path: path.to_owned(),
            line,
            why: format!("{other:?}"),
        },
    }
}
