//! What a member does on an event: the algorithm, its clients, and what there is to record.
//!
//! One value carries some members of a run: a process carries one, the simulator all of them side by
//! side in memory. It takes an event and the time, and appends to a list what is to be done about
//! it. It waits for nothing and touches nothing, so the engine that holds the list decides when
//! each effect leaves: after the records are on disk, or once a fault is in force.
//!
//! ```text
//!     alarm: a client arrives ---> [queue] ---> the algorithm is asked ---> it lets the client in
//!                 ^                                                              |
//!                 |  (closed: after a while of thought)                          v
//!                 +------------------- the algorithm is told <------- alarm: the client leaves
//! ```

use std::borrow::Cow;
use std::ops::Range;

use algorithms::erased::{self, Group, Machine, MessageId};
use algorithms::{Change, NodeId, Request, Setting};

use crate::faults::messages::{HeldId, MessageFaults};
use crate::mail::Mail;
use crate::requests::Requests;
use crate::timers::{TimerId, Timers};
use crate::trace;
use model::event::{ALREADY_INSIDE, Letter, What};
use model::plan::Plan;
use model::workload::{Cue, Rhythm};

/// Something that happens to one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// An alarm that was armed goes off.
    Alarm(Alarm),
    /// A message from another member arrives, or one that the member posted to itself.
    Message {
        /// The member that sent the message.
        from: NodeId,
        /// The message; it is used up.
        message: MessageId,
    },
    /// The conductor of the workload says what to do.
    Cue(Cue),
    /// The links are clogged, or clear again: clogged, nothing new is asked for.
    Clogged(bool),
    /// Another member died or is back.
    Peer {
        /// The member that died or is back.
        peer: NodeId,
        /// Whether the member died or is back.
        change: Change,
    },
    /// The link to a neighbour went down or came up.
    Link {
        /// The member at the other end of the link.
        neighbour: NodeId,
        /// Whether the link went down or came up.
        change: Change,
    },
}

/// What wakes a member up. Every armed alarm goes off exactly once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// A client of this node wants in.
    Arrive(NodeId),
    /// The client inside leaves.
    Leave(NodeId),
    /// A timer of the algorithm, unless it was moved or cancelled.
    Timer(TimerId),
    /// A message that a fault held back leaves.
    Held(HeldId),
}

/// Something to be done for a member, in the order of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Send a message to another member.
    Send {
        /// The member that the message goes to.
        to: NodeId,
        /// The message to send.
        message: MessageId,
        /// The node whose latest request pays for it, if the algorithm says.
        charge: Option<NodeId>,
        /// How long a fault has held it back: part of the time it takes.
        held_ns: u64,
    },
    /// Send a message to the member itself that travels like any other, uncounted.
    Post {
        /// The message to post.
        message: MessageId,
    },
    /// Count a message as sent, and forget it: a fault took it.
    Lose {
        /// The member that the message would have gone to.
        to: NodeId,
        /// The message that is lost.
        message: MessageId,
    },
    /// An event that a fault waits for: the fault must be in force before anything after this is
    /// done.
    Hit {
        /// The step of the plan's faults that waits for the event.
        step: usize,
    },
    /// Wake the member up at that moment.
    Arm {
        /// The moment, in nanoseconds from the start.
        at_ns: u64,
        /// The alarm that goes off then.
        alarm: Alarm,
    },
    /// Tell what happened. What only a trace tells is told where the plan asks for one.
    Tell(What),
    /// End the run: the program of this member cannot go on. Why has been told.
    Fail,
}

/// Some members of a run.
pub struct Members {
    first: u32,
    seed: u64,
    requests: Requests,
    mail: Mail,
    clients: Vec<Client>,
    timers: Timers,
    message_faults: Option<MessageFaults>,
    /// Client alarms that have not gone off.
    client_alarms: usize,
    /// Requests that have arrived and not entered.
    waiting: usize,
    /// The size of the largest state so far, where it is watched.
    peak_state_bytes: Option<u64>,
    /// What the algorithm wants done; empty between events.
    wishes: Vec<algorithms::Effect<MessageId>>,
    /// Whether entries get an index.
    counts_entries: bool,
}

