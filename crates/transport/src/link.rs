//! One peer: which incarnation of it, what of it was seen, and the talk with it.

use algorithms::NodeId;

use crate::budget::Budget;
use crate::config::Config;
use crate::conversation::{Conversation, Outgoing};
use crate::counters::Counters;
use crate::frame::{Header, Rejected};
use crate::notice::Notice;
use crate::packet::{Head, Say};
use crate::replay::Replay;
use crate::rtt::{Presumed, RoundTrips};
use crate::session::{Session, Silence, Turn};

/// Everything kept about one peer.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    peer: NodeId,
    incarnation: u32,
    /// Whether the peer is known to be dead.
    dead: bool,
    /// Whether it stands in the transport's queue of links with something to send.
    pub queued: bool,
    /// Whether it stands in the queue of links whose repetitions wait for a credit.
    pub waiting: bool,
    replay: Replay,
    session: Session,
    talk: Conversation,
    trips: RoundTrips,
}

/// What a link writes into and reports to.
pub(crate) struct Desk<'a> {
    pub config: &'a Config,
    pub counters: &'a mut Counters,
    pub budget: &'a mut Budget,
    pub sink: &'a mut dyn FnMut(Notice<'_>),
}

impl Link {
    /// A link that is up, to a peer in its first incarnation.
    pub(crate) fn new(me: NodeId, peer: NodeId, config: &Config) -> Self {
        Self {
            peer,
            incarnation: 0,
            dead: false,
            queued: false,
            waiting: false,
            replay: Replay::default(),
            session: Session::first(u32::from(me < peer)),
            talk: Conversation::new(config),
            trips: RoundTrips::default(),
        }
    }

    pub(crate) fn incarnation(&self) -> u32 {
        self.incarnation
    }

    pub(crate) fn queued_bytes(&self) -> usize {
        self.talk.queued_bytes()
    }

    pub(crate) fn kept_bytes(&self) -> usize {
        self.talk.kept_bytes()
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.talk.is_settled()
    }

    pub(crate) fn is_up(&self) -> bool {
        self.session.is_up() && !self.dead
    }

    pub(crate) fn round_trip_ns(&self) -> Option<u64> {
        self.trips.smoothed_ns()
    }

    /// Queues a message; one that has no session to travel in is lost at once.
    pub(crate) fn send(&mut self, message: &[u8], config: &Config, counters: &mut Counters) {
        counters.messages_sent += 1;
        if self.is_up() {
            self.talk.send(message, config);
        } else {
            counters.messages_lost += 1;
        }
    }

    pub(crate) fn watch(&mut self, now: u64, watched: bool, config: &Config) {
        if !self.dead {
            self.session.watch(now, watched, config);
        }
    }

    /// The peer is known to live in this incarnation.
    pub(crate) fn meet(&mut self, now: u64, incarnation: u32, desk: &mut Desk<'_>) {
        if incarnation <= self.incarnation {
            return;
        }
        let was_up = self.session.is_up();
        self.give_up(desk);
        self.incarnation = incarnation;
        self.dead = false;
        self.replay = Replay::default();
        self.session.restarted(now, desk.config);
        if was_up && !self.session.is_up() {
            self.report_down(desk);
        }
        (desk.sink)(Notice::Restarted {
            peer: self.peer,
            incarnation,
        });
    }

    /// The peer is known to be dead.
    pub(crate) fn peer_died(&mut self, desk: &mut Desk<'_>) {
        let was_up = self.session.is_up();
        self.give_up(desk);
        self.dead = true;
        self.session.peer_died(desk.config);
        if was_up && !self.session.is_up() {
            self.report_down(desk);
        }
    }

