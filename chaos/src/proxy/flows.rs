//! Clients that nobody named: a flow for each, as in a router that translates addresses.
//!
//! A member `NAME=any` is every client whose address is no member's. Each such address gets a
//! port of its own, so that those who answer tell the clients apart, for as long as something passes.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use tokio::sync::oneshot;

use crate::fate::Member;
use wire::Port;

/// How many flows there may be, and how long each stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowLimits {
    /// How many flows there may be at once.
    pub most: usize,
    /// After how long a flow is closed through which nothing passes.
    pub idle_ns: u64,
}

impl Default for FlowLimits {
    fn default() -> Self {
        Self {
            most: 512,
            idle_ns: 60_000_000_000,
        }
    }
}

/// One that makes room for another must have been idle for so long.
const SHORTEST_IDLE_NS: u64 = 1_000_000_000;

/// What goes between one client and a member, in both directions.
pub(super) struct Flow {
    id: u64,
    pub member: Member,
    /// Where the client is.
    pub client: SocketAddr,
    /// Where the others see it.
    pub port: Rc<Port>,
    used_ns: u64,
    /// The task that takes in what is sent to its port ends when this is gone; the member's own alias
    /// has a task of its own.
    open: Option<oneshot::Sender<()>>,
}

/// A port that has just been opened, for a task to take in what is sent to it.
pub(super) struct Opened {
    pub id: u64,
    pub port: Rc<Port>,
    /// Ends when the flow is closed.
    pub closed: oneshot::Receiver<()>,
}

/// All flows, by their number.
#[derive(Default)]
pub(super) struct Flows {
    by_id: BTreeMap<u64, Flow>,
    /// The flow that has the member's own alias, for each member.
    at_alias: BTreeMap<Member, u64>,
    limits: FlowLimits,
    pub opened: u64,
    /// Flows that were closed because nothing passed, or to make room.
    pub closed: u64,
    /// Datagrams of clients for whom there was no room.
    pub refused: u64,
}

impl Flows {
    pub(super) fn new(limits: FlowLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// A flow, which is used now.
    pub(super) fn touch(&mut self, id: u64, now_ns: u64) -> Option<&Flow> {
        let flow = self.by_id.get_mut(&id)?;
        flow.used_ns = now_ns;
        Some(flow)
    }

    /// The flow that has its member's own alias.
    pub(super) fn at_alias(&self, member: Member) -> Option<u64> {
        self.at_alias.get(&member).copied()
    }

    /// Which of these members has the fewest flows.
    pub(super) fn fewest(&self, members: impl Iterator<Item = Member>) -> Option<Member> {
        members.min_by_key(|member| self.count_of(*member))
    }

    /// How many flows a member has.
    pub(super) fn count_of(&self, member: Member) -> usize {
        let flows = self.by_id.values();
        flows.filter(|flow| flow.member == member).count()
    }

    /// Where the ports are that flows have to themselves.
    pub(super) fn own_addresses(&self) -> impl Iterator<Item = SocketAddr> {
        let flows = self.by_id.values();
        let own = flows.filter(|flow| flow.open.is_some());
        own.filter_map(|flow| flow.port.address().ok())
    }

    /// Whether there is room for one more; the one that was idle longest makes room if it must. What
    /// was closed for that comes back.
    pub(super) fn make_room(&mut self, now_ns: u64) -> (bool, Option<Flow>) {
        if self.by_id.len() < self.limits.most {
            return (true, None);
        }
        let oldest = self.by_id.iter().min_by_key(|(_, flow)| flow.used_ns);
        let oldest =
            oldest.filter(|(_, flow)| now_ns.saturating_sub(flow.used_ns) >= SHORTEST_IDLE_NS);
        match oldest.map(|(id, _)| *id) {
            Some(id) => {
                let made = self.by_id.remove(&id);
                made.iter().for_each(|flow| self.forget(flow));
                (true, made)
            }
            None => {
                self.refused += 1;
                (false, None)
            }
        }
    }

    /// Opens a flow at the member's own alias if nobody has it, otherwise at a port of its own.
    pub(super) fn open(
        &mut self,
        now_ns: u64,
        (member, client): (Member, SocketAddr),
        alias: &Rc<Port>,
        bind: impl FnOnce() -> io::Result<Port>,
    ) -> Option<(u64, Option<Opened>)> {
        let id = self.opened + 1;
        let (port, open, opened) = match self.at_alias(member) {
            None => {
                self.at_alias.insert(member, id);
                (Rc::clone(alias), None, None)
            }
            Some(_) => {
                let Ok(port) = bind() else {
                    self.refused += 1;
                    return None;
                };
                let port = Rc::new(port);
                let (open, closed) = oneshot::channel();
                let opened = Opened {
                    id,
                    port: Rc::clone(&port),
                    closed,
                };
                (port, Some(open), Some(opened))
            }
        };
        self.opened = id;
        self.by_id.insert(
            id,
            Flow {
                id,
                member,
                client,
                port,
                used_ns: now_ns,
                open,
            },
        );
        Some((id, opened))
    }

    /// Closes those through which nothing passed for long.
    pub(super) fn close_idle(&mut self, now_ns: u64) -> Vec<Flow> {
        let idle_ns = self.limits.idle_ns;
        let is_idle = |_: &u64, flow: &mut Flow| now_ns.saturating_sub(flow.used_ns) >= idle_ns;
        let closed = self.by_id.extract_if(.., is_idle).map(|(_, flow)| flow);
        let closed = closed.collect::<Vec<_>>();
        closed.iter().for_each(|flow| self.forget(flow));
        closed
    }

    fn forget(&mut self, flow: &Flow) {
        self.closed += 1;
        if self.at_alias(flow.member) == Some(flow.id) {
            self.at_alias.remove(&flow.member);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn only_one_that_was_idle_makes_room() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build();
        let runtime = runtime.expect("a runtime");
        let _inside = runtime.enter();
        let bind = || Port::bind((Ipv4Addr::LOCALHOST, 0).into(), 1 << 12);
        let alias = Rc::new(bind().expect("a free port"));
        let mut flows = Flows::new(FlowLimits {
            most: 2,
            idle_ns: 60 * SHORTEST_IDLE_NS,
        });
        let client = |n| SocketAddr::from((Ipv4Addr::LOCALHOST, n));
        let open = |flows: &mut Flows, now_ns, n| {
            let (room, made) = flows.make_room(now_ns);
            let opened = room.then(|| flows.open(now_ns, (1, client(n)), &alias, bind));
            (
                opened.flatten().map(|(id, _)| id),
                made.map(|flow| flow.client),
            )
        };
        assert_eq!(open(&mut flows, 0, 1), (Some(1), None));
        assert_eq!(open(&mut flows, 1, 2), (Some(2), None));
        assert_eq!(open(&mut flows, 2, 3), (None, None), "both are in use");
        assert_eq!((flows.refused, flows.count_of(1)), (1, 2));
        assert_eq!(flows.at_alias(1), Some(1));
        flows.touch(2, SHORTEST_IDLE_NS);
        let (third, gone) = open(&mut flows, SHORTEST_IDLE_NS, 3);
        assert_eq!((third, gone), (Some(3), Some(client(1))));
        assert_eq!(flows.at_alias(1), Some(3), "the alias was free again");
        assert_eq!(flows.close_idle(59 * SHORTEST_IDLE_NS).len(), 0);
        assert_eq!(flows.close_idle(61 * SHORTEST_IDLE_NS).len(), 2);
        assert_eq!(
            (flows.opened, flows.closed, flows.at_alias(1)),
            (3, 3, None)
        );
    }
}
