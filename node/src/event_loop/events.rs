//! What happens at a member, one event at a time, and what is done about it.
//!
//! Nothing here waits or leaves: effects go to the recorder, the transport and the queue of alarms,
//! and the member's life lets them out once they are on disk.

use algorithms::erased::MessageId;
use algorithms::{Change, NodeId};
use tracing::{debug, info, trace, warn};

use super::Member;
use super::datagrams::Arrival;
use crate::record::Record;
use crate::witness::Testimony;
use member::members::{Effect, Input, Members};
use member::trace;
use model::event::What;
use model::plan::Plan;
use transport::header::Stamp;

impl Member {
    /// Handles the first arrival, or else the first alarm that is due; says whether there was one.
    pub(super) fn handle_one(&mut self) -> Result<bool, String> {
        let now_ns = self.now_ns();
        let input = match self.arrivals.pop_front() {
            Some(Arrival::Message {
                from,
                message,
                delay_ns,
            }) => {
                let kind = self.kind(message);
                debug!(now_ns, %from, kind = self.kind_name(kind), "receives");
                self.traffic.entry(from).or_default().received += 1;
                if Some(kind) == self.token_kind {
                    self.token_since_ns = Some(now_ns);
                }
                if let Some(members) = &self.members {
                    let received = trace::received(members, from, message, delay_ns);
                    self.keep(now_ns, received);
                }
                Input::Message { from, message }
            }
            Some(Arrival::Posted { message }) => {
                let from = self.me;
                self.trace(now_ns, |members| trace::received(members, from, message, 0));
                Input::Message { from, message }
            }
            Some(Arrival::Link { neighbour, change }) => Input::Link { neighbour, change },
            Some(Arrival::Silence { peer }) => {
                let detector = self.detector.as_mut();
                if !detector.is_some_and(|detector| detector.suspect(peer)) {
                    return Ok(true);
                }
                info!(now_ns, %peer, "suspects");
                self.keep(now_ns, What::Suspect { peer });
                let change = Change::Down;
                Input::Peer { peer, change }
            }
            None => match self.alarms.due(now_ns) {
                Some(alarm) => Input::Alarm(alarm),
                None => return Ok(false),
            },
        };
        self.happen(now_ns, input)?;
        Ok(true)
    }

    /// Lets an event happen and does what is to be done about it, except for letting it out.
    pub(super) fn happen(&mut self, now_ns: u64, input: Input) -> Result<(), String> {
        let Some(members) = &mut self.members else {
            return Ok(());
        };
        let mut effects = std::mem::take(&mut self.effects);
        trace!(now_ns, ?input, "happens");
        members.handle(now_ns, self.me, input, &mut effects);
        for effect in effects.drain(..) {
            match effect {
                Effect::Tell(what) => self.tell(now_ns, what)?,
                Effect::Send {
                    to,
                    message,
                    charge,
                    held_ns,
                } => self.send(now_ns, held_ns, to, message, charge)?,
                Effect::Lose { to, message } => self.lose(now_ns, to, message),
                Effect::Hit { step } => self.hits.push(step),
                Effect::Post { message } => {
                    self.trace(now_ns, |members| trace::posted(members, message));
                    self.arrivals.push_back(Arrival::Posted { message });
                }
                Effect::Arm { at_ns, alarm } => self.alarms.add(at_ns, alarm),
                Effect::Fail => self.program_failed = true,
            }
        }
        self.effects = effects;
        self.settle_looks();
        Ok(())
    }

