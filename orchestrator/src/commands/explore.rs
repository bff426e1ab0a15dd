//! `orchestrator explore`: every schedule of a small world.

mod show;
mod world;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::event::Event;
use model::time::rounded_us;
use serde_json::json;
use simulator::explore::{Exploration, Kind, Outcome, Progress, Schedule, explore, map, replay};

use crate::numbers::count;
use crate::view::{self, ViewPage};
use crate::{Exit, Failure, files, interrupt, print};
pub(crate) use show::steps_of;
use show::{replay_line, replayed, shown, verdict};
pub(crate) use world::{World, WorldSpec};

/// Tries every schedule of a small world, and shows the shortest one that ends badly
///
/// Looks for more inside than may be, entries that nobody asked for, messages that cannot arrive,
/// broken invariants, deadlocks, and states from which not everybody can be served. Exit code 0:
/// nothing of that kind in any state; 1: found; 3: cut off before all states were seen.
#[derive(Debug, Args)]
pub(crate) struct Explore {
    #[command(flatten)]
    world: WorldSpec,

    /// Show what each step of a schedule changed in the state of its node, and all states at its end
    #[arg(long, help_heading = "Search", display_order = 0)]
    states: bool,

    /// One JSON object on stdout instead of the table
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// File for what happens in the schedule that is shown, event by event, as events.jsonl of a
    /// traced run has it; the n-th step is at n milliseconds
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    events: Option<PathBuf>,

    /// File for a page that steps through the schedule that is shown; where nothing bad was found, one
    /// on which every step of the world can be taken, up to 20,000 states
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    view: Option<PathBuf>,
}

/// What came of a search or a replay, for a claim that is tested by it.
pub(crate) struct Found {
    /// How many different states were met.
    pub(crate) states: u64,
    /// Whether those are all there are.
    pub(crate) complete: bool,
    /// The first bad thing, if there is one.
    pub(crate) bad: Option<Bad>,
}

/// Something bad that a schedule leads to.
pub(crate) struct Bad {
    /// Which kind of bad thing it is.
    pub(crate) kind: Kind,
    /// What happened, for a person to read.
    pub(crate) why: String,
    /// The fewest steps that lead there.
    pub(crate) steps: usize,
}

impl World {
    /// Searches, or replays its schedule, and prints nothing.
    pub(crate) fn found(&self, interrupted: &AtomicBool) -> Result<Found, Failure> {
        let usage = |why: String| Failure::Usage(why);
        if let Some(schedule) = &self.replay {
            let outcome = replay(self.info, &self.setting, &self.options, schedule)
                .map_err(|unfit| usage(unfit.to_string()))?;
            let bad = outcome.finding().map(|mishap| Bad {
                kind: mishap.kind,
                why: mishap.why.clone(),
                steps: mishap.step,
            });
            return Ok(Found {
                states: schedule.steps.len() as u64,
                complete: true,
                bad,
            });
        }
        let report = self.searched(&|| interrupted.load(Ordering::Relaxed))?;
        let bad = report.finding.map(|finding| Bad {
            kind: finding.kind,
            steps: finding.told.len(),
            why: finding.why,
        });
        Ok(Found {
            states: report.states,
            complete: report.complete,
            bad,
        })
    }

    /// Searches until it is stopped, and prints nothing.
    pub(crate) fn searched(&self, stopped: &dyn Fn() -> bool) -> Result<Exploration, Failure> {
        let mut watch = |_: Progress| match stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        explore(self.info, &self.setting, &self.options, &mut watch)
            .map_err(|unfit| Failure::Usage(unfit.to_string()))
    }
}

impl World {
    /// The page of what a search found: the way to something bad, or else the whole world.
    pub(crate) fn page_of(&self, report: &Exploration) -> Result<ViewPage, Failure> {
        if let Some(finding) = &report.finding {
            let why = format!("{}: {}", finding.kind, finding.why);
            let events = finding.events();
            return Ok(view::of_schedule(self, events, "violated", Some(why)));
        }
        let map = map(self.info, &self.setting, &self.options, view::MOST_STATES)
            .map_err(|unfit| Failure::Usage(unfit.to_string()))?;
        Ok(view::of_map(self, map))
    }

