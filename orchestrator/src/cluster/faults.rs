//! What goes wrong with the members, as the plan's faults say.
//!
//! A fault whose victim is known acts at its moment. One that asks for the holder or the token first
//! stops everybody: only then does the answer stay true until the fault is in force. A member that
//! reports an event which a fault waits for stands still as well, until it may go on.

use algorithms::NodeId;
use chaos::Draw;
use chaos::language::Who;
use chaos::timeline::{Begin, Deed, Timeline};
use node::control::Order;
use node::run::FaultRow;
use rustix::process::Signal;

use super::agenda::{Agenda, Task};
use super::stage::{Life, Stage};
use crate::Failure;

/// How far the plan's faults have come.
#[derive(Debug)]
pub(super) struct Mischief {
    pub(super) agenda: Agenda,
    /// What happened.
    pub(super) rows: Vec<FaultRow>,
    /// Which steps have begun, and which have hit somebody.
    begun: Vec<bool>,
    struck: Vec<bool>,
    search: Option<Search>,
    /// Steps that wait for another search to end.
    deferred: Vec<usize>,
    /// Members that stand still until a step is in force.
    hitters: Vec<(usize, NodeId)>,
}

/// A search for the holder or the token: everybody stops and answers.
#[derive(Debug)]
struct Search {
    step: usize,
    who: Who,
    answers: Vec<Answer>,
    missing: usize,
}

#[derive(Clone, Copy, Debug)]
struct Answer {
    node: NodeId,
    inside_since_ns: Option<u64>,
    token_since_ns: Option<u64>,
}

impl Mischief {
    /// Nothing has happened; what has a moment of its own is on the agenda.
    pub(super) fn new(faults: &Timeline) -> Self {
        let mut agenda = Agenda::default();
        for (step, fault) in faults.steps.iter().enumerate() {
            if let (false, Begin::At(window)) = (fault.runs_itself(), &fault.begin) {
                agenda.add(window.from_ns, Task::Begin { step });
            }
        }
        Self {
            agenda,
            rows: Vec::new(),
            begun: vec![false; faults.steps.len()],
            struck: vec![false; faults.steps.len()],
            search: None,
            deferred: Vec::new(),
            hitters: Vec::new(),
        }
    }

    fn seeks(&self, step: usize) -> bool {
        let sought = self.search.as_ref().map(|search| search.step);
        sought == Some(step) || self.deferred.contains(&step)
    }
}

impl Search {
    fn victim(&self) -> Option<NodeId> {
        let answers = self.answers.iter();
        match self.who {
            // With several inside, the one that entered first.
            Who::Holder => answers
                .filter_map(|answer| Some((answer.inside_since_ns?, answer.node)))
                .min()
                .map(|(_, node)| node),
            // It was last seen where it came to last.
            Who::Token => answers
                .filter_map(|answer| Some((answer.token_since_ns?, answer.node)))
                .max()
                .map(|(_, node)| node),
            Who::Member(_) | Who::Random => unreachable!("they need no search"),
        }
    }
}

