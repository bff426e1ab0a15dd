//! The turns of the person who watches the run, if there is one.

use std::time::Duration;

use algorithms::NodeId;
use chaos::timeline::{Begin, Step};
use member::faults::processes::Task;
use node::control::ToMember;
use tokio::time::Instant;

use super::Supervisor;
use crate::live::{Act, Glance, Person};
use crate::proxy::ToProxy;

/// How often the person has a turn.
const TURN_EVERY: Duration = Duration::from_millis(40);
/// How long a member may take to answer a look before the others are no longer kept waiting for it.
const ANSWER_WITHIN: Duration = Duration::from_millis(500);

/// The person, and how far the looks have come.
pub(super) struct Turns<'a> {
    person: &'a mut dyn Person,
    /// Whether the person may still do something.
    is_open: bool,
    turn_at: Instant,
    looked_at: Instant,
    /// Who was looked at and has not answered.
    missing: Vec<NodeId>,
    glances: Vec<(NodeId, Glance)>,
}

impl<'a> Turns<'a> {
    pub(super) fn new(person: &'a mut dyn Person) -> Self {
        let now = Instant::now();
        Self {
            person,
            is_open: true,
            turn_at: now,
            looked_at: now,
            missing: Vec::new(),
            glances: Vec::new(),
        }
    }
}

impl Supervisor<'_> {
    /// When the person has a turn, if there is one.
    pub(super) fn next_turn(&self) -> Option<Instant> {
        Some(self.turns.as_ref()?.turn_at)
    }

    /// Lets the person do what they want, and look at everybody.
    pub(super) fn turn(&mut self) {
        let now_ns = self.now_ns();
        let Some(turns) = &mut self.turns else {
            return;
        };
        turns.turn_at = Instant::now() + TURN_EVERY;
        for act in turns.person.turn(now_ns) {
            self.act(now_ns, act);
        }
        self.look();
    }

    fn act(&mut self, now_ns: u64, act: Act) {
        match act {
            Act::Fault(step) => self.add_fault(now_ns, *step),
            Act::Cue(node, cue) => {
                let seat = &mut self.seats[node.index()];
                seat.idle = false;
                seat.tell(ToMember::Cue { cue });
                // What was counted before it says nothing about what comes.
                self.rounds.abandon();
            }
            Act::Stretch(times) => self.tell_all(&ToMember::Stretch { times }),
            Act::Finish => {
                if let Some(turns) = &mut self.turns {
                    turns.is_open = false;
                }
            }
        }
    }

    /// The step is one of the plan's from now on.
    fn add_fault(&mut self, now_ns: u64, step: Step) {
        for proxy in &self.proxies {
            proxy.tell(ToProxy::Extend(Box::new(step.clone())));
        }
        let (runs_itself, begin) = (step.runs_itself(), step.begin.clone());
        let number = self.faults.process_faults.extend(step);
        let last_change_ns = self.faults.process_faults.timeline().last_change_ns();
        self.faults.links_changed_ns = self.faults.links_changed_ns.max(last_change_ns);
        if let (Begin::At(window), false) = (begin, runs_itself) {
            let begin = Task::Begin { step: number };
            self.faults.queue.add(window.from_ns.max(now_ns), begin);
        }
    }

    /// Looks at everybody again, once all have answered the last look who can.
    fn look(&mut self) {
        let running = self.running().collect::<Vec<_>>();
        let Some(turns) = &mut self.turns else {
            return;
        };
        turns.missing.retain(|node| running.contains(node));
        let now = Instant::now();
        if !turns.missing.is_empty() && now < turns.looked_at + ANSWER_WITHIN {
            return;
        }
        turns.person.saw(std::mem::take(&mut turns.glances));
        let most = turns.person.most_events();
        turns.looked_at = now;
        turns.missing.clone_from(&running);
        for node in running {
            self.seats[node.index()].tell(ToMember::Look { most });
        }
    }

    /// A member has answered a look.
    pub(super) fn seen(&mut self, node: NodeId, glance: Glance) {
        if let Some(turns) = &mut self.turns {
            turns.missing.retain(|missing| *missing != node);
            turns.glances.push((node, glance));
        }
    }

    /// Tells the person that a step has struck a member.
    pub(crate) fn show_strike(&mut self, now_ns: u64, step: usize, victim: NodeId) {
        if let Some(turns) = &mut self.turns {
            let step = &self.faults.process_faults.timeline().steps[step];
            turns.person.struck(now_ns, step, victim);
        }
    }

    /// Whether the run, which is at rest, goes on because the person may still do something.
    pub(super) fn waits_for_the_person(&mut self) -> bool {
        let Some(turns) = self.turns.as_mut().filter(|turns| turns.is_open) else {
            return false;
        };
        turns.person.at_rest();
        true
    }
}
