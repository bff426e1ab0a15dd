//! One run of a hunt: performed, judged by everything there is, and never fatal.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use algorithms::Topology;
use analysis::Verdict;
use analysis::replay::Replay;
use model::engine::{EngineError, Observer, Progress};
use model::event::Event;
use model::plan::{Detector, Plan, Schedule};
use model::run::{End, Run, deaths};

use super::failure::{self, Failure, What};
use super::written;
use crate::scenario::{Resolved, Scenario};

/// A run with more events than this counts as one that goes on for ever: most that come to an end have some
/// hundred thousand. Where nothing moves for a minute but members ask each other whether they are alive,
/// each pair does so some thousand times.
const MOST_EVENTS: u64 = 10_000_000;
const MOST_EVENTS_OF_PAIR: u64 = 30_000;

/// A run with more messages and timers than this at a time counts as one that fills the memory.
const MOST_UNDER_WAY: usize = 1_000_000;

/// What a run came to.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) verdict: Verdict,
    pub(crate) failure: Option<Failure>,
    /// Each fault of the scenario by its word, and whether it did anything.
    pub(crate) faults: BTreeMap<&'static str, bool>,
    pub(crate) entries: u64,
    /// Algorithm messages of the run.
    pub(crate) messages: u64,
    /// Whether its trace was replayed.
    pub(crate) replayed: bool,
    /// Whether both engines ran it and had to count the same.
    pub(crate) compared: bool,
    /// Whether somebody wanted it to end.
    pub(crate) interrupted: bool,
}

/// Runs a scenario in the simulator. `twice` has it run again with a trace, which is replayed, and has
/// its files and that of the scenario read back.
pub(crate) fn simulated(
    scenario: &Scenario,
    resolved: &Resolved,
    twice: bool,
    stopped: &dyn Fn() -> bool,
) -> Done {
    let plan = &resolved.plan;
    let nothing = Done {
        faults: words(plan),
        ..Done::NOTHING
    };
    let outcome = caught(|| {
        let run = simulated_once(plan, &mut Watch::new(plan, stopped))?;
        let again = twice.then(|| simulated_again(scenario, resolved, &run, stopped));
        Ok((judged(resolved, &run), again))
    });
    let (mut done, again) = match outcome {
        Ok(Ok(both)) => both,
        Ok(Err(Ended::Stopped)) => return cut_off(plan),
        Ok(Err(Ended::Failed(failure))) => {
            return Done {
                failure: Some(failure),
                ..nothing
            };
        }
        Err(panicked) => {
            return Done {
                failure: Some(Failure::new(What::Panic, panicked)),
                ..nothing
            };
        }
    };
    match again {
        None => {}
        Some(Ok(())) => done.replayed = true,
        Some(Err(Ended::Stopped)) => done.interrupted = true,
        Some(Err(Ended::Failed(failure))) => done.failure = done.failure.or(Some(failure)),
    }
    done
}

impl Done {
    /// Of a run that came to nothing.
    const NOTHING: Self = Self {
        verdict: Verdict::Inconclusive,
        failure: None,
        faults: BTreeMap::new(),
        entries: 0,
        messages: 0,
        replayed: false,
        compared: false,
        interrupted: false,
    };
}

/// A run that could not even come to an end.
pub(super) fn failed(what: What, why: String) -> Done {
    Done {
        failure: Some(Failure::new(what, why)),
        ..Done::NOTHING
    }
}

/// A run that nobody waited for.
pub(super) fn cut_off(plan: &Plan) -> Done {
    Done {
        faults: words(plan),
        interrupted: true,
        ..Done::NOTHING
    }
}

/// What a run came to that has come to an end.
pub(super) fn judged(resolved: &Resolved, run: &Run) -> Done {
    let plan = &resolved.plan;
    let judgement = analysis::judge(plan, &resolved.topology, run);
    let mut faults = words(plan);
    mark_acted(&mut faults, plan, run);
    Done {
        verdict: judgement.conclusion(),
        failure: failure::of(plan, run, &judgement),
        faults,
        entries: judgement.summary.entries,
        messages: run.messages.values().map(|row| row.sent).sum(),
        ..Done::NOTHING
    }
}

/// Why a run has no end of its own.
enum Ended {
    Stopped,
    Failed(Failure),
}

fn simulated_once(plan: &Plan, watch: &mut Watch<'_>) -> Result<Run, Ended> {
    let failed = |what, why: String| Err(Ended::Failed(Failure::new(what, why)));
    match simulator::run(plan, watch) {
        Ok(run) if run.end == End::Interrupted && watch.crowded => failed(
            What::Memory,
            format!("more than {MOST_UNDER_WAY} messages and timers under way at a time"),
        ),
        Ok(run) if run.end == End::Interrupted && watch.endless => failed(
            What::Endless,
            format!("more than {} events, and no end", watch.most_events),
        ),
        Ok(run) if run.end == End::Interrupted => Err(Ended::Stopped),
        Ok(run) => Ok(run),
        Err(EngineError::Plan(why) | EngineError::Testbed(why)) => failed(What::Testbed, why),
    }
}

