//! All members of a run, the links between them, and virtual time.

mod faults;
mod network;
mod transports;

use std::ops::ControlFlow;

use algorithms::erased::{Machine, MessageId};
use algorithms::{NodeId, Topology};
use chaos::span::HORIZON_NS;
use member::ledger::Ledger;
use member::members::{Alarm, Effect, Input, Members};
use member::referee::{self, Referee, Seen, Still};
use member::tally::Tally;
use member::trace;
use model::engine::{Observer, Progress};
use model::event::{self, What};
use model::plan::Plan;
use model::run::{End, Run, StateBytes};
use model::workload::{Conduct, Settled};

use crate::links::Links;
use crate::queue::Queue;
use crate::{Needs, Stuck};
use faults::{Faults, TaskId};
use transports::{ChangeId, DatagramId};

/// More events than this in one moment, and time stands still.
const EVENTS_IN_A_MOMENT: u64 = 10_000_000;

/// How many events pass between two reports to the observer.
const EVENTS_BETWEEN_REPORTS: u64 = 1 << 14;

/// A simulated run under way.
pub(crate) struct World<'a> {
    plan: &'a Plan,
    now_ns: u64,
    members: Members,
    conductor: Option<Box<dyn Conduct>>,
    links: Links,
    queue: Queue<Due>,
    /// For each message under way, by its id, where it goes.
    flights: Vec<Flight>,
    under_way: usize,
    ledger: Ledger,
    tally: Tally,
    delays: Delays,
    events: u64,
    events_now: u64,
    /// When something last happened to a member.
    moved_ns: u64,
    /// Algorithm messages so far.
    sent: u64,
    /// Says whether messages go round in circles.
    referee: Referee,
    /// What a member wants done; empty between events.
    effects: Vec<Effect>,
    /// What the plan's faults do; an undisturbed world has none of it.
    faults: Option<Box<Faults>>,
    /// Whether the program of a member cannot go on, so that the run is over.
    failed: bool,
    /// Told of every event, where the plan asks for a trace.
    observer: &'a mut dyn Observer,
}

/// Something that will happen.
#[derive(Clone, Copy, Debug)]
enum Due {
    Message(MessageId),
    Alarm(Alarm),
    Task(TaskId),
    Datagram(DatagramId),
    Tick(NodeId),
    Link(ChangeId),
}

/// A message under way.
#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    from: NodeId,
    to: NodeId,
    sent_ns: u64,
}

/// How long messages took.
#[derive(Clone, Copy, Debug, Default)]
struct Delays {
    sum_ns: u64,
    count: u64,
    bound_broken: u64,
}

impl<'a> World<'a> {
    pub(crate) fn new(
        machine: &dyn Machine,
        needs: Needs,
        plan: &'a Plan,
        topology: Topology,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let faults = Faults::new(plan, needs, &topology, machine.kinds()).map(Box::new);
        let live_lock_messages = plan.info().live_lock_messages(&topology);
        let setting = plan.setting(topology);
        let mut members = Members::of_machine(machine, plan, &setting, 0..plan.nodes);
        let mut queue = Queue::new();
        for (at_ns, alarm) in members.opening() {
            queue.push(at_ns, Due::Alarm(alarm));
        }
        let mut world = Self {
            plan,
            now_ns: 0,
            members,
            conductor: plan.workload.arrivals.conductor(plan),
            links: Links::new(plan, faults.is_some()),
            queue,
            flights: Vec::new(),
            under_way: 0,
            ledger: Ledger::new(plan),
            tally: match plan.trace {
                false => Tally::new(plan.nodes, machine.kinds()),
                true => Tally::by_link(plan.nodes, machine.kinds()),
            },
            delays: Delays::default(),
            events: 0,
            events_now: 0,
            moved_ns: 0,
            sent: 0,
            referee: Referee::new(live_lock_messages),
            effects: Vec::new(),
            faults,
            failed: false,
            observer,
        };
        world.open_faults();
        world
    }

