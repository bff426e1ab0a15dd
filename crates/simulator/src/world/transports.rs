//! The real transport at the ends of simulated links, where scenarios can lose, double or damage.
//!
//! A message becomes bytes, travels in sealed datagrams of the size they have on a cluster, and is
//! a message again when the transport hands it over. A damaged datagram is really damaged, and the
//! seal of its frame rejects it.

use std::collections::BTreeMap;

use algorithms::erased::MessageId;
use algorithms::{Change, NodeId, Topology};
use member::members::Input;
use model::event::What;
use model::plan::Plan;
use model::run::{FaultOutcome, RoundTrips, TransportRow};
use transport::failure_detector::FailureDetector;
use transport::frame::{Key, Seal};
use transport::header::{Carried, Stamp};
use transport::{Config, Identity, Overflow, Transport};

use super::{Due, World};
use crate::Needs;

/// The ends of all links.
pub(super) struct Transports {
    config: Config,
    seal: Seal,
    members: u32,
    ends: Vec<End>,
    datagrams: Vec<Datagram>,
    free: Vec<u32>,
    flying: usize,
    /// The messages of each link that were sent and not handed over.
    undelivered: BTreeMap<(NodeId, NodeId), Vec<Undelivered>>,
    /// Those that their sender no longer answers for. They may still arrive, while anything flies.
    abandoned: BTreeMap<(NodeId, NodeId), Vec<Undelivered>>,
    /// Links that went down or up, by their number: at which member, to which neighbour.
    changes: Vec<(NodeId, NodeId, Change)>,
    /// Whether members are told of links that go down or come up.
    pub(super) tells_of_links: bool,
    overflow: Option<Overflow>,
    /// What the transports measured, and when.
    pub(super) round_trips: RoundTrips,
    /// Kept so that sending allocates little.
    message: Vec<u8>,
    datagram: Vec<u8>,
}

/// A member's end of all its links.
struct End {
    /// None where the member is dead.
    transport: Option<Box<Transport>>,
    incarnation: u32,
    /// When it is to be told the time, as far as that is in the queue.
    tick_ns: Option<u64>,
    /// Set where the algorithm asks for link events, or deaths are guessed from silence.
    detector: Option<FailureDetector>,
    /// Whether the member was told to ask for nothing new.
    clogged: bool,
    /// What the member's first life counted, if that is over.
    counted: Option<TransportRow>,
}

/// A message that was sent and not handed over.
#[derive(Debug)]
struct Undelivered {
    kind: usize,
    /// Its number; 0 without a trace.
    number: u64,
    /// By which a trace knows it again, for its number does not travel: a traced run is the same to
    /// the byte. Empty without a trace.
    bytes: Vec<u8>,
}

#[derive(Default)]
struct Datagram {
    from: NodeId,
    to: NodeId,
    sent_ns: u64,
    bytes: Vec<u8>,
}

/// A datagram's place among those under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct DatagramId(u32);

/// A place in the list of links that went down or up.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChangeId(u32);

impl Transports {
    pub(super) fn new(plan: &Plan, needs: Needs, topology: &Topology) -> Self {
        // Nobody outside could speak here, so the key need not be secret, only the same every time.
        let mut key = [0; 32];
        key[..8].copy_from_slice(&plan.seed.to_le_bytes());
        let suspects_after_ns = plan.suspects_after_ns();
        let mut transports = Self {
            config: plan.transport_config(needs.links),
            seal: Seal::new(plan.algorithm.name, plan.seed, Key::new(key)),
            members: plan.nodes,
            ends: Vec::new(),
            datagrams: Vec::new(),
            free: Vec::new(),
            flying: 0,
            undelivered: BTreeMap::new(),
            abandoned: BTreeMap::new(),
            changes: Vec::new(),
            tells_of_links: needs.link_events,
            overflow: None,
            round_trips: RoundTrips::default(),
            message: Vec::new(),
            datagram: Vec::new(),
        };
        let links = topology.without_direction();
        for me in (0..plan.nodes).map(NodeId) {
            let transport = Some(transports.transport(me, 0));
            transports.ends.push(End {
                transport,
                incarnation: 0,
                tick_ns: None,
                detector: match suspects_after_ns {
                    Some(_) => Some(FailureDetector::everybody(plan.nodes, me)),
                    None => (needs.link_events).then(|| FailureDetector::neighbours(&links, me)),
                },
                clogged: false,
                counted: None,
            });
        }
        transports
    }

