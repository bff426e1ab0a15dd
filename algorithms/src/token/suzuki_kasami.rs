//! Suzuki and Kasami's algorithm: broadcast the request, pass the privilege.
//!
//! I. Suzuki, T. Kasami, "A distributed mutual exclusion algorithm", ACM Transactions on Computer
//! Systems 3(4), 1985.
//!
//! A request is a number, told to everybody. The privilege knows the number of each node's last
//! served request (`LN`) and carries a queue (`Q`); a node that leaves compares what it has heard
//! (`RN`) with `LN`, appends who is new, and passes the privilege to the first.
//!
//! ```text
//!     RN at 0:  [1 2 1]      what 0 has heard
//!     LN:       [1 1 1]      what was served: 1's second request is open
//!     Q:        [2]          2 was there before, so Q becomes [2 1] and the privilege goes to 2
//! ```
//!
//! Cost: `n` messages (`n-1` requests and the privilege), or none for the holder; `n-1` on average
//! when one node at a time, drawn uniformly, asks. Links need not keep order: an old number is
//! recognised as old.
//! Kept from the paper: names, procedures and the test `RN[j] = LN[j] + 1`, written `>`, which is
//! the same: nobody asks again before being served.
//! Chosen here: the scan begins behind the leaving node, so that no number is favoured.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::idle_holder;
use crate::common::broadcast;
use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, declared, holds_token, ignores, invariants,
    messages, node, one_token, shown, tokens,
};
use crate::printed::{Defect, Fails, Shows, World};
use crate::registry::{AlgorithmInfo, info};
use crate::view::View;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "suzuki-kasami", title: "Suzuki and Kasami",
    paper: "I. Suzuki, T. Kasami, \"A distributed mutual exclusion algorithm\", ACM TOCS 3(4), 1985",
    cost: "N messages per entry, 0 for the holder",
    family Token, graph Complete, order Any, links Patient, token Some("PRIVILEGE"),
    more: { defects: DEFECTS, forms: broadcast::FORMS },
    explanation: EXPLANATION,
    // RN; LN and Q exist once.
    node SuzukiKasami, further bytes: |nodes| 8 * nodes,
};

const EXPLANATION: &str = "\
There is one privilege; the node that has it may enter. Nobody knows where it
is, so a request goes to everybody.

    node 2 wants in (its request number 5)

      2 -- REQUEST 5 --> 0
      2 -- REQUEST 5 --> 1 (has the privilege)
                         1 -- PRIVILEGE (LN, Q) --> 2

Each node numbers its own requests and remembers in RN the largest number it has
heard from each of the others. The privilege carries two things:

    LN   the number of each node's last request that was served
    Q    a queue of nodes that will get the privilege

Who leaves writes LN[me] := RN[me], appends every node j that is not in Q and
has RN[j] > LN[j] (it asked and was not served), and sends the privilege to the
first in Q. If nobody waits it keeps the privilege; then the next REQUEST that
arrives sends it off at once, and an entry of its own costs nothing.

Why it is safe: there is one privilege. Why nobody starves: a request reaches
every node, so the node that has the privilege next finds it and appends it to
Q, and Q is first come, first served. A REQUEST that arrives late, after it was
served, has a number that LN already shows, and is ignored; so links need not
keep order.

What it costs: N-1 REQUESTs and one PRIVILEGE, or nothing. When one node at a
time, drawn uniformly, asks, it is the holder once in N times: N-1 on average.
The privilege grows with N; an exit-to-entry hand-over takes one message.";

const DEFECTS: &[Defect] = &[
    idle_holder(
        "banta-SK1",
        "the survey has no rule for an idle holder: a request that reaches it is only noted",
        "deadlock: 0 has the privilege and no use for it, 1 waits",
    ),
    Defect {
        id: "banta-SK2",
        what: "the survey does not say that a leaving node marks its own request as served in LN",
        rules: &["served-is-marked"],
        shows: Shows::World(World::of(&[1, 1], Fails::ProtocolError)),
        schedule: "req 1; 1>0:REQUEST; 0>1:PRIVILEGE; exit 1; req 0; 0>1:REQUEST; 1>0:PRIVILEGE; \
                   exit 0; 0>1:PRIVILEGE",
        result: "the privilege goes to 1, which did not ask again: a protocol error",
        ..Defect::BLANK
    },
    Defect::told(
        "banta-SK3",
        "requests are numbered \"from 1 to n\"; the numbers are counters without a bound",
        "a misprint",
    ),
    Defect::told(
        "banta-SK4",
        "\"n messages per each critical section entry\" leaves out the holder, whose entries \
               are free",
        "n-1 on average when one node at a time asks",
    ),
];

messages! {
    /// What nodes say to each other.
    pub(crate) enum Message {
        /// `node` wants in, for the `number`-th time.
        Request { node: NodeId, number: u64 } of node = "REQUEST",
        /// The privilege goes to the addressee.
        Privilege(Privilege) = "PRIVILEGE",
    }
}

/// What travels with the right to enter.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Privilege {
    /// The number of each node's last served request.
    ln: Vec<u64>,
    /// Who gets it next.
    q: VecDeque<NodeId>,
}

shown! { Privilege: Self { ln, q } => "ln: {ln:?}, q: {q:?}" }

