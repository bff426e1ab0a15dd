//! Hunting: scenarios by chance, run and judged by everything there is, and the smallest that fails kept.

mod coverage;
mod dice;
pub(crate) mod draw;
pub(crate) mod failure;
mod journal;
mod keep;
mod processes;
mod shrink;
pub(crate) mod trial;
pub(crate) mod tried;
mod workers;
pub(crate) mod worth;
mod written;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use algorithms::registry::AlgorithmInfo;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::run::Engine;

use crate::Failure as Refusal;
use crate::numbers::count;
use crate::scenario::{Resolved, Scenario};
use draw::{Manner, Source};
use failure::{Failure, What};
use journal::{Again, Journal};
pub(crate) use journal::{Finding, State};
use trial::Done;

/// One run in so many is traced and replayed, and has its file read back.
const REPLAYED: u64 = 8;

/// More memory than this no hunt needs, whatever its runs are.
const MOST_MEMORY: u64 = 4 << 30;

/// The state is written down at least this often.
const KEPT_EVERY: Duration = Duration::from_secs(5);

/// What to hunt for, and how.
pub(crate) struct Hunt {
    pub(crate) algorithms: Vec<&'static AlgorithmInfo>,
    /// The defects that are left unrepaired, of all of them.
    pub(crate) as_printed: Vec<String>,
    pub(crate) engines: Engines,
    pub(crate) seed: u64,
    /// After how many runs it is over.
    pub(crate) runs: Option<u64>,
    /// After how long it is over.
    pub(crate) lasts: Option<Duration>,
}

/// What runs the scenarios.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Engines {
    /// The simulator, in virtual time
    Sim,
    /// Processes that speak UDP
    Cluster,
    /// Each scenario on both; where they must, they have to agree
    Both,
}

impl Hunt {
    fn is_simulated(&self) -> bool {
        self.engines == Engines::Sim
    }

    /// The scenario of one run, as a file says it.
    pub(crate) fn scenario(&self, nth: u64) -> String {
        keep::text(&self.draw(nth).0)
    }

    /// The scenario of one run.
    fn draw(&self, nth: u64) -> (Scenario, Resolved) {
        let info = self.algorithms[(nth % self.algorithms.len() as u64) as usize];
        let source = Source {
            info,
            as_printed: &self.as_printed,
            params: &[],
            engine: match self.engines {
                Engines::Sim => Engine::Sim,
                Engines::Cluster | Engines::Both => Engine::Cluster,
            },
            manner: Manner::Swarm,
            seed: self.seed,
        };
        draw::scenario(source, nth)
    }
}

/// Draws and runs scenarios until it is over, and keeps what it finds in the directory.
pub(crate) fn hunt(
    hunt: &Hunt,
    directory: &Path,
    interrupted: &AtomicBool,
) -> Result<State, Refusal> {
    let began = Instant::now();
    let mut journal = Journal::open(hunt, directory)?;
    // Time that is up ends no search for the smallest scenario, which ends by itself.
    let stopped = || interrupted.load(Ordering::Relaxed);
    journal.finish_earlier(hunt, &stopped)?;
    journal.write()?;
    let bar = bar(hunt, &journal.state);
    let is_over = || {
        interrupted.load(Ordering::Relaxed)
            || hunt.lasts.is_some_and(|time| began.elapsed() >= time)
    };
    let first = journal.state.next;
    let mut kept = Instant::now();
    let mut take = |nth: u64, (scenario, done): (Scenario, Done)| {
        bar.set_position(nth + 1);
        bar.set_message(format!("{} found", journal.state.found.len()));
        let mut again =
            |scenario: &Scenario, failure: &Failure| processes::again(scenario, failure, &stopped);
        journal.take(nth, &scenario, &done, &stopped, &mut again)?;
        if kept.elapsed() >= KEPT_EVERY || done.failure.is_some() {
            journal.write()?;
            kept = Instant::now();
        }
        Ok(())
    };
    let runs = first..hunt.runs.unwrap_or(u64::MAX);
    let done = match hunt.is_simulated() {
        true => workers::in_order(
            runs,
            &is_over,
            &|nth| perform(hunt, nth, &is_over),
            &mut take,
        ),
        false => processes::one_by_one(hunt, runs, &is_over, &mut take),
    };
    bar.finish_and_clear();
    journal.write()?;
    done?;
    Ok(journal.state)
}

/// Draws and simulates one run; whatever becomes of it, it comes back.
fn perform(hunt: &Hunt, nth: u64, is_over: &dyn Fn() -> bool) -> (Scenario, Done) {
    let drawn = trial::caught(|| hunt.draw(nth));
    let (scenario, resolved) = match drawn {
        Ok(drawn) => drawn,
        Err(panicked) => return (Scenario::default(), trial::failed(What::Panic, panicked)),
    };
    let mut done = trial::simulated(&scenario, &resolved, nth.is_multiple_of(REPLAYED), is_over);
    if let Some(bytes) = resident_bytes().filter(|bytes| *bytes > MOST_MEMORY) {
        let why = format!("the program took {bytes} bytes of memory, more than {MOST_MEMORY}");
        done.failure = done.failure.or(Some(Failure::new(What::Memory, why)));
    }
    (scenario, done)
}

/// How much memory the program takes, as far as the kernel says so.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    Some(kib << 10)
}

/// A line on the terminal that goes when the hunt is over; quiet in a pipe.
fn bar(hunt: &Hunt, state: &State) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(hunt.runs, ProgressDrawTarget::stderr());
    let form = match hunt.runs {
        Some(_) => "{bar:30} {pos} of {len} runs, {msg}  ({eta} left)",
        None => "{spinner} {pos} runs, {msg}, {elapsed}",
    };
    bar.set_style(ProgressStyle::with_template(form).expect("the template is well formed"));
    bar.set_position(state.next);
    bar.reset_eta();
    bar
}

/// What a failure looks like in a line, with how often it came.
pub(crate) fn line(finding: &Finding) -> String {
    let Finding {
        algorithm,
        failure,
        times,
        again,
        file,
        ..
    } = finding;
    let mut often = match times {
        1 => "once".to_owned(),
        times => format!("{} times", count(*times)),
    };
    if let Some(Again { runs, failed }) = again {
        often += &format!("; run again, {failed} of {runs} times");
    }
    format!(
        "{algorithm}: {failure} ({often})\n  {}\n  orchestrator run {file}\n",
        failure.told
    )
}

/// Whether two failures are one finding.
fn same(finding: &Finding, algorithm: &str, failure: &Failure) -> bool {
    finding.algorithm == algorithm && finding.failure.is_like(failure)
}
