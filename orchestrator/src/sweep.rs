//! Many runs at once: every combination of what is asked for, each repeated several times.
//!
//! ```text
//!   sweep.toml ──► grid (cells) ──► runs, cells side by side ──► runs.csv ──► aggregate.csv, plot
//! ```
//!
//! The n-th repetition of every cell has the same seed, so cells can be compared run by run. A run is
//! in `runs.csv` as soon as it is over: an interrupted sweep goes on where it was. Where and when that
//! was is in `sweep.json`, and in no other file.

pub(crate) mod columns;
pub(crate) mod figure;
mod grid;
mod journal;
pub(crate) mod manifest;
mod plot;
mod provenance;
mod shard;
mod workers;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use analysis::Summary;
use analysis::aggregate::{Aggregate, aggregate};

use crate::{Failure, interrupt};
pub(crate) use figure::Plot;
#[cfg(test)]
pub(crate) use figure::{Curve, PublishedLine};
pub(crate) use grid::{Grid, SweepKeys, flat, label, put, shown};
use journal::Journal;
pub(crate) use manifest::repeat_line;
pub(crate) use plot::{draw, line_name};
pub(crate) use provenance::SweepProvenance;
pub(crate) use shard::{Shard, Share, merge};

/// One run that is over: which, and what came out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Done {
    pub(crate) cell: usize,
    pub(crate) repetition: u64,
    pub(crate) summary: Summary,
    /// What the grid measures beside it, in its order.
    pub(crate) measured: Vec<Option<f64>>,
}

/// A sweep that is over, or was interrupted.
pub(crate) struct Swept {
    pub(crate) directory: PathBuf,
    /// The runs that are over, in the order of cells and repetitions.
    pub(crate) done: Vec<Done>,
    /// Runs that are missing: somebody interrupted.
    pub(crate) missing: usize,
    /// What the runs of each cell come to: for each cell its metrics.
    pub(crate) aggregates: Vec<Vec<Aggregate>>,
}

/// Runs what has not been run yet, and adds it all up; of a shard only its own runs.
pub(crate) fn sweep(
    grid: &Grid,
    directory: &Path,
    share: Share,
    interrupted: &AtomicBool,
) -> Result<Swept, Failure> {
    let directory = &share.place(directory);
    let (mut journal, mut done) = Journal::open(grid, directory)?;
    let known = done.iter().map(|run| (run.cell, run.repetition));
    let known = known.collect::<BTreeSet<_>>();
    let cells = (0..grid.cells.len()).filter(|&cell| share.has(cell));
    let all = cells.flat_map(|cell| (0..grid.repetitions).map(move |nth| (cell, nth)));
    let open = all.filter(|run| !known.contains(run)).collect::<Vec<_>>();
    let todo = open.len();
    interrupt::before_stopping_at_once(journal.stop_message(todo));
    let mut fresh = Vec::new();
    let ran = workers::run_all(
        grid,
        (done.len() + todo) as u64,
        &open,
        directory,
        share.jobs,
        interrupted,
        &mut |run| {
            journal.add(&run)?;
            fresh.push(run);
            Ok(())
        },
    );
    // The invocation is written down even if a run failed; that failure is the one to report.
    let ended = journal.end_invocation();
    ran.and(ended)?;
    let missing = todo - fresh.len();
    done.extend(fresh);
    done.sort_by_key(|run| (run.cell, run.repetition));
    if missing > 0 || share.shard.is_some() {
        if missing == 0 {
            journal.close_runs(&done)?;
        }
        return Ok(Swept {
            directory: directory.clone(),
            done,
            missing,
            aggregates: Vec::new(),
        });
    }
    conclude(grid, directory, journal, done)
}

/// Adds up the runs of a sweep that is complete, and writes its files.
fn conclude(
    grid: &Grid,
    directory: &Path,
    journal: Journal<'_>,
    done: Vec<Done>,
) -> Result<Swept, Failure> {
    let of_cell = |cell| {
        let first = done.partition_point(|run| run.cell < cell);
        done[first..].iter().take_while(move |run| run.cell == cell)
    };
    let cells = 0..grid.cells.len();
    let aggregates = cells.map(|cell| {
        let mut aggregates = aggregate(of_cell(cell).map(|run| &run.summary));
        for (place, (name, _)) in grid.measured.iter().enumerate() {
            let values = of_cell(cell).filter_map(|run| run.measured[place]);
            aggregates.extend(Aggregate::of(name, values));
        }
        aggregates
    });
    let mut aggregates = aggregates.collect::<Vec<_>>();
    add_plotted(grid, &done, &mut aggregates)?;
    journal.close(&done, &aggregates)?;
    Ok(Swept {
        directory: directory.to_owned(),
        done,
        missing: 0,
        aggregates,
    })
}

/// Adds what the picture shows of each cell where that is a formula and has no row yet.
fn add_plotted(
    grid: &Grid,
    done: &[Done],
    aggregates: &mut [Vec<Aggregate>],
) -> Result<(), Failure> {
    let Some(plot) = &grid.plot else {
        return Ok(());
    };
    let evidence = grid.evidence(done);
    for formula in plot.values().map_err(Failure::Usage)? {
        let name = formula.to_string();
        for (cell, aggregates) in aggregates.iter_mut().enumerate() {
            if aggregates.iter().all(|known| known.metric != name) {
                let values = evidence.values(cell, &formula);
                aggregates.extend(Aggregate::of(&name, values));
            }
        }
    }
    Ok(())
}
