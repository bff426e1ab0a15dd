//! What the proxy does with a datagram.

use std::io;
use std::rc::Rc;

use serde_json::json;
use tokio::sync::mpsc;
use tracing::debug;

use super::Config;
use super::control::{FaultRow, LinkRow, Refusal};
use super::fault_log::FaultLog;
use super::faults::Faults;
use super::files::FaultFiles;
use super::flights::{Flights, Hop};
use super::flows::Opened;
use super::journal::Journal;
use super::sockets::{Alias, FlowChange, Sockets};
use crate::fate::Member;
use crate::link::Arrival;
use crate::reach::Reach;
use crate::rule::Count;
use crate::timeline::LinkFaultOutcome;
use crate::totals::Totals;
use wire::{Alarm, Inbox, Moment, Port};

/// Everything the proxy's tasks share.
pub(super) struct Core {
    pub names: Vec<String>,
    /// Time 0.
    zero: Moment,
    pub faults: Faults,
    pub sockets: Sockets,
    /// Room for a datagram that does not arrive as it was sent.
    mangled: Vec<u8>,
    pub flights: Flights,
    alarm: Rc<Alarm>,
    /// By link: from the first member to each, from the second to each, …
    pub counts: Vec<LinkCount>,
    /// Datagrams that came from nobody we know.
    pub strays: u64,
    /// When datagrams began not to find room among those under way, and when one last did not.
    full_ns: Option<(u64, u64)>,
    /// The journal says so, and there was room again since.
    told_full: bool,
    pub journal: Journal,
    /// When faults came into force and ended, from time 0 on, if anybody reads it.
    fault_log: Option<FaultLog>,
}

/// What became of the datagrams of one link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LinkCount {
    /// Datagrams that arrived at the proxy.
    pub received: u64,
    /// The bytes of the datagrams that arrived.
    pub bytes: u64,
    /// Datagrams that were sent on, copies too.
    pub delivered: u64,
    /// Datagrams that were lost, at once or while under way.
    pub lost: u64,
    /// Copies beyond the first.
    pub doubled: u64,
    /// Copies that were dropped because too much was under way.
    pub crowded_out: u64,
}

impl Core {
    pub(super) fn new(
        config: Config,
        alarm: Rc<Alarm>,
        opened: mpsc::UnboundedSender<Opened>,
    ) -> io::Result<Self> {
        let names = config.members.iter().map(|member| member.name.clone());
        let names = names.collect::<Vec<_>>();
        let (timeline, delay, files) = (config.timeline, config.delay, config.files);
        let mut core = Self {
            zero: Moment::now(),
            faults: Faults::new(timeline, delay, names.clone(), files),
            sockets: Sockets::bind(
                (config.bind, config.ports),
                &config.members,
                config.flows,
                opened,
            )?,
            mangled: Vec::new(),
            flights: Flights::new(config.queue_bytes),
            alarm,
            counts: vec![LinkCount::default(); names.len() * names.len()],
            strays: 0,
            full_ns: None,
            told_full: false,
            journal: config.journal,
            fault_log: None,
            names,
        };
        let about = json!({ "links": core.links()?, "faults": core.faults.rows(0) });
        core.journal.note(0, "listening", about);
        Ok(core)
    }

    /// The time since the start.
    pub(super) fn now_ns(&self) -> u64 {
        Moment::now().since(self.zero)
    }

    /// Counts time from that moment on.
    pub(super) fn start_at(&mut self, zero: Moment) -> io::Result<()> {
        self.zero = zero;
        self.fault_log = FaultLog::begin();
        self.send_due()
    }

    /// The members and their aliases.
    pub(super) fn links(&self) -> io::Result<Vec<LinkRow>> {
        let aliases = self.sockets.aliases()?;
        let rows = self.names.iter().zip(aliases).enumerate();
        let rows = rows.map(|(member, (name, alias))| LinkRow {
            name: name.clone(),
            member: self.sockets.address(member as Member),
            alias,
            flows: self.sockets.flows.count_of(member as Member),
        });
        Ok(rows.collect())
    }

    /// Takes in a batch of what was sent to an alias, and sends on what is not delayed.
    pub(super) fn take_in(
        &mut self,
        alias: Alias,
        port: &Port,
        inbox: &mut Inbox,
    ) -> io::Result<()> {
        let filled = port.receive(inbox)?;
        if filled == 0 {
            return Ok(());
        }
        let now_ns = self.now_ns();
        for (source, bytes) in inbox.datagrams(filled) {
            let (journal, names) = (&mut self.journal, &self.names);
            let tell = |change| note_flow(journal, names, now_ns, change);
            match self.sockets.hop(source, alias, now_ns, tell) {
                Some(hop) => self.carry(now_ns, &hop, bytes),
                None => self.strays += 1,
            }
        }
        self.sockets.flush();
        self.set_alarm()
    }

    /// Sends what is due, unless a cut came or holds it back.
    pub(super) fn send_due(&mut self) -> io::Result<()> {
        let now_ns = self.now_ns();
        while let Some(flight) = self.flights.land(now_ns) {
            let (from, to) = (flight.hop.from, flight.hop.to);
            let network = &mut self.faults.network;
            match network.arrive(now_ns, from, to, flight.sent_ns) {
                Arrival::Deliver => {
                    self.count(from, to).delivered += 1;
                    self.sockets.send(&flight.hop, &flight.bytes);
                    self.flights.recycle(flight);
                }
                Arrival::Drop(rule) => {
                    self.count(from, to).lost += 1;
                    let fault = || self.faults.text_of_rule(rule);
                    debug!(
                        now_ns,
                        from,
                        to,
                        fault = fault(),
                        "drops a datagram under way"
                    );
                    self.flights.recycle(flight);
                }
                Arrival::Hold { until_ns } => self.flights.hold(flight, until_ns),
            }
        }
        self.log_faults(now_ns);
        self.told_full &= self.flights.bytes() > self.flights.limit() / 2;
        self.sockets.flush();
        self.set_alarm()
    }

