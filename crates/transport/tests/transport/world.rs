//! A few transports and the network between them. Time passes only from event to event.

use std::collections::{BTreeMap, BTreeSet};

use algorithms::NodeId;
use chaos::Draw;
use transport::frame::{Key, Seal};
use transport::{Config, Identity, Notice, Transport};

pub(crate) const MS: u64 = 1_000_000;

/// More events than this in one stretch of time mean that somebody talks without end.
const TOO_MANY: usize = 1_000_000;

/// What the network does to each datagram, in percent, and how long it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weather {
    pub loss: u8,
    pub duplicate: u8,
    pub corrupt: u8,
    pub truncate: u8,
    /// Each copy takes its own time from this range, so a wide one reorders.
    pub delay_ns: (u64, u64),
}

impl Weather {
    pub(crate) const FAIR: Self = Self {
        loss: 0,
        duplicate: 0,
        corrupt: 0,
        truncate: 0,
        delay_ns: (30_000, 30_000),
    };
}

/// A notice that owns its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Message(NodeId, Vec<u8>),
    Down(NodeId),
    Up(NodeId),
    Restarted(NodeId, u32),
    Silent(NodeId),
    Heard(NodeId),
}

pub(crate) struct World {
    pub now: u64,
    pub weather: Weather,
    pub members: Vec<Transport>,
    /// What each member was told, in order.
    pub told: Vec<Vec<Told>>,
    /// Directed links that carry nothing.
    pub cut: BTreeSet<(NodeId, NodeId)>,
    /// Members whose sockets nobody reads.
    pub paused: BTreeSet<NodeId>,
    /// Datagrams with these bytes in them do not arrive, if there are any.
    pub censored: Vec<u8>,
    /// Every datagram that was sent: when, its sender and its addressee.
    pub sent: Vec<(u64, NodeId, NodeId, Vec<u8>)>,
    config: Config,
    incarnations: Vec<u32>,
    seed: u64,
    /// By arrival, and in the order they were sent.
    flights: BTreeMap<(u64, u64), (NodeId, Vec<u8>)>,
    flown: u64,
}

pub(crate) fn seal() -> Seal {
    Seal::new("a test", 1, Key::new([7; 32]))
}

impl World {
    pub(crate) fn new(config: Config, members: u32, weather: Weather, seed: u64) -> Self {
        let transport = |me| {
            let identity = Identity {
                me: NodeId(me),
                incarnation: 0,
                members,
            };
            Transport::new(config, seal(), identity)
        };
        Self {
            now: 0,
            weather,
            members: (0..members).map(transport).collect(),
            told: vec![Vec::new(); members as usize],
            cut: BTreeSet::new(),
            paused: BTreeSet::new(),
            censored: Vec::new(),
            sent: Vec::new(),
            config,
            incarnations: vec![0; members as usize],
            seed,
            flights: BTreeMap::new(),
            flown: 0,
        }
    }

    pub(crate) fn member(&mut self, member: NodeId) -> &mut Transport {
        &mut self.members[member.index()]
    }

    pub(crate) fn incarnation(&self, member: NodeId) -> u32 {
        self.incarnations[member.index()]
    }

    /// Hands a message to a transport and lets out what wants to leave.
    pub(crate) fn send(&mut self, from: NodeId, to: NodeId, message: &[u8]) {
        self.member(from).send(to, message);
        self.flush(from);
    }

    /// Replaces a member by its next incarnation, which knows nothing.
    pub(crate) fn restart(&mut self, member: NodeId) {
        self.incarnations[member.index()] += 1;
        let identity = Identity {
            me: member,
            incarnation: self.incarnations[member.index()],
            members: self.members.len() as u32,
        };
        *self.member(member) = Transport::new(self.config, seal(), identity);
        self.told[member.index()].clear();
    }

    /// Somebody who knows tells a member in which incarnation a peer lives.
    pub(crate) fn meet(&mut self, member: NodeId, peer: NodeId) {
        let (now, incarnation) = (self.now, self.incarnation(peer));
        let told = &mut self.told[member.index()];
        let mut sink = |notice: Notice<'_>| told.extend(keep(notice));
        self.members[member.index()].meet(now, peer, incarnation, &mut sink);
    }

    /// Somebody who knows tells a member that a peer is dead.
    pub(crate) fn peer_died(&mut self, member: NodeId, peer: NodeId) {
        let told = &mut self.told[member.index()];
        let mut sink = |notice: Notice<'_>| told.extend(keep(notice));
        self.members[member.index()].peer_died(peer, &mut sink);
    }

    /// The network behaves from now on, and what is under way still arrives.
    pub(crate) fn heal(&mut self) {
        self.weather = Weather::FAIR;
        self.cut.clear();
        let paused = std::mem::take(&mut self.paused);
        for member in paused {
            self.catch_up(member);
        }
    }

    /// A paused member runs again and finds out what time it is.
    pub(crate) fn catch_up(&mut self, member: NodeId) {
        self.paused.remove(&member);
        self.tick(member);
    }