    /// The sender and the addressee of a datagram, and when it was sent.
    pub(super) fn journey(&self, DatagramId(id): DatagramId) -> (NodeId, NodeId, u64) {
        let datagram = &self.datagrams[id as usize];
        (datagram.from, datagram.to, datagram.sent_ns)
    }

    /// A datagram never arrives.
    pub(super) fn drop_datagram(&mut self, id: DatagramId) {
        self.take(id);
    }

    /// The member that a change of a link is told.
    pub(super) fn who_hears(&self, ChangeId(id): ChangeId) -> NodeId {
        self.changes[id as usize].0
    }

    /// Whether some message that nobody counts as under way may arrive all the same.
    pub(super) fn may_surprise(&self) -> bool {
        self.flying > 0 && !self.abandoned.is_empty()
    }

    /// The peer to which more is queued than may be, if there is one.
    pub(super) fn overflow(&self) -> Option<Overflow> {
        self.overflow
    }

    /// What each member's transport did in its first life.
    pub(super) fn rows(&self) -> BTreeMap<NodeId, TransportRow> {
        let ends = self.ends.iter().enumerate();
        let rows = ends.map(|(node, end)| {
            let living = end.transport.as_ref().map(|own| own.counters().into());
            let row = end.counted.or(living).unwrap_or_default();
            (NodeId(node as u32), row)
        });
        rows.collect()
    }

    /// Messages that have not been handed over.
    pub(super) fn undelivered(&self) -> impl Iterator<Item = (NodeId, NodeId, usize)> {
        let links = self.undelivered.iter();
        links.flat_map(|(&(from, to), sent)| sent.iter().map(move |sent| (from, to, sent.kind)))
    }

    fn transport(&self, me: NodeId, incarnation: u32) -> Box<Transport> {
        let identity = Identity {
            me,
            incarnation,
            members: self.members,
        };
        Box::new(Transport::new(self.config, self.seal.clone(), identity))
    }

    fn keep(&mut self, datagram: Datagram) -> DatagramId {
        self.flying += 1;
        let id = self.free.pop().unwrap_or_else(|| {
            self.datagrams.push(Datagram::default());
            u32::try_from(self.datagrams.len() - 1).expect("fewer than 2^32 datagrams fly")
        });
        self.datagrams[id as usize] = datagram;
        DatagramId(id)
    }

    fn take(&mut self, DatagramId(id): DatagramId) -> Datagram {
        self.flying -= 1;
        self.free.push(id);
        std::mem::take(&mut self.datagrams[id as usize])
    }

    /// A message of that kind, or of those bytes if it is traced, is handed over; says which it is
    /// and whether it was counted as under way.
    fn hand_over(&mut self, link: (NodeId, NodeId), kind: usize, bytes: &[u8]) -> (u64, bool) {
        for (list, counted) in [(&mut self.undelivered, true), (&mut self.abandoned, false)] {
            let Some(sent) = list.get_mut(&link) else {
                continue;
            };
            let is_it = |sent: &Undelivered| sent.kind == kind && sent.bytes == bytes;
            if let Some(place) = sent.iter().position(is_it) {
                let Undelivered { number, .. } = sent.remove(place);
                if sent.is_empty() {
                    list.remove(&link);
                }
                return (number, counted);
            }
        }
        unreachable!("the transport hands a message over once");
    }