/// The same once more: with a trace it is the same run, the trace replays, and the scenario's file says
/// the same plan.
fn simulated_again(
    scenario: &Scenario,
    resolved: &Resolved,
    run: &Run,
    stopped: &dyn Fn() -> bool,
) -> Result<(), Ended> {
    let failed = |why: String| Err(Ended::Failed(Failure::new(What::Repeat, why)));
    for text in [super::keep::text(scenario), resolved.to_toml()] {
        let read = Scenario::from_toml(&text).and_then(|scenario| scenario.resolve());
        match read {
            Ok(read) if read.plan == resolved.plan => {}
            Ok(_) => return failed("its file says another plan".to_owned()),
            Err(error) => return failed(format!("its file cannot be read: {}", error.why)),
        }
    }
    let mut plan = resolved.plan.clone();
    plan.trace = true;
    let mut watch = Watch::new(&plan, stopped);
    watch.events = Some(Vec::new());
    let traced = simulated_once(&plan, &mut watch)?;
    let told = |run: &Run| {
        (
            run.requests.clone(),
            run.end,
            run.ended_ns,
            run.window.messages,
        )
    };
    if told(&traced) != told(run) {
        return failed("with a trace it is another run".to_owned());
    }
    let events = watch.events.unwrap_or_default();
    let traced_one = Resolved {
        plan,
        ..resolved.clone()
    };
    verified(&traced_one, traced, &events).map_err(Ended::Failed)
}

/// A traced run: the trace replays, and its files say the same.
fn verified(resolved: &Resolved, mut run: Run, events: &[Event]) -> Result<(), Failure> {
    let Resolved { plan, topology, .. } = resolved;
    replayed(plan, topology, &run, events).map_err(|why| Failure::new(What::Repeat, why))?;
    let place = tempfile::Builder::new().prefix("turnstile-hunt-").tempdir();
    let place = place
        .map_err(|error| Failure::new(What::Files, format!("cannot make a directory: {error}")))?;
    let judgement = analysis::judge(plan, topology, &run);
    written::check(place.path(), resolved, &mut run, &judgement, Some(events))
}

pub(super) fn replayed(
    plan: &Plan,
    topology: &Topology,
    run: &Run,
    events: &[Event],
) -> Result<(), String> {
    let mut replay = Replay::new(plan, topology.clone());
    for event in events {
        replay.take(event)?;
    }
    // What was under way when the run was ended has no end.
    match run.end {
        End::TimeLimit | End::LiveLock => Ok(()),
        _ => replay.close(&deaths(&run.faults)),
    }
}

/// Every fault of the plan by its word, none of which has done anything yet.
fn words(plan: &Plan) -> BTreeMap<&'static str, bool> {
    let steps = plan.faults.steps.iter();
    let mut words = steps
        .map(|step| (step.spec().action.verb(), false))
        .collect::<BTreeMap<_, _>>();
    if plan.detector != Detector::Told {
        words.insert("detector timeout", false);
    }
    if plan.schedule != Schedule::Random {
        words.insert("schedule pct", false);
    }
    if words.is_empty() {
        words.insert("none", true);
    }
    words
}

fn mark_acted(words: &mut BTreeMap<&'static str, bool>, plan: &Plan, run: &Run) {
    for fault in run.faults.iter().filter(|fault| !fault.is_idle()) {
        let step = fault.step.and_then(|step| plan.faults.steps.get(step));
        let word = step.map(|step| step.spec().action.verb());
        if let Some(acted) = word.and_then(|word| words.get_mut(word)) {
            *acted = true;
        }
    }
    // They are at work all the time, wherever there is somebody to ask or to send to.
    for word in ["detector timeout", "schedule pct"] {
        if let Some(acted) = words.get_mut(word) {
            *acted = plan.nodes > 1;
        }
    }
}

/// Ends a run that goes on for ever, or that nobody waits for any more.
struct Watch<'a> {
    most_events: u64,
    stopped: &'a dyn Fn() -> bool,
    events: Option<Vec<Event>>,
    endless: bool,
    crowded: bool,
}

impl<'a> Watch<'a> {
    fn new(plan: &Plan, stopped: &'a dyn Fn() -> bool) -> Self {
        let pairs = u64::from(plan.nodes) * u64::from(plan.nodes - 1);
        let ask_each_other = plan.detector != Detector::Told;
        Self {
            most_events: match ask_each_other {
                true => MOST_EVENTS + MOST_EVENTS_OF_PAIR * pairs,
                false => MOST_EVENTS,
            },
            stopped,
            events: None,
            endless: false,
            crowded: false,
        }
    }
}

impl Observer for Watch<'_> {
    fn event(&mut self, event: &Event) {
        if let Some(events) = &mut self.events {
            events.push(event.clone());
        }
    }

    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        self.endless |= progress.events > self.most_events;
        self.crowded |= progress.in_flight > MOST_UNDER_WAY;
        match self.endless || self.crowded || (self.stopped)() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

thread_local! {
    /// Whether a panic of this thread is a finding, and not to be printed.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static PANICKED: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Does it, or says with what message and where it panicked.
pub(crate) fn caught<T>(does: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| match CATCHING.get() {
            true => PANICKED.with_borrow_mut(|panicked| *panicked = info.to_string()),
            false => before(info),
        }));
    });
    let outer = CATCHING.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(does));
    CATCHING.set(outer);
    done.map_err(|_| PANICKED.take())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_and_nothing_more_comes_of_it() {
        let panicked = caught(|| panic!("no {}", 7)).expect_err("it panics");
        assert!(
            panicked.contains("no 7") && panicked.contains("trial.rs"),
            "{panicked}"
        );
        assert_eq!(caught(|| 7), Ok(7));
    }
}