/// In larger groups nobody looks at the size of a state after each event: it grows with the group, and to
/// measure it would take longer than the event.
const MOST_WATCHED: u32 = 64;

/// The clients of one member. Small: a million of them are ordinary.
#[derive(Clone, Copy, Debug, Default)]
struct Client {
    phase: Phase,
    /// How many of the next clients to enter stay inside until told to leave.
    stay: u32,
    /// Whether nothing new may be asked for.
    clogged: bool,
    /// Requests that have arrived, or whose arrival is certain.
    planned: u32,
    /// Requests that have arrived. Those not asked for yet are the member's own queue.
    arrived: u32,
    /// Requests the algorithm has been asked for.
    asked: u32,
    /// The index of the latest entry.
    index: u32,
    /// The largest index of an exit that the member knows of: its own, or one of which a chain of
    /// messages has told it.
    known: u32,
}

/// Where the client is that the algorithm knows of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Outside,
    Waiting,
    Inside,
    /// Inside until told to leave.
    Staying,
    /// Inside without having asked.
    Uninvited,
}

impl Members {
    /// These members of the planned run, before their first event.
    pub fn new(plan: &Plan, setting: &Setting, members: Range<u32>) -> Self {
        Self::of_machine(plan.machine(), plan, setting, members)
    }

    /// Like [`new`](Self::new), with a machine that need not be registered.
    pub fn of_machine(
        machine: &dyn Machine,
        plan: &Plan,
        setting: &Setting,
        members: Range<u32>,
    ) -> Self {
        let group = machine.group(setting, members.clone());
        let state_bytes = |node| group.state_bytes(NodeId(node)) as u64;
        let peak = members.clone().map(state_bytes).max();
        Self {
            peak_state_bytes: peak.filter(|_| plan.nodes <= MOST_WATCHED),
            first: members.start,
            seed: plan.seed,
            requests: Requests::new(plan),
            mail: Mail::new(
                group,
                machine.kinds(),
                members.clone(),
                plan.trace,
                plan.certificate,
            ),
            clients: vec![Client::default(); members.len()],
            timers: Timers::default(),
            message_faults: MessageFaults::new(plan),
            client_alarms: 0,
            waiting: 0,
            wishes: Vec::new(),
            counts_entries: plan.counts_entries(),
        }
    }

    /// The size of the largest state that any of these members has had after an event, encoded; nothing in
    /// a group of more than 64.
    pub fn peak_state_bytes(&self) -> Option<u64> {
        self.peak_state_bytes
    }

    /// The alarms that start the clients off, in the order to arm them.
    pub fn opening(&mut self) -> Vec<(u64, Alarm)> {
        let here = self.first..self.first + self.clients.len() as u32;
        let mut alarms = Vec::new();
        match self.requests.rhythm() {
            Rhythm::AfterLeaving { .. } | Rhythm::AfterArriving { .. } => {
                let at_once = match self.requests.rhythm() {
                    Rhythm::AfterLeaving { .. } => self.requests.clients,
                    _ => 1,
                };
                for node in here.map(NodeId) {
                    for _ in 0..at_once {
                        alarms.extend(self.plan_next(0, node));
                    }
                }
            }
            Rhythm::Scripted => {
                let script = self.requests.script().iter();
                let own = script.filter(|(_, node)| here.contains(&node.0));
                alarms.extend(own.map(|&(at_ns, node)| (at_ns, Alarm::Arrive(node))));
                self.client_alarms += alarms.len();
            }
            Rhythm::Conducted => {}
        }
        alarms
    }

    /// The member that an alarm is for.
    pub fn owner(&self, alarm: Alarm) -> NodeId {
        match alarm {
            Alarm::Arrive(node) | Alarm::Leave(node) => node,
            Alarm::Timer(id) => self.timers.node(id),
            Alarm::Held(id) => {
                let message_faults = self.message_faults.as_ref();
                message_faults
                    .expect("only a message_faults holds messages back")
                    .holder(id)
            }
        }
    }

