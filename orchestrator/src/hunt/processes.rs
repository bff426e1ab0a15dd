//! Runs on processes, one after the other: they take real time, and the machine for themselves.

use std::ops::{ControlFlow, Range};

use algorithms::registry::LinkOrder;
use analysis::Verdict;
use chaos::Delay;
use model::engine::{EngineError, Observer, Progress};
use model::plan::Plan;
use model::run::{End, Engine};
use model::workload::OneAtATime;

use super::failure::{Failure, What};
use super::trial::{self, Done};
use super::{Engines, Hunt};
use crate::Failure as Refusal;
use crate::engine;
use crate::scenario::{Resolved, Scenario};

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
        let (scenario, resolved) = hunt.draw(nth);
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

/// Runs it on processes, in a directory that goes when it is over.
fn launched(resolved: &Resolved, is_over: &dyn Fn() -> bool) -> Result<Done, Refusal> {
    let plan = &resolved.plan;
    let place = tempfile::Builder::new().prefix("turnstile-hunt-").tempdir();
    let place = place.map_err(|error| {
        Refusal::Testbed(format!("cannot make a directory for members: {error}"))
    })?;
    let mut watch = Watch(is_over);
    let run = engine::run(Engine::Cluster, plan, None, place.path(), &mut watch);
    let run = match run {
        Ok(run) if run.end == End::Interrupted => return Ok(trial::cut_off(plan)),
        Ok(run) => run,
        Err(EngineError::Plan(why) | EngineError::Testbed(why)) => {
            return Ok(trial::failed(What::Testbed, why));
        }
    };
    Ok(trial::judged(resolved, &run))
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

/// Ends a run that nobody waits for any more.
struct Watch<'a>(&'a dyn Fn() -> bool);

impl Observer for Watch<'_> {
    fn progress(&mut self, _: Progress) -> ControlFlow<()> {
        match (self.0)() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
