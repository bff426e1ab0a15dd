//! What a hunt calls a failure, and what it holds against nobody.
//!
//! An algorithm answers for what its registry entry promises, under the links it was promised. Whatever
//! happens, no run may panic, go on for ever or fail in the testbed, and a trace replays.

use std::fmt;

use algorithms::registry::Promise;
use analysis::Judgement;
use chaos::language::MessageFault;
use chaos::timeline::FaultAction;
use model::plan::{Plan, UseTransport};
use model::run::{End, FaultKind, Run};
use serde::{Deserialize, Serialize};

/// In which way a run failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum What {
    /// More than k were inside, or nothing kept two apart.
    Safety,
    /// Somebody was never served.
    Liveness,
    /// An uninvited entry, a second token, a protocol error.
    WellFormedness,
    /// A closed form that has no exceptions was missed.
    Cost,
    /// The program panicked.
    Panic,
    /// The run went on and on.
    Endless,
    /// The engine gave up, or the testbed failed.
    Testbed,
    /// A trace did not replay, or the same plan gave another run.
    Repeat,
    /// Simulator and processes do not agree.
    Engines,
    /// The files of a run say something else than the run, or there is too much of them.
    Files,
    /// More memory was taken than any run needs.
    Memory,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            What::Safety => "safety",
            What::Liveness => "liveness",
            What::WellFormedness => "well-formedness",
            What::Cost => "cost",
            What::Panic => "panic",
            What::Endless => "endless",
            What::Testbed => "testbed",
            What::Repeat => "repeat",
            What::Engines => "engines",
            What::Files => "files",
            What::Memory => "memory",
        })
    }
}

/// Something that must not happen, and did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) what: What,
    /// The sort of failure, the same for every run that fails in the same way.
    pub(crate) class: String,
    /// What happened in this run, in a sentence.
    pub(crate) told: String,
}

impl Failure {
    pub(crate) fn new(what: What, told: impl Into<String>) -> Self {
        let told = told.into();
        let class = class(&told);
        Self { what, class, told }
    }

    /// Whether another one is of the same sort.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.what == other.what && self.class == other.class
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.class)
    }
}

/// Words that failures of one sort have in common, at whichever member and time they occur.
const SORTS: [&str; 10] = [
    "were inside at the same time",
    "the witness refused",
    "nothing kept them apart",
    "deadlock",
    "live-lock",
    "never came to rest",
    "entered without having asked",
    "left without being inside",
    "more often than it had it",
    "with fence",
];

/// The sort of a failure that is told in these words.
fn class(told: &str) -> String {
    if let Some((_, why)) = told.split_once("protocol error") {
        let why = why.split_once(": ").map_or("", |(_, why)| why);
        let why = why.split("; after a").next().unwrap_or_default();
        return format!("protocol error: {}", without_numbers(why));
    }
    let sort = SORTS.iter().find(|sort| told.contains(*sort));
    sort.map_or_else(|| without_numbers(told), |sort| (*sort).to_owned())
}

/// The text with one `#` for each number, so that it is the same for other members and times.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            _ => out.push(letter),
        }
    }
    out
}

/// The failure of a run that came to its end, if it is one.
pub(crate) fn of(plan: &Plan, run: &Run, judgement: &Judgement) -> Option<Failure> {
    if let Some(why) = &run.failure {
        return Some(Failure::new(What::Testbed, why.clone()));
    }
    if beyond_promises(plan, run) {
        return None;
    }
    let gives_up = match plan.printed.is_repaired() {
        true => (plan.info().more.gives_up)(&plan.params, plan.nodes),
        false => None,
    };
    let gives_up = gives_up.or(is_misled(plan, run).then_some(Promise::Liveness));
    let found = |what, property: &analysis::Property| {
        let why = property.is_violated().then(|| property.why())??;
        Some(Failure::new(what, why))
    };
    let safe = || {
        found(What::Safety, &judgement.safety)
            .or_else(|| found(What::WellFormedness, &judgement.well_formedness))
    };
    let live = || found(What::Liveness, &judgement.liveness).or_else(|| unrest(plan, run));
    let cost = || {
        let missed = judgement.theory.iter().find(|line| line.missed())?;
        let told = judgement
            .reasons
            .iter()
            .find(|text| text.starts_with(missed.metric));
        Some(Failure {
            what: What::Cost,
            class: format!("{} is not {}", missed.metric, missed.formula),
            told: told.cloned().unwrap_or_default(),
        })
    };
    match gives_up {
        Some(Promise::Safety) => None,
        Some(Promise::Liveness) => safe(),
        None => safe().or_else(live).or_else(cost),
    }
}

