//! `orchestrator run`: one scenario, from start to verdict.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use analysis::Judgement;
use analysis::files::{Events, FilesError, State};
use clap::Args;
use model::plan::Plan;
use model::run::{End, Engine};
use tracing::info;

use crate::engine::{self, Watch};
use crate::progress::Bar;
use crate::result_table::{self, Where};
use crate::results::Pending;
use crate::scenario::{Flags, Layers, Resolved};
use crate::{Exit, Failure, interrupt, print, repeat_line};

/// Runs an algorithm or a scenario file, checks it, and measures it
///
/// `orchestrator run raymond` is enough; everything else has a default. A scenario file has the
/// long names of the flags as its keys, and flags given as well win.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// An algorithm, as `orchestrator list` shows it, or a scenario file: NAME.toml
    target: String,
    #[command(flatten)]
    flags: Flags,
    /// Directory for the run's files, which must not be there yet [default: results/NAME/UTC-TIME]
    ///
    /// Its name is taken when the run begins, and what is in it appears when all of it is on disk.
    /// results/latest leads to the last result that was written below results, by whatever command.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Show the resolved scenario as a scenario file, and run nothing
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    /// One JSON object on stdout instead of the table
    #[arg(long, help_heading = "Output", conflicts_with = "dry_run")]
    json: bool,
}

impl Run {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let json = self.json;
        match self.carry_out() {
            Ok(Told { exit, failure }) => failure.map_or(Ok(exit), Err),
            Err(failure) if json => {
                result_table::tell_failure(&failure)?;
                Err(failure)
            }
            Err(failure) => Err(failure),
        }
    }

    fn carry_out(self) -> Result<Told, Failure> {
        let said = Layers::new(&self.target, self.flags.into()).map_err(Failure::Usage)?;
        let resolved = said.resolve().map_err(Failure::Usage)?;
        if self.dry_run {
            print(&resolved.to_toml())?;
            return Ok(Told {
                exit: Exit::Holds,
                failure: None,
            });
        }
        let interrupted = interrupt::flag_on_interrupt()?;
        let pending = Pending::begin(self.out.as_deref(), &resolved)?;
        interrupt::before_stopping_at_once(pending.last_words(&resolved));
        let run = match execute(&resolved, pending.dir(), &interrupted) {
            Ok(run) => run,
            Err(failure) => return Err(pending.give_up(&resolved, failure)),
        };
        let judgement = analysis::judge(&resolved.plan, &resolved.topology, &run);
        let published = pending.finish(&resolved, &run, &judgement)?;
        interrupt::before_stopping_at_once(|| "the run is complete and kept".to_owned());
        let place = Where {
            directory: &published.directory,
            again: Some(repeat_line::line(resolved.plan.seed)),
        };
        let exit = exit(&run, &judgement);
        let state = State::of(&run);
        result_table::tell(&resolved.plan, &judgement, &state, &place, exit, self.json)?;
        published
            .warnings
            .iter()
            .for_each(|text| result_table::warn(text));
        let failure = run.failure.map(Failure::Testbed);
        Ok(Told {
            exit,
            failure: failure.or(published.misplaced),
        })
    }
}

/// What came of a run that was told about on stdout.
struct Told {
    exit: Exit,
    failure: Option<Failure>,
}

/// Runs it on its engine, and completes its trace.
fn execute(
    resolved: &Resolved,
    dir: &Path,
    interrupted: &AtomicBool,
) -> Result<model::run::Run, Failure> {
    let bar = Bar::new(resolved);
    let Plan {
        algorithm, nodes, ..
    } = &resolved.plan;
    info!(%algorithm, nodes, engine = %resolved.engine, "starts");
    let unwritten = |error: FilesError| Failure::Testbed(error.to_string());
    let events = resolved.plan.trace.then(|| Events::begin(dir));
    let mut events = events.transpose().map_err(unwritten)?;
    // Asked once, so that a run of which nobody wants to know more costs nothing.
    let logged = resolved.engine == Engine::Sim && tracing::enabled!(tracing::Level::DEBUG);
    let stopped = || interrupted.load(Ordering::Relaxed);
    let mut watch = Watch {
        bar: Some(&bar),
        events: events.as_mut(),
        logged,
        ..Watch::until(&stopped)
    };
    let mut plan = resolved.plan.clone();
    // Only a plan that asks for a trace has all of it told.
    plan.trace |= logged;
    let mut run = engine::run(resolved.engine, &plan, dir, &mut watch)?;
    for fault in &run.faults {
        info!(
            fault = fault.told(&resolved.plan.faults),
            acted = fault.acted,
            "a fault was asked for"
        );
    }
    info!(end = ?run.end, ended_ns = run.ended_ns, "ended");
    events
        .map_or(Ok(()), |events| events.finish(&resolved.plan, &mut run))
        .map_err(unwritten)?;
    Ok(run)
}

fn exit(run: &model::run::Run, judgement: &Judgement) -> Exit {
    match run.end {
        End::Interrupted => Exit::Interrupted,
        End::Failed => Exit::Testbed,
        End::Finished | End::Deadlock | End::LiveLock | End::TimeLimit | End::Abandoned => {
            Exit::of(judgement)
        }
    }
}