    /// Lets an event happen to a member and appends what is to be done about it.
    ///
    /// # Panics
    /// If the member is not one of these, or the message is not under way.
    pub fn handle(&mut self, now_ns: u64, node: NodeId, input: Input, effects: &mut Vec<Effect>) {
        if let Input::Alarm(Alarm::Held(id)) = input {
            // The message faults have seen this message already, when they held it back.
            let message_faults = self.message_faults.as_mut();
            effects.push(
                message_faults
                    .expect("only a message_faults holds messages back")
                    .release(now_ns, id),
            );
            return;
        }
        let first = effects.len();
        self.react(now_ns, node, input, effects);
        if let Some(message_faults) = &mut self.message_faults {
            message_faults.apply(now_ns, node, first, effects, &mut self.mail);
        }
    }

    fn react(&mut self, now_ns: u64, node: NodeId, input: Input, effects: &mut Vec<Effect>) {
        match input {
            Input::Message { from, message } => {
                self.happen(
                    now_ns,
                    node,
                    erased::Input::Receive { from, message },
                    effects,
                );
            }
            Input::Alarm(Alarm::Arrive(_)) => {
                self.client_alarms -= 1;
                self.arrive(now_ns, node, effects);
            }
            Input::Alarm(Alarm::Leave(_)) => {
                self.client_alarms -= 1;
                self.leave(now_ns, node, effects);
            }
            Input::Alarm(Alarm::Timer(id)) => {
                if let Some(timer) = self.timers.goes_off(id) {
                    self.happen(now_ns, node, erased::Input::Timer(timer), effects);
                }
            }
            Input::Alarm(Alarm::Held(_)) => unreachable!("it does not reach the algorithm"),
            Input::Cue(Cue::Ask { stay }) => {
                self.client(node).stay += u32::from(stay);
                self.arrive(now_ns, node, effects);
            }
            Input::Cue(Cue::Leave) => {
                let client = self.client(node);
                match client.phase {
                    Phase::Staying => self.leave(now_ns, node, effects),
                    _ => client.stay = client.stay.saturating_sub(1),
                }
            }
            Input::Cue(Cue::LetGo) => {
                let client = self.client(node);
                client.stay = 0;
                if client.phase == Phase::Staying {
                    self.leave(now_ns, node, effects);
                }
            }
            Input::Clogged(clogged) => {
                self.client(node).clogged = clogged;
                self.ask(now_ns, node, effects);
            }
            Input::Peer { peer, change } => {
                let hides = |message_faults: &MessageFaults| message_faults.hides(node, peer);
                if let (Change::Down, Some(tampered)) =
                    (change, self.message_faults.as_ref().and_then(hides))
                {
                    effects.push(Effect::Tell(tampered));
                    return;
                }
                self.happen(now_ns, node, erased::Input::Peer { peer, change }, effects);
            }
            Input::Link { neighbour, change } => {
                let input = erased::Input::Link { neighbour, change };
                self.happen(now_ns, node, input, effects);
            }
        }
    }

    /// Takes a dead member out: none of its requests waits any more. The engine that armed its
    /// alarms is to [forget](Self::forget) them.
    pub fn remove_dead(&mut self, node: NodeId) {
        let client = std::mem::take(self.client(node));
        let queued = (client.arrived - client.asked) as usize;
        self.waiting -= queued + usize::from(client.phase == Phase::Waiting);
    }

    /// Lets clients stay inside, and think before they ask again, so many times as long from now on as
    /// the workload says.
    pub fn stretch(&mut self, times: f64) {
        self.requests.stretch = times;
    }

    /// Forgets an alarm that will never go off, because its member is dead.
    pub fn forget(&mut self, alarm: Alarm) {
        match alarm {
            Alarm::Arrive(_) | Alarm::Leave(_) => self.client_alarms -= 1,
            Alarm::Timer(id) => {
                self.timers.goes_off(id);
            }
            Alarm::Held(id) => {
                let message_faults = self.message_faults.as_mut();
                let message = message_faults
                    .expect("only a message_faults holds messages back")
                    .forget(id);
                self.mail.group.discard(message);
            }
        }
    }

    /// How many alarms are armed that will still mean something.
    pub fn armed(&self) -> usize {
        let held = self.message_faults.as_ref().map_or(0, MessageFaults::holds);
        self.client_alarms + self.timers.live() + held
    }

    /// How many requests have arrived and not entered.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Whether no client waits, is inside or will come back by itself.
    pub fn clients_are_through(&self) -> bool {
        self.waiting == 0 && self.client_alarms == 0
    }

