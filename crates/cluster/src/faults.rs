//! What goes wrong with the members, as the plan's faults say.
//!
//! A fault whose victim is known acts at its moment. One that asks for the holder or the token first
//! stops everybody: only then does the answer stay true until the fault is in force. A member that
//! reports an event which a fault waits for stands still as well, until it may go on.

use std::collections::BTreeSet;

use algorithms::NodeId;
use chaos::timeline::Timeline;
use member::faults::processes::{
    ProcessAction, ProcessFaults, Sighting, Target, Task, news_takes_ns,
};
use member::timer_queue::TimerQueue;
use node::control::ToMember;
use tracing::info;

use super::proxy;
use super::supervisor::{Life, Supervisor};
use model::engine::EngineError;

/// How far the plan's faults have come.
#[derive(Debug)]
pub(crate) struct Faults {
    pub(crate) queue: TimerQueue<Task>,
    /// Who is struck, and what happened.
    pub(crate) process_faults: ProcessFaults,
    search: Option<VictimSearch>,
    /// Steps that wait for another search to end.
    deferred: Vec<usize>,
    /// Members that stand still until a step is in force.
    hitters: Vec<(usize, NodeId)>,
    /// Steps that the proxies have been told of, and which some have not put in force yet: how many.
    enacting: Vec<(usize, usize)>,
    /// The last moment at which links are known to have changed, or to change.
    pub(crate) links_changed_ns: u64,
}

/// A search for the holder or the token: everybody stops and answers.
#[derive(Debug)]
struct VictimSearch {
    step: usize,
    answers: Vec<Sighting>,
    /// Those who were asked and have not answered yet. Who was paused or about to die was not asked.
    missing: BTreeSet<NodeId>,
    /// Everybody has answered, and who was found has been struck.
    concluded: bool,
    /// The step, if nobody was found and the next to enter it shall be.
    catch: Option<usize>,
}

impl Faults {
    /// The faults of a plan before the run begins; steps with a moment of their own are in the
    /// queue.
    pub(crate) fn new(faults: &Timeline) -> Self {
        let process_faults = ProcessFaults::new(faults);
        let mut queue = TimerQueue::default();
        for (at_ns, task) in process_faults.opening() {
            queue.add(at_ns, task);
        }
        Self {
            queue,
            process_faults,
            search: None,
            deferred: Vec::new(),
            hitters: Vec::new(),
            enacting: Vec::new(),
            links_changed_ns: faults.last_change_ns(),
        }
    }

    /// Whether the step has begun, and is not in force yet.
    fn is_pending(&self, step: usize) -> bool {
        let sought = self.search.as_ref().map(|search| search.step);
        sought == Some(step) || self.deferred.contains(&step) || self.is_enacting(step)
    }

    fn is_enacting(&self, step: usize) -> bool {
        self.enacting.iter().any(|(enacting, _)| *enacting == step)
    }
}