/// Messages without end though nobody waits and nothing is wrong.
fn unrest(plan: &Plan, run: &Run) -> Option<Failure> {
    let undisturbed = plan.faults.steps.is_empty() && plan.suspects_after_ns().is_none();
    let goes_on = run.end == End::LiveLock && undisturbed;
    goes_on.then(|| {
        Failure::new(
            What::Liveness,
            "it never came to rest, though nobody waited",
        )
    })
}

/// Whether the run is outside of what any algorithm is promised.
fn beyond_promises(plan: &Plan, run: &Run) -> bool {
    let unrepaired = plan.transport == UseTransport::Never && plan.faults.harms();
    let suspected = |kind| matches!(kind, FaultKind::FalseSuspicion { .. });
    let tampered = run.faults.iter().filter(|fault| !fault.is_idle());
    let tampered = tampered.filter_map(|fault| plan.faults.steps.get(fault.step?));
    let mut tampered = tampered.map(|step| &step.action);
    unrepaired
        || run.faults.iter().any(|fault| suspected(fault.kind))
        // Only a message that is late is one that any link may have.
        || tampered.any(|action| match action {
            FaultAction::Message(message) => !matches!(message, MessageFault::Delay(..)),
            _ => false,
        })
}

/// Whether an algorithm that gives up and tries again after multiples of the bound was told one that is
/// too short: it may give up for ever, before any answer can come.
fn is_misled(plan: &Plan, run: &Run) -> bool {
    let more = &plan.info().more;
    more.uses_bound && run.bound_broken > 0 && (more.retries)(&plan.params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunt::trial;
    use crate::scenario::Scenario;

    /// How a simulated scenario fails, if it does.
    fn failure(text: &str) -> Option<String> {
        let scenario = Scenario::from_toml(text).expect("a scenario");
        let scenario = Scenario {
            engine: Some(model::run::Engine::Sim),
            seed: Some(1),
            ..scenario
        };
        let resolved = scenario.resolve().expect("it can be run");
        let done = trial::simulated(&scenario, &resolved, true, &|| false);
        done.failure.map(|failure| failure.to_string())
    }

    #[test]
    fn what_is_promised_is_held_against_it_and_nothing_else() {
        let stuck = "algorithm = \"suzuki-kasami\"\nnodes = 2\n";
        assert_eq!(failure(stuck), None);
        let deadlock = Some("liveness: deadlock".to_owned());
        assert_eq!(failure(&format!("{stuck}as-printed = [\"SK1\"]")), deadlock);
        // Nobody can do without a message that is lost for good.
        let lost = format!("{stuck}fault = \"lose message PRIVILEGE #all\"");
        assert_eq!(failure(&lost), None);
        let lossy = format!("{stuck}loss = \"50%\"\ntransport = \"never\"");
        assert_eq!(failure(&lossy), None);
    }

    #[test]
    fn what_parameters_or_a_wrong_bound_give_up_is_held_against_nobody() {
        let split = "algorithm = \"thomas\"\nnodes = 3\nworkload = \"batch\"\ndelay = \"4ms\"\n";
        assert_eq!(failure(split), None);
        assert_eq!(
            failure(&format!("{split}params = {{ retry = \"off\" }}")),
            None
        );
        let deadlock = Some("liveness: deadlock".to_owned());
        let printed = format!("{split}as-printed = [\"kanrar-TH-D1\"]");
        assert_eq!(failure(&printed), deadlock);
        assert_eq!(failure(&format!("{split}bound = \"1ms\"")), None);
    }

    #[test]
    fn failures_of_one_sort_have_one_class() {
        let class = |told: &str| Failure::new(What::Safety, told).class;
        let two = "0 and 2 were inside at the same time, at 3 ms; at most 1 may be";
        assert_eq!(class(two), "were inside at the same time");
        let one = "1 protocol error, the first at node 0 at 1 ms: a TOKEN from 3; after a false \
                   suspicion of 2 by node 0 at 1.25 s";
        assert_eq!(class(one), "protocol error: a TOKEN from #");
        assert_eq!(class("index 12 of 7"), "index # of #");
    }
}
