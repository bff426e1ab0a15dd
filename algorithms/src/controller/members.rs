//! Members and their heads, for the rows that divide the nodes into groups.
//!
//! Every node belongs to one group and asks its head. A head keeps the members that want in and lets
//! them in one by one while the role is with it.

use std::collections::VecDeque;
use std::fmt;

use serde::Serialize;

use super::chosen::Chosen;
use super::migration_info::Cause;
use super::ranks::Ranks;
use crate::contract::{NodeId, Outbox};
use crate::setup::Setup;
use crate::view::View;

/// A node as a member of its group, and as the head of one if it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Members {
    me: NodeId,
    pub(super) ranks: Ranks,
    pub(super) groups: u32,
    /// Our client waits.
    waiting: bool,
    /// Head: the members that want in.
    queue: VecDeque<NodeId>,
    /// Head: the member that we have let in.
    granted: Option<NodeId>,
}

/// What members and their head say to each other.
pub(super) trait MemberMessage: PartialEq {
    /// A member wants in.
    const REQUEST: Self;
    /// Its head lets it in.
    const GRANT: Self;
    /// The member has left.
    const EXIT: Self;
}

/// Says of a row's messages which of them go between a member and its head.
macro_rules! member_message {
    ($Message:ty) => {
        impl $crate::controller::members::MemberMessage for $Message {
            const REQUEST: Self = Self::Request;
            const GRANT: Self = Self::Grant;
            const EXIT: Self = Self::Exit;
        }
    };
}
pub(super) use member_message;

/// What a node with `members` and a `tenure` does about every event, in the place of the methods of
/// [`Algorithm`](crate::Algorithm): its `hear` says what a message means, its `work` what to do then.
macro_rules! for_members {
    ($($invariants:tt)+) => {
        fn request(&mut self, _: $crate::Request, out: &mut Outbox<Message>) {
            self.members.ask(out);
        }

        fn release(&mut self, out: &mut Outbox<Message>) {
            self.members.leave(out);
        }

        fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
            let heard = self.hear(from, &message, out);
            let cause = $crate::controller::members::to_decide(heard, from, &message, out);
            if let Some(cause) = cause {
                self.work(cause, out);
            }
        }

        fn timer(&mut self, timer: $crate::Timer, out: &mut Outbox<Message>) {
            self.tenure.went_off(timer, out);
        }

        $crate::contract::ignores! { peer: "nobody fails: a lost role stays lost", link }

        fn draw(&self, view: &mut $crate::view::View) {
            self.members.draw(view);
            view.mark("controller", self.tenure.active);
            view.mark("asked", self.asked);
            self.draw_others(view);
        }

        $crate::contract::invariants! { $($invariants)+ }
    };
}
pub(super) use for_members;

/// What a message means to its receiver: what there is to decide now, if anything; or that it cannot
/// be meant for the receiver.
pub(super) type Heard = Result<Option<Cause>, Unexpected>;

/// A message that cannot arrive here.
pub(super) struct Unexpected;

impl Members {
    /// In as many groups as the parameters say, or else as usual.
    pub(super) fn of(setup: &Setup<'_>, usual_groups: u32) -> Self {
        let groups = Chosen(&setup.setting.params).groups();
        Self {
            me: setup.me,
            ranks: Ranks::of(setup),
            groups: groups.unwrap_or(usual_groups).min(setup.nodes()),
            waiting: false,
            queue: VecDeque::new(),
            granted: None,
        }
    }

    /// Draws the head of our group, and the group if we are the head.
    pub(super) fn draw(&self, view: &mut View) {
        view.points_to("head", self.head());
        if self.head() == self.me {
            view.points_to("granted", self.granted);
            view.queue("members that wait", &self.queue);
        }
    }

    /// The head of our group.
    pub(super) fn head(&self) -> NodeId {
        self.ranks.head(self.me, self.groups)
    }

    /// Our client wants in.
    pub(super) fn ask<M: MemberMessage>(&mut self, out: &mut Outbox<M>) {
        self.waiting = true;
        out.send_for(self.me, self.head(), M::REQUEST);
    }

    /// Our client has left.
    pub(super) fn leave<M: MemberMessage>(&self, out: &mut Outbox<M>) {
        out.send_for(self.me, self.head(), M::EXIT);
    }

    /// A message between members and their head arrives; any other is unexpected.
    pub(super) fn hear<M: MemberMessage>(
        &mut self,
        from: NodeId,
        message: &M,
        out: &mut Outbox<M>,
    ) -> Heard {
        if *message == M::REQUEST {
            self.on_request(from)
        } else if *message == M::GRANT {
            self.on_grant(from, out)
        } else if *message == M::EXIT {
            self.on_exit(from)
        } else {
            Err(Unexpected)
        }
    }

    /// A member that does not wait already asks its head.
    fn on_request(&mut self, from: NodeId) -> Heard {
        // A member that is inside may be heard asking again before it is heard leaving.
        if self.ranks.head(from, self.groups) != self.me || self.queue.contains(&from) {
            return Err(Unexpected);
        }
        self.queue.push_back(from);
        Ok(Some(Cause::Wake))
    }

    /// Our head lets our client in.
    fn on_grant<M>(&mut self, from: NodeId, out: &mut Outbox<M>) -> Heard {
        if from != self.head() || !self.waiting {
            return Err(Unexpected);
        }
        self.waiting = false;
        out.enter();
        Ok(None)
    }

    /// The member that we let in has left.
    fn on_exit(&mut self, from: NodeId) -> Heard {
        let left = self.granted.take_if(|granted| *granted == from);
        left.map(|_| Some(Cause::Exit)).ok_or(Unexpected)
    }

    /// Head: a member of ours wants in.
    pub(super) fn want(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Head: a member that we let in has not left yet.
    pub(super) fn are_inside(&self) -> bool {
        self.granted.is_some()
    }

    /// Head: lets in the first of those that want to.
    pub(super) fn let_in<M: MemberMessage>(&mut self, out: &mut Outbox<M>) {
        self.granted = self.queue.pop_front();
        if let Some(member) = self.granted {
            out.send_for(member, member, M::GRANT);
        }
    }
}

/// What there is to decide after a message; one that cannot arrive is reported.
pub(super) fn to_decide<M: fmt::Debug>(
    heard: Heard,
    from: NodeId,
    message: &M,
    out: &mut Outbox<M>,
) -> Option<Cause> {
    heard.unwrap_or_else(|Unexpected| {
        out.protocol_error(format!("{from} says {message:?} where it cannot"));
        None
    })
}
