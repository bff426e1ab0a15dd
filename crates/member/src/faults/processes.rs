//! The faults that strike members: which step strikes whom, and what became of it.
//!
//! An engine says when a step's time has come, what its members report, and who lives; it is told
//! whom to strike and how. How an action is carried out, by a signal to a process or by a change in
//! a simulated world, is its own affair; that the same step means the same in both is decided here.
//!
//! ```text
//!     its time has come ──► begin ──► a member ────────────────────────► strike ──► action
//!     an event happened ──► hit   ──► the sought member ──► found ──────────┘
//!                            ▲                                │ nobody is inside
//!                            └──── the next to enter ◄────────┘
//! ```

mod token_trail;

use algorithms::NodeId;
use chaos::language::Who;
use chaos::process_fault::ProcessEffect;
use chaos::timeline::{Begin, FaultAction, Step, Timeline};
use chaos::{Draw, Member};

use model::plan::Plan;
use model::run::{FaultOutcome, FaultTarget, Happened};

pub use token_trail::TokenTrail;

/// How far the plan's faults have come, but for those that links and messages do by themselves.
#[derive(Debug)]
pub struct ProcessFaults {
    timeline: Timeline,
    /// How often each step has begun.
    begun: Vec<u64>,
    /// Which steps have hit somebody, or something.
    struck: Vec<bool>,
    /// Which steps wait for the next to enter.
    awaits_entry: Vec<bool>,
    outcomes: Vec<FaultOutcome>,
    /// Who stands still, and the outcomes that say so; two pauses may overlap.
    pauses: Vec<(NodeId, usize)>,
}

/// Something that an engine does for the faults at a moment it knows in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    /// A step of the plan's faults begins.
    Begin {
        /// The step of the plan's faults.
        step: usize,
    },
    /// A paused member goes on.
    Resume {
        /// The member that goes on.
        node: NodeId,
    },
    /// A killed member begins its next life.
    Revive {
        /// The member that begins its next life.
        node: NodeId,
    },
    /// A member learns that another is dead.
    Tell {
        /// The member that learns of the death.
        node: NodeId,
        /// The member that is dead.
        dead: NodeId,
    },
}

/// The members that a step is about when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The step is about nobody: there is nobody left, or somebody else was first.
    Nobody,
    /// The step is about links, all of which are known.
    Links,
    /// The step is about this member.
    Member(NodeId),
    /// The step is about the holder or the token: everybody has to be looked at, see
    /// [`ProcessFaults::found`].
    Sought,
}

/// What is known of a member when somebody is sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// The member that was looked at.
    pub node: NodeId,
    /// When the member's client entered, if one is inside.
    pub inside_since_ns: Option<u64>,
    /// When the token last came to the member, if it ever did.
    pub token_since_ns: Option<u64>,
}

/// What is to be done to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessAction {
    /// The member dies, and may begin another life later.
    Kill {
        /// The nanoseconds from the death to the next life, if there is one.
        revive_after_ns: Option<u64>,
    },
    /// The member stands still.
    Pause {
        /// The moment at which the member goes on, if it is known.
        until_ns: Option<u64>,
    },
    /// The member goes on, if it stood still.
    Resume,
    /// The links around the member change, as [`Timeline::enact`] does it.
    Links,
}

impl ProcessFaults {
    /// The faults of a timeline before the run begins.
    pub fn new(timeline: &Timeline) -> Self {
        let steps = timeline.steps.len();
        Self {
            timeline: timeline.clone(),
            begun: vec![0; steps],
            struck: vec![false; steps],
            awaits_entry: vec![false; steps],
            outcomes: Vec::new(),
            pauses: Vec::new(),
        }
    }

    /// The faults, with those that joined them.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Another step, behind those that there are: its number.
    pub fn extend(&mut self, step: Step) -> usize {
        self.timeline.steps.push(step);
        self.begun.push(0);
        self.struck.push(false);
        self.awaits_entry.push(false);
        self.timeline.steps.len() - 1
    }

