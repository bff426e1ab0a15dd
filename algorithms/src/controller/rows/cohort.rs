//! Hierarchical queue, static routing: the role is delegated to the head of a cohort and returned.
//!
//! A machine of its own. The nodes are divided into cohorts, each with a fixed head that keeps its
//! members' requests; the first controller is the root. A head that has work and no role asks the
//! root, which delegates the role to one head after the other, in the order they asked; it is the head
//! of a cohort itself and waits its turn:
//!
//! ```text
//!     member --REQUEST--> head --UP--> root
//!     member <--GRANT---- head <--BECOME(delegated)-- root
//!     member ---EXIT----> head ---BECOME(returned)--> root
//! ```
//!
//! A head keeps the role while it has work and its tenure is not over.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::contract::{Algorithm, Invariant, NodeId, Outbox, Request, Snapshot, Timer, ignores};
use crate::controller::migration_info::{Cause, Column, MigrationInfo};
use crate::controller::ranks::{Ranks, USUAL_GROUPS};
use crate::controller::said::Said;
use crate::setup::Setup;

/// What members, heads and the root say.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::controller) enum Message {
    /// A member wants in.
    Request,
    /// Its head lets it in.
    Grant,
    /// It has left.
    Exit,
    /// A head has work.
    Up,
    /// The root delegates the role, for the so many-th time.
    Delegate { epoch: u64 },
    /// A head returns it, and has more work.
    Return { again: bool },
}

impl crate::contract::Message for Message {
    const KINDS: &'static [&'static str] = &["REQUEST", "GRANT", "EXIT", "UP", "BECOME"];

    fn kind(&self) -> usize {
        match self {
            Message::Request => 0,
            Message::Grant => 1,
            Message::Exit => 2,
            Message::Up => 3,
            // Both carry the role.
            Message::Delegate { .. } | Message::Return { .. } => 4,
        }
    }

    fn origin(&self) -> Option<NodeId> {
        match self {
            // Between a member and its head one of the two says it; the others are for many.
            Message::Request
            | Message::Grant
            | Message::Exit
            | Message::Up
            | Message::Delegate { .. }
            | Message::Return { .. } => None,
        }
    }
}

/// A node: a member, perhaps a head, perhaps the root.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(in crate::controller) struct Cohort {
    me: NodeId,
    ranks: Ranks,
    groups: u32,
    /// Our client waits.
    waiting: bool,
    /// Head: the members that want in.
    queue: VecDeque<NodeId>,
    /// Head: the role is here.
    active: bool,
    epoch: u64,
    /// Head: whom we have let in.
    granted: Option<NodeId>,
    /// Head: the root knows that we have work.
    asked: bool,
    /// Root: the heads that want the role, itself among them.
    heads: VecDeque<NodeId>,
    column: Column,
}

impl Algorithm for Cohort {
    type Message = Message;

    fn new(setup: &Setup<'_>) -> Self {
        let said = Said(&setup.setting.params);
        Self {
            me: setup.me,
            ranks: Ranks::of(setup),
            groups: said.groups().unwrap_or(USUAL_GROUPS).min(setup.nodes()),
            waiting: false,
            queue: VecDeque::new(),
            active: setup.is_holder(),
            epoch: 0,
            granted: None,
            asked: false,
            heads: VecDeque::new(),
            column: Column::said(&said),
        }
    }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.waiting = true;
        out.send_for(self.me, self.head(), Message::Request);
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        out.send_for(self.me, self.head(), Message::Exit);
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request if self.is_member(from) => {
                self.queue.push_back(from);
                self.work(Cause::Wake, out);
            }
            Message::Grant if from == self.head() && self.waiting => {
                self.waiting = false;
                out.enter();
            }
            Message::Exit if self.granted == Some(from) => {
                self.granted = None;
                self.work(Cause::Exit, out);
            }
            Message::Up if self.is_root() && self.is_head(from) => {
                self.heads.push_back(from);
                self.work(Cause::Wake, out);
            }
            Message::Delegate { epoch } if from == self.root() && !self.active => {
                self.asked = false;
                self.active = true;
                self.epoch = epoch;
                self.work(Cause::Begin, out);
            }
            Message::Return { again } if self.is_root() && !self.active && self.is_head(from) => {
                self.active = true;
                if again {
                    self.heads.push_back(from);
                }
                self.next_head(out);
            }
            Message::Request
            | Message::Grant
            | Message::Exit
            | Message::Up
            | Message::Delegate { .. }
            | Message::Return { .. } => {
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
                let carries = |message: &Message| match message {
                    Message::Delegate { .. } | Message::Return { .. } => true,
                    Message::Request | Message::Grant | Message::Exit | Message::Up => false,
                };
                world.one_token(|node| node.active, carries)
            },
        }]
    }
}

impl Cohort {
    fn head(&self) -> NodeId {
        self.ranks.head(self.me, self.groups)
    }

    fn root(&self) -> NodeId {
        self.ranks.node(0)
    }

    fn is_root(&self) -> bool {
        self.me == self.root()
    }

    fn is_head(&self, node: NodeId) -> bool {
        node != self.root() && self.ranks.rank(node) < self.groups
    }

    /// A node that we are the head of and that does not wait already.
    fn is_member(&self, node: NodeId) -> bool {
        // Who is inside may be heard asking again before it is heard leaving.
        self.ranks.head(node, self.groups) == self.me && !self.queue.contains(&node)
    }

    /// Something has changed: with the role serve or let go of it, without it ask for it.
    fn work(&mut self, cause: Cause, out: &mut Outbox<Message>) {
        if !self.active {
            self.ask(out);
            return;
        }
        if self.granted.is_some() {
            return;
        }
        self.column.watch(self.epoch, out);
        let due = self.column.due(cause) && cause != Cause::Begin;
        // The root lets go of the role only where a head wants it.
        let may_stay = !due || (self.is_root() && self.heads.is_empty());
        match self.queue.front() {
            Some(&member) if may_stay => {
                self.queue.pop_front();
                self.granted = Some(member);
                out.send_for(member, member, Message::Grant);
            }
            Some(_) | None if self.is_root() => {
                self.ask(out);
                self.next_head(out);
            }
            Some(_) | None => {
                self.asked = !self.queue.is_empty();
                let again = self.asked;
                self.move_role(self.root(), |_| Message::Return { again }, out);
            }
        }
    }

    /// Wants the role, if there is work and that is not known: the root stands in its own queue.
    fn ask(&mut self, out: &mut Outbox<Message>) {
        if self.queue.is_empty() || self.asked {
            return;
        }
        self.asked = true;
        match self.is_root() {
            true => self.heads.push_back(self.me),
            false => out.send(self.root(), Message::Up),
        }
    }

    /// The root has the role and nobody is inside: the first who wants it is next.
    fn next_head(&mut self, out: &mut Outbox<Message>) {
        match self.heads.pop_front() {
            None => {}
            Some(me) if me == self.me => {
                self.asked = false;
                self.work(Cause::Begin, out);
            }
            Some(head) => self.move_role(head, |epoch| Message::Delegate { epoch }, out),
        }
    }

    fn move_role(
        &mut self,
        to: NodeId,
        message: impl FnOnce(u64) -> Message,
        out: &mut Outbox<Message>,
    ) {
        self.column.tenure_ends(self.epoch, out);
        self.active = false;
        self.epoch = self.epoch.saturating_add(1);
        out.note("moves", 1);
        out.send(to, message(self.epoch));
    }
}
