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
use member::members::{self, Effect, Event};
use member::trace;
use model::plan::Plan;
use transport::header;

impl Member {
    /// Handles the first arrival, or else the first alarm that is due; says whether there was one.
    pub(super) fn handle_one(&mut self) -> Result<bool, String> {
        let now_ns = self.now_ns();
        let event = match self.arrivals.pop_front() {
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
                self.recorder.add(
                    now_ns,
                    &Record::Received {
                        from,
                        kind,
                        delay_ns,
                    },
                );
                self.trace(now_ns, |members| trace::received(members, from, message));
                Event::Message { from, message }
            }
            Some(Arrival::Posted { message }) => {
                let from = self.me;
                self.trace(now_ns, |members| trace::received(members, from, message));
                Event::Message { from, message }
            }
            Some(Arrival::Link { neighbour, change }) => Event::Link { neighbour, change },
            Some(Arrival::Silence { peer }) => {
                let detector = self.detector.as_mut();
                if !detector.is_some_and(|detector| detector.suspect(peer)) {
                    return Ok(true);
                }
                info!(now_ns, %peer, "suspects");
                self.recorder.add(now_ns, &Record::Suspected { peer });
                let change = Change::Down;
                Event::Peer { peer, change }
            }
            None => match self.alarms.due(now_ns) {
                Some(alarm) => Event::Alarm(alarm),
                None => return Ok(false),
            },
        };
        self.happen(now_ns, event)?;
        Ok(true)
    }

    /// Lets an event happen and does what is to be done about it, except for letting it out.
    pub(super) fn happen(&mut self, now_ns: u64, event: Event) -> Result<(), String> {
        let Some(members) = &mut self.members else {
            return Ok(());
        };
        let mut effects = std::mem::take(&mut self.effects);
        trace!(now_ns, ?event, "happens");
        members.handle(now_ns, self.me, event, &mut effects);
        for effect in effects.drain(..) {
            match effect {
                Effect::Send {
                    to,
                    message,
                    charge,
                    held_ns,
                } => {
                    self.trace(now_ns, |members| trace::sent(members, to, message, charge));
                    self.send(now_ns, held_ns, to, message)?;
                }
                Effect::Lose { to, message } => self.lose(now_ns, to, message),
                Effect::Hit { step } => self.hits.push(step),
                Effect::Post { message } => {
                    self.trace(now_ns, |members| trace::posted(members, message));
                    self.arrivals.push_back(Arrival::Posted { message });
                }
                Effect::Arm { at_ns, alarm } => self.alarms.add(at_ns, alarm),
                Effect::Record(record) => self.record(now_ns, &record)?,
            }
        }
        self.effects = effects;
        Ok(())
    }

    fn send(
        &mut self,
        now_ns: u64,
        held_ns: u64,
        to: NodeId,
        message: MessageId,
    ) -> Result<(), String> {
        let kind = self.kind(message);
        let number = self.number(message);
        let Some(members) = &mut self.members else {
            return Ok(());
        };
        // The time it was sent travels with it: the receiver knows the delay, whatever the order.
        header::write(now_ns.saturating_sub(held_ns), number, &mut self.message);
        let stamped = self.message.len();
        members.group().encode(message, &mut self.message);
        members.group_mut().discard(message);
        let bytes = (self.message.len() - stamped) as u32;
        debug!(now_ns, %to, kind = self.kind_name(kind), bytes, "sends");
        self.recorder.add(now_ns, &Record::Sent { to, kind, bytes });
        self.traffic.entry(to).or_default().sent += 1;
        self.transport.send(to, &self.message);
        self.transport
            .overflow()
            .map_or(Ok(()), |overflow| Err(overflow.to_string()))
    }

    fn lose(&mut self, now_ns: u64, to: NodeId, message: MessageId) {
        let kind = self.kind(message);
        info!(now_ns, %to, kind = self.kind_name(kind), "a fault loses what it sends");
        self.recorder.add(now_ns, &Record::Lost { to, kind });
        self.trace(now_ns, |members| trace::sent(members, to, message, None));
        self.trace(now_ns, |members| trace::lost(members, to, message));
        if let Some(members) = &mut self.members {
            members.group_mut().discard(message);
        }
    }

    /// Writes down what happened, and asks the kernel for its testimony about who is inside.
    fn record(&mut self, now_ns: u64, record: &members::Record) -> Result<(), String> {
        log(now_ns, record);
        let witness_failed = |error| format!("the witness file failed: {error}");
        let witness = match record {
            members::Record::Entered { .. } => {
                self.inside_since_ns = Some(now_ns);
                self.entries += 1;
                self.hits.extend(self.catch.take());
                match self.witness.enter().map_err(witness_failed)? {
                    Testimony::Admitted(slot) => Some(slot),
                    Testimony::Refused => None,
                }
            }
            members::Record::Left => {
                self.inside_since_ns = None;
                self.witness.leave().map_err(witness_failed)?;
                None
            }
            members::Record::Arrived { .. }
            | members::Record::Asked
            | members::Record::Retired
            | members::Record::Tampered { .. }
            | members::Record::Note { .. }
            | members::Record::ProtocolError { .. }
            | members::Record::Traced(_) => None,
        };
        if let Some(kept) = Record::of(record, witness) {
            self.recorder.add(now_ns, &kept);
        }
        self.trace_record(now_ns, record, witness);
        Ok(())
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

/// Says what happened, as loud as it matters to whoever looks for a fault.
fn log(now_ns: u64, record: &members::Record) {
    match record {
        members::Record::Arrived { priority } => debug!(now_ns, priority, "a request arrives"),
        members::Record::Asked => debug!(now_ns, "asks the algorithm"),
        members::Record::Entered { fence, invited } => debug!(now_ns, ?fence, invited, "enters"),
        members::Record::Left => debug!(now_ns, "leaves"),
        members::Record::Retired => debug!(now_ns, "will not ask again"),
        members::Record::Tampered { step } => info!(now_ns, step, "a fault acts on a message"),
        members::Record::ProtocolError { why } => warn!(now_ns, why, "protocol error"),
        members::Record::Note { name, value, .. } => trace!(now_ns, name, value, "notes"),
        members::Record::Traced(_) => {}
    }
}

/// The number of the kind of message that carries the token, where there is one.
pub(super) fn token_kind(plan: &Plan) -> Option<u8> {
    let token = plan.info().token?;
    let machine = (plan.info().machine)(&plan.params, &plan.printed);
    let place = machine.kinds().iter().position(|kind| *kind == token)?;
    u8::try_from(place).ok()
}