    /// What has a moment of its own: when each such step first begins.
    pub fn opening(&self) -> Vec<(u64, Task)> {
        let steps = self.timeline.steps.iter().enumerate();
        let timed = steps.filter_map(|(step, fault)| match &fault.begin {
            Begin::At(_) if fault.runs_itself() => None,
            Begin::At(_) if matches!(fault.action, FaultAction::Message(_)) => None,
            Begin::At(window) => Some((window.from_ns, Task::Begin { step })),
            Begin::When { .. } => None,
        });
        timed.collect()
    }

    /// When the step begins again, if it does.
    pub fn again_ns(&self, step: usize, now_ns: u64) -> Option<u64> {
        let Begin::At(window) = &self.timeline.steps[step].begin else {
            return None;
        };
        let next_ns = window.latest(now_ns)?.saturating_add(window.every_ns?);
        let over = window.until_ns.is_some_and(|until_ns| next_ns >= until_ns);
        (!over).then_some(next_ns)
    }

    /// A step begins, among those who live: whom is it about?
    pub fn begin(&mut self, step: usize, living: &[Member]) -> Target {
        let nth = self.begun[step];
        self.begun[step] += 1;
        let action = &self.timeline.steps[step].action;
        let Some(who) = action.who() else {
            return match action.is_about_links() {
                true => Target::Links,
                false => Target::Nobody,
            };
        };
        match who {
            Who::Member(member) => Target::Member(NodeId(member)),
            Who::Random if living.is_empty() => Target::Nobody,
            Who::Random => Target::Member(NodeId(self.timeline.random(step, nth, living))),
            Who::Holder | Who::Token => Target::Sought,
        }
    }

    /// Whether a task is more than a fault that has come before and comes again.
    pub fn is_news(&self, task: &Task) -> bool {
        match task {
            Task::Begin { step } => self.begun[*step] == 0,
            Task::Resume { .. } | Task::Revive { .. } => false,
            Task::Tell { .. } => true,
        }
    }

    /// A member did what a step waits for.
    pub fn hit(&mut self, step: usize, by: NodeId, living: &[Member]) -> Target {
        if std::mem::take(&mut self.awaits_entry[step]) {
            return Target::Member(by);
        }
        match &self.timeline.steps[step].begin {
            Begin::When { .. } if self.begun[step] == 0 => self.begin(step, living),
            // Somebody else was first.
            Begin::When { .. } | Begin::At(_) => Target::Nobody,
        }
    }

    /// The member that a step looks for. Where none fits, it will be the next to enter.
    pub fn found(&mut self, step: usize, sightings: &[Sighting]) -> Option<NodeId> {
        let sightings = sightings.iter();
        let found = match self.sought(step) {
            // With several inside, the one that entered first.
            Who::Holder => sightings
                .filter_map(|seen| Some((seen.inside_since_ns?, seen.node)))
                .min(),
            // It was last seen where it came to last.
            Who::Token => sightings
                .filter_map(|seen| Some((seen.token_since_ns?, seen.node)))
                .max(),
            Who::Member(_) | Who::Random => unreachable!("they need not be sought"),
        };
        self.awaits_entry[step] = found.is_none();
        found.map(|(_, node)| node)
    }

    /// The steps that wait for the next to enter.
    pub fn awaits_entry(&self) -> impl Iterator<Item = usize> {
        let steps = self.awaits_entry.iter().enumerate();
        steps.filter_map(|(step, awaits)| awaits.then_some(step))
    }

