//! What goes wrong with simulated members, as the plan's faults say.
//!
//! Which member a step strikes, and what its outcome says, is decided by [`ProcessFaults`]; here a
//! dead member's alarms and mail are taken out of the world, and what happens to a paused one waits
//! until it goes on. An event that a step waits for is handled first; then the step comes into
//! force, and only then does anything leave the member, as on a cluster.

use std::collections::BTreeMap;

use algorithms::erased::MessageId;
use algorithms::{Change, NodeId, Topology};
use chaos::Timeline;
use member::faults::processes::{
    ProcessAction, ProcessFaults, Sighting, Target, Task, TokenTrail, news_takes_ns,
};
use member::members::Input;
use member::referee;
use model::event::What;
use model::plan::Plan;
use model::run::{FaultOutcome, Run, sort_by_time};
use transport::Overflow;

use super::network::FaultyNetwork;
use super::transports::Transports;
use super::{Due, World};
use crate::Needs;

/// How far the plan's faults have come.
pub(super) struct Faults {
    pub(super) process_faults: ProcessFaults,
    /// The network, where links can be bad.
    pub(super) network: Option<FaultyNetwork>,
    /// The transport at the ends of its links, where it is needed.
    pub(super) transports: Option<Transports>,
    /// Whether the survivors of a death are told; they may have to find out.
    peer_events: bool,
    /// Everything that was ever to be done, by its number.
    tasks: Vec<Task>,
    /// How many of them are yet to be done.
    tasks_left: usize,
    lives: Vec<Life>,
    /// What waits for a paused member: what it had yet to send, and what happened to it since.
    put_off: BTreeMap<NodeId, PutOff>,
    /// Steps that must be in force before anything leaves the member whose event it is.
    pub(super) hits: Vec<usize>,
    /// What that member sends then.
    pub(super) outgoing: Vec<(NodeId, MessageId)>,
    /// How long messages were held back that are under way.
    pub(super) held_ns: BTreeMap<MessageId, u64>,
    /// Since when each member is inside, if it is.
    inside_since_ns: Vec<Option<u64>>,
    /// When the token last came to each member, if ever.
    token_since_ns: Vec<Option<u64>>,
    token: TokenTrail,
    /// Members that were taken for dead and were not.
    pub(super) false_suspicions: Vec<FaultOutcome>,
}

/// A task's place among all that ever were.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaskId(u32);

/// What a member is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Running,
    Paused,
    /// Dead, or in a later life, in which it runs no algorithm.
    Over,
}

#[derive(Default)]
struct PutOff {
    unsent: Vec<(NodeId, MessageId)>,
    dues: Vec<Due>,
}

impl Faults {
    /// The faults of the planned run, if it has any.
    pub(super) fn new(
        plan: &Plan,
        needs: Needs,
        topology: &Topology,
        kinds: &[&str],
    ) -> Option<Self> {
        let transport = plan.runs_transport();
        if plan.faults.steps.is_empty() && !transport {
            return None;
        }
        let mut steps = plan.faults.steps.iter();
        let bad_links = steps.any(|step| step.action.is_about_links());
        let nodes = plan.nodes as usize;
        let mut token_since_ns = vec![None; nodes];
        if plan.info().token.is_some() {
            token_since_ns[plan.holder.index()] = Some(0);
        }
        Some(Self {
            process_faults: ProcessFaults::new(&plan.faults),
            network: (bad_links || transport).then(|| FaultyNetwork::new(plan)),
            transports: transport.then(|| Transports::new(plan, needs, topology)),
            peer_events: needs.peer_events && plan.suspects_after_ns().is_none(),
            tasks: Vec::new(),
            tasks_left: 0,
            lives: vec![Life::Running; nodes],
            put_off: BTreeMap::new(),
            hits: Vec::new(),
            outgoing: Vec::new(),
            held_ns: BTreeMap::new(),
            inside_since_ns: vec![None; nodes],
            token_since_ns,
            token: TokenTrail::new(plan, kinds),
            false_suspicions: Vec::new(),
        })
    }