node! {
    /// What one node knows.
    pub(crate) struct SuzukiKasami of setup with me {
        /// The largest request number heard from each node, and our own.
        rn: Vec<u64> = vec![0; setup.nodes() as usize],
        /// The privilege, while we have it.
        privilege: Option<Privilege> = setup.is_holder().then(|| Privilege {
            ln: vec![0; setup.nodes() as usize],
            q: VecDeque::new(),
        }),
        /// We wait, or are inside.
        requesting: bool = false,
        /// Rules that the survey leaves out.
        idle_holder_sends: bool = !setup.without("idle-holder-sends"),
        served_is_marked: bool = !setup.without("served-is-marked"),
    }
}

holds_token! { Privilege: SuzukiKasami.privilege, Message::Privilege }

impl Algorithm for SuzukiKasami {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.requesting = true;
        if self.privilege.is_some() {
            out.enter();
            return;
        }
        self.rn[self.me.index()] += 1;
        let request = Message::Request {
            node: self.me,
            number: self.rn[self.me.index()],
        };
        out.send_to_others(self.rn.len() as u32, &request);
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.requesting = false;
        let mut privilege = self.privilege.take().expect("a node that is inside has it");
        let me = self.me.index();
        // banta-SK2: the survey leaves this line out.
        if self.served_is_marked {
            privilege.ln[me] = self.rn[me];
        }
        for other in self.me.others_behind(self.rn.len()) {
            let waits = self.rn[other.index()] > privilege.ln[other.index()];
            if waits && !privilege.q.contains(&other) {
                privilege.q.push_back(other);
            }
        }
        match privilege.q.pop_front() {
            Some(first) => out.send_for(first, first, Message::Privilege(privilege)),
            None => self.privilege = Some(privilege),
        }
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request { node, .. } if node != from => {
                out.protocol_error(format!("{from} sent a request in the name of {node}"));
            }
            Message::Request { node, number } => {
                let rn = &mut self.rn[node.index()];
                *rn = number.max(*rn);
                // banta-SK1: the survey leaves this rule out.
                if self.idle_holder_sends && !self.requesting {
                    self.send_idle_privilege(node, out);
                }
            }
            Message::Privilege(privilege) if !self.could_be(&privilege) => {
                out.protocol_error(format!("{from} sent a privilege of another group"));
            }
            Message::Privilege(_) if self.privilege.is_some() => {
                out.protocol_error(format!("{from} sent a second privilege"));
            }
            Message::Privilege(privilege) => {
                self.privilege = Some(privilege);
                if self.requesting {
                    out.enter();
                } else {
                    out.protocol_error(format!("{from} sent the privilege; nobody here asked"));
                }
            }
        }
    }

    ignores! {
        timer,
        peer: "the paper assumes that nobody fails: a lost privilege stays lost",
        link,
    }

    fn draw(&self, view: &mut View) {
        view.token_with(self.privilege.as_ref());
        if let Some(privilege) = &self.privilege {
            view.queue("Q", &privilege.q);
            let heard = (0..).map(NodeId).zip(self.rn.iter().zip(&privilege.ln));
            let open = heard.filter_map(|(node, (rn, ln))| (rn > ln).then_some(node));
            view.set("RN > LN", open);
        }
        view.mark("requesting", self.requesting);
    }

    invariants! {
        "there is one privilege": one_token,
        "nobody has heard of a request that was not made": numbers_are_true,
        "an idle holder knows of nobody who waits": idle_holders_are_unaware,
        "everybody in the queue waits, once": the_queued_wait,
    }
}

impl SuzukiKasami {
    /// If we have the privilege, and `node` has asked for it and was not served, it goes there.
    fn send_idle_privilege(&mut self, node: NodeId, out: &mut Outbox<Message>) {
        let wanted = |privilege: &mut Privilege| self.rn[node.index()] > privilege.ln[node.index()];
        if let Some(privilege) = self.privilege.take_if(wanted) {
            out.send_for(node, node, Message::Privilege(privilege));
        }
    }

    /// Whether its vectors fit this group.
    fn could_be(&self, privilege: &Privilege) -> bool {
        let nodes = self.rn.len();
        let fits = |node: &NodeId| node.index() < nodes;
        privilege.ln.len() == nodes && privilege.q.iter().all(fits)
    }

    fn waits(&self) -> bool {
        self.requesting && self.privilege.is_none()
    }
}

fn numbers_are_true(world: &Snapshot<'_, SuzukiKasami>) -> Result<(), String> {
    world.heard_of_no_more_than_made(|node| &node.rn)?;
    for (owner, node) in world.alive() {
        let made = node.rn[owner.index()];
        for privilege in tokens(world) {
            let served = privilege.ln[owner.index()];
            let open = u64::from(node.waits());
            if !(served..=served + 1).contains(&made) || made < served + open {
                return Err(format!(
                    "{owner} made {made} requests, {served} were served"
                ));
            }
        }
    }
    Ok(())
}

fn idle_holders_are_unaware(world: &Snapshot<'_, SuzukiKasami>) -> Result<(), String> {
    world.keeps_from_nobody("privilege", |node| {
        let privilege = node.privilege.as_ref().filter(|_| !node.requesting)?;
        Some((&node.rn, &privilege.ln))
    })
}

fn the_queued_wait(world: &Snapshot<'_, SuzukiKasami>) -> Result<(), String> {
    let waits = |node: &SuzukiKasami| node.waits();
    tokens(world).try_for_each(|privilege| world.queued_once(&privilege.q, waits))
}