    /// Strikes a member that lives, and says how.
    pub fn strike(&mut self, step: usize, now_ns: u64, victim: NodeId) -> ProcessAction {
        self.struck[step] = true;
        let fault = &self.timeline.steps[step];
        let target = FaultTarget::Member(victim);
        let mut outcome = FaultOutcome::at(step, &self.timeline, now_ns, target);
        match &fault.action {
            FaultAction::Process(_, ProcessEffect::End { start_after_ns }) => {
                self.outcomes.push(outcome);
                ProcessAction::Kill {
                    revive_after_ns: *start_after_ns,
                }
            }
            FaultAction::Process(_, ProcessEffect::Stop) => {
                let until_ns = fault.over_ns(now_ns);
                self.pauses.push((victim, self.outcomes.len()));
                self.outcomes.push(outcome);
                ProcessAction::Pause { until_ns }
            }
            FaultAction::Process(_, ProcessEffect::Continue) => {
                let stands_still = self.pauses.iter().any(|(node, _)| *node == victim);
                outcome.happened = Happened::from(now_ns, Some(now_ns));
                outcome.acted = u64::from(stands_still);
                self.outcomes.push(outcome);
                ProcessAction::Resume
            }
            // The network counts what it does.
            FaultAction::Links(_) | FaultAction::Isolate(..) | FaultAction::Heal(_) => {
                ProcessAction::Links
            }
            FaultAction::Message(_) => unreachable!("'{}' strikes nobody", fault.text),
        }
    }

    /// A step about links is in force.
    pub fn changed_links(&mut self, step: usize) {
        self.struck[step] = true;
    }

    /// A paused member goes on.
    pub fn resumed(&mut self, now_ns: u64, node: NodeId) {
        for (_, paused) in self.pauses.extract_if(.., |(paused, _)| *paused == node) {
            let outcome = &mut self.outcomes[paused];
            let began_ns = outcome.at_ns().unwrap_or(now_ns);
            outcome.happened = Happened::from(began_ns, Some(now_ns));
        }
    }

    /// A member that was killed is known to be dead.
    pub fn died(&mut self, now_ns: u64, node: NodeId) {
        let mut outcomes = self.outcomes.iter_mut().rev();
        let death =
            |outcome: &&mut FaultOutcome| outcome.is_death() && outcome.victim() == Some(node);
        if let Some(outcome) = outcomes.find(death) {
            outcome.happened = Happened::from(now_ns, None);
        }
        // Who is dead no longer stands still.
        self.resumed(now_ns, node);
    }

    /// What happened, and what was asked for and never came to pass.
    pub fn outcomes(self) -> Vec<FaultOutcome> {
        let steps = self.timeline.steps.iter().enumerate();
        let idle = steps.filter(|(number, step)| {
            // What acts by itself is counted by itself.
            let by_itself = step.runs_itself() || matches!(step.action, FaultAction::Message(_));
            !self.struck[*number] && !by_itself
        });
        let idle = idle.map(|(number, _)| FaultOutcome::never(number, &self.timeline));
        let idle = idle.collect::<Vec<_>>();
        self.outcomes.into_iter().chain(idle).collect()
    }

    fn sought(&self, step: usize) -> Who {
        let who = self.timeline.steps[step].action.who();
        who.expect("only a step that is about somebody seeks somebody")
    }
}