    /// Takes note of who is inside; a step may wait for the member that enters.
    pub(super) fn watch(&mut self, now_ns: u64, node: NodeId, what: &What) {
        match what {
            What::Enter { .. } => {
                self.inside_since_ns[node.index()] = Some(now_ns);
                self.hits.extend(self.process_faults.awaits_entry());
            }
            What::Release => self.inside_since_ns[node.index()] = None,
            _ => {}
        }
    }

    /// A message of that kind leaves; it may carry the token.
    pub(super) fn sent(&mut self, now_ns: u64, from: NodeId, to: NodeId, kind: &str) {
        self.token.sent(now_ns, kind, from, to);
    }

    /// A message of that kind arrives; it may carry the token.
    pub(super) fn received(&mut self, now_ns: u64, by: NodeId, kind: &str) {
        if self.token.received(now_ns, kind, by) {
            self.token_since_ns[by.index()] = Some(now_ns);
        }
    }

    /// Adds to the account of the run what the faults and the transport did.
    pub(super) fn tell(self, timeline: &Timeline, run: &mut Run) {
        let token = self.token;
        let struck = self.process_faults.outcomes().into_iter();
        run.faults.extend(struck.map(|fault| token.explain(fault)));
        if let Some(network) = &self.network {
            let report = timeline.report(&network.network, run.ended_ns);
            let ended_ns = run.ended_ns;
            let report = report.into_iter();
            let report = report.map(|did| FaultOutcome::on_links(did, timeline, ended_ns));
            run.faults.extend(report);
        }
        run.faults.extend(self.false_suspicions);
        sort_by_time(&mut run.faults);
        if let Some(transports) = self.transports {
            run.transport = transports.rows();
            run.round_trips = transports.round_trips;
        }
    }

    /// How many of those inside are paused.
    pub(super) fn paused_inside(&self) -> u32 {
        let paused = self.put_off.keys();
        let inside = paused.filter(|node| self.inside_since_ns[node.index()].is_some());
        inside.count() as u32
    }

    fn nodes(&self, life: fn(Life) -> bool) -> impl Iterator<Item = u32> {
        let lives = self.lives.iter().enumerate();
        lives.filter_map(move |(node, of)| life(*of).then_some(node as u32))
    }

    fn living(&self) -> Vec<u32> {
        self.nodes(|life| life != Life::Over).collect()
    }

    /// Everybody who would answer: the paused do not.
    fn sightings(&self) -> Vec<Sighting> {
        let sighting = |node: u32| Sighting {
            node: NodeId(node),
            inside_since_ns: self.inside_since_ns[node as usize],
            token_since_ns: self.token_since_ns[node as usize],
        };
        self.nodes(|life| life == Life::Running)
            .map(sighting)
            .collect()
    }
}

