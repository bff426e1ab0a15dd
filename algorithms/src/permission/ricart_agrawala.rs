//! Ricart and Agrawala's algorithm: ask everybody, enter when all have replied.
//!
//! G. Ricart, A. K. Agrawala, "An optimal algorithm for mutual exclusion in computer networks",
//! Communications of the ACM 24(1), 1981.
//!
//! A request carries a sequence number, and the smaller pair (number, node) goes first. A node that
//! does not want in, or wants in later, replies at once; the others put the reply off until they
//! leave. A put-off reply is the whole queue: there is no release message.
//!
//! ```text
//!     0: wants in, (1,0)        1: wants in, (1,1)        2: idle
//!     0 --REQUEST--> 1          1 --REQUEST--> 0
//!                    1 --REPLY--> 0                       (1,0) < (1,1): 1 lets 0 go first
//!     0 puts 1's reply off, enters, leaves, and only now
//!     0 --REPLY--> 1
//! ```
//!
//! Cost: exactly `2(n-1)` messages per entry. Links need not keep order.
//! Kept from the paper: the variables and the one test that decides between reply and put-off.
//! Left out: the paper's node insertion and removal, and its reply-piggybacking variants; and the
//! semaphores inside a node, which events that are handled one by one do not need.
//! The paper's bounded numbers are there: `modulo` = 2N-1 is enough, one less is not.

use std::collections::BTreeSet;

use crate::common::broadcast;
use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, declared, ignores, invariants, messages, node,
};
use crate::params::Param;
use crate::printed::{Defect, Fails, Shows, World};
use crate::registry::{AlgorithmInfo, FormKind, Promise, info};
use crate::view::View;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "ricart-agrawala", title: "Ricart and Agrawala",
    paper: "G. Ricart, A. K. Agrawala, \"An optimal algorithm for mutual exclusion in computer \
            networks\", CACM 24(1), 1981",
    cost: "2(N-1) messages per entry",
    family Permission, graph Complete, order Any, links Patient, token None,
    more: {
        params: &[Param::integer(
            "modulo",
            0..=1 << 32,
            0,
            "keep sequence numbers modulo this; 2N-1 is enough, fewer are not; 0: no bound",
        )],
        // Fewer numbers than 2N-1 come round too soon: an old one looks new.
        gives_up: |params, nodes| match params.integer("modulo") {
            0 => None,
            few if few + 1 < 2 * u64::from(nodes) => Some(Promise::Safety),
            _ => None,
        },
        defects: DEFECTS, forms: &[broadcast::two_each(FormKind::Exact)],
    },
    explanation: EXPLANATION,
    // The put-off replies may be everybody's.
    node RicartAgrawala, further bytes: |nodes| 8 * nodes,
};

const EXPLANATION: &str = "\
Ask everybody, and enter when everybody has replied. A node that wants in
itself, and asked first, puts its reply off until it leaves.

Who asked first is decided by the pair (sequence number, node), the smaller
first. A new request takes a number larger than any its node has seen.

    node 0: (1,0)                           node 1: (1,1)
      |-------- REQUEST 1 ------.  .------- REQUEST 1 ------|
      |                          ><                         |
      |<------------------------'  '----------------------->|
      |                                     | (1,0) is smaller:
      |<------------------------------------- REPLY --------|
      | (1,1) is larger: put off            |
      | all have replied: inside            |
      | leaves:                             |
      |---------- REPLY ----------------------------------->|
      |                                     | inside

There is no queue and no release message: the replies that a node has put off
are its part of the queue, and sending them is the release.

Why it is safe: of two nodes that both want in, the one with the larger pair
replies and the one with the smaller puts its reply off; so the larger cannot
enter before the smaller has left. Why nobody starves: nobody who has seen my
request can ask with a smaller pair again, so only those already before me go
before me.

What it costs: a REQUEST to and a REPLY from each of the N-1 others, exactly
2(N-1) per entry, always. From one exit to the next entry it takes one message.
Links need not keep order.";

const DEFECTS: &[Defect] = &[Defect {
    id: "ricart-B1",
    what: "a node's own number does not raise the highest it has seen; harmless as long as numbers \
           have no bound",
    rules: &["own-number-is-seen"],
    with: &[("modulo", "3")],
    shows: Shows::World(World::of(&[2, 1], Fails::Exclusion)),
    schedule: "req 0; 0>1:REQUEST; 1>0:REPLY; exit 0; req 1; 1>0:REQUEST; req 0; 0>1:REQUEST; \
               1>0:REPLY; 0>1:REPLY",
    result: "0 and 1 are inside: 0 asks with 1 twice, which lies far enough from 1's number 2 to \
             seem later",
    ..Defect::BLANK
}];

messages! {
    /// What nodes say to each other.
    pub(crate) enum Message {
        /// `node` wants in; the smaller pair goes first.
        Request { sequence: u64, node: NodeId } of node = "REQUEST",
        /// As far as the sender is concerned, go ahead.
        Reply = "REPLY",
    }
}

