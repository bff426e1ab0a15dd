//! Reliable messages over datagrams: exactly once per peer, in order or on arrival.
//!
//! The transport touches no socket and no clock. It is told what arrived and what time it is, and
//! asked what should leave; so the simulator and a process run the very same code, and a bug report
//! is a list of datagrams and times.
//!
//! ```text
//!              send ┌───────────┐ poll_transmit
//!   member ────────►│           ├──────────────► network
//!          ◄────────┤ transport │◄──────────────
//!           notices └─────▲─────┘ receive
//!                         │ tick, next_deadline
//! ```
//!
//! A message whose first datagram is lost arrives with the second:
//!
//! ```
//! use algorithms::NodeId;
//! use transport::frame::{Key, Seal};
//! use transport::{Config, Notice, Identity, Transport};
//!
//! let member = |me| {
//!     let identity = Identity { me: NodeId(me), incarnation: 0, members: 2 };
//!     Transport::new(Config::default(), Seal::new("an example", 1, Key::new([7; 32])), identity)
//! };
//! let (mut a, mut b) = (member(0), member(1));
//! let mut datagram = Vec::new();
//!
//! a.send(NodeId(1), b"hello");
//! assert_eq!(a.poll_transmit(0, &mut datagram), Some(NodeId(1)));
//! // The network loses it, nothing acknowledges it, and in time it leaves again.
//! let later = a.next_deadline().expect("a message is unacknowledged");
//! a.tick(later, &mut |_| {});
//! assert_eq!(a.poll_transmit(later, &mut datagram), Some(NodeId(1)));
//!
//! let mut notices = 0;
//! let sender = b.receive(later, &datagram, &mut |notice| {
//!     assert_eq!(notice, Notice::Message { from: NodeId(0), bytes: b"hello" });
//!     notices += 1;
//! });
//! assert_eq!((sender, notices), (Ok(NodeId(0)), 1));
//! ```
//!
//! # On the wire
//!
//! A datagram is a sealed [`frame`] whose body is a head and any number of segments:
//!
//! ```text
//! ┌────────────────────────────────────────────────┬─────────────────────────────────┬─────┐
//! │ head                                           │ segment                         │ ... │
//! │ session │ say │ below │ beyond │ echo │ held_us │ number │ part │ length │ bytes  │     │
//! │ varint  │  1  │   varint, bitmap, 2 varints    │ varint │  1   │ varint │        │     │
//! └────────────────────────────────────────────────┴─────────────────────────────────┴─────┘
//!  say:   Carry, Ping, Open, Accept                  part: Whole, First, Middle, Last
//!  below: every segment under this number has arrived here; beyond: a bit for each of the next 64
//!  echo:  the frame that this answers, and for how many microseconds the answer was held back
//! ```
//!
//! Everything that leaves for one peer at one moment shares datagrams. A message longer than a
//! datagram becomes several segments with consecutive numbers.
//!
//! # When things leave
//!
//! * An **acknowledgement** travels with the next message that goes its way, or alone after
//!   `ack_delay`. Five milliseconds is long enough for a busy group to need few of them: at one
//!   message per link and 2.7 ms, two milliseconds would make one ack in four messages, five one in
//!   twenty. It leaves at once when something is missing or came twice, when the peer asks, and
//!   after a quarter of a window.
//! * A **repetition** leaves when the acknowledgement is overdue by RFC 6298: smoothed round trip
//!   plus four deviations, but at least `floor`, and on top of that `ack_delay`, because the peer
//!   may hold its answer back that long. Before the first
//!   sample, what the round trips to others take counts, if that is longer than `first`. It doubles
//!   with each repetition up to `cap`, which bounds how long after a cut has healed the link stays
//!   silent; hearing anything of the peer ends the long pauses. Everything under way is then given
//!   up for lost, and goes out again within a window of two datagrams.
//! * A datagram with **repetitions** takes a credit of the member's budget (`budget.rs`), so that
//!   hundreds of links together do not flood a network that is late.
//! * A segment that three later frames have **overtaken** is sent again without waiting.
//! * A **heartbeat** leaves only for a peer that is watched and has been silent for a quarter of
//!   the silence that matters.
//!
//! # What bounds memory
//!
//! A link exists once something was sent to or received from its peer. At most 64 segments, and at
//! most `window_bytes`, are unacknowledged at a time, so a receiver needs to keep no more than that
//! out of order. Nothing is refused at the sending end: the queue grows, [`Transport::congested`]
//! says that the member should ask for nothing new, and [`Transport::overflow`] that it must stop.
//!
//! # Incarnations and sessions
//!
//! A frame names the incarnations of both ends. A message belongs to the pair for which it was
//! sent; when one of the two is replaced, both ends start afresh, and what the old one had not
//! acknowledged is lost. Under the `sessions` contract the same happens when a link was silent for
//! too long; `session.rs` has the handshake.

