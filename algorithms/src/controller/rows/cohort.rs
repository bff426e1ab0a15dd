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

use crate::contract::{Algorithm, NodeId, Outbox, Snapshot, declared, messages, node};
use crate::controller::members::{Heard, Members, for_members, member_message};
use crate::controller::migration_info::Cause;
use crate::controller::ranks::USUAL_GROUPS;
use crate::controller::tenure::Tenure;
use crate::view::View;

messages! {
    /// What members, heads and the root say.
    pub(in crate::controller) enum Message {
        /// A member wants in.
        Request = "REQUEST",
        /// Its head lets it in.
        Grant = "GRANT",
        /// The member has left.
        Exit = "EXIT",
        /// A head has work.
        Up = "UP",
        /// The root delegates the role, which has moved `epoch` times by then.
        Delegate { epoch: u64 } = "BECOME",
        /// A head returns the role, and says whether it has more work.
        Return { again: bool } as Delegate,
    }
}

member_message!(Message);

node! {
    /// A node: a member, perhaps a head, perhaps the root.
    pub(in crate::controller) struct Cohort of setup with me {
        /// Those whom we are the head of.
        members: Members = Members::of(setup, USUAL_GROUPS),
        tenure: Tenure = Tenure::of(setup),
        /// Head: the root knows that we have work.
        asked: bool = false,
        /// Root: the heads that want the role, itself among them.
        heads: VecDeque<NodeId> = VecDeque::new(),
    }
}

impl Algorithm for Cohort {
    declared! { Message }

    for_members! { "one node is controller": one_controller }
}

impl Cohort {
    fn draw_others(&self, view: &mut View) {
        view.points_to("root", self.root());
        if self.is_root() {
            view.queue("heads that wait", &self.heads);
        }
    }

    /// What a message means to a head or to the root; the others are between members and their head.
    fn hear(&mut self, from: NodeId, message: &Message, out: &mut Outbox<Message>) -> Heard {
        let lacks_role = !self.tenure.active;
        match message {
            Message::Up if self.is_root() && self.is_head(from) => {
                self.heads.push_back(from);
                Ok(Some(Cause::Wake))
            }
            Message::Delegate { epoch } if from == self.root() && lacks_role => {
                self.asked = false;
                self.tenure.begin(*epoch);
                Ok(Some(Cause::Begin))
            }
            Message::Return { again } if self.is_root() && lacks_role && self.is_head(from) => {
                self.tenure.active = true;
                if *again {
                    self.heads.push_back(from);
                }
                self.next_head(out);
                Ok(None)
            }
            _ => self.members.hear(from, message, out),
        }
    }

    fn root(&self) -> NodeId {
        self.members.ranks.node(0)
    }

    fn is_root(&self) -> bool {
        self.me == self.root()
    }

    fn is_head(&self, node: NodeId) -> bool {
        node != self.root() && self.members.ranks.rank(node) < self.members.groups
    }

    /// Something has changed: with the role serve or let go of it, without it ask for it.
    fn work(&mut self, cause: Cause, out: &mut Outbox<Message>) {
        if !self.tenure.active {
            self.ask(out);
            return;
        }
        if self.members.are_inside() {
            return;
        }
        let due = self.tenure.is_due(cause, out);
        // The root lets go of the role only where a head wants it.
        let may_stay = !due || (self.is_root() && self.heads.is_empty());
        if self.members.want() && may_stay {
            self.members.let_in(out);
        } else if self.is_root() {
            self.ask(out);
            self.next_head(out);
        } else {
            self.asked = self.members.want();
            let again = self.asked;
            self.tenure.end(out);
            out.send(self.root(), Message::Return { again });
        }
    }

    /// Wants the role, if there is work and that is not known: the root stands in its own queue.
    fn ask(&mut self, out: &mut Outbox<Message>) {
        if !self.members.want() || self.asked {
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
            Some(head) => {
                self.tenure.end(out);
                let epoch = self.tenure.epoch;
                out.send(head, Message::Delegate { epoch });
            }
        }
    }
}

fn one_controller(world: &Snapshot<'_, Cohort>) -> Result<(), String> {
    let carries =
        |message: &Message| matches!(message, Message::Delegate { .. } | Message::Return { .. });
    world.one_token(|node| node.tenure.active, carries)
}