node! {
    /// What one node knows.
    pub(crate) struct RicartAgrawala of setup with me, nodes {
        /// The number of our latest request.
        our_sequence_number: u64 = 0,
        /// The largest number in any request, ours or theirs.
        highest_sequence_number: u64 = 0,
        /// We wait, or are inside.
        requesting: bool = false,
        /// Replies we still wait for.
        outstanding_reply_count: u32 = 0,
        /// Those whose reply we put off until we leave.
        reply_deferred: BTreeSet<NodeId> = BTreeSet::new(),
        /// A rule that the print leaves out.
        own_number_is_seen: bool = !setup.without("own-number-is-seen"),
        /// The modulus of the sequence numbers, where they are bounded.
        modulus: Option<u64> = match setup.setting.params.integer("modulo") {
            0 => None,
            modulus => Some(modulus),
        },
    }
}

impl Algorithm for RicartAgrawala {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.requesting = true;
        // No group lives to count so far; a forged number must not end us either.
        self.our_sequence_number = self.highest_sequence_number.saturating_add(1);
        if let Some(modulus) = self.modulus {
            self.our_sequence_number %= modulus;
        }
        // ricart-B1: the print does not say this.
        if self.own_number_is_seen {
            self.highest_sequence_number = self.our_sequence_number;
        }
        self.outstanding_reply_count = self.nodes - 1;
        let request = Message::Request {
            sequence: self.our_sequence_number,
            node: self.me,
        };
        out.send_to_others(self.nodes, &request);
        if self.outstanding_reply_count == 0 {
            out.enter();
        }
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.requesting = false;
        for node in std::mem::take(&mut self.reply_deferred) {
            out.send_for(node, node, Message::Reply);
        }
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request { node, .. } if node != from => {
                out.protocol_error(format!("{from} sent a request in the name of {node}"));
            }
            Message::Request { sequence, node } => {
                if self.before(self.highest_sequence_number, sequence) {
                    self.highest_sequence_number = sequence;
                }
                let ours = self.our_sequence_number;
                let ours_first =
                    self.before(ours, sequence) || (ours == sequence && self.me < node);
                if self.requesting && ours_first {
                    self.reply_deferred.insert(node);
                } else {
                    out.send_for(node, node, Message::Reply);
                }
            }
            Message::Reply if !self.requesting || self.outstanding_reply_count == 0 => {
                out.protocol_error(format!("a reply from {from} that nobody waits for"));
            }
            Message::Reply => {
                self.outstanding_reply_count -= 1;
                if self.outstanding_reply_count == 0 {
                    out.enter();
                }
            }
        }
    }

    ignores! {
        timer,
        peer: "the paper's recovery is left out: with a member gone its reply never comes",
        link,
    }

    fn draw(&self, view: &mut View) {
        view.set("deferred", &self.reply_deferred);
        view.mark("requesting", self.requesting);
        view.mark("replies missing", self.outstanding_reply_count > 0);
    }

    invariants! {
        "of two that wait, one lets the other go first": nobody_defers_each_other,
        "every awaited reply is asked for, put off or on its way": replies_are_somewhere,
    }
}

impl RicartAgrawala {
    /// Whether one number comes before the other.
    fn before(&self, one: u64, other: u64) -> bool {
        let nodes = u64::from(self.nodes);
        // Numbers in use are less than N apart: the smaller of two that are farther has gone round.
        let gone_round = self.modulus.is_some() && one.abs_diff(other) >= nodes;
        (one < other) != gone_round
    }
}

fn nobody_defers_each_other(world: &Snapshot<'_, RicartAgrawala>) -> Result<(), String> {
    for (a, node) in world.alive() {
        for &b in node.reply_deferred.iter().filter(|&&b| b > a) {
            let other = world.nodes[b.index()];
            if other.is_some_and(|other| other.reply_deferred.contains(&a)) {
                return Err(format!("{a} and {b} put each other off"));
            }
        }
    }
    Ok(())
}

fn replies_are_somewhere(world: &Snapshot<'_, RicartAgrawala>) -> Result<(), String> {
    if world.has_crashed() {
        // What a crashed node owed is owed no more.
        return Ok(());
    }
    let mut awaited = vec![0; world.nodes.len()];
    for (_, node) in world.alive() {
        for deferred in &node.reply_deferred {
            awaited[deferred.index()] += 1;
        }
    }
    for (from, to, message) in &world.flight {
        match message {
            Message::Request { .. } => awaited[from.index()] += 1,
            Message::Reply => awaited[to.index()] += 1,
        }
    }
    for (me, node) in world.alive() {
        let (waits_for, there_are) = (node.outstanding_reply_count, awaited[me.index()]);
        if waits_for != there_are {
            return Err(format!(
                "{me} waits for {waits_for} replies; {there_are} will come"
            ));
        }
    }
    Ok(())
}