#![warn(unreachable_pub)]

mod acks;
mod budget;
mod config;
mod conversation;
mod counters;
pub mod failure_detector;
mod fragments;
pub mod frame;
pub mod header;
mod link;
mod notice;
mod packet;
mod receiver;
mod replay;
mod rtt;
mod sender;
mod session;
mod window;

use std::collections::{BTreeMap, VecDeque};

use algorithms::NodeId;

use crate::frame::{Header, Rejected, Seal};
use budget::Budget;
use conversation::Outgoing;
use link::{Desk, Link};

pub use config::{Config, Contract, Timing};
pub use counters::Counters;
pub use notice::Notice;

/// Which member a transport works for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The number of the member.
    pub me: NodeId,
    /// Which of its incarnations, from 0.
    pub incarnation: u32,
    /// How many members the group has.
    pub members: u32,
}

/// A peer to which more is queued than may ever be: the member must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{queued_bytes} bytes are queued for member {peer}, more than the limit of {limit_bytes}")]
pub struct Overflow {
    /// The peer to which too much is queued.
    pub peer: NodeId,
    /// How much is queued for it.
    pub queued_bytes: usize,
    /// How much may be queued for one peer.
    pub limit_bytes: usize,
}

/// One member's end of all its links.
#[derive(Clone, Debug)]
pub struct Transport {
    config: Config,
    seal: Seal,
    identity: Identity,
    /// The number of the frame that left last.
    number: u64,
    /// Boxed, so that few links take little memory.
    links: BTreeMap<NodeId, Box<Link>>,
    /// Links that may have something to send, each once.
    ready: VecDeque<NodeId>,
    /// Links whose repetitions wait for a credit, each once, in their order.
    waiting: VecDeque<NodeId>,
    budget: Budget,
    /// No deadline of any link is earlier.
    earliest: Option<u64>,
    overflow: Option<Overflow>,
    counters: Counters,
}

impl Transport {
    /// A transport that has talked to nobody. All peers are taken to be in their first incarnation
    /// until they are heard, or [met](Self::meet).
    ///
    /// # Panics
    /// If the configuration contradicts itself.
    pub fn new(config: Config, seal: Seal, identity: Identity) -> Self {
        config.check();
        Self {
            config,
            seal,
            identity,
            number: 0,
            links: BTreeMap::new(),
            ready: VecDeque::new(),
            waiting: VecDeque::new(),
            budget: Budget::default(),
            earliest: None,
            overflow: None,
            counters: Counters::default(),
        }
    }

    /// Takes a message to another member. It is never refused.
    ///
    /// # Panics
    /// If there is no such other member.
    pub fn send(&mut self, to: NodeId, message: &[u8]) {
        let limit_bytes = self.config.hard_limit_bytes;
        self.with_link(to, &mut |_| {}, |link, desk| {
            link.send(message, desk.config, desk.counters);
        });
        let queued_bytes = self.queued_bytes(to);
        if queued_bytes > limit_bytes {
            self.overflow.get_or_insert(Overflow {
                peer: to,
                queued_bytes,
                limit_bytes,
            });
        }
    }

