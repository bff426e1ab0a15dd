//! The sockets of the proxy: an alias for each member, and where the members are.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use rustc_hash::FxHashMap;
use tokio::sync::mpsc;

use super::flights::Hop;
use super::flows::{Flow, FlowLimits, Flows, Opened};
use super::{Address, MemberConfig};
use crate::fate::Member;
use wire::{Bind, Bundle, Overflows, Port};

/// The aliases of all members, where the members are, and the flows of those nobody named.
pub(super) struct Sockets {
    bind: IpAddr,
    aliases: Vec<Rc<Port>>,
    /// Where each member is, if it stays there.
    members: Vec<Option<SocketAddr>>,
    by_address: FxHashMap<SocketAddr, Sender>,
    pub flows: Flows,
    /// Told of every port that was opened for a flow.
    opened: mpsc::UnboundedSender<Opened>,
    /// What leaves next, and from which port.
    bundle: Bundle,
    bundled_from: Rc<Port>,
    /// Datagrams to a member that nobody has heard of yet.
    unaddressed: u64,
}

/// Whose address it is.
#[derive(Clone, Copy, Debug)]
enum Sender {
    Member(Member),
    Flow(u64),
}

/// A port that datagrams are sent to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Alias {
    Member(Member),
    Flow(u64),
}

/// What happened to a flow, for the journal.
#[derive(Clone, Copy, Debug)]
pub(super) enum FlowChange {
    Opened(Member, SocketAddr),
    Closed(Member, SocketAddr),
}

/// Bytes in the kernel for each socket, enough for a burst.
const SOCKET_BUFFER: usize = 4 << 20;

impl Sockets {
    pub(super) fn bind(
        (bind, ports): (IpAddr, Option<(u16, u16)>),
        configured: &[MemberConfig],
        limits: FlowLimits,
        opened: mpsc::UnboundedSender<Opened>,
    ) -> io::Result<Self> {
        let alias = |member: &MemberConfig| {
            let only = (member.port != 0).then_some((member.port, member.port));
            let place = Bind {
                address: bind,
                ports: only.or(ports),
            };
            let port = Port::bind_within(place, SOCKET_BUFFER);
            port.map(Rc::new).map_err(|error| {
                let address = SocketAddr::new(bind, member.port);
                let why = format!("{} cannot listen on {address}: {error}", member.name);
                io::Error::new(error.kind(), why)
            })
        };
        let aliases = configured
            .iter()
            .map(alias)
            .collect::<io::Result<Vec<_>>>()?;
        let members = configured.iter().map(|member| match member.address {
            Address::Fixed(address) => Some(address),
            Address::Any => None,
        });
        let members = members.collect::<Vec<_>>();
        let known = (0..).zip(&members);
        let known = known.filter_map(|(member, at)| Some(((*at)?, Sender::Member(member))));
        let first = aliases.first().map(Rc::clone);
        Ok(Self {
            bind,
            by_address: known.collect(),
            members,
            flows: Flows::new(limits),
            opened,
            bundle: Bundle::default(),
            bundled_from: first.ok_or_else(|| io::Error::other("there are no members"))?,
            unaddressed: 0,
            aliases,
        })
    }

    pub(super) fn aliases(&self) -> io::Result<Vec<SocketAddr>> {
        self.aliases.iter().map(|alias| alias.address()).collect()
    }

    pub(super) fn alias(&self, member: Member) -> Rc<Port> {
        Rc::clone(&self.aliases[member as usize])
    }

    /// Where a member is, if it stays there.
    pub(super) fn address(&self, member: Member) -> Option<SocketAddr> {
        self.members[member as usize]
    }

