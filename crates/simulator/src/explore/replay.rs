//! Replays a schedule, step by step.

use std::collections::BTreeSet;

use algorithms::registry::AlgorithmInfo;
use algorithms::{NodeId, Setting};
use model::event::Event;
use serde::Serialize;
use thiserror::Error;

use super::ending::Ending;
use super::schedule::{Schedule, Step};
use super::walk::Walk;
use super::world::{Successors, World};
use super::{Kind, Options, TakenStep, Unfit, events};

/// How many states are looked at behind the end of a schedule.
const LOOKED_AHEAD: usize = 2_000;

/// What came of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// What happened before the schedule, where the world began later.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Event>,
    /// Each step and what it did.
    pub told: Vec<TakenStep>,
    /// The bad things, in the order they came.
    pub findings: Vec<Mishap>,
    /// Who is inside at the end.
    pub inside: Vec<NodeId>,
    /// Who waits at the end.
    pub waiting: Vec<NodeId>,
    /// What could happen next.
    pub possible: Vec<Step>,
    /// The state it leads to.
    pub ending: Ending,
}

impl Outcome {
    /// The first bad thing.
    pub fn finding(&self) -> Option<&Mishap> {
        self.findings.first()
    }

    /// Everything that happened, from the beginning of the world.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.before.iter().chain(events::of(&self.told))
    }
}

/// A finding on the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mishap {
    /// The step after which it was so, counted from 1.
    pub step: usize,
    /// The kind of the finding.
    pub kind: Kind,
    /// What is wrong, in words.
    pub why: String,
}

/// Why a schedule cannot be replayed, or a search not begin after it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// The options do not fit.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// The schedule is about other links.
    #[error("the schedule is about other links; it says 'on {0}'")]
    Elsewhere(String),
    /// A step cannot be taken.
    #[error("step {number}, '{step}': {why}")]
    Impossible {
        /// The place of the step in the schedule, counted from 1.
        number: usize,
        /// The step, as it is written.
        step: String,
        /// Why the step cannot be taken, and which steps could be.
        why: String,
    },
}

/// Lets happen what a schedule says, where the options begin. What it asks for, loses, doubles and
/// crashes is allowed even where the options allow less.
pub fn replay(
    info: &AlgorithmInfo,
    setting: &Setting,
    options: &Options,
    schedule: &Schedule,
) -> Result<Outcome, ReplayError> {
    schedule.fits(setting)?;
    let options = fitting(options, setting, &options.after.then(schedule))?;
    let kinds = info.machine(&setting.params, &setting.printed).kinds();
    let mut world = World::new(info, setting, &options);
    let (mut walk, before) = set_out(&mut world, kinds, &options.after)?;
    let (mut told, mut findings) = (Vec::new(), Vec::new());
    for (number, step) in (1..).zip(&schedule.steps) {
        let one = walk.perform(step);
        let one = one.map_err(|why| ReplayError::impossible(number, step, why))?;
        let bad = one.wrong.clone().or_else(|| walk.world.fault(&walk.state));
        findings.extend(bad.map(|(kind, why)| Mishap {
            step: number,
            kind,
            why,
        }));
        told.push(one);
    }
    let end = if walk.world.is_stuck(&walk.state) {
        Some((Kind::Deadlock, walk.world.deadlock(&walk.state)))
    } else if findings.is_empty() && is_trapped(walk.world, &walk.state) {
        Some((Kind::Trapped, walk.world.trap(&walk.state)))
    } else {
        None
    };
    findings.extend(end.map(|(kind, why)| Mishap {
        step: told.len(),
        kind,
        why,
    }));
    Ok(Outcome {
        ending: walk.ending(&told),
        before,
        told,
        findings,
        inside: walk.world.inside(&walk.state),
        waiting: walk.world.waiting(&walk.state),
        possible: walk.possible(),
    })
}

/// Walks to where a world begins, and says what happens on the way.
pub(super) fn set_out<'w>(
    world: &'w mut World,
    kinds: &'static [&'static str],
    after: &Schedule,
) -> Result<(Walk<'w>, Vec<Event>), ReplayError> {
    let mut walk = Walk::new(world, kinds);
    let mut events = Vec::new();
    for (number, step) in (1..).zip(&after.steps) {
        let told = walk.perform(step);
        let told = told.map_err(|why| ReplayError::impossible(number, step, why))?;
        if let Some((kind, why)) = told.wrong {
            let why = format!("a world cannot begin behind something bad; {kind}: {why}");
            return Err(ReplayError::impossible(number, step, why));
        }
        events.extend(told.events);
    }
    Ok((walk, events))
}

