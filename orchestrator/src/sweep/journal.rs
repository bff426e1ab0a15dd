//! What a sweep has done so far, on disk after every run.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use analysis::Summary;
use analysis::aggregate::Aggregate;
use safe_io::input;

use super::provenance::InvocationLog;
use super::{Done, Grid, manifest};
use crate::{Failure, files, results};

/// The table of all runs, in the directory of a sweep.
pub(super) const RUNS: &str = "runs.csv";

/// The directory of a sweep.
pub(super) struct Journal<'a> {
    grid: &'a Grid,
    directory: PathBuf,
    runs: File,
    /// Shared with the thread that ends the program at a second signal.
    invocation: Arc<Mutex<InvocationLog>>,
    /// The directory, locked: two sweeps in it would count each other's runs.
    _lock: File,
}

impl<'a> Journal<'a> {
    /// Opens the sweep's directory, new or left by an interrupted sweep, and reads what is done.
    pub(super) fn open(grid: &'a Grid, directory: &Path) -> Result<(Self, Vec<Done>), Failure> {
        let refuse = |error: std::io::Error| {
            Failure::Usage(format!(
                "cannot write results to {}: {error}; name another directory with --out",
                directory.display()
            ))
        };
        fs::create_dir_all(directory).map_err(refuse)?;
        let lock = File::open(directory).map_err(refuse)?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(Failure::Usage(format!(
                "another sweep is at work in {}; wait until it is over, or name another directory \
                 with --out",
                directory.display()
            )));
        }
        let copy = directory.join(manifest::NAME);
        match input::read(&copy, input::DOCUMENT_BYTES) {
            Ok(text) if str::from_utf8(&text).is_ok_and(|text| grid.matches_manifest(text)) => {}
            Ok(_) => {
                return Err(Failure::Usage(format!(
                    "{} holds another sweep, or this one before it was changed; remove it, or name \
                     another directory with --out",
                    directory.display()
                )));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(unfit(&copy, &error.to_string())),
        }
        let path = directory.join(RUNS);
        let done = read(grid, &path)?;
        let invocation = InvocationLog::open(directory, done.len()).map_err(Failure::Usage)?;
        files::replace(&copy, grid.manifest().as_bytes()).map_err(refuse)?;
        // A run that was being written when the sweep was killed is cut off; what is whole stays.
        let rows = done.iter().map(|run| row(grid, run)).collect::<String>();
        files::replace(&path, (heading(grid) + &rows).as_bytes()).map_err(refuse)?;
        let runs = files::append(&path).map_err(refuse)?;
        let directory = directory.to_owned();
        Ok((
            Self {
                grid,
                directory,
                runs,
                invocation: Arc::new(Mutex::new(invocation)),
                _lock: lock,
            },
            done,
        ))
    }

    /// Appends a run to `runs.csv`.
    pub(super) fn add(&mut self, run: &Done) -> Result<(), Failure> {
        // First the invocation, then the run that belongs to it.
        self.invocation().add()?;
        let row = row(self.grid, run);
        self.runs.write_all(row.as_bytes()).map_err(|error| {
            let path = self.directory.join(RUNS);
            Failure::Testbed(format!("cannot write {}: {error}", path.display()))
        })
    }

    /// The invocation is over, complete or not.
    pub(super) fn end_invocation(&mut self) -> Result<(), Failure> {
        let synced = self.runs.sync_all();
        let closed = self.invocation().close();
        let path = self.directory.join(RUNS);
        synced
            .map_err(|error| Failure::Testbed(format!("cannot write {}: {error}", path.display())))
            .and(closed)
    }