    fn page_of_replay(&self, outcome: &Outcome) -> ViewPage {
        let why = outcome.finding();
        let why = why.map(|mishap| format!("{}: {}", mishap.kind, mishap.why));
        let verdict = if why.is_some() { "violated" } else { "holds" };
        view::of_schedule(self, outcome.events(), verdict, why)
    }

    /// The page of its schedule, or of what a search finds.
    pub(crate) fn page(&self) -> Result<ViewPage, Failure> {
        if let Some(schedule) = &self.replay {
            let outcome = replay(self.info, &self.setting, &self.options, schedule)
                .map_err(|unfit| Failure::Usage(format!("--replay: {unfit}")))?;
            return Ok(self.page_of_replay(&outcome));
        }
        let interrupted = interrupt::flag_on_interrupt()?;
        let report = self.searched(&|| interrupted.load(Ordering::Relaxed))?;
        self.page_of(&report)
    }
}

fn go_on_unless(interrupted: &AtomicBool) -> ControlFlow<()> {
    match interrupted.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

impl Explore {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let world = self.world.world().map_err(Failure::Usage)?;
        match &world.replay {
            Some(schedule) => self.replay(&world, schedule),
            None => self.search(&world),
        }
    }

    fn search(&self, world: &World) -> Result<Exit, Failure> {
        let interrupted = interrupt::flag_on_interrupt()?;
        let bar = progress_bar();
        let start = Instant::now();
        let mut watch = |progress: Progress| {
            bar.set_message(format!(
                "{} states, {} of them to be looked at, {} steps deep, {}",
                count(progress.states),
                count(progress.open),
                progress.depth,
                rounded_us(start.elapsed().as_secs_f64() * 1e6),
            ));
            bar.tick();
            go_on_unless(&interrupted)
        };
        let report = explore(world.info, &world.setting, &world.options, &mut watch)
            .map_err(|error| Failure::Usage(error.to_string()))?;
        let elapsed = start.elapsed();
        bar.finish_and_clear();
        let exit = match (&report.finding, report.complete) {
            (Some(_), _) => Exit::Violated,
            (None, true) => Exit::Holds,
            (None, false) if interrupted.load(Ordering::Relaxed) => Exit::Interrupted,
            (None, false) => Exit::Inconclusive,
        };
        if let Some(finding) = &report.finding {
            self.write(finding.events())?;
        }
        if let Some(path) = &self.view {
            world.page_of(&report)?.write(path)?;
        }
        if self.json {
            let object = json!({
                "explored": world.headline,
                "verdict": verdict(exit),
                "seconds": elapsed.as_secs_f64(),
                "report": report,
                "replay": report.finding.as_ref().map(replay_line),
                "exit_code": exit.code(),
            });
            print(&format!("{object:#}\n"))?;
        } else {
            print(&shown(world, &report, elapsed, exit, self.states))?;
        }
        Ok(exit)
    }

    fn replay(&self, world: &World, schedule: &Schedule) -> Result<Exit, Failure> {
        let outcome = replay(world.info, &world.setting, &world.options, schedule)
            .map_err(|unfit| Failure::Usage(format!("--replay: {unfit}")))?;
        let exit = match outcome.finding() {
            Some(_) => Exit::Violated,
            None => Exit::Holds,
        };
        self.write(outcome.events())?;
        if let Some(path) = &self.view {
            world.page_of_replay(&outcome).write(path)?;
        }
        if self.json {
            let object = json!({
                "replayed": world.headline,
                "verdict": verdict(exit),
                "outcome": outcome,
                "exit_code": exit.code(),
            });
            print(&format!("{object:#}\n"))?;
        } else {
            print(&replayed(world, &outcome, exit, self.states))?;
        }
        Ok(exit)
    }

    /// Writes the events of a schedule to the file that was asked for, if one was.
    fn write<'a>(&self, events: impl Iterator<Item = &'a Event>) -> Result<(), Failure> {
        let Some(path) = &self.events else {
            return Ok(());
        };
        let lines = events.map(|event| event.line() + "\n").collect::<String>();
        files::replace(path, lines.as_bytes()).map_err(|error| {
            let why = format!("--events: {}: {error}", path.display());
            Failure::Testbed(why)
        })
    }
}

fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{spinner} {msg}");
    bar.set_style(style.expect("the template is well formed"));
    bar
}