/// How long after a member's death another one learns of it.
pub fn news_takes_ns(plan: &Plan, dead: NodeId, witness: NodeId) -> u64 {
    let (least_ns, most_ns) = plan.detect_after_ns;
    let mut draw = Draw::new([plan.seed, u64::from(dead.0), u64::from(witness.0)]);
    least_ns + draw.below(most_ns.saturating_sub(least_ns).saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::run::FaultKind;

    fn process_faults(faults: &[&str]) -> ProcessFaults {
        ProcessFaults::new(&crate::sample::faults(faults))
    }

    fn seen(node: u32, inside_since_ns: Option<u64>, token_since_ns: Option<u64>) -> Sighting {
        Sighting {
            node: NodeId(node),
            inside_since_ns,
            token_since_ns,
        }
    }

    #[test]
    fn the_holder_entered_first_and_the_token_came_last() {
        let mut holder = process_faults(&["at 1s kill holder"]);
        let mut token = process_faults(&["at 1s kill token"]);
        let sightings = [
            seen(0, None, Some(3)),
            seen(1, Some(8), Some(2)),
            seen(2, Some(4), None),
        ];
        assert_eq!(holder.begin(0, &[]), Target::Sought);
        assert_eq!(holder.found(0, &sightings), Some(NodeId(2)));
        assert_eq!(token.found(0, &sightings), Some(NodeId(0)));
    }

    #[test]
    fn with_nobody_inside_it_is_the_next_to_enter_whatever_began_it() {
        for fault in ["every 1s kill holder", "when exit 3 kill holder"] {
            let mut process_faults = process_faults(&[fault]);
            for by in [1, 2].map(NodeId) {
                let _ = process_faults.begin(0, &[]);
                assert_eq!(process_faults.found(0, &[seen(0, None, None)]), None);
                assert_eq!(process_faults.awaits_entry().collect::<Vec<_>>(), [0]);
                assert_eq!(
                    process_faults.hit(0, by, &[]),
                    Target::Member(by),
                    "{fault}"
                );
                assert_eq!(process_faults.hit(0, by, &[]), Target::Nobody, "only once");
            }
        }
    }

    #[test]
    fn an_event_begins_its_step_once() {
        let mut process_faults = process_faults(&["when enter 3 kill 4"]);
        assert_eq!(
            process_faults.hit(0, NodeId(3), &[]),
            Target::Member(NodeId(4))
        );
        assert_eq!(process_faults.hit(0, NodeId(3), &[]), Target::Nobody);
        assert_eq!(process_faults.opening(), []);
    }

    #[test]
    fn a_step_that_begins_again_keeps_its_beat() {
        let mut process_faults = process_faults(&["every 10ms until 35ms kill random"]);
        let mut at_ns = process_faults.opening()[0].0;
        let mut beats = vec![at_ns];
        // An engine may be late.
        while let Some(next_ns) = process_faults.again_ns(0, at_ns + 3_000_000) {
            at_ns = next_ns;
            beats.push(at_ns);
        }
        assert_eq!(beats, [10, 20, 30].map(|ms| ms * 1_000_000));
        let victims = (0..20).map(|_| process_faults.begin(0, &[1, 3]));
        let victims = victims.collect::<Vec<_>>();
        assert!(
            [1, 3]
                .map(NodeId)
                .iter()
                .all(|node| victims.contains(&Target::Member(*node)))
        );
        assert_eq!(process_faults.begin(0, &[]), Target::Nobody);
    }

    #[test]
    fn outcomes_say_what_happened_and_what_did_not() {
        let mut process_faults = process_faults(&[
            "at 1ms pause 2 for 5ms",
            "at 2ms resume 3",
            "at 3ms kill 2",
            "when enter 4 cut 0-1",
        ]);
        let _ = process_faults.strike(0, 9, NodeId(2));
        let pause = process_faults.strike(0, 10, NodeId(2));
        assert_eq!(
            pause,
            ProcessAction::Pause {
                until_ns: Some(5_000_010)
            }
        );
        assert_eq!(
            process_faults.strike(1, 20, NodeId(3)),
            ProcessAction::Resume
        );
        let _ = process_faults.strike(2, 30, NodeId(2));
        process_faults.died(31, NodeId(2));
        let outcomes = process_faults.outcomes();
        let short = |one: &FaultOutcome| (one.step, one.kind, one.happened, one.acted);
        let expected = [
            (Some(0), FaultKind::Pause, Happened::from(9, Some(31)), 1),
            (Some(0), FaultKind::Pause, Happened::from(10, Some(31)), 1),
            (Some(1), FaultKind::Resume, Happened::from(20, Some(20)), 0),
            (Some(2), FaultKind::Kill, Happened::from(31, None), 1),
            (Some(3), FaultKind::Links, Happened::Never, 0),
        ];
        assert_eq!(outcomes.iter().map(short).collect::<Vec<_>>(), expected);
    }
}
