//! Ring, static routing: the role goes round a ring on demand.
//!
//! A machine of its own. Some of the nodes, or all, are coordinators on a ring; each keeps the
//! requests of its members. The role travels one way round. A node that wants it sends a signal the
//! other way, which is passed on, once per node, until it meets the role:
//!
//! ```text
//!     0 ---BECOME--> 1 ---BECOME--> 2        the role
//!     0 <--SIGNAL--- 1 <--SIGNAL--- 2        2 wants it
//! ```
//!
//! Where every node is its own coordinator this is Martin's algorithm. There is at most one signal
//! and one role on an edge, so links need not keep order.

use crate::contract::{Algorithm, NodeId, Outbox, Snapshot, declared, messages, node};
use crate::controller::members::{Heard, Members, for_members, member_message};
use crate::controller::migration_info::Cause;
use crate::controller::tenure::Tenure;
use crate::view::View;

messages! {
    /// What members and coordinators say.
    pub(in crate::controller) enum Message {
        /// A member wants in.
        Request = "REQUEST",
        /// Its coordinator lets it in.
        Grant = "GRANT",
        /// The member has left.
        Exit = "EXIT",
        /// Somebody ahead on the ring wants the role.
        Signal = "SIGNAL",
        /// The role goes to the addressee.
        Become { epoch: u64 } = "BECOME",
    }
}

member_message!(Message);

node! {
    /// A node, perhaps a coordinator.
    pub(in crate::controller) struct Ring of setup with me {
        /// Those whom we coordinate.
        members: Members = Members::of(setup, u32::MAX),
        tenure: Tenure = Tenure::of(setup),
        /// Somebody ahead wants the role.
        wanted: bool = false,
        /// We have signalled and the role has not come since.
        asked: bool = false,
    }
}

impl Algorithm for Ring {
    declared! { Message }

    for_members! { "one node is controller": one_controller }
}

impl Ring {
    fn draw_others(&self, view: &mut View) {
        view.points_to("ahead", self.ahead(1));
        view.mark("wanted", self.wanted);
    }

    /// What a message means to a coordinator; the others are between members and their coordinator.
    fn hear(&mut self, from: NodeId, message: &Message, out: &mut Outbox<Message>) -> Heard {
        match message {
            Message::Signal if Some(from) == self.ahead(1) => {
                self.wanted = true;
                Ok(Some(Cause::Wake))
            }
            Message::Become { epoch }
                if Some(from) == self.ahead(self.members.groups - 1) && !self.tenure.active =>
            {
                self.asked = false;
                self.tenure.begin(*epoch);
                Ok(Some(Cause::Begin))
            }
            _ => self.members.hear(from, message, out),
        }
    }

    /// The coordinator so many places ahead, if we are one.
    fn ahead(&self, places: u32) -> Option<NodeId> {
        let rank = self.members.ranks.rank(self.me);
        (rank < self.members.groups).then(|| {
            let ahead = (u64::from(rank) + u64::from(places)) % u64::from(self.members.groups);
            self.members.ranks.node(ahead as u32)
        })
    }

    /// Something has changed: with the role serve or pass it on, without it signal.
    fn work(&mut self, cause: Cause, out: &mut Outbox<Message>) {
        if !self.tenure.active {
            self.signal(out);
            return;
        }
        if self.members.are_inside() {
            return;
        }
        let due = self.tenure.is_due(cause, out);
        if self.members.want() && !(due && self.wanted) {
            self.members.let_in(out);
        } else if self.wanted {
            self.pass_on(out);
        }
    }

    fn pass_on(&mut self, out: &mut Outbox<Message>) {
        let Some(next) = self.ahead(1) else {
            return;
        };
        self.wanted = false;
        self.tenure.end(out);
        let epoch = self.tenure.epoch;
        out.send(next, Message::Become { epoch });
        self.signal(out);
    }

    /// Asks for the role against its direction: for us, or for somebody ahead.
    fn signal(&mut self, out: &mut Outbox<Message>) {
        let needed = self.members.want() || self.wanted;
        if !needed || self.asked {
            return;
        }
        if let Some(behind) = self.ahead(self.members.groups - 1) {
            self.asked = true;
            out.send(behind, Message::Signal);
        }
    }
}

fn one_controller(world: &Snapshot<'_, Ring>) -> Result<(), String> {
    let carries = |message: &Message| matches!(message, Message::Become { .. });
    world.one_token(|node| node.tenure.active, carries)
}