    /// Says in the log which faults have begun and ended by now.
    pub(super) fn log_faults(&mut self, now_ns: u64) {
        if let Some(log) = &mut self.fault_log {
            log.tell(&self.faults, now_ns);
        }
    }

    /// Asks again about everything that is held: a change was made by hand.
    pub(super) fn let_go(&mut self) -> io::Result<()> {
        let now_ns = self.now_ns();
        self.flights.let_go(now_ns);
        if let Some(log) = &mut self.fault_log {
            log.look_again(now_ns);
        }
        self.send_due()
    }

    /// Adds a fault that may name these files.
    pub(super) fn add_with(
        &mut self,
        fault: &str,
        files: &FaultFiles,
    ) -> Result<FaultRow, Refusal> {
        let now_ns = self.now_ns();
        let row = self.faults.add_with(fault, now_ns, files)?;
        self.journal.note(now_ns, "added", &row);
        Ok(row)
    }

    /// Drops everything that is under way.
    pub(super) fn drop_all(&mut self) {
        for hop in self.flights.clear() {
            self.count(hop.from, hop.to).lost += 1;
        }
    }

    /// Gives up what is no longer used: faults that are over, and flows of clients that are gone.
    pub(super) fn tidy(&mut self, now_ns: u64) {
        self.faults.sweep(now_ns);
        let (journal, names) = (&mut self.journal, &self.names);
        let tell = |change| note_flow(journal, names, now_ns, change);
        self.sockets.close_idle(now_ns, tell);
    }

    /// What each step of the timeline did, and how often there was no room for what was under way.
    pub(super) fn report(&self, now_ns: u64) -> Vec<LinkFaultOutcome> {
        let mut report = self.faults.report(now_ns);
        let crowded_out = self.counts.iter().map(|count| count.crowded_out).sum();
        report.extend(self.full_ns.map(|(first_ns, last_ns)| LinkFaultOutcome {
            step: None,
            turn: 0,
            from_ns: first_ns,
            reach: Reach::All,
            until_ns: Some(last_ns),
            count: Count {
                seen: crowded_out,
                acted: crowded_out,
            },
        }));
        report
    }

    /// Lets happen to a datagram what its fate is.
    fn carry(&mut self, now_ns: u64, hop: &Hop, bytes: &[u8]) {
        let (from, to) = (hop.from, hop.to);
        let network = &mut self.faults.network;
        let fate = network.fate(now_ns, from, to, bytes.len() as u32);
        if fate.is_lost() {
            let fault = || self.faults.text_of_rule(fate.lost_to);
            debug!(now_ns, from, to, fault = fault(), "drops a datagram");
        }
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
                self.sockets.send(hop, arrives);
            } else {
                let due_ns = now_ns.saturating_add(copy.delay_ns);
                if !self.flights.put(due_ns, hop, now_ns, arrives) {
                    self.crowd_out(now_ns, hop);
                }
            }
        }
    }

    /// There is no room for a datagram among those under way. The journal says so once, and again only
    /// after half of the room was free.
    fn crowd_out(&mut self, now_ns: u64, hop: &Hop) {
        self.count(hop.from, hop.to).crowded_out += 1;
        let first_ns = self.full_ns.map_or(now_ns, |(first_ns, _)| first_ns);
        self.full_ns = Some((first_ns, now_ns));
        if !std::mem::replace(&mut self.told_full, true) {
            let about = json!({
                "limit_bytes": self.flights.limit(), "in_flight": self.flights.count(),
            });
            self.journal.note(now_ns, "full", about);
        }
    }

    /// What became of all datagrams.
    pub(super) fn totals(&self) -> Totals {
        let sum = |count: fn(&LinkCount) -> u64| self.counts.iter().map(count).sum();
        Totals {
            received: sum(|link| link.received),
            delivered: sum(|link| link.delivered),
            lost: sum(|link| link.lost),
            doubled: sum(|link| link.doubled),
            under_way: self.flights.count() as u64,
            strays: self.strays,
            unsent: self.sockets.unsent(),
            overflowed: self.sockets.overflowed(),
        }
    }

    fn count(&mut self, from: Member, to: Member) -> &mut LinkCount {
        &mut self.counts[from as usize * self.names.len() + to as usize]
    }

    fn set_alarm(&mut self) -> io::Result<()> {
        let told_ns = self.fault_log.as_ref().and_then(FaultLog::next_ns);
        match [self.flights.next_ns(), told_ns]
            .into_iter()
            .flatten()
            .min()
        {
            Some(due_ns) => self.alarm.set(self.zero.plus_ns(due_ns)),
            None => Ok(()),
        }
    }
}

/// Says in the journal that a client has come or is gone.
fn note_flow(journal: &mut Journal, names: &[String], now_ns: u64, change: FlowChange) {
    let (event, member, client) = match change {
        FlowChange::Opened(member, client) => ("flow-opened", member, client),
        FlowChange::Closed(member, client) => ("flow-closed", member, client),
    };
    let about = json!({ "name": names[member as usize], "client": client });
    journal.note(now_ns, event, about);
}
