//! `orchestrator run`: one scenario, from start to verdict.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use analysis::Judgement;
use analysis::files::{Events, FilesError, State};
use clap::Args;
use cluster::hosts::Hosts;
use model::plan::Plan;
use model::run::{End, Engine};
use tracing::info;

use crate::engine::{self, Watch};
use crate::live::{self, Live, Onlooker};
use crate::progress::Bar;
use crate::reach::ReachFlags;
use crate::result_table::{self, Where};
use crate::results::{self, Pending};
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
    #[command(flatten)]
    reach: ReachFlags,
    /// Directory for the run's files, which must not be there yet [default: results/NAME/UTC-TIME]
    ///
    /// Its name is taken when the run begins, and what is in it appears when all of it is on disk.
    /// results/latest leads to the last result that was written below results, by whatever command.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Watch the run in a browser while it happens, and interfere with it; on this port [default: a free
    /// one]
    ///
    /// Prints an address of this machine that opens the page once. There one can hold on, slow it down, ask
    /// and leave (--workload manual), kill, pause, cut, partition and heal, and step (simulator). What was
    /// done is in faults.csv and in the scenario file that the page offers, live.toml beside the run's files:
    /// it repeats the run. Processes start when the page is opened, with the proxy between them.
    #[arg(long, value_name = "PORT", help_heading = "Output", num_args = 0..=1,
          require_equals = true, default_missing_value = "0", conflicts_with = "dry_run")]
    live: Option<u16>,
    /// Simulated seconds that pass in a second of --live (simulator)
    #[arg(long, value_name = "NUMBER", help_heading = "Output", default_value_t = live::USUAL_PACE,
          requires = "live", value_parser = pace)]
    pace: f64,
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
        let mut layers = Layers::new(&self.target, self.flags.into()).map_err(Failure::Usage)?;
        let manual = self.live.is_some() && layers.take_manual();
        let has_limit = layers.scenario().time_limit.is_some();
        let resolved = layers.resolve().map_err(Failure::Usage)?;
        if self.dry_run {
            print(&resolved.to_toml())?;
            return Ok(Told::nothing(Exit::Holds));
        }
        let interrupted = interrupt::flag_on_interrupt()?;
        let mut resolved = resolved;
        let mut page = None;
        let mut onlooker = None;
        match self.live.map(|port| (port, resolved.engine)) {
            None => {}
            Some((port, Engine::Sim)) => {
                let (served, conducted) =
                    Live::conduct(resolved, manual, port, self.pace, &interrupted)?;
                // A user who ends a run by a signal wants what there is.
                interrupted.store(false, Ordering::Relaxed);
                (page, resolved) = (Some(served), conducted);
            }
            Some((port, Engine::Cluster)) => {
                if !has_limit {
                    // A person takes the time they take.
                    resolved.plan.time_limit_ns = None;
                }
                let (served, watches) = Live::of_processes(resolved, manual, port)?;
                served.announce()?;
                if !served.is_opened_before(&interrupted) {
                    return Ok(Told::nothing(Exit::Interrupted));
                }
                resolved = watches.resolved().clone();
                (page, onlooker) = (Some(served), Some(watches));
            }
        }
        let pending = Pending::begin(self.out.as_deref(), &resolved)?;
        interrupt::before_stopping_at_once(pending.when_stopped(&resolved));
        let hosts = resolved.hosts.as_ref().map(|hosts| self.reach.hosts(hosts));
        let run = match execute(
            &resolved,
            hosts,
            pending.dir(),
            &interrupted,
            onlooker.as_mut(),
        ) {
            Ok(run) => run,
            Err(failure) => return Err(pending.give_up(&resolved, failure)),
        };
        if let Some(onlooker) = onlooker {
            resolved = match onlooker.repeating(&run) {
                Ok(resolved) => resolved,
                Err(why) => return Err(pending.give_up(&resolved, Failure::Usage(why))),
            };
        }
        let judgement = analysis::judge(&resolved.plan, &resolved.topology, &run);
        let published = pending.finish(&resolved, &run, &judgement)?;
        interrupt::before_stopping_at_once(|| "the run is complete and kept".to_owned());
        let again = match &page {
            None => repeat_line::line(resolved.plan.seed),
            Some(_) => {
                let script = published.directory.join(live::SCRIPT);
                format!("orchestrator run {}", script.display())
            }
        };
        let place = Where {
            directory: &published.directory,
            again: Some(again),
        };
        let exit = exit(&run, &judgement);
        if let Some(page) = page {
            let script = published.directory.join(live::SCRIPT);
            let scenario = live::script_of(&resolved, &run);
            results::replace(&script, &scenario)?;
            page.finish(&scenario, &judgement, &published.directory);
        }
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

impl Told {
    /// Nothing was run.
    fn nothing(exit: Exit) -> Self {
        Self {
            exit,
            failure: None,
        }
    }
}

/// Runs it on its engine, and completes its trace.
pub(crate) fn execute(
    resolved: &Resolved,
    hosts: Option<Hosts>,
    dir: &Path,
    interrupted: &AtomicBool,
    onlooker: Option<&mut Onlooker>,
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
    let (mut run, timeline) = match onlooker {
        None => {
            let run = engine::run(resolved.engine, &plan, hosts, dir, &mut watch)?;
            (run, &resolved.plan.faults)
        }
        Some(onlooker) => {
            let run = engine::run_live(&plan, hosts, dir, &mut watch, onlooker)?;
            (run, &onlooker.resolved().plan.faults)
        }
    };
    for fault in &run.faults {
        info!(
            fault = fault.told(timeline),
            acted = fault.acted,
            "a fault was asked for"
        );
    }
    info!(end = ?run.end, ended_ns = run.ended_ns, "ended");
    let told_plan = Plan {
        faults: timeline.clone(),
        ..resolved.plan.clone()
    };
    events
        .map_or(Ok(()), |events| events.finish(&told_plan, &mut run))
        .map_err(unwritten)?;
    Ok(run)
}

fn exit(run: &model::run::Run, judgement: &Judgement) -> Exit {
    match run.end {
        End::Interrupted => Exit::Interrupted,
        End::Failed => Exit::Testbed,
        End::Finished
        | End::Deadlock
        | End::LiveLock
        | End::TimeLimit
        | End::Abandoned
        | End::ProgramFailed => Exit::of(judgement),
    }
}

fn pace(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(pace) if (live::PACES.0..=live::PACES.1).contains(&pace) => Ok(pace),
        _ => Err(format!(
            "'{text}' is no pace; write how many simulated seconds pass in a second, from {} to {}",
            live::PACES.0,
            live::PACES.1
        )),
    }
}
