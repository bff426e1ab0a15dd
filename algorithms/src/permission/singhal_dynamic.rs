//! Singhal's dynamic information structure: ask those who may be ahead, and learn who they are.
//!
//! M. Singhal, "A dynamic information-structure mutual exclusion algorithm for distributed systems",
//! IEEE Transactions on Parallel and Distributed Systems 3(1), 1992, as described in S. Banta's
//! thesis, 1993, section 2.2.
//!
//! At first node i asks all with smaller numbers, a staircase. Who replies to a node asks it next
//! time; who gets the reply need not ask:
//!
//! ```text
//!     R_0 = {}                 2 enters and leaves       R_0 = {2}
//!     R_1 = {0}                ------------------->      R_1 = {0,2}
//!     R_2 = {0,1}                                        R_2 = {}
//! ```
//!
//! Cost: 0 to `2(n-1)` messages per entry, as `carvalho-roucairol` from the same start, message for
//! message. Links need not keep order.
//! Chosen here: the request that follows a reply carries the pending stamp, not a newer clock, which
//! would lose the place.

use std::collections::BTreeSet;

use crate::common::broadcast;
use crate::common::phase::Phase;
use crate::common::stamp::Stamp;
use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, declared, ignores, invariants, messages, node,
};
use crate::permission::requester::Requester;
use crate::printed::{Defect, Fails, Shows, World};
use crate::registry::{AlgorithmInfo, FormKind, info};
use crate::view::View;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "singhal-dynamic", title: "Singhal, dynamic information structure",
    paper: "M. Singhal, \"A dynamic information-structure mutual exclusion algorithm for \
            distributed systems\", IEEE TPDS 3(1), 1992",
    cost: "0 to 2(N-1) messages per entry",
    family Permission, graph Complete, order Any, links Patient, token None,
    more: { defects: DEFECTS, forms: &[broadcast::two_each(FormKind::AtMost)] },
    explanation: EXPLANATION,
    // R and I may each be everybody.
    node SinghalDynamic, further bytes: |nodes| 16 * nodes,
};

const EXPLANATION: &str = "\
A node asks only those who may be ahead of it: its request set R. It learns who
they are from the messages it gets anyway.

At first R_i is everybody with a smaller number. The picture is a staircase:

    R_0 = {}
    R_1 = {0}
    R_2 = {0, 1}
    R_3 = {0, 1, 2}

A REPLY from j takes j out of R: j need not be asked until it has asked us. A
node that sends a REPLY puts the addressee into R: it may well be inside next
time we want in. Who was inside last has the empty R, and the others stand below
it in the staircase, in the order of their last entries.

On a REQUEST a node that is idle replies. One that is inside, or waits with a
smaller pair (time stamp, node), remembers it in its inform set I and replies
when it leaves; then I is empty again. One that waits with a larger pair
replies, and if it had not asked the other, asks it now: the other may go first.

Why it is safe: of any two nodes at least one has the other in R, and asks it.
Why nobody starves: the smaller pair goes first, and nobody who has seen my
request can ask with a smaller pair again.

What it costs: two messages for each in R, 0 to 2(N-1); N-1 on average when one
node at a time, drawn uniformly, asks. From one exit to the next entry it takes
one message. Links need not keep order.";

const DEFECTS: &[Defect] = &[Defect {
    id: "banta-SD1",
    what: "the survey copies the inform set into the request set at the exit and does not say that \
           it is emptied",
    rules: &["inform-set-is-emptied"],
    shows: Shows::World(World::of(&[2, 2], Fails::ProtocolError)),
    schedule: "req 0; req 1; 1>0:REQUEST; exit 0; req 0; 0>1:REPLY; exit 1; 0>1:REQUEST; 1>0:REPLY; \
               exit 0; req 1; 1>0:REQUEST; 0>1:REPLY; 0>1:REPLY",
    result: "0 replies to 1 at every exit, asked or not; in a larger group that lets two in",
    ..Defect::BLANK
}];

messages! {
    /// What nodes say to each other.
    pub(crate) enum Message {
        /// The sender wants in.
        Request { t: u64 } = "REQUEST",
        /// As far as the sender is concerned, go ahead.
        Reply = "REPLY",
    }
}

node! {
    /// What one node knows.
    pub(crate) struct SinghalDynamic of setup with me {
        /// Our request, and R: those who may be ahead of us, of whom a reply is missing while we wait.
        requester: Requester = Requester::new(setup.me, (0..setup.me.0).map(NodeId).collect()),
        /// I: those who get their reply when we leave.
        inform_set: BTreeSet<NodeId> = BTreeSet::new(),
        /// A rule that the survey leaves out.
        inform_set_is_emptied: bool = !setup.without("inform-set-is-emptied"),
    }
}

impl Algorithm for SinghalDynamic {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.requester.ask(|t| Message::Request { t }, out);
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.requester.leave();
        for &other in &self.inform_set {
            self.requester.request_set.insert(other);
            out.send_for(other, other, Message::Reply);
        }
        // banta-SD1: the survey does not say this.
        if self.inform_set_is_emptied {
            self.inform_set.clear();
        }
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request { t } => {
                if self.requester.goes_before(Stamp { t, id: from }) {
                    self.inform_set.insert(from);
                    return;
                }
                out.send_for(from, from, Message::Reply);
                let was_not_asked = self.requester.request_set.insert(from);
                if was_not_asked && self.requester.phase == Phase::Waiting {
                    let t = self.requester.stamp.t;
                    out.send_for(self.me, from, Message::Request { t });
                }
            }
            Message::Reply if !self.requester.request_set.contains(&from) => {
                out.protocol_error(format!("a reply from {from}, which was not asked"));
            }
            Message::Reply => {
                self.requester.request_set.remove(&from);
                self.requester.try_enter(out);
            }
        }
    }

    ignores! { timer, peer: "with a member gone its reply never comes", link }

    fn draw(&self, view: &mut View) {
        view.set("asks", &self.requester.request_set);
        view.set("informs", &self.inform_set);
    }

    invariants! {
        "of any two nodes at least one asks the other": one_asks,
        "only who waits has its reply put off": the_put_off_wait,
    }
}

fn one_asks(world: &Snapshot<'_, SinghalDynamic>) -> Result<(), String> {
    for (i, node) in world.alive() {
        for (j, other) in world.alive().filter(|&(j, _)| j > i) {
            if !node.requester.request_set.contains(&j) && !other.requester.request_set.contains(&i)
            {
                return Err(format!("neither {i} nor {j} would ask the other"));
            }
        }
    }
    Ok(())
}

fn the_put_off_wait(world: &Snapshot<'_, SinghalDynamic>) -> Result<(), String> {
    for (i, node) in world.alive() {
        for &j in &node.inform_set {
            let waits = |other: &SinghalDynamic| other.requester.phase == Phase::Waiting;
            if !world.nodes[j.index()].is_none_or(waits) || node.requester.phase == Phase::Idle {
                return Err(format!("{i} will reply to {j}, which does not wait for it"));
            }
        }
    }
    Ok(())
}