    /// Whether a client of this member waits.
    pub fn waits(&self, node: NodeId) -> bool {
        let client = &self.clients[(node.0 - self.first) as usize];
        client.phase == Phase::Waiting || client.asked < client.arrived
    }

    /// The algorithm at these members and their messages under way.
    pub fn group(&self) -> &dyn Group {
        &*self.mail.group
    }

    /// Like [`group`](Self::group), to take in messages and to let go of them.
    pub fn group_mut(&mut self) -> &mut dyn Group {
        &mut *self.mail.group
    }

    /// A second message of the same value and number.
    pub fn duplicate(&mut self, message: MessageId) -> MessageId {
        self.mail.duplicate(message)
    }

    /// A message that has come from elsewhere, and been decoded here, has this number, and its sender
    /// knew of exits up to this index when it made it.
    pub fn came(&mut self, message: MessageId, number: u64, known: u32) {
        self.mail.set_number(message, number);
        self.mail.set_known(message, known);
    }

    /// The largest index of an exit that its sender knew of when it made this message: it travels with
    /// it.
    pub fn known(&self, message: MessageId) -> u32 {
        self.mail.known(message)
    }

    /// The number of a message under way; 0 where there is no trace to tell it.
    pub fn number(&self, message: MessageId) -> u64 {
        self.mail.number(message)
    }

    /// A message under way as events tell it.
    pub fn letter(&self, message: MessageId) -> Letter {
        self.mail.letter(message)
    }