    /// Lets everything happen until it is over.
    pub(crate) fn run(mut self) -> Result<Run, Stuck> {
        let limit_ns = self.plan.time_limit_ns.unwrap_or(HORIZON_NS);
        let end = loop {
            if self.failed {
                break End::ProgramFailed;
            }
            if self.is_settled() {
                match self.conduct()? {
                    ControlFlow::Continue(()) => continue,
                    ControlFlow::Break(Some(end)) => break end,
                    // Something that is yet to come may set it in motion again.
                    ControlFlow::Break(None) => {}
                }
            }
            let Some((at_ns, due)) = self.queue.pop() else {
                break self.end_of_time();
            };
            if at_ns > limit_ns {
                self.queue.push(at_ns, due);
                self.now_ns = limit_ns;
                break End::TimeLimit;
            }
            if let Some(end) = self.given_up(at_ns, due) {
                break end;
            }
            self.pass_time(at_ns)?;
            self.happen(due);
            if let Some(overflow) = self.overflow() {
                return Err(overflow.into());
            }
            if self.is_live_locked() {
                break End::LiveLock;
            }
            if self.events.is_multiple_of(EVENTS_BETWEEN_REPORTS)
                && self.observer.progress(self.progress()).is_break()
            {
                break End::Interrupted;
            }
        };
        Ok(self.close(end))
    }

    /// Nothing is under way, no alarm is armed, and everybody would go about it if there were.
    fn is_settled(&self) -> bool {
        self.under_way == 0 && self.members.armed() == 0 && !self.may_surprise()
    }

    /// What the world has come to where nothing has happened to anybody for longer than anybody would
    /// wait, and nothing new will.
    fn given_up(&self, now_ns: u64, due: Due) -> Option<End> {
        let still = Still {
            now_ns,
            moved_ns: self.moved_ns,
            waiting: self.members.waiting() > 0,
            tells_of_links: self.tells_of_links(),
        };
        referee::given_up(self.plan, still, || {
            let news = self.is_news(due) || self.queue.iter().any(|due| self.is_news(*due));
            news || self.expects_change(now_ns)
        })
    }

    /// Nothing will ever happen again, though the world is not settled: who has something to do is
    /// paused for good, or faults keep it from everybody.
    fn end_of_time(&mut self) -> End {
        let waiting = self.members.waiting() > 0;
        let limit_ns = self.plan.time_limit_ns;
        let end = referee::at_standstill(waiting, limit_ns.is_some(), self.tells_of_links());
        if let (End::TimeLimit, Some(limit_ns)) = (end, limit_ns) {
            self.now_ns = limit_ns;
        }
        end
    }

    fn is_live_locked(&mut self) -> bool {
        let stopped = self.faults.as_ref().map_or(0, |all| all.paused_inside());
        let seen = Seen {
            sent: self.sent,
            under_way: self.under_way as u64,
            entries: self.ledger.served(),
            inside: self.conductor.is_none() && self.ledger.served_inside() > stopped,
            waiting: self.members.waiting() > 0,
            through: self.members.clients_are_through(),
        };
        self.referee.is_live_locked(seen)
    }