/// A world at the place where a search of it, or a map, begins.
pub(super) struct Beginning {
    pub(super) world: World,
    /// What may happen, with room for what has happened before.
    pub(super) options: Options,
    /// The kinds of messages.
    pub(super) kinds: &'static [&'static str],
    pub(super) state: Vec<u32>,
}

impl Beginning {
    pub(super) fn of(
        info: &AlgorithmInfo,
        setting: &Setting,
        options: &Options,
    ) -> Result<Self, ReplayError> {
        let options = fitting(options, setting, &options.after)?;
        let kinds = info.machine(&setting.params, &setting.printed).kinds();
        let mut world = World::new(info, setting, &options);
        let (walk, _) = set_out(&mut world, kinds, &options.after)?;
        let mut state = walk.state;
        world.renumber(&mut state);
        Ok(Self {
            world,
            options,
            kinds,
            state,
        })
    }
}

impl ReplayError {
    fn impossible(number: usize, step: &Step, why: String) -> Self {
        let step = step.to_string();
        ReplayError::Impossible { number, step, why }
    }
}

impl Schedule {
    /// This one and another behind it.
    fn then(&self, other: &Schedule) -> Schedule {
        let mut all = self.clone();
        all.steps.extend(other.steps.iter().cloned());
        if !other.priorities.is_empty() {
            all.priorities.clone_from(&other.priorities);
        }
        all
    }

    /// Whether it is about these links.
    pub(super) fn fits(&self, setting: &Setting) -> Result<(), ReplayError> {
        let Some(shape) = &self.on else {
            return Ok(());
        };
        let links = shape.build(setting.nodes(), 0);
        match links.as_ref() == Ok(&setting.topology) {
            true => Ok(()),
            false => Err(ReplayError::Elsewhere(shape.to_string())),
        }
    }
}

/// Whether somebody waits who cannot be served whatever happens from here. The answer is no where a
/// few states do not decide it.
fn is_trapped(world: &mut World, state: &[u32]) -> bool {
    if world.waiting(state).is_empty() || !world.owes_liveness(state) {
        return false;
    }
    let mut met = BTreeSet::from([state.to_vec()]);
    let mut open = vec![state.to_vec()];
    let mut successors = Successors::default();
    while let Some(state) = open.pop() {
        if world.is_served(&state) || met.len() > LOOKED_AHEAD {
            return false;
        }
        world.expand(&state, &mut successors);
        successors.renumber(world);
        for (transition, next) in successors.iter() {
            if transition.act.is_certain() && met.insert(next.to_vec()) {
                open.push(next.to_vec());
            }
        }
    }
    true
}

/// The options with room for a schedule, if they are of this group.
fn fitting(
    options: &Options,
    setting: &Setting,
    schedule: &Schedule,
) -> Result<Options, ReplayError> {
    options.fit(setting.nodes())?;
    options.after.fits(setting)?;
    Ok(with_room_for(schedule, options))
}

/// The options, with at least what the schedule needs.
fn with_room_for(schedule: &Schedule, options: &Options) -> Options {
    let mut options = options.clone();
    let mut wants = vec![0; options.wants.len()];
    let (mut lose, mut duplicate, mut crash, mut cut) = (0, 0, 0, 0);
    for step in &schedule.steps {
        match step {
            Step::Request(node) => {
                if let Some(wants) = wants.get_mut(node.index()) {
                    *wants += 1;
                }
            }
            Step::Lose(_) => lose += 1,
            Step::Duplicate(_) => duplicate += 1,
            Step::Crash { .. } => crash += 1,
            Step::Cut(..) => cut += 1,
            Step::Heal(..) => options.heal = true,
            Step::Release(_)
            | Step::Deliver(_)
            | Step::Timer { .. }
            | Step::Tick
            | Step::Down { .. }
            | Step::LinkDown { .. }
            | Step::LinkUp { .. } => {}
        }
    }
    for (allowed, needed) in options.wants.iter_mut().zip(wants) {
        *allowed = needed.max(*allowed);
    }
    if !schedule.priorities.is_empty() {
        let nodes = options.wants.len();
        options.priorities.clone_from(&schedule.priorities);
        options.priorities.resize(nodes, 0);
    }
    options.lose = lose.max(options.lose);
    options.duplicate = duplicate.max(options.duplicate);
    options.crash = crash.max(options.crash);
    options.cut = cut.max(options.cut);
    options
}