    /// Nobody answers any more for what is under way on a link; says how many messages that is.
    fn abandon(&mut self, link: (NodeId, NodeId)) -> usize {
        let sent = self.undelivered.remove(&link).unwrap_or_default();
        let count = sent.len();
        if count > 0 {
            self.abandoned.entry(link).or_default().extend(sent);
        }
        count
    }
}

impl World<'_> {
    /// Gives a message to the transport.
    pub(super) fn dispatch(&mut self, from: NodeId, to: NodeId, message: MessageId) {
        let sent_ns = self.now_ns - self.held_ns(message);
        let kind = self.members.group().kind(message);
        let number = self.members.number(message);
        let known = self.members.known(message);
        let is_over = self.is_over(to);
        let faults = self.faults.as_mut().expect("it has a transport");
        let transports = faults.transports.as_mut().expect("it has a transport");
        let transport = transports.ends[from.index()].transport.as_mut();
        let transport = transport.expect("only the living send");
        // The time it was sent travels with it, as on a cluster.
        let bytes = &mut transports.message;
        let stamp = Stamp {
            sent_ns,
            known,
            number,
        };
        carried(self.plan).write(stamp, bytes);
        self.members.group().encode(message, bytes);
        self.members.group_mut().discard(message);
        let arrives = transport.is_up(to) && !is_over;
        transport.send(to, bytes);
        transports.overflow = transports.overflow.or(transport.overflow());
        if arrives {
            let bytes = match self.plan.trace {
                true => bytes.clone(),
                false => Vec::new(),
            };
            transports
                .undelivered
                .entry((from, to))
                .or_default()
                .push(Undelivered {
                    kind,
                    number,
                    bytes,
                });
            self.under_way += 1;
        } else {
            // Nobody is there who could take it, or no session in which it could travel.
            self.count_lost(from, to, kind, number);
        }
    }

    /// Lets everything out that a member's transport wants to send now, and sees to its timer.
    pub(super) fn flush(&mut self, node: NodeId) {
        let now_ns = self.now_ns;
        let faults = self.faults.as_mut().expect("only a world with faults has");
        let (Some(network), Some(transports)) = (&mut faults.network, &mut faults.transports)
        else {
            return;
        };
        let End {
            transport,
            detector,
            ..
        } = &mut transports.ends[node.index()];
        if let (Some(transport), Some(detector)) = (transport, detector) {
            detector.look(now_ns, self.members.waits(node), transport);
        }
        let mut bytes = std::mem::take(&mut transports.datagram);
        while let Some(transport) = &mut transports.ends[node.index()].transport
            && let Some(to) = transport.poll_transmit(now_ns, &mut bytes)
        {
            for copy in &network.fate(now_ns, node, to, bytes.len()).copies {
                let mut bytes = bytes.clone();
                let length = copy.mangle(&mut bytes);
                bytes.truncate(length);
                let id = transports.keep(Datagram {
                    from: node,
                    to,
                    sent_ns: now_ns,
                    bytes,
                });
                let at_ns = now_ns.saturating_add(copy.delay_ns);
                self.queue.push(at_ns, Due::Datagram(id));
            }
        }
        transports.datagram = bytes;
        let End {
            transport, tick_ns, ..
        } = &mut transports.ends[node.index()];
        let deadline_ns = transport.as_ref().and_then(|own| own.next_deadline());
        if let Some(deadline_ns) = deadline_ns
            && tick_ns.is_none_or(|known_ns| deadline_ns < known_ns)
        {
            let at_ns = deadline_ns.max(now_ns);
            *tick_ns = Some(at_ns);
            self.queue.push(at_ns, Due::Tick(node));
        }
    }

    /// A datagram has arrived.
    pub(super) fn land(&mut self, id: DatagramId) {
        let now_ns = self.now_ns;
        let datagram = self.transports().take(id);
        self.listen(datagram.to, |transport, sink| {
            // What is not believed has been counted by its reason.
            let _ = transport.receive(now_ns, &datagram.bytes, sink);
        });
    }

    /// Tells a member's transport the time, if it still wants to be told.
    pub(super) fn tick(&mut self, node: NodeId) {
        let now_ns = self.now_ns;
        let tick_ns = &mut self.transports().ends[node.index()].tick_ns;
        if tick_ns.is_none_or(|at_ns| at_ns > now_ns) {
            return;
        }
        *tick_ns = None;
        self.listen(node, |transport, sink| transport.tick(now_ns, sink));
    }

    /// A link went down or came up at a member.
    pub(super) fn change_link(&mut self, ChangeId(id): ChangeId) {
        let (node, neighbour, change) = self.transports().changes[id as usize];
        self.tell(node, Input::Link { neighbour, change });
    }

    /// A member's transport dies with it: what was for the member is lost, and what it sent may yet
    /// arrive, but nobody repeats it.
    pub(super) fn end_transport(&mut self, node: NodeId) {
        let nodes = self.plan.nodes;
        let Some(transports) = self.faults.as_mut().and_then(|all| all.transports.as_mut()) else {
            return;
        };
        let end = &mut transports.ends[node.index()];
        if let Some(transport) = end.transport.take() {
            end.counted = end.counted.or(Some(transport.counters().into()));
        }
        end.tick_ns = None;
        let mut lost = Vec::new();
        for other in (0..nodes).map(NodeId) {
            self.under_way -= transports.abandon((node, other));
            let sent = transports
                .undelivered
                .remove(&(other, node))
                .unwrap_or_default();
            self.under_way -= sent.len();
            lost.extend(sent.into_iter().map(|sent| (other, sent)));
        }
        for (other, sent) in lost {
            self.count_lost(other, node, sent.kind, sent.number);
        }
    }

    /// What was given up and never arrived is lost.
    pub(super) fn count_abandoned(&mut self) {
        let Some(transports) = self.faults.as_mut().and_then(|all| all.transports.as_mut()) else {
            return;
        };
        for ((from, to), all) in std::mem::take(&mut transports.abandoned) {
            for sent in all {
                self.count_lost(from, to, sent.kind, sent.number);
            }
        }
    }

    /// A dead member begins another life: its transport answers, and no algorithm runs there.
    pub(super) fn revive(&mut self, node: NodeId) {
        let Some(transports) = self.faults().transports.as_mut() else {
            return;
        };
        let incarnation = transports.ends[node.index()].incarnation + 1;
        let transport = transports.transport(node, incarnation);
        let end = &mut transports.ends[node.index()];
        end.incarnation = incarnation;
        end.transport = Some(transport);
    }

    /// Tells a member to ask for nothing new while its links are clogged.
    fn note_congestion(&mut self, node: NodeId) {
        if !self.runs(node) {
            return;
        }
        let Some(transports) = self.faults().transports.as_mut() else {
            return;
        };
        let End {
            transport, clogged, ..
        } = &mut transports.ends[node.index()];
        let now_clogged = transport.as_ref().is_some_and(|own| own.congested());
        if now_clogged != *clogged {
            *clogged = now_clogged;
            self.tell(node, Input::Clogged(now_clogged));
        }
    }

    /// A datagram that a dead member's socket had and nobody took.
    pub(super) fn drop_datagram(&mut self, id: DatagramId) {
        self.transports().drop_datagram(id);
    }

    fn transports(&mut self) -> &mut Transports {
        let transports = self.faults().transports.as_mut();
        transports.expect("only where the transport runs there are datagrams")
    }

    /// Lets something happen to a member's transport, and to the member what comes out of it.
    fn listen(
        &mut self,
        node: NodeId,
        happen: impl FnOnce(&mut Transport, &mut dyn FnMut(transport::Notice<'_>)),
    ) {
        let faults = self.faults.as_mut().expect("only a world with faults has");
        let transports = faults.transports.as_mut().expect("it has a transport");
        let Some(transport) = &mut transports.ends[node.index()].transport else {
            return;
        };
        let (group, traced) = (self.members.group_mut(), self.plan.trace);
        let carried = carried(self.plan);
        let mut heard = Vec::new();
        let mut sink = |event: transport::Notice<'_>| match event {
            transport::Notice::Message { from, bytes } => {
                let stamped = match traced {
                    true => bytes.to_vec(),
                    false => Vec::new(),
                };
                let (stamp, bytes) = carried
                    .read(bytes)
                    .expect("only members of this build speak here");
                let message = group.decode(bytes);
                let message = message.expect("only members of this build speak here");
                heard.push(Heard::Message {
                    from,
                    message,
                    stamp,
                    stamped,
                });
            }
            transport::Notice::LinkDown { peer } => heard.push(Heard::Link(peer, Change::Down)),
            transport::Notice::LinkUp { peer } => heard.push(Heard::Link(peer, Change::Up)),
            transport::Notice::Restarted { peer, .. } | transport::Notice::Silent { peer } => {
                heard.push(Heard::Silence(peer));
            }
            // No algorithm here says how to take back that somebody is dead.
            transport::Notice::Heard { .. } => {}
            transport::Notice::RoundTrip { ns, .. } => heard.push(Heard::RoundTrip(ns)),
        };
        happen(transport, &mut sink);
        for heard in heard {
            self.hear(node, heard);
        }
        self.flush(node);
        self.note_congestion(node);
    }

    /// A member that runs takes another for dead, if it has not yet.
    fn suspect(&mut self, node: NodeId, peer: NodeId) {
        let detector = self.transports().ends[node.index()].detector.as_mut();
        let news = detector.is_some_and(|detector| detector.suspect(peer));
        if !news || !self.runs(node) {
            return;
        }
        if !self.is_over(peer) {
            let now_ns = self.now_ns;
            let untrue = FaultOutcome::false_suspicion(now_ns, node, peer);
            self.faults().false_suspicions.push(untrue);
        }
        self.trace(node, |_| What::Suspect { peer });
        let change = Change::Down;
        self.tell(node, Input::Peer { peer, change });
    }

    fn hear(&mut self, node: NodeId, heard: Heard) {
        let due = match heard {
            Heard::Message {
                from,
                message,
                stamp,
                stamped,
            } => {
                if self.is_over(node) {
                    // Counted as lost when it was sent.
                    return self.members.group_mut().discard(message);
                }
                let kind = self.members.group().kind(message);
                let (number, counted) = self.transports().hand_over((from, node), kind, &stamped);
                self.members.came(message, number, stamp.known);
                self.under_way += usize::from(!counted);
                self.remember(message, from, node, stamp.sent_ns);
                Due::Message(message)
            }
            Heard::Link(peer, change) => {
                if change == Change::Down {
                    self.under_way -= self.transports().abandon((node, peer));
                }
                let changes = &mut self.transports().changes;
                changes.push((node, peer, change));
                Due::Link(ChangeId(changes.len() as u32 - 1))
            }
            Heard::Silence(peer) => return self.suspect(node, peer),
            Heard::RoundTrip(ns) => {
                let now_ns = self.now_ns;
                return self.transports().round_trips.add(now_ns, ns);
            }
        };
        if !self.is_put_off(due) {
            self.reach(due);
        }
    }
}

/// What travels in front of messages. Numbers do not: a simulated message is found by its bytes, so that
/// datagrams are as long with a trace as without.
fn carried(plan: &Plan) -> Carried {
    Carried {
        known: plan.certificate,
        number: false,
    }
}

/// What a transport brings.
enum Heard {
    Message {
        from: NodeId,
        message: MessageId,
        stamp: Stamp,
        /// The bytes as they travelled; empty without a trace.
        stamped: Vec<u8>,
    },
    Link(NodeId, Change),
    Silence(NodeId),
    RoundTrip(u64),
}
