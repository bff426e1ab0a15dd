//! What the proxy does with a datagram.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use serde_json::json;

use super::Config;
use super::control::LinkRow;
use super::faults::Faults;
use super::flights::Flights;
use super::journal::Journal;
use super::wire::Wire;
use crate::fate::Member;
use crate::link::Arrival;
use crate::totals::Totals;
use crate::wire::{Alarm, Inbox, monotonic_ns};

/// Everything the proxy's tasks share.
pub(super) struct Core {
    pub names: Vec<String>,
    /// Time 0, on the monotonic clock.
    zero_ns: u64,
    pub faults: Faults,
    pub wire: Wire,
    /// Room for a datagram that does not arrive as it was sent.
    mangled: Vec<u8>,
    pub flights: Flights,
    alarm: Rc<Alarm>,
    /// By link: from the first member to each, from the second to each, …
    pub counts: Vec<LinkCount>,
    /// Datagrams that came from nobody we know.
    pub strays: u64,
    pub journal: Journal,
}

/// What became of the datagrams of one link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LinkCount {
    /// Taken in.
    pub received: u64,
    /// Bytes of those.
    pub bytes: u64,
    /// Sent on, copies too.
    pub delivered: u64,
    /// Lost at once, or while under way.
    pub lost: u64,
    /// Copies beyond the first.
    pub doubled: u64,
}

impl Core {
    pub fn new(config: Config, alarm: Rc<Alarm>) -> io::Result<Self> {
        let (names, members): (Vec<_>, Vec<_>) = config.members.into_iter().unzip();
        let mut core = Self {
            zero_ns: monotonic_ns(),
            faults: Faults::new(config.timeline, config.delay, names.clone()),
            wire: Wire::bind(config.bind, members)?,
            mangled: Vec::new(),
            flights: Flights::default(),
            alarm,
            counts: vec![LinkCount::default(); names.len() * names.len()],
            strays: 0,
            journal: config.journal,
            names,
        };
        let about = json!({ "links": core.links()?, "faults": core.faults.rows() });
        core.journal.note(0, "listening", about);
        Ok(core)
    }

    /// The time since the start.
    pub fn now_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.zero_ns)
    }

    /// Counts time from that moment of the monotonic clock on.
    pub fn start_at(&mut self, zero_ns: u64) {
        self.zero_ns = zero_ns;
    }

    /// The members and their aliases.
    pub fn links(&self) -> io::Result<Vec<LinkRow>> {
        let aliases = self.wire.aliases()?;
        let rows = self.names.iter().zip(aliases).enumerate();
        let rows = rows.map(|(member, (name, alias))| LinkRow {
            name: name.clone(),
            member: self.wire.address(member as Member),
            alias,
        });
        Ok(rows.collect())
    }

    /// Takes in a batch of what was sent to an alias, and sends on what is not delayed.
    pub fn take_in(&mut self, to: Member, inbox: &mut Inbox) -> io::Result<()> {
        let filled = self.wire.alias(to).receive(inbox)?;
        if filled == 0 {
            return Ok(());
        }
        let now_ns = self.now_ns();
        for (source, bytes) in inbox.datagrams(filled) {
            match self.sender(source, to, now_ns) {
                Some(from) => self.carry(now_ns, from, to, bytes),
                None => self.strays += 1,
            }
        }
        self.wire.flush();
        self.set_alarm()
    }

    /// Sends what is due, unless a cut came or holds it back.
    pub fn send_due(&mut self) -> io::Result<()> {
        let now_ns = self.now_ns();
        while let Some(flight) = self.flights.land(now_ns) {
            let (from, to) = (flight.from, flight.to);
            let network = &mut self.faults.network;
            match network.arrive(now_ns, from, to, flight.sent_ns) {
                Arrival::Deliver => {
                    self.count(from, to).delivered += 1;
                    self.wire.send(from, to, &flight.bytes);
                    self.flights.recycle(flight);
                }
                Arrival::Drop(_) => {
                    self.count(from, to).lost += 1;
                    self.flights.recycle(flight);
                }
                Arrival::Hold { until_ns } => self.flights.hold(flight, until_ns),
            }
        }
        self.wire.flush();
        self.set_alarm()
    }

    /// Asks again about everything that is held: a change was made by hand.
    pub fn let_go(&mut self) -> io::Result<()> {
        let now_ns = self.now_ns();
        self.flights.let_go(now_ns);
        self.send_due()
    }

    /// Lets happen to a datagram what its fate is.
    fn carry(&mut self, now_ns: u64, from: Member, to: Member, bytes: &[u8]) {
        let network = &mut self.faults.network;
        let fate = network.fate(now_ns, from, to, bytes.len() as u32);
        let count = self.count(from, to);
        count.received += 1;
        count.bytes += bytes.len() as u64;
        count.lost += u64::from(fate.is_lost());
        count.doubled += fate.copies.len().saturating_sub(1) as u64;
        let at_once = fate.copies.iter().filter(|copy| copy.delay_ns == 0);
        count.delivered += at_once.count() as u64;
        for copy in &fate.copies {
            let mut arrives = bytes;
            if !copy.is_intact() {
                self.mangled.clear();
                self.mangled.extend_from_slice(bytes);
                let length = copy.mangle(&mut self.mangled);
                arrives = &self.mangled[..length];
            }
            if copy.delay_ns == 0 {
                self.wire.send(from, to, arrives);
            } else {
                let due_ns = now_ns.saturating_add(copy.delay_ns);
                let flight = self.flights.put(due_ns, from, to, now_ns);
                flight.extend_from_slice(arrives);
            }
        }
    }

    /// Who sent this: whose address it is, or, if it is nobody's, the first member without one.
    fn sender(&mut self, source: SocketAddr, to: Member, now_ns: u64) -> Option<Member> {
        if let Some(member) = self.wire.member_at(source) {
            return Some(member);
        }
        let member = self.wire.adopt(source, to)?;
        let about = json!({ "name": self.names[member as usize], "member": source });
        self.journal.note(now_ns, "found", about);
        Some(member)
    }

    /// What became of all datagrams.
    pub fn totals(&self) -> Totals {
        let sum = |count: fn(&LinkCount) -> u64| self.counts.iter().map(count).sum();
        Totals {
            received: sum(|link| link.received),
            delivered: sum(|link| link.delivered),
            lost: sum(|link| link.lost),
            doubled: sum(|link| link.doubled),
            under_way: self.flights.count() as u64,
            strays: self.strays,
            unsent: self.wire.unsent(),
            overflowed: self.wire.overflowed(),
        }
    }

    fn count(&mut self, from: Member, to: Member) -> &mut LinkCount {
        &mut self.counts[from as usize * self.names.len() + to as usize]
    }

    fn set_alarm(&mut self) -> io::Result<()> {
        match self.flights.next_ns() {
            Some(due_ns) => self.alarm.set(self.zero_ns.saturating_add(due_ns)),
            None => Ok(()),
        }
    }
}