    /// Lets time pass, with everything that happens until then.
    pub(crate) fn run_until(&mut self, until: u64) {
        for _ in 0..TOO_MANY {
            let arrival = self.flights.keys().next().map(|&(at, _)| at);
            let awake = (0..self.members.len() as u32).map(NodeId);
            let awake = awake.filter(|member| !self.paused.contains(member));
            let deadlines = awake.filter_map(|member| {
                let at = self.members[member.index()].next_deadline()?;
                Some((at.max(self.now), member))
            });
            let timer = deadlines.min();
            match (arrival, timer) {
                (Some(at), timer) if at <= until && timer.is_none_or(|(due, _)| at <= due) => {
                    self.now = self.now.max(at);
                    self.arrive();
                }
                (_, Some((due, member))) if due <= until => {
                    self.now = due;
                    self.tick(member);
                }
                (Some(_) | None, Some(_) | None) => {
                    self.now = until;
                    return;
                }
            }
        }
        panic!(
            "more than {TOO_MANY} events before {until} ns; it is {} ns",
            self.now
        );
    }

    pub(crate) fn run_for(&mut self, ns: u64) {
        self.run_until(self.now + ns);
    }

    /// Lets this much time pass, and says how many datagrams were sent in it.
    pub(crate) fn sent_within(&mut self, ns: u64) -> usize {
        let before = self.sent.len();
        self.run_for(ns);
        self.sent.len() - before
    }

    /// Hands a datagram to a member as if it had arrived.
    pub(crate) fn inject(&mut self, to: NodeId, datagram: &[u8]) {
        let told = &mut self.told[to.index()];
        let mut sink = |notice: Notice<'_>| told.extend(keep(notice));
        // What is wrong with it is the counters' business.
        let _ = self.members[to.index()].receive(self.now, datagram, &mut sink);
        self.flush(to);
    }

    /// The messages a member was given, with their senders.
    pub(crate) fn messages(
        &self,
        member: NodeId,
    ) -> impl DoubleEndedIterator<Item = (NodeId, &[u8])> {
        self.told[member.index()]
            .iter()
            .filter_map(|told| match told {
                Told::Message(from, bytes) => Some((*from, &bytes[..])),
                Told::Down(_)
                | Told::Up(_)
                | Told::Restarted(..)
                | Told::Silent(_)
                | Told::Heard(_) => None,
            })
    }

    pub(crate) fn settled(&self) -> bool {
        self.flights.is_empty() && self.members.iter().all(Transport::settled)
    }

    fn tick(&mut self, member: NodeId) {
        let told = &mut self.told[member.index()];
        let mut sink = |notice: Notice<'_>| told.extend(keep(notice));
        self.members[member.index()].tick(self.now, &mut sink);
        self.flush(member);
    }

    fn arrive(&mut self) {
        let (_, (to, datagram)) = self.flights.pop_first().expect("one is under way");
        if !self.paused.contains(&to) {
            self.inject(to, &datagram);
        }
    }

    pub(crate) fn flush(&mut self, from: NodeId) {
        let mut datagram = Vec::new();
        loop {
            let now = self.now;
            let Some(to) = self.member(from).poll_transmit(now, &mut datagram) else {
                return;
            };
            assert!(datagram.len() <= self.config.datagram_bytes);
            self.sent.push((now, from, to, datagram.clone()));
            self.fly(from, to, &datagram);
        }
    }

    fn fly(&mut self, from: NodeId, to: NodeId, datagram: &[u8]) {
        self.flown += 1;
        let mut draw = Draw::new([self.seed, self.flown]);
        let weather = self.weather;
        let mut happens = |percent: u8| draw.below(100) < u64::from(percent);
        if self.cut.contains(&(from, to)) || self.is_censored(datagram) || happens(weather.loss) {
            return;
        }
        let copies = 1 + u64::from(happens(weather.duplicate));
        for _ in 0..copies {
            let mut copy = datagram.to_vec();
            if draw.below(100) < u64::from(weather.corrupt) {
                let bit = draw.below(8 * copy.len() as u64) as usize;
                copy[bit / 8] ^= 1 << (bit % 8);
            }
            if draw.below(100) < u64::from(weather.truncate) {
                copy.truncate(draw.below(copy.len() as u64) as usize);
            }
            let (least, most) = weather.delay_ns;
            let at = self.now + least + draw.below(most - least + 1);
            self.flown += 1;
            self.flights.insert((at, self.flown), (to, copy));
        }
    }

    fn is_censored(&self, datagram: &[u8]) -> bool {
        let length = self.censored.len();
        length > 0 && datagram.windows(length).any(|bytes| bytes == self.censored)
    }
}

/// What a member is told; round trips are seen by what they do to the timing.
fn keep(notice: Notice<'_>) -> Option<Told> {
    Some(match notice {
        Notice::Message { from, bytes } => Told::Message(from, bytes.to_vec()),
        Notice::LinkDown { peer } => Told::Down(peer),
        Notice::LinkUp { peer } => Told::Up(peer),
        Notice::Restarted { peer, incarnation } => Told::Restarted(peer, incarnation),
        Notice::Silent { peer } => Told::Silent(peer),
        Notice::Heard { peer } => Told::Heard(peer),
        Notice::RoundTrip { .. } => return None,
    })
}