impl World<'_> {
    /// What has a moment of its own is in the queue from the beginning.
    pub(super) fn open_faults(&mut self) {
        let tasks = self.faults.as_ref().map(|all| all.process_faults.opening());
        for (at_ns, task) in tasks.unwrap_or_default() {
            self.schedule(at_ns, task);
        }
        if self.plan.suspects_after_ns().is_some() {
            // Everybody watches everybody, also who has nothing else to do.
            for node in (0..self.plan.nodes).map(NodeId) {
                self.flush(node);
            }
        }
    }

    pub(super) fn faults(&mut self) -> &mut Faults {
        let faults = self.faults.as_mut();
        faults.expect("only a world with faults has such events")
    }

    /// Whether something may set a settled world in motion: what is yet to go wrong or to be told,
    /// a link that is cut or healed, or a silence that is not yet taken for a death.
    pub(super) fn expects_faults(&self) -> bool {
        let faults = self.faults.as_ref();
        faults.is_some_and(|faults| faults.tasks_left > 0)
            || self.tells_of_links() && referee::sessions_may_end(self.plan, self.now_ns)
            || self.expects_suspicion()
    }

    fn expects_suspicion(&self) -> bool {
        let network = self.faults.as_ref().and_then(|all| all.network.as_ref());
        let changed_ns = network.map_or(0, |network| network.last_change_ns);
        self.plan.suspects_after_ns().is_some_and(|silence_ns| {
            referee::expects_suspicion(silence_ns, self.now_ns, self.moved_ns, changed_ns)
        })
    }

    /// Whether members are told of links that go down or come up.
    pub(super) fn tells_of_links(&self) -> bool {
        let transports = self.faults.as_ref().and_then(|all| all.transports.as_ref());
        transports.is_some_and(|transports| transports.tells_of_links)
    }

    /// Whether it is more than a fault that has come before and comes again.
    pub(super) fn is_news(&self, due: Due) -> bool {
        match (due, &self.faults) {
            (Due::Task(TaskId(number)), Some(faults)) => {
                let task = &faults.tasks[number as usize];
                faults.process_faults.is_news(task)
            }
            // The transport repeats itself for ever.
            (Due::Datagram(_) | Due::Tick(_), _) => false,
            (Due::Message(_) | Due::Alarm(_) | Due::Link(_) | Due::Task(_), _) => true,
        }
    }

    /// Whether links will yet become better or worse.
    pub(super) fn expects_change(&self, now_ns: u64) -> bool {
        let network = self.faults.as_ref().and_then(|all| all.network.as_ref());
        network.is_some_and(|network| network.expects_change(now_ns))
    }

    /// The peer to which more is queued than may be, if there is one.
    pub(super) fn overflow(&self) -> Option<Overflow> {
        self.faults.as_ref()?.transports.as_ref()?.overflow()
    }

    /// Lets a message go the way that messages go in a world with faults, if that is another way.
    pub(super) fn has_another_way(&mut self, from: NodeId, to: NodeId, message: MessageId) -> bool {
        let faults = self.faults();
        let (network, transports) = (faults.network.is_some(), faults.transports.is_some());
        if from != to && transports {
            self.dispatch(from, to, message);
        } else if self.is_over(to) {
            self.lose(from, to, message);
        } else if from != to && network {
            self.carry(from, to, message);
        } else {
            return false;
        }
        true
    }

    /// Whether something may happen though nothing is known to: somebody is paused, or a message
    /// that was given up arrives.
    pub(super) fn may_surprise(&self) -> bool {
        let faults = self.faults.as_ref();
        faults.is_some_and(|faults| {
            let given_up = faults
                .transports
                .as_ref()
                .is_some_and(Transports::may_surprise);
            !faults.put_off.is_empty() || given_up
        })
    }

    /// Whether the member goes about what happens to it.
    pub(super) fn runs(&self, node: NodeId) -> bool {
        self.life(node) == Life::Running
    }

    /// Whether the member is paused or dead, and what happens to it not for now, or not at all.
    pub(super) fn is_put_off(&mut self, due: Due) -> bool {
        let node = match due {
            Due::Alarm(alarm) => self.members.owner(alarm),
            Due::Message(message) => self.flights[message.0 as usize].to,
            Due::Tick(node) => node,
            Due::Datagram(id) => match &self.faults().transports {
                Some(transports) => transports.journey(id).1,
                None => return false,
            },
            Due::Link(change) => match &self.faults().transports {
                Some(transports) => transports.who_hears(change),
                None => return false,
            },
            Due::Task(TaskId(number)) => match self.faults().tasks[number as usize] {
                Task::Tell { node, .. } => node,
                Task::Begin { .. } | Task::Resume { .. } | Task::Revive { .. } => return false,
            },
        };
        match (self.life(node), due) {
            // A later life of a dead member listens, and no algorithm hears of it.
            (Life::Running, _) | (Life::Over, Due::Datagram(_) | Due::Tick(_)) => return false,
            (Life::Paused, _) => {
                let waits = self.faults().put_off.entry(node).or_default();
                waits.dues.push(due);
            }
            (Life::Over, _) => self.forget(node, due),
        }
        true
    }

    /// Does what is due.
    pub(super) fn perform(&mut self, TaskId(number): TaskId) {
        let now_ns = self.now_ns;
        let faults = self.faults();
        faults.tasks_left -= 1;
        match faults.tasks[number as usize] {
            Task::Begin { step } => {
                let again_ns = faults.process_faults.again_ns(step, now_ns);
                let living = faults.living();
                let target = faults.process_faults.begin(step, &living);
                if let Some(at_ns) = again_ns {
                    self.schedule(at_ns, Task::Begin { step });
                }
                self.aim(step, target);
            }
            Task::Resume { node } => self.resume(node),
            Task::Revive { node } => self.revive(node),
            Task::Tell { node, dead } => {
                let change = Change::Down;
                self.tell(node, Input::Peer { peer: dead, change });
            }
        }
    }

    /// The event is handled: puts in force what waited for it, and lets out what the member sends.
    pub(super) fn let_out(&mut self, node: NodeId) {
        let faults = self.faults();
        let outgoing = std::mem::take(&mut faults.outgoing);
        for step in std::mem::take(&mut faults.hits) {
            let faults = self.faults();
            let living = faults.living();
            let target = faults.process_faults.hit(step, node, &living);
            self.aim(step, target);
        }
        match self.life(node) {
            Life::Running => {
                for (to, message) in outgoing {
                    self.send(node, to, message);
                }
                self.flush(node);
            }
            Life::Paused => {
                let waits = self.faults().put_off.entry(node).or_default();
                waits.unsent.extend(outgoing);
            }
            Life::Over => {
                for (to, message) in outgoing {
                    self.lose(node, to, message);
                }
            }
        }
    }

    /// Messages that have arrived at members who are paused, wait there to be sent, or are in the
    /// hands of the transport.
    pub(super) fn messages_elsewhere(&self) -> Vec<(NodeId, NodeId, usize)> {
        let mut messages = Vec::new();
        for (&node, waits) in self.faults.iter().flat_map(|faults| &faults.put_off) {
            messages.extend(
                waits
                    .unsent
                    .iter()
                    .map(|(to, message)| (node, *to, *message)),
            );
            messages.extend(waits.dues.iter().filter_map(|due| match due {
                Due::Message(message) => {
                    Some((self.flights[message.0 as usize].from, node, *message))
                }
                Due::Alarm(_) | Due::Task(_) | Due::Datagram(_) | Due::Tick(_) | Due::Link(_) => {
                    None
                }
            }));
        }
        let kind = |message| self.members.group().kind(message);
        let others = messages.into_iter().filter(|(from, to, _)| from != to);
        let others = others.map(|(from, to, message)| (from, to, kind(message)));
        let transports = self.faults.as_ref().and_then(|all| all.transports.as_ref());
        others
            .chain(transports.into_iter().flat_map(Transports::undelivered))
            .collect()
    }

    pub(super) fn is_over(&self, node: NodeId) -> bool {
        self.life(node) == Life::Over
    }

    fn life(&self, node: NodeId) -> Life {
        let faults = self.faults.as_ref();
        faults.map_or(Life::Running, |faults| faults.lives[node.index()])
    }

    fn schedule(&mut self, at_ns: u64, task: Task) {
        let faults = self.faults();
        let number = u32::try_from(faults.tasks.len()).expect("fewer than 2^32 tasks in a run");
        faults.tasks.push(task);
        faults.tasks_left += 1;
        self.queue.push(at_ns, Due::Task(TaskId(number)));
    }

    /// Strikes; who is sought can be seen at once.
    fn aim(&mut self, step: usize, target: Target) {
        let faults = self.faults();
        let victim = match target {
            Target::Nobody => None,
            Target::Links => return self.change_links(step, None),
            Target::Member(node) => Some(node),
            Target::Sought => faults.process_faults.found(step, &faults.sightings()),
        };
        if let Some(victim) = victim
            && !self.is_over(victim)
        {
            self.strike(step, victim);
        }
    }

    fn strike(&mut self, step: usize, victim: NodeId) {
        let now_ns = self.now_ns;
        match self.faults().process_faults.strike(step, now_ns, victim) {
            ProcessAction::Kill { revive_after_ns } => {
                self.kill(victim);
                if let Some(after_ns) = revive_after_ns {
                    let at_ns = now_ns.saturating_add(after_ns);
                    self.schedule(at_ns, Task::Revive { node: victim });
                }
            }
            ProcessAction::Pause { until_ns } => {
                let faults = self.faults();
                faults.lives[victim.index()] = Life::Paused;
                faults.put_off.entry(victim).or_default();
                if let Some(at_ns) = until_ns {
                    self.schedule(at_ns.max(now_ns), Task::Resume { node: victim });
                }
            }
            ProcessAction::Resume => self.resume(victim),
            ProcessAction::Links => self.change_links(step, Some(victim)),
        }
    }

    /// A paused member goes on: first with what it was about to send, then with what has happened.
    fn resume(&mut self, node: NodeId) {
        let now_ns = self.now_ns;
        let faults = self.faults();
        let Some(waits) = faults.put_off.remove(&node) else {
            return;
        };
        faults.lives[node.index()] = Life::Running;
        faults.process_faults.resumed(now_ns, node);
        for (to, message) in waits.unsent {
            self.send(node, to, message);
        }
        self.flush(node);
        for due in waits.dues {
            // It may be paused again, or dead, before it comes to this.
            if !self.is_put_off(due) {
                self.reach(due);
            }
        }
    }

    /// A member is no more: nothing wakes it up, and what is under way to it never arrives.
    fn kill(&mut self, node: NodeId) {
        let now_ns = self.now_ns;
        let faults = self.faults();
        faults.lives[node.index()] = Life::Over;
        faults.inside_since_ns[node.index()] = None;
        faults.process_faults.died(now_ns, node);
        let waits = faults.put_off.remove(&node).unwrap_or_default();
        for (to, message) in waits.unsent {
            self.lose(node, to, message);
        }
        let mut gone = waits.dues;
        let (members, flights) = (&self.members, &self.flights);
        self.queue.retain(|due| {
            let whose = match due {
                Due::Alarm(alarm) => Some(members.owner(*alarm)),
                Due::Message(message) => Some(flights[message.0 as usize].to),
                Due::Task(_) | Due::Datagram(_) | Due::Tick(_) | Due::Link(_) => None,
            };
            let stays = whose != Some(node);
            gone.extend((!stays).then_some(*due));
            stays
        });
        for due in gone {
            self.forget(node, due);
        }
        self.end_transport(node);
        self.members.remove_dead(node);
        self.moved_ns = now_ns;
        self.ledger.died(node);
        self.spread_the_news(node);
    }

    /// Something would have happened to a member that is dead.
    fn forget(&mut self, node: NodeId, due: Due) {
        match due {
            Due::Alarm(alarm) => self.members.forget(alarm),
            Due::Message(message) => {
                self.under_way -= 1;
                let from = self.flights[message.0 as usize].from;
                self.lose(from, node, message);
            }
            // Nobody is left to be told.
            Due::Task(_) => self.faults().tasks_left -= 1,
            Due::Datagram(id) => self.drop_datagram(id),
            Due::Tick(_) | Due::Link(_) => {}
        }
    }

    /// Every survivor learns of a death, each in its own time.
    fn spread_the_news(&mut self, dead: NodeId) {
        if !self.faults().peer_events {
            return;
        }
        for witness in self.faults().living().into_iter().map(NodeId) {
            let takes_ns = news_takes_ns(self.plan, dead, witness);
            let at_ns = self.now_ns.saturating_add(takes_ns);
            self.schedule(
                at_ns,
                Task::Tell {
                    node: witness,
                    dead,
                },
            );
        }
    }
}