impl Stage<'_> {
    /// Does what is due.
    pub(super) fn perform(&mut self, task: Task) -> Result<(), Failure> {
        match task {
            Task::Begin { step } => {
                let now_ns = self.now_ns();
                if let Begin::At(window) = &self.cluster.plan.faults.steps[step].begin
                    && let Some(every_ns) = window.every_ns
                    && window
                        .until_ns
                        .is_none_or(|until_ns| now_ns + every_ns < until_ns)
                {
                    self.mischief
                        .agenda
                        .add(now_ns + every_ns, Task::Begin { step });
                }
                self.begin(step);
            }
            Task::Resume { node } => self.resume(node),
            Task::Revive { node } => self.revive(node)?,
            Task::Tell { node, dead } => self.places[node.index()].tell(Order::Down { peer: dead }),
        }
        Ok(())
    }

    /// A member reports an event that a step waits for; it stands still until it may go on.
    pub(super) fn hit(&mut self, step: usize, by: NodeId) {
        self.mischief.hitters.push((step, by));
        match &self.cluster.plan.faults.steps[step].begin {
            Begin::When { .. } if !self.mischief.begun[step] => self.begin(step),
            // There was no holder when its time came, and this is the next to enter.
            Begin::At(_) if !self.mischief.struck[step] => self.strike(step, by),
            // Somebody else was first.
            Begin::When { .. } | Begin::At(_) => {}
        }
        if !self.mischief.seeks(step) {
            self.let_go(step);
        }
    }

    /// Whoever waited for this step may go on.
    fn let_go(&mut self, step: usize) {
        for (waited_for, node) in std::mem::take(&mut self.mischief.hitters) {
            match waited_for == step {
                true => self.places[node.index()].tell(Order::GoOn { catch: None }),
                false => self.mischief.hitters.push((waited_for, node)),
            }
        }
    }

    /// A step begins: its victim is known, or has to be found.
    fn begin(&mut self, step: usize) {
        self.mischief.begun[step] = true;
        let who = match &self.cluster.plan.faults.steps[step].deed {
            Deed::Kill(who)
            | Deed::Pause(who)
            | Deed::Resume(who)
            | Deed::Restart(who, _)
            | Deed::Isolate(who, _) => *who,
            Deed::Links(_) | Deed::Heal(_) | Deed::Message(_) => return,
        };
        match who {
            Who::Member(member) => self.strike(step, NodeId(member)),
            Who::Random => {
                let living = self.living().map(|node| node.0).collect::<Vec<_>>();
                if !living.is_empty() {
                    let nth = self.mischief.rows.len() as u64;
                    let member = self.cluster.plan.faults.random(step, nth, &living);
                    self.strike(step, NodeId(member));
                }
            }
            Who::Holder | Who::Token if self.mischief.search.is_some() => {
                self.mischief.deferred.push(step);
            }
            Who::Holder | Who::Token => {
                let asked = self.running().collect::<Vec<_>>();
                let missing = asked.len();
                self.mischief.search = Some(Search {
                    step,
                    who,
                    answers: Vec::new(),
                    missing,
                });
                for node in asked {
                    self.places[node.index()].tell(Order::Halt);
                }
            }
        }
    }

    /// A member has stopped and answered.
    pub(super) fn halted(
        &mut self,
        node: NodeId,
        inside_since_ns: Option<u64>,
        token_since_ns: Option<u64>,
    ) {
        if let Some(search) = &mut self.mischief.search {
            search.answers.push(Answer {
                node,
                inside_since_ns,
                token_since_ns,
            });
            search.missing -= 1;
            self.conclude_search();
        }
    }

    /// Strikes, once everybody has answered, and lets them go on.
    fn conclude_search(&mut self) {
        let Some(search) = self.mischief.search.take_if(|search| search.missing == 0) else {
            return;
        };
        let victim = search.victim();
        if let Some(victim) = victim {
            self.strike(search.step, victim);
        }
        // Nobody is inside: the next to enter it shall be.
        let catch = victim.is_none().then_some(search.step);
        for answer in &search.answers {
            self.places[answer.node.index()].tell(Order::GoOn { catch });
        }
        self.let_go(search.step);
        if !self.mischief.deferred.is_empty() {
            let next = self.mischief.deferred.remove(0);
            self.begin(next);
        }
    }

    /// Does to a member what the step says.
    fn strike(&mut self, step: usize, victim: NodeId) {
        let now_ns = self.now_ns();
        let fault = &self.cluster.plan.faults.steps[step];
        let row = FaultRow {
            time_ns: now_ns,
            fault: fault.name.clone(),
            target: victim.to_string(),
            until_ns: None,
            acted: 1,
        };
        let place = &mut self.places[victim.index()];
        if !place.is_alive() {
            return;
        }
        self.mischief.struck[step] = true;
        match &fault.deed {
            Deed::Kill(_) => {
                place.kill(None);
                self.mischief.rows.push(row);
            }
            Deed::Restart(_, after_ns) => {
                place.kill(Some(*after_ns));
                self.mischief.rows.push(row);
            }
            Deed::Pause(_) => {
                place.pause();
                self.rounds.abandon();
                self.mischief.rows.push(row);
                let (for_ns, until_ns) = match &fault.begin {
                    Begin::At(window) => (window.length_ns, window.until_ns),
                    Begin::When {
                        for_ns, until_ns, ..
                    } => (*for_ns, *until_ns),
                };
                let after = for_ns.map(|for_ns| now_ns + for_ns);
                if let Some(at_ns) = after.into_iter().chain(until_ns).min() {
                    self.mischief
                        .agenda
                        .add(at_ns, Task::Resume { node: victim });
                }
            }
            Deed::Resume(_) => {
                self.mischief.rows.push(FaultRow {
                    until_ns: Some(now_ns),
                    ..row
                });
                self.resume(victim);
            }
            Deed::Links(_) | Deed::Isolate(..) | Deed::Heal(_) | Deed::Message(_) => {}
        }
    }

    fn resume(&mut self, node: NodeId) {
        let now_ns = self.now_ns();
        let place = &mut self.places[node.index()];
        if place.life != Life::Paused {
            return;
        }
        place.life = Life::Running;
        place.signal(Signal::CONT);
        let target = node.to_string();
        let mut pauses = self.mischief.rows.iter_mut().rev();
        if let Some(row) = pauses.find(|row| row.fault == "pause" && row.target == target) {
            row.until_ns = Some(now_ns);
        }
    }

    /// A member that was killed on purpose has been reaped.
    pub(super) fn buried(&mut self, node: NodeId, revive_after_ns: Option<u64>) {
        let now_ns = self.now_ns();
        self.rounds.abandon();
        let target = node.to_string();
        let mut deaths = self.mischief.rows.iter_mut().rev();
        if let Some(row) = deaths.find(|row| row.target == target) {
            row.time_ns = now_ns;
        }
        if let Some(after_ns) = revive_after_ns {
            self.mischief
                .agenda
                .add(now_ns + after_ns, Task::Revive { node });
        }
        if let Some(search) = &mut self.mischief.search
            && !search.answers.iter().any(|answer| answer.node == node)
        {
            search.missing -= 1;
            self.conclude_search();
        }
        if self.cluster.plan.entry().wants_peer_events {
            let (least_ns, most_ns) = self.cluster.plan.detect_after_ns;
            for witness in self.living().collect::<Vec<_>>() {
                let words = [
                    self.cluster.plan.seed,
                    u64::from(node.0),
                    u64::from(witness.0),
                ];
                let room_ns = most_ns.saturating_sub(least_ns) + 1;
                let after_ns = least_ns + Draw::new(words).below(room_ns);
                self.mischief.agenda.add(
                    now_ns + after_ns,
                    Task::Tell {
                        node: witness,
                        dead: node,
                    },
                );
            }
        }
    }

    /// Rows for the steps that were asked for and never came to pass.
    pub(super) fn idle_faults(&self) -> Vec<FaultRow> {
        let steps = self.cluster.plan.faults.steps.iter().enumerate();
        let idle = steps.filter(|(number, step)| {
            let process = matches!(
                step.deed,
                Deed::Kill(_) | Deed::Pause(_) | Deed::Resume(_) | Deed::Restart(..)
            );
            process && !self.mischief.struck[*number]
        });
        idle.map(|(_, step)| FaultRow {
            time_ns: match &step.begin {
                Begin::At(window) => window.from_ns,
                Begin::When { .. } => 0,
            },
            fault: step.name.clone(),
            target: step.text.clone(),
            until_ns: Some(0),
            acted: 0,
        })
        .collect()
    }
}
