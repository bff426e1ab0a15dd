//! Hierarchical queue, dynamic routing: a tree whose root, the controller, moves.
//!
//! A machine of its own: nobody has the whole queue. Each node has a queue of the neighbours (and
//! itself) that want in, and knows in which direction the role is. Where the role moves it turns the
//! edges it crosses, and nobody has to be informed; where it stays the entry is lent down the tree
//! and comes back:
//!
//! ```text
//!     1 <--BECOME-- 0        a migration is due: the role goes one edge towards who waits
//!     1 <--GRANT--- 0        it is not: 0 stays controller, 1 is let in
//!     1 ----EXIT--> 0
//! ```
//!
//! With a migration at each exit this is Raymond's algorithm, with its further request riding on
//! the privilege. Without migration it is a tree with a fixed root.
//! The role arrives only where it is used: on its way it does not count as a tenure.

use std::collections::VecDeque;

use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, Timer, declared, ignores, invariants, messages,
    node,
};
use crate::controller::chosen::Chosen;
use crate::controller::migration_info::Cause;
use crate::controller::ranks::Ranks;
use crate::controller::tenure::Tenure;
use crate::view::View;

messages! {
    /// What neighbours say to each other.
    pub(in crate::controller) enum Message {
        /// Somebody here or behind here wants in.
        Request = "REQUEST",
        /// One entry is lent to the addressee or somebody behind it.
        Grant = "GRANT",
        /// It is over; the sender wants another one.
        Exit { again: bool } = "EXIT",
        /// The role itself; the sender wants it back.
        Become { epoch: u64, again: bool } = "BECOME",
    }
}

node! {
    /// A node of the tree.
    pub(in crate::controller) struct Tree of setup with me
    given
        arity = Chosen(&setup.setting.params).arity(),
        ranks = Ranks::of(setup),
        rank = ranks.rank(setup.me),
        parent = (rank > 0).then(|| ranks.node((rank - 1) / arity)),
        first_child = u64::from(rank) * u64::from(arity) + 1,
        children = (first_child..first_child + u64::from(arity))
            .take_while(|&child| child < u64::from(setup.nodes()))
            .map(|child| ranks.node(child as u32));
    {
        /// The neighbour towards the role, or `me`.
        holder: NodeId = parent.unwrap_or(setup.me),
        /// The nodes next to us.
        neighbours: Vec<NodeId> = parent.into_iter().chain(children).collect(),
        /// We are the controller, if it says so.
        tenure: Tenure = Tenure::of(setup),
        /// Who wants in through us: neighbours, or `me`.
        queue: VecDeque<NodeId> = VecDeque::new(),
        /// A request to `holder` is unanswered.
        asked: bool = false,
        /// Our client is inside.
        inside: bool = false,
        /// The neighbour that the entry was passed down to.
        to: Option<NodeId> = None,
        /// The neighbour that it came from, unless we are the controller.
        via: Option<NodeId> = None,
    }
}

impl Algorithm for Tree {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.add(self.me, out);
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.inside = false;
        self.entry_is_over(out);
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        if !self.neighbours.contains(&from) {
            out.protocol_error(format!("{from} is no neighbour"));
            return;
        }
        match message {
            Message::Request if self.queue.contains(&from) => {
                out.protocol_error(format!("{from} asks twice"));
            }
            Message::Request => self.add(from, out),
            Message::Grant => self.on_grant(from, out),
            Message::Exit { again } if self.to == Some(from) => {
                self.to = None;
                if again {
                    self.queue.push_back(from);
                }
                self.entry_is_over(out);
            }
            Message::Exit { .. } => out.protocol_error(format!("{from} was not let in")),
            Message::Become { epoch, again } => self.on_become(from, epoch, again, out),
        }
    }

    fn timer(&mut self, timer: Timer, out: &mut Outbox<Message>) {
        self.tenure.went_off(timer, out);
    }

    ignores! { peer: "nobody fails: a lost role stays lost", link }

    fn draw(&self, view: &mut View) {
        view.points_to("holder", self.holder);
        view.queue("queue", &self.queue);
        view.points_to("lent to", self.to);
        view.mark("controller", self.tenure.active);
        view.mark("asked", self.asked);
    }

    invariants! { "one node is controller": one_controller }
}

impl Tree {
    /// Somebody wants in through us.
    fn add(&mut self, who: NodeId, out: &mut Outbox<Message>) {
        self.queue.push_back(who);
        let entry_is_here = self.inside || self.to.is_some();
        if self.tenure.active {
            if !entry_is_here {
                self.dispatch(Cause::Wake, out);
            }
        } else if !self.asked && !entry_is_here {
            // While an entry is lent to us, its end says that we want another.
            self.asked = true;
            out.send(self.holder, Message::Request);
        }
    }

    fn on_grant(&mut self, from: NodeId, out: &mut Outbox<Message>) {
        let lent_already = self.inside || self.to.is_some();
        let next = match from == self.holder && !self.tenure.active && !lent_already {
            true => self.queue.pop_front(),
            false => None,
        };
        let Some(next) = next else {
            out.protocol_error(format!("{from} lends an entry that was not asked for"));
            return;
        };
        self.asked = false;
        self.via = Some(from);
        self.lend(next, out);
    }

    fn on_become(&mut self, from: NodeId, epoch: u64, again: bool, out: &mut Outbox<Message>) {
        if from != self.holder || self.queue.is_empty() || self.tenure.active {
            out.protocol_error(format!("{from} sends a role that was not asked for"));
            return;
        }
        self.holder = self.me;
        self.asked = false;
        self.tenure.epoch = epoch;
        if again {
            self.queue.push_back(from);
        }
        if self.queue.front() == Some(&self.me) {
            self.tenure.active = true;
            self.dispatch(Cause::Begin, out);
        } else {
            self.move_on(out);
        }
    }

    /// The controller decides: the role moves towards who is first, or the entry is lent.
    fn dispatch(&mut self, cause: Cause, out: &mut Outbox<Message>) {
        let due = self.tenure.is_due(cause, out);
        match self.queue.front() {
            None => {}
            Some(&first) if first != self.me && due => {
                self.tenure.end(out);
                self.move_on(out);
            }
            Some(&first) => {
                self.queue.pop_front();
                self.lend(first, out);
            }
        }
    }

    /// Sends the role one edge towards the first in our queue.
    fn move_on(&mut self, out: &mut Outbox<Message>) {
        let Some(next) = self.queue.pop_front() else {
            return;
        };
        self.holder = next;
        self.asked = !self.queue.is_empty();
        let r#become = Message::Become {
            epoch: self.tenure.epoch,
            again: self.asked,
        };
        out.send(next, r#become);
    }

    /// Lets somebody in, here or below.
    fn lend(&mut self, next: NodeId, out: &mut Outbox<Message>) {
        if next == self.me {
            self.inside = true;
            out.enter();
        } else {
            self.to = Some(next);
            out.send(next, Message::Grant);
        }
    }

    /// The entry that was here has ended.
    fn entry_is_over(&mut self, out: &mut Outbox<Message>) {
        if self.tenure.active {
            self.dispatch(Cause::Exit, out);
        } else if let Some(via) = self.via.take() {
            self.asked = !self.queue.is_empty();
            out.send(via, Message::Exit { again: self.asked });
        } else {
            out.protocol_error("an entry ends that nobody lent");
        }
    }
}

fn one_controller(world: &Snapshot<'_, Tree>) -> Result<(), String> {
    let carries = |message: &Message| matches!(message, Message::Become { .. });
    world.one_token(|node| node.tenure.active, carries)
}
