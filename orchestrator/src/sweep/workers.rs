//! Who runs the cells: simulated ones side by side on all processors, clusters one after another.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::run::{End, Engine};

use super::{Done, Grid};
use crate::Failure;
use crate::engine::{self, Watch};
use crate::results::Pending;
use crate::scenario::Resolved;

/// Where runs that failed are kept, in the sweep's directory.
const FAILED: &str = "failed";

/// Runs these, which are what is left of `all`, and hands over each as soon as it is over. An interruption
/// leaves the rest.
pub(super) fn run_all(
    grid: &Grid,
    all: u64,
    open: &[(usize, u64)],
    directory: &Path,
    jobs: Option<NonZeroUsize>,
    interrupted: &AtomicBool,
    over: &mut dyn FnMut(Done) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let bar = bar(all, open.len() as u64);
    let mut over = |done| {
        bar.inc(1);
        over(done)
    };
    let (simulated, launched): (Vec<_>, Vec<_>) = open.iter().copied().partition(|&(cell, nth)| {
        let resolved = grid.resolve(cell, nth);
        resolved.is_ok_and(|resolved| resolved.engine == Engine::Sim)
    });
    side_by_side(grid, &simulated, jobs, interrupted, &mut over)?;
    for (cell, repetition) in launched {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        let resolved = grid.resolve(cell, repetition).map_err(Failure::Usage)?;
        let failed = directory.join(FAILED);
        let launched = launch(grid, &resolved, (cell, repetition), &failed, interrupted);
        // It is there only if it holds something.
        let _ = fs::remove_dir(&failed);
        if let Some(done) = launched? {
            over(done)?;
        }
    }
    bar.finish_and_clear();
    Ok(())
}

fn side_by_side(
    grid: &Grid,
    open: &[(usize, u64)],
    jobs: Option<NonZeroUsize>,
    interrupted: &AtomicBool,
    over: &mut dyn FnMut(Done) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let next = AtomicUsize::new(0);
    let given_up = AtomicBool::new(false);
    let stopped = || interrupted.load(Ordering::Relaxed) || given_up.load(Ordering::Relaxed);
    let workers = jobs.or_else(|| thread::available_parallelism().ok());
    let workers = workers.map_or(1, usize::from);
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..workers.min(open.len()) {
            let (sender, next, stopped) = (sender.clone(), &next, &stopped);
            scope.spawn(move || {
                while let Some(&(cell, repetition)) = open.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let done = match stopped() {
                        true => break,
                        false => simulate(grid, cell, repetition, stopped).transpose(),
                    };
                    // The receiver has given up.
                    if done.is_some_and(|done| sender.send(done).is_err()) {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut ended = Ok(());
        for done in receiver {
            ended = ended.and(done.and_then(&mut *over));
            given_up.store(ended.is_err(), Ordering::Relaxed);
        }
        ended
    })
}

/// Simulates one run; nothing if it was interrupted.
fn simulate(
    grid: &Grid,
    cell: usize,
    repetition: u64,
    stopped: &dyn Fn() -> bool,
) -> Result<Option<Done>, Failure> {
    let resolved = grid.resolve(cell, repetition).map_err(Failure::Usage)?;
    let run = simulator::run(&resolved.plan, &mut Watch::until(stopped))?;
    Ok(judged(grid, &resolved, &run, (cell, repetition)))
}

/// Runs one on processes; nothing if it was interrupted. One that fails is kept.
fn launch(
    grid: &Grid,
    resolved: &Resolved,
    place: (usize, u64),
    failed: &Path,
    interrupted: &AtomicBool,
) -> Result<Option<Done>, Failure> {
    let (cell, repetition) = place;
    let first = failed.join(format!("cell-{cell}.repetition-{repetition}"));
    let pending = Pending::begin_kept(&first, resolved)?;
    let stopped = || interrupted.load(Ordering::Relaxed);
    let mut watch = Watch::until(&stopped);
    let run = match engine::run(
        resolved.engine,
        &resolved.plan,
        resolved.usual_hosts(),
        pending.dir(),
        &mut watch,
    ) {
        Ok(run) => run,
        Err(error) => return Err(pending.give_up(resolved, error.into())),
    };
    let Some(why) = &run.failure else {
        pending.discard();
        return Ok(judged(grid, resolved, &run, place));
    };
    let judgement = analysis::judge(&resolved.plan, &resolved.topology, &run);
    let directory = pending.finish(resolved, &run, &judgement)?.directory;
    let directory = directory.display();
    Err(Failure::Testbed(format!(
        "{why}\nthis was repetition {repetition} of cell {cell}; what was recorded is in {directory}"
    )))
}

fn judged(
    grid: &Grid,
    resolved: &Resolved,
    run: &model::run::Run,
    (cell, repetition): (usize, u64),
) -> Option<Done> {
    if run.end == End::Interrupted {
        return None;
    }
    let summary = analysis::judge(&resolved.plan, &resolved.topology, run).summary;
    let quantities = grid.measured.iter();
    let measured = quantities.map(|(_, quantity)| quantity.of(&resolved.plan, run, &summary));
    Some(Done {
        cell,
        repetition,
        measured: measured.collect(),
        summary,
    })
}

/// A line on the terminal with an estimate; quiet in a pipe.
fn bar(all: u64, open: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(all), ProgressDrawTarget::stderr());
    let form = "{bar:30} {pos} of {len} runs  ({eta} left)";
    bar.set_style(ProgressStyle::with_template(form).expect("the template is well formed"));
    bar.set_position(all - open);
    bar.reset_eta();
    bar
}