    fn send(
        &mut self,
        now_ns: u64,
        held_ns: u64,
        to: NodeId,
        message: MessageId,
        charge: Option<NodeId>,
    ) -> Result<(), String> {
        let kind = self.kind(message);
        let Some(members) = &mut self.members else {
            return Ok(());
        };
        // The time it was sent travels with it: the receiver knows the delay, whatever the order.
        let stamp = Stamp {
            sent_ns: now_ns.saturating_sub(held_ns),
            known: members.known(message),
            number: members.number(message),
        };
        self.carried.write(stamp, &mut self.message);
        let stamped = self.message.len();
        members.group().encode(message, &mut self.message);
        let mut sent = trace::sent(members, to, message, charge);
        members.group_mut().discard(message);
        let length = (self.message.len() - stamped) as u32;
        if let What::Send { bytes, .. } = &mut sent {
            *bytes = length;
        }
        debug!(now_ns, %to, kind = self.kind_name(kind), bytes = length, "sends");
        self.keep(now_ns, sent);
        self.traffic.entry(to).or_default().sent += 1;
        self.transport.send(to, &self.message);
        self.transport
            .overflow()
            .map_or(Ok(()), |overflow| Err(overflow.to_string()))
    }

    fn lose(&mut self, now_ns: u64, to: NodeId, message: MessageId) {
        let kind = self.kind(message);
        info!(now_ns, %to, kind = self.kind_name(kind), "a fault loses what it sends");
        if let Some(members) = &mut self.members {
            let sent = trace::sent(members, to, message, None);
            let lost = trace::lost(members, to, message);
            members.group_mut().discard(message);
            self.keep(now_ns, sent);
            self.keep(now_ns, lost);
        }
    }

    /// Writes down what the core tells, and asks the kernel for its testimony about who is inside.
    fn tell(&mut self, now_ns: u64, mut what: What) -> Result<(), String> {
        log(now_ns, &what);
        let witness_failed = |error| format!("the witness file failed: {error}");
        match &mut what {
            What::Enter { witness, .. } => {
                self.inside_since_ns = Some(now_ns);
                self.entries += 1;
                self.hits.extend(self.catch.take());
                *witness = match self.witness.enter().map_err(witness_failed)? {
                    Testimony::Admitted(slot) => Some(slot),
                    Testimony::Refused => None,
                };
            }
            What::Release => {
                self.inside_since_ns = None;
                self.witness.leave().map_err(witness_failed)?;
            }
            _ => {}
        }
        self.keep(now_ns, what);
        Ok(())
    }

    /// Writes down what happened.
    pub(crate) fn keep(&mut self, now_ns: u64, what: What) {
        if let Some(looks) = &mut self.looks {
            looks.note(now_ns, &what);
        }
        self.recorder.add(now_ns, &Record::Event(what));
    }

    /// Writes down what only a trace tells.
    fn trace(&mut self, now_ns: u64, what: impl FnOnce(&Members) -> What) {
        if let Some(members) = self.members.as_ref().filter(|members| members.is_traced()) {
            let what = what(members);
            self.keep(now_ns, what);
        }
    }

    /// What the algorithm calls messages of this kind.
    fn kind_name(&self, kind: u8) -> &'static str {
        self.kinds.get(usize::from(kind)).copied().unwrap_or("?")
    }

    fn kind(&self, message: MessageId) -> u8 {
        let members = self
            .members
            .as_ref()
            .expect("only an algorithm has messages");
        u8::try_from(members.group().kind(message)).expect("an algorithm has few kinds")
    }
}

/// Logs what happened, at a level that fits its importance.
fn log(now_ns: u64, what: &What) {
    match what {
        What::Arrive { priority } => debug!(now_ns, priority, "a request arrives"),
        What::Request { .. } => debug!(now_ns, "asks the algorithm"),
        What::Enter { fence, invited, .. } => debug!(now_ns, ?fence, invited, "enters"),
        What::Release => debug!(now_ns, "leaves"),
        What::Retire => debug!(now_ns, "will not ask again"),
        What::Tamper { step, .. } => info!(now_ns, step, "a fault acts on a message"),
        What::ProtocolError { why } => warn!(now_ns, why, "protocol error"),
        What::Note { name, value, .. } => trace!(now_ns, %name, value, "notes"),
        _ => {}
    }
}

/// The number of the kind of message that carries the token, where there is one.
pub(super) fn token_kind(plan: &Plan) -> Option<u8> {
    let token = plan.info().token?;
    let machine = plan.info().machine(&plan.params, &plan.printed);
    let place = machine.kinds().iter().position(|kind| *kind == token)?;
    u8::try_from(place).ok()
}