    /// The members between which a datagram goes that came from this address to that alias; none if the
    /// address is no member's and unknown clients are not let in. What happened to flows comes as well.
    pub(super) fn hop(
        &mut self,
        source: SocketAddr,
        alias: Alias,
        now_ns: u64,
        mut tell: impl FnMut(FlowChange),
    ) -> Option<Hop> {
        let (to, address) = match alias {
            Alias::Member(member) => {
                let client = || {
                    let id = self.flows.at_alias(member)?;
                    Some(self.flows.touch(id, now_ns)?.client)
                };
                (member, self.members[member as usize].or_else(client))
            }
            Alias::Flow(id) => {
                // Only members answer to a client's flow.
                self.by_address.get(&source)?;
                let flow = self.flows.touch(id, now_ns)?;
                (flow.member, Some(flow.client))
            }
        };
        let sender = match self.by_address.get(&source) {
            Some(sender) => *sender,
            None => Sender::Flow(self.open(source, to, now_ns, &mut tell)?),
        };
        let (from, port) = match sender {
            Sender::Member(member) => (member, Rc::clone(&self.aliases[member as usize])),
            Sender::Flow(id) => {
                let flow = self.flows.touch(id, now_ns)?;
                (flow.member, Rc::clone(&flow.port))
            }
        };
        Some(Hop {
            from,
            to,
            port,
            address,
        })
    }

    /// Closes flows through which nothing passed for long.
    pub(super) fn close_idle(&mut self, now_ns: u64, mut tell: impl FnMut(FlowChange)) {
        for flow in self.flows.close_idle(now_ns) {
            self.closed(&flow, &mut tell);
        }
    }

    /// Sends a datagram, together with others like it. What comes last must be
    /// [`flush`](Self::flush)ed.
    pub(super) fn send(&mut self, hop: &Hop, bytes: &[u8]) {
        let Some(address) = hop.address else {
            self.unaddressed += 1;
            return;
        };
        if !Rc::ptr_eq(&hop.port, &self.bundled_from) {
            self.flush();
            self.bundled_from = Rc::clone(&hop.port);
        }
        // What the kernel does not take is lost, as on any network, and counted.
        let _ = self.bundle.send(&self.bundled_from, address, bytes);
    }

    /// Sends what was left to be sent together.
    pub(super) fn flush(&mut self) {
        let _ = self.bundle.flush(&self.bundled_from);
    }

    /// Datagrams that the kernel dropped because an alias was full, where that can be read.
    pub(super) fn overflowed(&self) -> Option<u64> {
        let aliases = self.aliases().ok()?.into_iter();
        let sockets = aliases.chain(self.flows.own_addresses());
        Some(Overflows::read().ok()?.sum(sockets))
    }

    /// Datagrams that did not leave.
    pub(super) fn unsent(&self) -> u64 {
        self.unaddressed + self.bundle.unsent()
    }

    /// Opens a flow for a client that nobody named, which has sent something to this member.
    fn open(
        &mut self,
        client: SocketAddr,
        to: Member,
        now_ns: u64,
        tell: &mut impl FnMut(FlowChange),
    ) -> Option<u64> {
        let unnamed = (0..).zip(&self.members);
        let unnamed = unnamed.filter(|(member, at)| at.is_none() && *member != to);
        let member = self.flows.fewest(unnamed.map(|(member, _)| member))?;
        let (room, made) = self.flows.make_room(now_ns);
        if let Some(flow) = made {
            self.closed(&flow, tell);
        }
        if !room {
            return None;
        }
        let alias = &self.aliases[member as usize];
        let address = SocketAddr::new(self.bind, 0);
        let bind = || Port::bind(address, SOCKET_BUFFER);
        let (id, opened) = self.flows.open(now_ns, (member, client), alias, bind)?;
        self.by_address.insert(client, Sender::Flow(id));
        tell(FlowChange::Opened(member, client));
        if let Some(opened) = opened {
            // Nobody listens any more only when the proxy ends.
            let _ = self.opened.send(opened);
        }
        Some(id)
    }

    fn closed(&mut self, flow: &Flow, tell: &mut impl FnMut(FlowChange)) {
        self.by_address.remove(&flow.client);
        tell(FlowChange::Closed(flow.member, flow.client));
    }
}