    /// Takes a datagram and says who sent it, or why it was dropped. What it brings goes to `sink`.
    pub fn receive(
        &mut self,
        now: u64,
        datagram: &[u8],
        sink: &mut dyn FnMut(Notice<'_>),
    ) -> Result<NodeId, Rejected> {
        self.counters.datagrams_received += 1;
        self.counters.bytes_received += datagram.len() as u64;
        let Identity {
            me,
            incarnation,
            members,
        } = self.identity;
        let opened = self.seal.open(me, members, datagram);
        let received = opened.and_then(|(header, body)| {
            self.with_link(header.source, sink, |link, desk| {
                link.receive(now, incarnation, &header, body, desk)
            })
            .map(|()| header.source)
        });
        if let Err(reason) = received {
            self.counters.reject(reason);
        }
        received
    }

    /// Does what has become due by this time: acknowledgements, repetitions, suspicions.
    pub fn tick(&mut self, now: u64, sink: &mut dyn FnMut(Notice<'_>)) {
        if self.earliest.is_none_or(|earliest| now < earliest) {
            return;
        }
        let presumed = self.budget.presumed(now, &self.config.timing);
        let mut desk = Desk {
            config: &self.config,
            counters: &mut self.counters,
            budget: &mut self.budget,
            sink,
        };
        let mut earliest = None;
        for (&peer, link) in &mut self.links {
            if link.deadline(desk.config).is_some_and(|at| at <= now) {
                link.presume(presumed);
                link.tick(now, &mut desk);
                if link.has_something() && !link.queued {
                    link.queued = true;
                    self.ready.push_back(peer);
                }
            }
            earliest = earlier(earliest, link.deadline(desk.config));
        }
        self.earliest = earliest;
    }

    /// The time at which [`tick`](Self::tick) is to be called; it may turn out to have been too
    /// early, never too late.
    pub fn next_deadline(&self) -> Option<u64> {
        let wait = !self.waiting.is_empty();
        let credit_at = wait.then(|| self.budget.next_at(&self.config.timing));
        earlier(self.earliest, credit_at)
    }

    /// Writes the next datagram that is to leave into `datagram`, and says to whom. To be called
    /// until there is none.
    pub fn poll_transmit(&mut self, now: u64, datagram: &mut Vec<u8>) -> Option<NodeId> {
        let (peer, repeats) = self.next_to_send(now)?;
        let link = self.links.get_mut(&peer).expect("only links send");
        link.presume(self.budget.presumed(now, &self.config.timing));
        self.number += 1;
        let header = Header {
            source: self.identity.me,
            destination: peer,
            source_incarnation: self.identity.incarnation,
            destination_incarnation: link.incarnation(),
            number: self.number,
        };
        self.seal.begin(&header, datagram);
        let frame = Outgoing {
            number: self.number,
            repeats,
        };
        link.write(now, frame, datagram, &self.config, &mut self.counters);
        self.seal.close(datagram);
        if link.has_something() && !link.queued {
            link.queued = true;
            self.ready.push_back(peer);
        }
        self.earliest = earlier(self.earliest, link.deadline(&self.config));
        self.counters.datagrams_sent += 1;
        self.counters.bytes_sent += datagram.len() as u64;
        Some(peer)
    }

    /// The link whose turn it is: one that has more than repetitions to send, or else the one whose
    /// repetitions have waited longest, if there is a credit. Says as well whether what leaves may
    /// repeat something.
    fn next_to_send(&mut self, now: u64) -> Option<(NodeId, bool)> {
        let timing = &self.config.timing;
        while let Some(peer) = self.ready.pop_front() {
            let link = self.links.get_mut(&peer).expect("only links are ready");
            link.queued = false;
            if link.has_more_than_repetitions() {
                let repeats = link.has_repetition() && self.budget.take(now, timing);
                return Some((peer, repeats));
            }
            if link.has_something() && !link.waiting {
                link.waiting = true;
                self.waiting.push_back(peer);
            }
        }
        while let Some(&peer) = self.waiting.front() {
            let link = self.links.get_mut(&peer).expect("only links wait");
            let repeats = link.has_repetition();
            if repeats && !self.budget.take(now, timing) {
                return None;
            }
            self.waiting.pop_front();
            link.waiting = false;
            if repeats {
                return Some((peer, true));
            }
        }
        None
    }

    /// The path does not take datagrams of the usual size: those made from now on are so short that
    /// every path takes them. Messages that were cut already stay as they are.
    pub fn narrow(&mut self) {
        let narrow = Config::NARROW_DATAGRAM_BYTES;
        self.config.datagram_bytes = self.config.datagram_bytes.min(narrow);
    }

    /// Asks for heartbeats to a peer, so that its silence is noticed while nothing else is said.
    pub fn watch(&mut self, now: u64, peer: NodeId, watched: bool) {
        self.with_link(peer, &mut |_| {}, |link, desk| {
            link.watch(now, watched, desk.config);
        });
    }

    /// A peer is known to be in this incarnation; an earlier one will get nothing more.
    pub fn meet(
        &mut self,
        now: u64,
        peer: NodeId,
        incarnation: u32,
        sink: &mut dyn FnMut(Notice<'_>),
    ) {
        self.with_link(peer, sink, |link, desk| link.meet(now, incarnation, desk));
    }

    /// A peer is known to be dead: what is queued for it is lost, and so is what will be, until it
    /// is heard in a new incarnation.
    pub fn peer_died(&mut self, peer: NodeId, sink: &mut dyn FnMut(Notice<'_>)) {
        self.with_link(peer, sink, Link::peer_died);
    }

    /// What is queued for a peer and not acknowledged, with what it takes to keep it.
    pub fn queued_bytes(&self, peer: NodeId) -> usize {
        self.links.get(&peer).map_or(0, |link| link.queued_bytes())
    }

    /// What came from a peer and cannot be delivered yet.
    pub fn kept_bytes(&self, peer: NodeId) -> usize {
        self.links.get(&peer).map_or(0, |link| link.kept_bytes())
    }

    /// Whether messages to a peer would travel: its link is up.
    pub fn is_up(&self, peer: NodeId) -> bool {
        self.links.get(&peer).is_none_or(|link| link.is_up())
    }

    /// The smoothed round trip to a peer, once it was measured.
    pub fn round_trip_ns(&self, peer: NodeId) -> Option<u64> {
        self.links.get(&peer)?.round_trip_ns()
    }

    /// Whether so much is queued for some peer that the member should ask for nothing new.
    pub fn congested(&self) -> bool {
        let limit = self.config.soft_limit_bytes;
        self.links.values().any(|link| link.queued_bytes() > limit)
    }

    /// The first peer for which more was queued than may ever be.
    pub fn overflow(&self) -> Option<Overflow> {
        self.overflow
    }

    /// Whether everything that was sent is acknowledged.
    pub fn settled(&self) -> bool {
        self.unsettled() == 0
    }

    /// How many peers have not acknowledged all that was sent to them.
    pub fn unsettled(&self) -> usize {
        self.links
            .values()
            .filter(|link| !link.is_settled())
            .count()
    }

    /// What the transport did so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Does something to a link, making it if need be, and sees to what follows from it.
    fn with_link<T>(
        &mut self,
        peer: NodeId,
        sink: &mut dyn FnMut(Notice<'_>),
        act: impl FnOnce(&mut Link, &mut Desk<'_>) -> T,
    ) -> T {
        let me = self.identity.me;
        assert!(
            peer != me && peer.0 < self.identity.members,
            "{peer} is no other member"
        );
        let config = &self.config;
        let link = self.links.entry(peer);
        let link = link.or_insert_with(|| Box::new(Link::new(me, peer, config)));
        let mut desk = Desk {
            config,
            counters: &mut self.counters,
            budget: &mut self.budget,
            sink,
        };
        let outcome = act(link, &mut desk);
        if link.has_something() && !link.queued {
            link.queued = true;
            self.ready.push_back(peer);
        }
        self.earliest = earlier(self.earliest, link.deadline(config));
        outcome
    }
}

fn earlier(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
