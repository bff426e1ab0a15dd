//! Distributed queue, static routing, each exit: the tail of the queue is kept at home.
//!
//! A machine of its own. The role is a token that goes from each node to the next in the queue; all
//! that is central is the tail, which the first controller keeps for good:
//!
//! ```text
//!     3 --REQUEST--> home --LINK 3--> 1 (the tail so far) --BECOME--> 3
//! ```
//!
//! Three messages, one of them between an exit and the next entry. A link names the request it goes
//! behind: a link to a node's second request may overtake the one to its first.

use std::collections::BTreeMap;

use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, declared, ignores, invariants, messages, node,
};
use crate::view::View;

messages! {
    /// What nodes and home say.
    pub(in crate::controller) enum Message {
        /// The sender's request of that number.
        Request { number: u64 } = "REQUEST",
        /// Behind the addressee's request of that number comes this node.
        Link { behind: u64, node: NodeId } of node = "LINK",
        /// The role goes to the addressee.
        Become = "BECOME",
    }
}

node! {
    /// A node; home besides.
    pub(in crate::controller) struct TailAtHome of setup with me, nodes {
        home: NodeId = setup.setting.holder,
        /// The number of our last request; the first controller's are behind a request 0 of its own.
        number: u64 = 0,
        /// Our client waits.
        waiting: bool = false,
        /// Our client is inside.
        inside: bool = false,
        /// The role is here.
        active: bool = setup.is_holder(),
        /// Who comes behind which of our requests.
        links: BTreeMap<u64, NodeId> = BTreeMap::new(),
        /// Home: the last in the queue, by node and request number.
        tail: (NodeId, u64) = (setup.setting.holder, 0),
    }
}

impl Algorithm for TailAtHome {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.number += 1;
        self.waiting = true;
        let number = self.number;
        out.send_for(self.me, self.home, Message::Request { number });
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.inside = false;
        self.pass_on(out);
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request { number } if self.me == self.home => {
                let (tail, behind) = std::mem::replace(&mut self.tail, (from, number));
                out.send_for(from, tail, Message::Link { behind, node: from });
            }
            Message::Link { behind, node } if from == self.home && node.0 < self.nodes => {
                self.links.insert(behind, node);
                self.pass_on(out);
            }
            Message::Become if !self.active => {
                self.active = true;
                self.enter(out);
            }
            Message::Request { .. } | Message::Link { .. } | Message::Become => {
                out.protocol_error(format!("{from} says {message:?} where it cannot"));
            }
        }
    }

    ignores! { timer, peer: "nobody fails: a lost role stays lost", link }

    fn draw(&self, view: &mut View) {
        view.points_to("home", self.home);
        for &behind in self.links.values() {
            view.points_to("next", behind);
        }
        if self.me == self.home {
            view.points_to("tail", self.tail.0);
        }
        view.mark("controller", self.active);
    }

    invariants! { "one node is controller": one_controller }
}

impl TailAtHome {
    /// The last of our requests that is served.
    fn finished(&self) -> u64 {
        self.number - u64::from(self.waiting || self.inside)
    }

    /// Outside, with the role, and somebody linked behind our last finished request: it goes there.
    fn pass_on(&mut self, out: &mut Outbox<Message>) {
        if !self.active || self.inside {
            return;
        }
        let Some(next) = self.links.remove(&self.finished()) else {
            return;
        };
        if next == self.me {
            // Nobody came between two requests of ours.
            self.enter(out);
        } else {
            self.active = false;
            out.note("moves", 1);
            out.send_for(next, next, Message::Become);
        }
    }

    fn enter(&mut self, out: &mut Outbox<Message>) {
        if !self.waiting {
            out.protocol_error("the role came and nobody here waits");
            return;
        }
        self.waiting = false;
        self.inside = true;
        out.enter();
    }
}

fn one_controller(world: &Snapshot<'_, TailAtHome>) -> Result<(), String> {
    let carries = |message: &Message| matches!(message, Message::Become);
    world.one_token(|node| node.active, carries)
}
