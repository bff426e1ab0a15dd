//! Runs on processes, one after the other: they take real time, and the machine for themselves.

use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::time::{Duration, Instant};

use algorithms::registry::LinkOrder;
use analysis::Verdict;
use chaos::Delay;
use model::engine::{EngineError, Observer, Progress};
use model::event::Event;
use model::plan::Plan;
use model::run::{End, Engine, Run};
use model::workload::OneAtATime;

use super::failure::{Failure, What};
use super::journal::Again;
use super::trial::{self, Done};
use super::{Engines, Hunt, REPLAYED, written};
use crate::Failure as Refusal;
use crate::engine;
use crate::scenario::{Resolved, Scenario};

/// How often a failure is run again.
const AGAIN: u64 = 10;

/// Longer than this no run takes: its time limit is 20 s.
const MOST_TIME: Duration = Duration::from_secs(60);

/// More memory than this no member needs in groups of this size.
const MOST_MEMORY_KIB: u64 = 256 << 10;

/// Performs these runs, and hands over each when it is done.
pub(super) fn one_by_one(
    hunt: &Hunt,
    runs: Range<u64>,
    is_over: &dyn Fn() -> bool,
    take: &mut dyn FnMut(u64, (Scenario, Done)) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    for nth in runs {
        if is_over() {
            break;
        }
        let (scenario, mut resolved) = hunt.draw(nth);
        resolved.plan.trace = nth.is_multiple_of(REPLAYED);
        let mut done = launched(&resolved, is_over)?;
        if hunt.engines == Engines::Both && !done.interrupted {
            done = compared(&scenario, &resolved, done, is_over);
        }
        if done.interrupted {
            break;
        }
        take(nth, (scenario, done))?;
    }
    Ok(())
}

/// Runs the scenario of a failure again, to see how often it comes.
pub(super) fn again(
    scenario: &Scenario,
    failure: &Failure,
    is_over: &dyn Fn() -> bool,
) -> Result<Again, Refusal> {
    let mut again = Again { runs: 0, failed: 0 };
    let Ok(mut resolved) = scenario.resolve() else {
        return Ok(again);
    };
    resolved.plan.trace = matches!(failure.what, What::Repeat | What::Files);
    while again.runs < AGAIN && !is_over() {
        let done = launched(&resolved, is_over)?;
        if done.interrupted {
            break;
        }
        again.runs += 1;
        let alike = done.failure.is_some_and(|other| other.is_like(failure));
        again.failed += u64::from(alike);
    }
    Ok(again)
}

/// Runs it on processes, in a directory that goes when it is over.
fn launched(resolved: &Resolved, is_over: &dyn Fn() -> bool) -> Result<Done, Refusal> {
    let plan = &resolved.plan;
    let place = tempfile::Builder::new().prefix("turnstile-hunt-").tempdir();
    let place = place.map_err(|error| {
        Refusal::Testbed(format!("cannot make a directory for members: {error}"))
    })?;
    let mut watch = Watch {
        is_over,
        began: Instant::now(),
        hangs: false,
        events: plan.trace.then(Vec::new),
    };
    let run = trial::caught(|| engine::run(Engine::Cluster, plan, None, place.path(), &mut watch));
    let run = match run {
        Ok(run) => run,
        Err(panicked) => return Ok(trial::failed(What::Panic, panicked)),
    };
    let mut run = match run {
        Ok(_) if watch.hangs => {
            let most = MOST_TIME.as_secs();
            let why = format!("after {most} s it had not ended, whatever its time limit");
            return Ok(trial::failed(What::Endless, why));
        }
        Ok(run) if run.end == End::Interrupted => return Ok(trial::cut_off(plan)),
        Ok(run) => run,
        Err(EngineError::Plan(why) | EngineError::Testbed(why)) => {
            return Ok(trial::failed(What::Testbed, why));
        }
    };
    let mut done = trial::judged(resolved, &run);
    let checked = checked(resolved, &mut run, place.path(), watch.events.as_deref());
    done.replayed = plan.trace && checked.is_ok();
    done.failure = done.failure.or(checked.err());
    Ok(done)
}

/// What a run on processes must be besides what it promises: replayable, small, and rightly written.
fn checked(
    resolved: &Resolved,
    run: &mut Run,
    dir: &Path,
    events: Option<&[Event]>,
) -> Result<(), Failure> {
    let Resolved { plan, topology, .. } = resolved;
    if let Some(events) = events {
        let replayed = trial::replayed(plan, topology, run, events);
        replayed.map_err(|why| Failure::new(What::Repeat, why))?;
    }
    let largest = run.usage.values().map(|row| row.max_rss_kib).max();
    if let Some(kib) = largest.filter(|kib| *kib > MOST_MEMORY_KIB) {
        let why = format!("a member took {kib} KiB, more than {MOST_MEMORY_KIB}");
        return Err(Failure::new(What::Memory, why));
    }
    let judgement = analysis::judge(plan, topology, run);
    let written = trial::caught(|| written::check(dir, resolved, run, &judgement, events));
    written.unwrap_or_else(|panicked| Err(Failure::new(What::Panic, panicked)))
}

/// Simulates the same, and compares what must not differ.
fn compared(
    scenario: &Scenario,
    resolved: &Resolved,
    mut done: Done,
    is_over: &dyn Fn() -> bool,
) -> Done {
    let Ok(simulated) = super::shrink::in_simulator(scenario).resolve() else {
        return done;
    };
    let virtual_one = trial::simulated(
        &super::shrink::in_simulator(scenario),
        &simulated,
        false,
        is_over,
    );
    done.interrupted |= virtual_one.interrupted;
    done.failure = done.failure.or(virtual_one.failure);
    if done.failure.is_none() && must_agree(&resolved.plan) {
        let conclusive = |verdict| verdict == Verdict::Holds;
        let both = conclusive(done.verdict) && conclusive(virtual_one.verdict);
        done.compared = both;
        if both && (done.entries, done.messages) != (virtual_one.entries, virtual_one.messages) {
            let told = format!(
                "processes: {} entries with {} messages, simulator: {} with {}",
                done.entries, done.messages, virtual_one.entries, virtual_one.messages
            );
            done.failure = Some(Failure::new(What::Engines, told));
        }
    }
    done
}

/// Whether both engines must count the same: one request at a time, nothing that depends on how long
/// anything takes, and nothing that goes wrong.
fn must_agree(plan: &Plan) -> bool {
    let info = plan.info();
    plan.workload.arrivals == OneAtATime.into()
        && plan.faults.steps.is_empty()
        && plan.suspects_after_ns().is_none()
        && plan.links == LinkOrder::Fifo
        && matches!(plan.delay, Delay::Constant { .. })
        && !info.more.uses_bound
}

/// Ends a run that nobody waits for any more, or that has no end.
struct Watch<'a> {
    is_over: &'a dyn Fn() -> bool,
    began: Instant,
    hangs: bool,
    events: Option<Vec<Event>>,
}

impl Observer for Watch<'_> {
    fn event(&mut self, event: &Event) {
        if let Some(events) = &mut self.events {
            events.push(event.clone());
        }
    }

    fn progress(&mut self, _: Progress) -> ControlFlow<()> {
        self.hangs |= self.began.elapsed() > MOST_TIME;
        match self.hangs || (self.is_over)() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
