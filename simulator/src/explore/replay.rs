//! A schedule, step by step.

use algorithms::NodeId;
use algorithms::Setting;
use algorithms::registry::Entry;
use thiserror::Error;

use super::schedule::{Schedule, Step};
use super::walk::Walk;
use super::world::World;
use super::{Kind, Options, Told, Unfit};

/// What came of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Each step and what it did.
    pub told: Vec<Told>,
    /// The bad things, each with the number of the step, from 1, after which it was so.
    pub findings: Vec<(usize, Kind, String)>,
    /// Who is inside at the end.
    pub inside: Vec<NodeId>,
    /// Who waits at the end.
    pub waiting: Vec<NodeId>,
    /// What could happen next, if nobody asks again.
    pub possible: String,
}

impl Outcome {
    /// The first bad thing.
    pub fn finding(&self) -> Option<&(usize, Kind, String)> {
        self.findings.first()
    }
}

/// Why a schedule cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// The options do not fit.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// A step cannot be taken.
    #[error("step {number}, '{step}': {why}")]
    Impossible {
        /// Which, counted from 1.
        number: usize,
        /// The step.
        step: String,
        /// Why not, and what could be done there.
        why: String,
    },
}

/// Lets happen what a schedule says. Clients want in as often as the schedule has them ask, and
/// what it loses, doubles or crashes it may.
pub fn replay(
    entry: &Entry,
    setting: &Setting,
    options: &Options,
    schedule: &Schedule,
) -> Result<Outcome, ReplayError> {
    let count = |is: &dyn Fn(&Step) -> bool| {
        let steps = schedule.steps.iter();
        steps.filter(|step| is(step)).count() as u32
    };
    let nodes = (0..setting.nodes()).map(NodeId);
    let options = Options {
        wants: nodes
            .map(|node| count(&|step| *step == Step::Request(node)))
            .collect(),
        lose: count(&|step| matches!(step, Step::Lose(_))),
        duplicate: count(&|step| matches!(step, Step::Duplicate(_))),
        crash: count(&|step| matches!(step, Step::Crash { .. })),
        ..options.clone()
    };
    options.fit(setting)?;
    let kinds = (entry.machine)(&setting.params, &setting.printed).kinds();
    let mut world = World::new(entry, setting, &options);
    let mut walk = Walk::new(&mut world, kinds);
    let (mut told, mut findings) = (Vec::new(), Vec::new());
    for (number, step) in (1..).zip(&schedule.steps) {
        let one = walk.perform(step).map_err(|why| ReplayError::Impossible {
            number,
            step: step.to_string(),
            why,
        })?;
        let wrong = one.wrong.clone();
        let state = walk.state.clone();
        let fault = wrong.or_else(|| walk.world.fault(&state));
        findings.extend(fault.map(|(kind, why)| (number, kind, why)));
        told.push(one);
    }
    let state = walk.state.clone();
    let waiting = walk.world.clients(&state, false);
    if walk.world.is_stuck(&state) {
        let why = "nothing can happen any more".to_owned();
        findings.push((told.len(), Kind::Deadlock, why));
    }
    Ok(Outcome {
        told,
        findings,
        inside: walk.world.clients(&state, true),
        waiting,
        possible: walk.possible(),
    })
}