    /// Takes a frame that is authentic and addressed to this member.
    pub(crate) fn receive(
        &mut self,
        now: u64,
        own_incarnation: u32,
        header: &Header,
        body: &[u8],
        desk: &mut Desk<'_>,
    ) -> Result<(), Rejected> {
        if header.source_incarnation < self.incarnation {
            return Err(Rejected::StaleSource);
        }
        self.meet(now, header.source_incarnation, desk);
        self.replay.admit(header.number)?;
        if header.destination_incarnation != own_incarnation {
            self.session.announce();
            return Err(Rejected::StaleDestination);
        }
        let (head, segments) = Head::read(body)?;
        let turn = self
            .session
            .hear(now, head.session, head.say, desk.config)?;
        self.talk.heard(now, &mut self.trips, desk.config);
        if self.session.trust() {
            (desk.sink)(Notice::Heard { peer: self.peer });
        }
        match turn {
            Turn::Same | Turn::Handshake => {}
            Turn::Began => (desk.sink)(Notice::LinkUp { peer: self.peer }),
            Turn::Ended => {
                self.give_up(desk);
                self.report_down(desk);
            }
        }
        match head.say {
            Say::Open | Say::Accept => return Ok(()),
            Say::Ping => self.talk.answer(now, header.number),
            Say::Carry => {}
        }
        let learned = self
            .talk
            .acknowledge(now, &head.ack, &mut self.trips, desk.config)?;
        desk.budget.answered(learned.segments);
        let (peer, sink) = (self.peer, &mut *desk.sink);
        if let Some(ns) = learned.round_trip_ns {
            desk.budget.measured(now, ns);
            sink(Notice::RoundTrip { peer, ns });
        }
        let mut delivered = 0;
        let mut deliver = |bytes: &[u8]| {
            delivered += 1;
            sink(Notice::Message { from: peer, bytes });
        };
        let number = header.number;
        let taken = self.talk.take(
            now,
            number,
            segments,
            desk.config,
            desk.counters,
            &mut deliver,
        );
        desk.counters.messages_delivered += delivered;
        taken
    }

    /// Whether a frame is to leave now.
    pub(crate) fn has_something(&self) -> bool {
        self.session.pending().is_some() || (self.session.is_up() && self.talk.has_something())
    }

    /// Whether something is to be sent again.
    pub(crate) fn has_repetition(&self) -> bool {
        self.session.is_up() && self.talk.has_repetition()
    }

    /// Whether a frame is to leave for more than repetitions.
    pub(crate) fn has_more_than_repetitions(&self) -> bool {
        let says_something = self.session.pending().is_some();
        says_something || (self.session.is_up() && self.talk.has_more_than_repetitions())
    }

    /// Other peers say this of round trips.
    pub(crate) fn presume(&mut self, presumed: Presumed) {
        self.trips.presume(presumed);
    }

    /// Appends the body of the frame of this number.
    pub(crate) fn write(
        &mut self,
        now: u64,
        frame: Outgoing,
        datagram: &mut Vec<u8>,
        config: &Config,
        counters: &mut Counters,
    ) {
        let say = self.session.pending().unwrap_or(Say::Carry);
        let head = Head {
            session: self.session.number(),
            say,
            ack: self.talk.write_ack(now),
        };
        head.write(datagram);
        let segments = match say {
            Say::Carry | Say::Ping if self.session.is_up() => {
                self.talk
                    .write_segments(now, frame, datagram, &self.trips, config, counters)
            }
            Say::Carry | Say::Ping | Say::Open | Say::Accept => 0,
        };
        match (say, segments) {
            (Say::Open | Say::Accept, _) => counters.handshakes += 1,
            (Say::Ping, 0) => counters.heartbeats += 1,
            (Say::Carry, 0) => counters.acks += 1,
            (Say::Ping | Say::Carry, _) => {}
        }
        if segments > 0 || say == Say::Ping {
            self.trips.sent(now, frame.number);
        }
        self.session.sent(now, say, segments > 0);
    }

    /// When something is to be done here.
    pub(crate) fn deadline(&self, config: &Config) -> Option<u64> {
        let deadlines = [self.talk.deadline(), self.session.deadline(config)];
        deadlines.into_iter().flatten().min()
    }

    /// Does what has become due by this time.
    pub(crate) fn tick(&mut self, now: u64, desk: &mut Desk<'_>) {
        self.talk.tick(now, &mut self.trips, desk.config);
        match self.session.tick(now, desk.config) {
            None => {}
            Some(Silence::Suspected) => (desk.sink)(Notice::Silent { peer: self.peer }),
            Some(Silence::Ended) => {
                self.give_up(desk);
                self.report_down(desk);
            }
        }
    }

    /// Ends the talk; what the other end did not acknowledge is lost.
    fn give_up(&mut self, desk: &mut Desk<'_>) {
        desk.counters.messages_lost += self.talk.unconfirmed(desk.config);
        self.talk = Conversation::new(desk.config);
        self.trips.forget_frames();
    }

    fn report_down(&mut self, desk: &mut Desk<'_>) {
        desk.counters.sessions_ended += 1;
        (desk.sink)(Notice::LinkDown { peer: self.peer });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A member of a thousand may talk to all of them, and has a megabyte and a half for everything.
    #[test]
    fn a_link_is_small() {
        let bytes = size_of::<Link>();
        assert!(bytes <= 576, "{bytes}");
    }
}
