//! Ring, static routing: the role goes round a ring on demand.
//!
//! A machine of its own. Some of the nodes, or all, are coordinators on a ring; each keeps the
//! requests of its members. The role travels one way round. Whoever wants it sends a signal the
//! other way, which is passed on, once per node, until it meets the role:
//!
//! ```text
//!     0 ---BECOME--> 1 ---BECOME--> 2        the role
//!     0 <--SIGNAL--- 1 <--SIGNAL--- 2        2 wants it
//! ```
//!
//! Where every node is its own coordinator this is Martin's algorithm. There is at most one signal
//! and one role on an edge, so links need not keep order.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::contract::{
    Algorithm, Invariant, NodeId, Outbox, Request, Snapshot, Timer, ignores, kinds,
};
use crate::controller::migration_info::{Cause, Column, MigrationInfo};
use crate::controller::ranks::Ranks;
use crate::controller::said::Said;
use crate::setup::Setup;

/// What members and coordinators say.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::controller) enum Message {
    /// A member wants in.
    Request,
    /// Its coordinator lets it in.
    Grant,
    /// It has left.
    Exit,
    /// Somebody ahead on the ring wants the role.
    Signal,
    /// The role itself.
    Become { epoch: u64 },
}

impl crate::contract::Message for Message {
    kinds! { Request: "REQUEST", Grant: "GRANT", Exit: "EXIT", Signal: "SIGNAL", Become: "BECOME" }

    fn origin(&self) -> Option<NodeId> {
        match self {
            // A signal stands for everybody ahead.
            Message::Request
            | Message::Grant
            | Message::Exit
            | Message::Signal
            | Message::Become { .. } => None,
        }
    }
}

/// A node, perhaps a coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(in crate::controller) struct Ring {
    me: NodeId,
    ranks: Ranks,
    groups: u32,
    /// Our client waits.
    waiting: bool,
    /// Coordinator: the members that want in.
    queue: VecDeque<NodeId>,
    /// Coordinator: the role is here.
    active: bool,
    epoch: u64,
    /// Coordinator: whom we have let in.
    granted: Option<NodeId>,
    /// Somebody ahead wants the role.
    wanted: bool,
    /// We have signalled and the role has not come since.
    asked: bool,
    column: Column,
}

impl Algorithm for Ring {
    type Message = Message;

    fn new(setup: &Setup<'_>) -> Self {
        let said = Said(&setup.setting.params);
        Self {
            me: setup.me,
            ranks: Ranks::of(setup),
            groups: said.groups().unwrap_or(u32::MAX).min(setup.nodes()),
            waiting: false,
            queue: VecDeque::new(),
            active: setup.is_holder(),
            epoch: 0,
            granted: None,
            wanted: false,
            asked: false,
            column: Column::said(&said),
        }
    }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.waiting = true;
        out.send_for(self.me, self.home(), Message::Request);
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        out.send_for(self.me, self.home(), Message::Exit);
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request if self.is_member(from) => {
                self.queue.push_back(from);
                self.work(Cause::Wake, out);
            }
            Message::Grant if from == self.home() && self.waiting => {
                self.waiting = false;
                out.enter();
            }
            Message::Exit if self.granted == Some(from) => {
                self.granted = None;
                self.work(Cause::Exit, out);
            }
            Message::Signal if Some(from) == self.ahead(1) => {
                self.wanted = true;
                self.work(Cause::Wake, out);
            }
            Message::Become { epoch }
                if Some(from) == self.ahead(self.groups - 1) && !self.active =>
            {
                self.active = true;
                self.asked = false;
                self.epoch = epoch;
                self.work(Cause::Begin, out);
            }
            Message::Request
            | Message::Grant
            | Message::Exit
            | Message::Signal
            | Message::Become { .. } => {
                out.protocol_error(format!("{from} says {message:?} where it cannot"));
            }
        }
    }

    fn timer(&mut self, timer: Timer, out: &mut Outbox<Message>) {
        let since = self.active.then_some(self.epoch);
        self.column.went_off(timer, since, out);
    }

    ignores! { peer: "nobody fails: a lost role stays lost", link }

    fn invariants() -> &'static [Invariant<Self>] {
        &[Invariant {
            name: "one node is controller",
            check: |world: &Snapshot<'_, Self>| {
                world.one_token(
                    |node| node.active,
                    |message| matches!(message, Message::Become { .. }),
                )
            },
        }]
    }
}

impl Ring {
    fn home(&self) -> NodeId {
        self.ranks.head(self.me, self.groups)
    }

    /// The coordinator so many places ahead, if we are one.
    fn ahead(&self, places: u32) -> Option<NodeId> {
        let rank = self.ranks.rank(self.me);
        (rank < self.groups).then(|| {
            let ahead = (u64::from(rank) + u64::from(places)) % u64::from(self.groups);
            self.ranks.node(ahead as u32)
        })
    }

    /// A node that we coordinate and that does not wait already.
    fn is_member(&self, node: NodeId) -> bool {
        // Who is inside may be heard asking again before it is heard leaving.
        self.ranks.head(node, self.groups) == self.me && !self.queue.contains(&node)
    }

    /// Something has changed: with the role serve or pass it on, without it signal.
    fn work(&mut self, cause: Cause, out: &mut Outbox<Message>) {
        if !self.active {
            self.signal(out);
            return;
        }
        if self.granted.is_some() {
            return;
        }
        self.column.watch(self.epoch, out);
        let due = self.column.due(cause) && cause != Cause::Begin;
        match self.queue.front() {
            Some(&member) if !(due && self.wanted) => {
                self.queue.pop_front();
                self.granted = Some(member);
                out.send_for(member, member, Message::Grant);
            }
            Some(_) | None if self.wanted => self.pass_on(out),
            Some(_) | None => {}
        }
    }

    fn pass_on(&mut self, out: &mut Outbox<Message>) {
        let Some(next) = self.ahead(1) else {
            return;
        };
        self.column.tenure_ends(self.epoch, out);
        self.wanted = false;
        self.active = false;
        self.epoch = self.epoch.saturating_add(1);
        out.note("moves", 1);
        out.send(next, Message::Become { epoch: self.epoch });
        self.signal(out);
    }

    /// Asks for the role against its direction: for us, or for somebody ahead.
    fn signal(&mut self, out: &mut Outbox<Message>) {
        let needed = !self.queue.is_empty() || self.wanted;
        if !needed || self.asked {
            return;
        }
        if let Some(behind) = self.ahead(self.groups - 1) {
            self.asked = true;
            out.send(behind, Message::Signal);
        }
    }
}