    /// Asks the conductor what comes next in a settled world; without one it is over, unless
    /// something may yet happen.
    fn conduct(&mut self) -> Result<ControlFlow<Option<End>>, Stuck> {
        let settled = Settled {
            now_ns: self.now_ns,
            inside: self.ledger.inside() > 0,
            waiting: self.members.waiting() > 0,
        };
        let conductor = self.conductor.as_mut();
        let Some((node, cue)) = conductor.and_then(|conductor| conductor.next(settled)) else {
            let end = referee::at_rest(settled.waiting, || self.expects_faults());
            return Ok(ControlFlow::Break(end));
        };
        self.referee.got_on(self.sent);
        if self.runs(node) {
            self.tell(node, Input::Cue(cue));
        } else {
            // The dead do not answer, and no time passes until somebody else is called.
            self.pass_time(self.now_ns)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn pass_time(&mut self, at_ns: u64) -> Result<(), Stuck> {
        self.events += 1;
        self.events_now += 1;
        if at_ns != self.now_ns {
            self.now_ns = at_ns;
            self.events_now = 1;
        }
        if self.events_now > EVENTS_IN_A_MOMENT {
            return Err(Stuck::Standstill {
                at_ns,
                events: EVENTS_IN_A_MOMENT,
            });
        }
        Ok(())
    }

    fn happen(&mut self, due: Due) {
        if self.faults.is_some() && (!self.comes_through(due) || self.is_put_off(due)) {
            return;
        }
        self.reach(due);
    }

    /// Lets something happen to the member that it concerns.
    fn reach(&mut self, due: Due) {
        match due {
            Due::Task(task) => self.perform(task),
            Due::Datagram(id) => self.land(id),
            Due::Tick(node) => self.tick(node),
            Due::Link(change) => self.change_link(change),
            Due::Alarm(alarm) => {
                let node = self.members.owner(alarm);
                self.tell(node, Input::Alarm(alarm));
            }
            Due::Message(message) => {
                let Flight { from, to, sent_ns } = self.flights[message.0 as usize];
                self.under_way -= 1;
                if let Some(faults) = &mut self.faults {
                    faults.received(self.now_ns, to, self.members.kind(message));
                }
                let held_ns = self.held_ns(message);
                let delay_ns = (self.now_ns - sent_ns).saturating_add(held_ns);
                if from != to {
                    self.delays.add(delay_ns, self.plan.bound_ns);
                }
                self.trace(to, |members| {
                    trace::received(members, from, message, delay_ns)
                });
                self.tell(to, Input::Message { from, message });
            }
        }
    }

    /// Lets an event happen to a member and does what it wants done.
    fn tell(&mut self, node: NodeId, input: Input) {
        self.moved_ns = self.now_ns;
        let mut effects = std::mem::take(&mut self.effects);
        self.members.handle(self.now_ns, node, input, &mut effects);
        for effect in effects.drain(..) {
            match effect {
                Effect::Send {
                    to,
                    message,
                    charge,
                    held_ns,
                } => {
                    self.count_sent(node, to, message, charge);
                    if held_ns > 0 {
                        self.faults().held_ns.insert(message, held_ns);
                    }
                    self.let_go(node, to, message);
                }
                Effect::Post { message } => {
                    self.trace(node, |members| trace::posted(members, message));
                    self.let_go(node, node, message);
                }
                Effect::Lose { to, message } => {
                    self.count_sent(node, to, message, None);
                    self.lose(node, to, message);
                }
                Effect::Hit { step } => self.faults().hits.push(step),
                Effect::Arm { at_ns, alarm } => self.queue.push(at_ns, Due::Alarm(alarm)),
                Effect::Tell(what) => {
                    if let Some(faults) = &mut self.faults {
                        faults.watch(self.now_ns, node, &what);
                    }
                    self.ledger.record(self.now_ns, node, &what);
                    self.trace(node, |_| what);
                }
                Effect::Fail => self.failed = true,
            }
        }
        self.effects = effects;
        if self.faults.is_some() {
            self.let_out(node);
        }
    }

    fn count_sent(&mut self, from: NodeId, to: NodeId, message: MessageId, charge: Option<NodeId>) {
        let kind = self.members.group().kind(message);
        let bytes = self.trace_sent(from, to, message, charge);
        self.tally.sent(from, to, kind, bytes);
        self.ledger.sent(charge);
        self.sent += 1;
        if let Some(faults) = &mut self.faults {
            faults.sent(self.now_ns, from, to, self.tally.kind(kind));
        }
    }

    /// Sends a message, in a world with faults once the faults that wait for this event are in force.
    fn let_go(&mut self, from: NodeId, to: NodeId, message: MessageId) {
        match &mut self.faults {
            None => self.send(from, to, message),
            Some(faults) => faults.outgoing.push((to, message)),
        }
    }

    /// How long a fault held this message back before it left; the answer is used up.
    fn held_ns(&mut self, message: MessageId) -> u64 {
        let held = |faults: &mut Box<Faults>| faults.held_ns.remove(&message);
        self.faults.as_mut().and_then(held).unwrap_or(0)
    }

    /// A message will never arrive.
    fn lose(&mut self, from: NodeId, to: NodeId, message: MessageId) {
        self.held_ns(message);
        let kind = self.members.group().kind(message);
        self.count_lost(from, to, kind, self.members.number(message));
        self.members.group_mut().discard(message);
    }

    /// A message of that kind and number will never arrive; what a member posts is not counted.
    fn count_lost(&mut self, from: NodeId, to: NodeId, kind: usize, number: u64) {
        if from != to {
            self.tally.lost(from, to, kind);
        }
        let kind = self.tally.kind(kind).into();
        self.trace(from, |_| What::Lose { to, number, kind });
    }

    fn send(&mut self, from: NodeId, to: NodeId, message: MessageId) {
        if self.faults.is_some() && self.has_another_way(from, to, message) {
            return;
        }
        let at_ns = self.links.carry(self.now_ns, from, to);
        self.fly(from, to, message, at_ns);
    }

    /// A message is under way until then.
    fn fly(&mut self, from: NodeId, to: NodeId, message: MessageId, at_ns: u64) {
        self.remember(message, from, to, self.now_ns);
        self.under_way += 1;
        self.queue.push(at_ns, Due::Message(message));
    }

    fn remember(&mut self, message: MessageId, from: NodeId, to: NodeId, sent_ns: u64) {
        let place = message.0 as usize;
        if place >= self.flights.len() {
            self.flights.resize(place + 1, Flight::default());
        }
        self.flights[place] = Flight { from, to, sent_ns };
    }

    /// Tells what happened, where the plan asks for that.
    fn trace(&mut self, node: NodeId, what: impl FnOnce(&Members) -> What) {
        if self.plan.trace {
            let what = what(&self.members);
            self.observer.event(&event::Event {
                time_ns: self.now_ns,
                node: Some(node),
                what,
            });
        }
    }

    /// Tells that a message leaves, and says how many bytes it has, which only a trace knows.
    fn trace_sent(
        &mut self,
        from: NodeId,
        to: NodeId,
        message: MessageId,
        charge: Option<NodeId>,
    ) -> u64 {
        if !self.plan.trace {
            return 0;
        }
        let sent = trace::sent(&self.members, to, message, charge);
        let length = match &sent {
            What::Send { bytes, .. } => u64::from(*bytes),
            _ => 0,
        };
        self.trace(from, |_| sent);
        length
    }

    fn progress(&self) -> Progress {
        Progress {
            now_ns: self.now_ns,
            entries: self.ledger.entries(),
            events: self.events,
            in_flight: self.queue.len(),
        }
    }

    fn close(mut self, end: End) -> Run {
        self.count_abandoned();
        let under_way = self.queue.iter().filter_map(|due| match due {
            Due::Alarm(_) | Due::Task(_) | Due::Datagram(_) | Due::Tick(_) | Due::Link(_) => None,
            Due::Message(message) => {
                let Flight { from, to, .. } = self.flights[message.0 as usize];
                (from != to).then(|| (from, to, self.members.group().kind(*message)))
            }
        });
        let elsewhere = self.messages_elsewhere();
        let messages = self.tally.rows(under_way.chain(elsewhere));
        let mut state_bytes = StateBytes {
            peak: self.members.peak_state_bytes(),
            ..StateBytes::default()
        };
        for node in (0..self.plan.nodes).map(NodeId) {
            let bytes = self.members.group().state_bytes(node) as u64;
            state_bytes.sum += bytes;
            state_bytes.max = state_bytes.max.max(bytes);
        }
        let mut run = self.ledger.close(end, self.now_ns);
        if let Some(faults) = self.faults {
            faults.tell(&self.plan.faults, &mut run);
        }
        Run {
            messages,
            state_bytes,
            link_delay_sum_ns: self.delays.sum_ns,
            link_delay_count: self.delays.count,
            bound_broken: self.delays.bound_broken,
            ..run
        }
    }
}

impl Delays {
    fn add(&mut self, delay_ns: u64, bound_ns: u64) {
        self.sum_ns = self.sum_ns.saturating_add(delay_ns);
        self.count += 1;
        self.bound_broken += u64::from(delay_ns > bound_ns);
    }
}