    /// What to do and to say when the program is stopped at once.
    pub(super) fn stop_message(&self, all: usize) -> impl FnOnce() -> String + Send + 'static {
        let (invocation, directory) = (Arc::clone(&self.invocation), self.directory.clone());
        move || {
            let invocation = invocation.lock().unwrap_or_else(PoisonError::into_inner);
            let unwritten = invocation.close().err();
            let unwritten = unwritten.map_or_else(String::new, |failure| format!("\n{failure}"));
            format!(
                "the runs under way are dropped; {} of {all} that were to be made are in {}, and \
                 the same command goes on from there{unwritten}",
                invocation.runs(),
                directory.display()
            )
        }
    }

    fn invocation(&self) -> MutexGuard<'_, InvocationLog> {
        self.invocation
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything of a shard is done: the runs in their order.
    pub(super) fn close_runs(&self, done: &[Done]) -> Result<(), Failure> {
        let rows = done.iter().map(|run| row(self.grid, run));
        let rows = rows.collect::<String>();
        self.replace(RUNS, &(heading(self.grid) + &rows))
    }

    /// Everything is done: the runs in their order, and what they add up to.
    pub(super) fn close(self, done: &[Done], aggregates: &[Vec<Aggregate>]) -> Result<(), Failure> {
        self.close_runs(done)?;
        let keys = self.grid.keys.iter().map(|key| csv_cell(key));
        let columns = ["cell"].map(str::to_owned).into_iter().chain(keys);
        let columns = columns.chain(Aggregate::COLUMNS.map(str::to_owned));
        let mut text = line(columns);
        for (cell, rows) in aggregates.iter().enumerate() {
            let values = &self.grid.cells[cell].values;
            for row in rows {
                let cells = values.iter().map(|value| csv_cell(value));
                let cells = [cell.to_string()].into_iter().chain(cells);
                text += &line(cells.chain(row.cells()));
            }
        }
        self.replace("aggregate.csv", &text)
    }

    /// Lets a file appear as a whole.
    fn replace(&self, name: &str, text: &str) -> Result<(), Failure> {
        results::replace(&self.directory.join(name), text)
    }
}

fn heading(grid: &Grid) -> String {
    let keys = grid.keys.iter().map(|key| csv_cell(&format!("cell.{key}")));
    let columns = ["cell", "repetition"].map(str::to_owned).into_iter();
    line(
        columns
            .chain(keys)
            .chain(
                Summary::columns()
                    .iter()
                    .map(|column| column.name.to_owned()),
            )
            .chain(grid.measured.iter().map(|(name, _)| csv_cell(name))),
    )
}

fn row(grid: &Grid, run: &Done) -> String {
    let values = grid.cells[run.cell]
        .values
        .iter()
        .map(|value| csv_cell(value));
    let place = [run.cell.to_string(), run.repetition.to_string()];
    let measured = run.measured.iter();
    let measured = measured.map(|value| value.map_or_else(String::new, |value| value.to_string()));
    line(
        place
            .into_iter()
            .chain(values)
            .chain(run.summary.cells().map(|cell| csv_cell(&cell)))
            .chain(measured),
    )
}

/// Reads the whole rows of a sweep's runs; there is nothing to read in a new one.
pub(super) fn read(grid: &Grid, path: &Path) -> Result<Vec<Done>, Failure> {
    let text = match input::read(path, input::TABLE_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unfit(path, &error.to_string())),
    };
    let end = text.iter().rposition(|byte| *byte == b'\n');
    let whole = end.map_or(&[][..], |end| &text[..=end]);
    let mut reader = csv::Reader::from_reader(whole);
    let skipped = 2 + grid.keys.len();
    let columns = Summary::columns().len();
    let rows = reader.records().map(|record| {
        let record = record.map_err(|error| error.to_string())?;
        let number = |place: usize| record.get(place).and_then(|cell| cell.parse::<u64>().ok());
        let (cell, repetition) = number(0).zip(number(1)).ok_or("no cell and repetition")?;
        if cell >= grid.cells.len() as u64 || repetition >= grid.repetitions {
            return Err(format!(
                "there is no repetition {repetition} of cell {cell}"
            ));
        }
        if record.len() != skipped + columns + grid.measured.len() {
            return Err("it has other columns".to_owned());
        }
        let summary = Summary::from_cells(record.iter().skip(skipped).take(columns))?;
        let measured = record.iter().skip(skipped + columns);
        Ok(Done {
            cell: cell as usize,
            repetition,
            summary,
            measured: measured.map(|cell| cell.parse().ok()).collect(),
        })
    });
    let rows = rows.collect::<Result<Vec<_>, String>>();
    rows.map_err(|why| unfit(path, &why))
}

/// A file that is there and that we do not replace by another.
fn unfit(path: &Path, why: &str) -> Failure {
    let path = path.display();
    Failure::Usage(format!(
        "{path} cannot be understood ({why}); remove it, or name another directory with --out"
    ))
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(",") + "\n"
}

/// A cell of a CSV file, between quotation marks if it needs them.
fn csv_cell(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