impl Supervisor<'_> {
    /// Does what is due.
    pub(crate) fn perform(&mut self, task: Task) -> Result<(), EngineError> {
        match task {
            Task::Begin { step } => {
                let now_ns = self.now_ns();
                if let Some(at_ns) = self.faults.process_faults.again_ns(step, now_ns) {
                    self.faults.queue.add(at_ns, Task::Begin { step });
                }
                let living = self.living_numbers();
                let target = self.faults.process_faults.begin(step, &living);
                self.aim(step, target);
            }
            Task::Resume { node } => self.resume(node),
            Task::Revive { node } => self.revive(node)?,
            Task::Tell { node, dead } => {
                self.seats[node.index()].tell(ToMember::Down { peer: dead });
            }
        }
        Ok(())
    }

    /// A member reports an event that a step waits for; it stands still until it may go on.
    pub(crate) fn hit(&mut self, step: usize, by: NodeId) {
        self.faults.hitters.push((step, by));
        let living = self.living_numbers();
        let target = self.faults.process_faults.hit(step, by, &living);
        self.aim(step, target);
        if !self.faults.is_pending(step) {
            self.let_go(step);
        }
    }

    /// A proxy has put a step in force; it is in force when all have.
    pub(crate) fn enacted(&mut self, step: usize) {
        let mut enacting = self.faults.enacting.iter_mut();
        if let Some((_, missing)) = enacting.find(|(enacting, _)| *enacting == step) {
            *missing -= 1;
            if *missing == 0 {
                self.in_force(step);
            }
        }
    }

    /// A step is in force.
    fn in_force(&mut self, step: usize) {
        let fault = &self.faults.process_faults.timeline().steps[step].name;
        info!(fault, "a fault of links is in force");
        self.faults.enacting.retain(|(_, missing)| *missing > 0);
        self.end_search();
        if !self.faults.is_pending(step) {
            self.let_go(step);
        }
    }

    /// Lets the members go on that waited for this step.
    fn let_go(&mut self, step: usize) {
        for (waited_for, node) in std::mem::take(&mut self.faults.hitters) {
            match waited_for == step {
                true => self.seats[node.index()].tell(ToMember::GoOn { catch: None }),
                false => self.faults.hitters.push((waited_for, node)),
            }
        }
    }

    /// Strikes, or first looks for the victim.
    fn aim(&mut self, step: usize, target: Target) {
        match target {
            Target::Nobody => {}
            Target::Links => self.enact(step, None),
            Target::Member(victim) => self.strike(step, victim),
            Target::Sought if self.faults.search.is_some() => self.faults.deferred.push(step),
            Target::Sought => self.search(step),
        }
    }

    /// Everybody who can shall stop and answer.
    fn search(&mut self, step: usize) {
        let asked = self.running().collect::<Vec<_>>();
        self.faults.search = Some(VictimSearch {
            step,
            answers: Vec::new(),
            missing: asked.iter().copied().collect(),
            concluded: false,
            catch: None,
        });
        for node in asked {
            self.seats[node.index()].tell(ToMember::Halt);
        }
    }

    /// A member has stopped and answered.
    pub(crate) fn halted(&mut self, sighting: Sighting) {
        if let Some(search) = &mut self.faults.search {
            search.missing.remove(&sighting.node);
            search.answers.push(sighting);
            self.conclude_search();
        }
    }

    /// Strikes, once everybody has answered.
    fn conclude_search(&mut self) {
        let Some(search) = &self.faults.search else {
            return;
        };
        if !search.missing.is_empty() || search.concluded {
            return;
        }
        let step = search.step;
        let victim = self.faults.process_faults.found(step, &search.answers);
        if let Some(victim) = victim {
            self.strike(step, victim);
        }
        if let Some(search) = &mut self.faults.search {
            search.concluded = true;
            search.catch = victim.is_none().then_some(step);
        }
        self.end_search();
    }

    /// Lets everybody go on that a search has stopped, once its step is in force, and begins the next.
    fn end_search(&mut self) {
        let enacting = &self.faults.enacting;
        let pending = |step| enacting.iter().any(|(enacting, _)| *enacting == step);
        let done = |search: &mut VictimSearch| search.concluded && !pending(search.step);
        let Some(search) = self.faults.search.take_if(done) else {
            return;
        };
        for answer in &search.answers {
            let go_on = ToMember::GoOn {
                catch: search.catch,
            };
            self.seats[answer.node.index()].tell(go_on);
        }
        self.let_go(search.step);
        if !self.faults.deferred.is_empty() {
            let next = self.faults.deferred.remove(0);
            self.search(next);
        }
    }

    /// Has the proxy put a step in force.
    fn enact(&mut self, step: usize, who: Option<NodeId>) {
        let now_ns = self.now_ns();
        let steps = &self.faults.process_faults.timeline().steps;
        let over_ns = steps[step].over_ns(now_ns);
        let changed_ns = over_ns.unwrap_or(now_ns);
        self.faults.links_changed_ns = self.faults.links_changed_ns.max(changed_ns);
        self.faults.process_faults.changed_links(step);
        let who = who.map(|node| node.0);
        self.faults.enacting.push((step, self.proxies.len()));
        for proxy in &self.proxies {
            proxy.tell(proxy::ToProxy::Enact { step, who });
        }
    }

    /// Does to a member what the step says.
    fn strike(&mut self, step: usize, victim: NodeId) {
        let now_ns = self.now_ns();
        if !self.seats[victim.index()].is_alive() {
            return;
        }
        let fault = &self.faults.process_faults.timeline().steps[step].name;
        info!(now_ns, fault, member = %victim, "a fault strikes");
        self.show_strike(now_ns, step, victim);
        let seat = &mut self.seats[victim.index()];
        match self.faults.process_faults.strike(step, now_ns, victim) {
            ProcessAction::Kill { revive_after_ns } => seat.kill(revive_after_ns),
            ProcessAction::Pause { until_ns } => {
                seat.pause();
                self.rounds.abandon();
                if let Some(at_ns) = until_ns {
                    self.faults.queue.add(at_ns, Task::Resume { node: victim });
                }
            }
            ProcessAction::Resume => self.resume(victim),
            ProcessAction::Links => self.enact(step, Some(victim)),
        }
    }

    fn resume(&mut self, node: NodeId) {
        let now_ns = self.now_ns();
        let seat = &mut self.seats[node.index()];
        if seat.life != Life::Paused {
            return;
        }
        info!(now_ns, member = %node, "resumes a member");
        seat.resume();
        self.faults.process_faults.resumed(now_ns, node);
    }

    /// A member that was killed on purpose has been reaped.
    pub(crate) fn reaped(&mut self, node: NodeId, revive_after_ns: Option<u64>) {
        let now_ns = self.now_ns();
        self.rounds.abandon();
        self.faults.process_faults.died(now_ns, node);
        if let Some(after_ns) = revive_after_ns {
            self.faults
                .queue
                .add(now_ns + after_ns, Task::Revive { node });
        }
        if let Some(search) = &mut self.faults.search
            && search.missing.remove(&node)
        {
            self.conclude_search();
        }
        let plan = self.plan;
        if plan.info().wants_peer_events() && plan.suspects_after_ns().is_none() {
            for witness in self.living().collect::<Vec<_>>() {
                let at_ns = now_ns + news_takes_ns(self.plan, node, witness);
                let news = Task::Tell {
                    node: witness,
                    dead: node,
                };
                self.faults.queue.add(at_ns, news);
            }
        }
    }

    fn living_numbers(&self) -> Vec<u32> {
        self.living().map(|node| node.0).collect()
    }
}