    /// The kind of a message under way.
    pub fn kind(&self, message: MessageId) -> &'static str {
        self.mail.kind(message)
    }

    /// Whether the run is traced, so that every event is told.
    pub fn is_traced(&self) -> bool {
        self.mail.is_traced()
    }

    fn client(&mut self, node: NodeId) -> &mut Client {
        &mut self.clients[(node.0 - self.first) as usize]
    }

    /// Makes the arrival of the node's next request certain, if there is to be one.
    fn plan_next(&mut self, now_ns: u64, node: NodeId) -> Option<(u64, Alarm)> {
        let planned = self.client(node).planned;
        let at_ns = self.requests.next_ns(now_ns, node, u64::from(planned))?;
        self.client(node).planned = planned
            .checked_add(1)
            .expect("one node makes fewer than 2^32 requests");
        self.client_alarms += 1;
        Some((at_ns, Alarm::Arrive(node)))
    }

    fn plan_next_or_retire(&mut self, now_ns: u64, node: NodeId, effects: &mut Vec<Effect>) {
        effects.push(match self.plan_next(now_ns, node) {
            Some((at_ns, alarm)) => Effect::Arm { at_ns, alarm },
            None => Effect::Tell(What::Retire),
        });
    }

    fn arrive(&mut self, now_ns: u64, node: NodeId, effects: &mut Vec<Effect>) {
        let nth = self.client(node).arrived;
        self.client(node).arrived += 1;
        self.waiting += 1;
        let priority = self.requests.priority(node, u64::from(nth));
        effects.push(Effect::Tell(What::Arrive { priority }));
        if matches!(self.requests.rhythm(), Rhythm::AfterArriving { .. }) {
            self.plan_next_or_retire(now_ns, node, effects);
        }
        self.ask(now_ns, node, effects);
    }

    /// Asks the algorithm for the first in the queue, if it can be asked.
    fn ask(&mut self, now_ns: u64, node: NodeId, effects: &mut Vec<Effect>) {
        let client = self.client(node);
        let queued = client.asked < client.arrived;
        if client.phase != Phase::Outside || client.clogged || !queued {
            return;
        }
        let nth = client.asked;
        client.asked += 1;
        client.phase = Phase::Waiting;
        let priority = self.requests.priority(node, u64::from(nth));
        effects.push(Effect::Tell(What::Request { priority }));
        let request = erased::Input::Request(Request { priority });
        self.happen(now_ns, node, request, effects);
    }

    fn enter(&mut self, now_ns: u64, node: NodeId, fence: Option<u64>, effects: &mut Vec<Effect>) {
        let client = self.client(node);
        let (invited, phase) = match client.phase {
            Phase::Waiting if client.stay > 0 => {
                client.stay -= 1;
                (true, Phase::Staying)
            }
            Phase::Waiting => (true, Phase::Inside),
            Phase::Outside => (false, Phase::Uninvited),
            Phase::Inside | Phase::Staying | Phase::Uninvited => {
                let why = ALREADY_INSIDE.to_owned();
                effects.push(Effect::Tell(What::ProtocolError { why }));
                return;
            }
        };
        client.phase = phase;
        client.index = client.known.saturating_add(1);
        let index = client.index;
        // The request that enters is the one asked for last; nobody's, the one that would be next.
        let nth = u64::from(client.asked) - u64::from(invited);
        self.waiting -= usize::from(invited);
        effects.push(Effect::Tell(What::Enter {
            fence,
            invited,
            witness: None,
            index: self.counts_entries.then_some(index),
        }));
        if phase != Phase::Staying {
            self.client_alarms += 1;
            effects.push(Effect::Arm {
                at_ns: now_ns.saturating_add(self.requests.hold_ns(node, nth)),
                alarm: Alarm::Leave(node),
            });
        }
    }

    fn leave(&mut self, now_ns: u64, node: NodeId, effects: &mut Vec<Effect>) {
        let client = self.client(node);
        let invited = client.phase != Phase::Uninvited;
        client.phase = Phase::Outside;
        client.known = client.known.max(client.index);
        effects.push(Effect::Tell(What::Release));
        self.happen(now_ns, node, erased::Input::Release, effects);
        if invited && matches!(self.requests.rhythm(), Rhythm::AfterLeaving { .. }) {
            self.plan_next_or_retire(now_ns, node, effects);
        }
        self.ask(now_ns, node, effects);
    }

    /// Lets an event happen to the algorithm and takes what it wants done in its order.
    fn happen(
        &mut self,
        now_ns: u64,
        node: NodeId,
        input: erased::Input,
        effects: &mut Vec<Effect>,
    ) {
        let traced = self.mail.is_traced();
        if traced && let Some(input) = trace::of_input(input) {
            effects.push(Effect::Tell(input));
        }
        if let erased::Input::Receive { message, .. } = input {
            let known = self.mail.known(message);
            let client = self.client(node);
            client.known = client.known.max(known);
        }
        let known = self.client(node).known;
        let mut wishes = std::mem::take(&mut self.wishes);
        self.mail.group.handle(node, input, &mut wishes);
        if let Some(peak) = &mut self.peak_state_bytes {
            *peak = (*peak).max(self.mail.group.state_bytes(node) as u64);
        }
        for wish in wishes.drain(..) {
            match wish {
                algorithms::Effect::Send {
                    to,
                    message,
                    charge,
                } => {
                    self.mail.made(node, message, known);
                    effects.push(Effect::Send {
                        to,
                        message,
                        charge,
                        held_ns: 0,
                    });
                }
                algorithms::Effect::Post { message } => {
                    self.mail.made(node, message, known);
                    effects.push(Effect::Post { message });
                }
                algorithms::Effect::Enter { fence } => self.enter(now_ns, node, fence, effects),
                algorithms::Effect::SetTimer { timer, after } => {
                    let (at_ns, id) = self.timers.set(self.seed, now_ns, node, timer, after);
                    if traced {
                        effects.push(Effect::Tell(trace::timer_set(timer, at_ns)));
                    }
                    effects.push(Effect::Arm {
                        at_ns,
                        alarm: Alarm::Timer(id),
                    });
                }
                algorithms::Effect::CancelTimer { timer } => {
                    self.timers.cancel(node, timer);
                    if traced {
                        effects.push(Effect::Tell(trace::timer_cancelled(timer)));
                    }
                }
                algorithms::Effect::Note {
                    name,
                    value,
                    charge,
                } => effects.push(Effect::Tell(What::Note {
                    name: Cow::Borrowed(name),
                    value,
                    charge,
                })),
                algorithms::Effect::ProtocolError { why } => {
                    effects.push(Effect::Tell(What::ProtocolError { why }));
                }
                algorithms::Effect::Fail { why } => {
                    effects.push(Effect::Tell(What::ProtocolError { why }));
                    effects.push(Effect::Fail);
                }
            }
        }
        self.wishes = wishes;
    }
}

#[cfg(test)]
mod tests;
