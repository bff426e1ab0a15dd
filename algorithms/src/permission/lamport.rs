//! Lamport's algorithm: the same queue everywhere.
//!
//! L. Lamport, "Time, clocks, and the ordering of events in a distributed system", Communications
//! of the ACM 21(7), 1978, the section "Ordering the events totally".
//!
//! Every node keeps the queue of all requests, ordered by the stamp (time, node) that the requester
//! gave it. A node enters when its own stamp is the first, and it has heard from everybody else
//! something with a later stamp: then nothing earlier can still be under way.
//!
//! ```text
//!     0: queue [(1,0) (1,1)]      heard from 1: (1,1)     own is first, 1 is later: enter
//!     1: queue [(1,0) (1,1)]      heard from 0: (2,0)     own is second: wait for 0's RELEASE
//! ```
//!
//! Cost: exactly `3(n-1)` messages per entry: REQUEST, ACK and RELEASE for each of the others.
//! **Links must keep order.** An ACK that overtakes an earlier request of its sender claims that
//! there is none; both then enter. `tests/transcripts/lamport.txt` shows it with two nodes.
//! Kept from the paper: the five rules. Of the clock, what they need: a request is stamped later than
//! everything its sender has sent or seen, an ACK later than the request it answers. The paper lets
//! the clock tick with every event; only requests are compared with each other, so the other ticks
//! decide nothing, and without them every schedule of three nodes can still be explored.
//! Of the last stamp heard from each node we keep what rule 5 asks: is it later than our request?
//! Left out: saving an ACK where an own request with a later stamp has been sent anyway.

use std::collections::BTreeSet;

use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, declared, ignores, invariants, messages, node,
};
use crate::registry::{AlgorithmInfo, Circumstances, ClosedForm, FormKind, WHOLE, info};
use crate::view::View;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "lamport", title: "Lamport's queue",
    paper: "L. Lamport, \"Time, clocks, and the ordering of events in a distributed system\", \
            CACM 21(7), 1978",
    cost: "3(N-1) messages per entry",
    family Permission, graph Complete, order Fifo, links Patient, token None,
    more: {
        forms: &[ClosedForm::messages(FormKind::Exact, "3(N-1)", WHOLE, messages_per_entry)],
    },
    explanation: EXPLANATION,
    // The latest stamp of everybody, and a queue that may hold everybody.
    node Lamport, further bytes: |nodes| 32 * nodes,
};

const EXPLANATION: &str = "\
Every node keeps the queue of all requests, in the same order everywhere. No
node decides: each sees for itself when it is first.

The order comes from logical clocks. A clock never falls behind the time on a
message that arrives, and each request takes one tick more: a node that could
have known of a request asks later than it. A request is stamped (time, node);
the smaller pair goes first.

    node 0                                 node 1
      | wants in: stamp (1,0)                | wants in: stamp (1,1)
      |-------- REQUEST 1 ------.  .------- REQUEST 1 ------|
      |                          ><                         |
      |<------------------------'  '----------------------->|
      |-------- ACK 2 ------------------------------------->|
      |<------------------------------------ ACK 2 ---------|
      | queue (1,0) (1,1)                    | queue (1,0) (1,1)
      | own is first: inside                 | own is second: waits
      |-------- RELEASE 2 --------------------------------->|
      |                                      | own is first: inside

A node sends REQUEST to all and puts it into its own queue. Who gets a REQUEST
queues it and sends ACK. Who leaves sends RELEASE to all, and all drop the
request from their queues. A node enters when its own request is the first in
its queue and it has heard from every other node something with a later stamp.

Why it is safe: links keep order. Once I have heard something later than my
stamp from a node, every earlier request of that node has reached me before; so
two nodes that both see themselves first would each have to be the smaller.
Take the order away and it breaks: an ACK that overtakes a REQUEST lets both in
(orchestrator explore lamport --links any -n 2 finds it).

What it costs: REQUEST, ACK and RELEASE for each of the N-1 others, 3(N-1) per
entry, always. From one exit to the next entry it takes one message.";

fn messages_per_entry(run: &Circumstances<'_>) -> Option<f64> {
    run.is_whole().then(|| 3.0 * f64::from(run.nodes - 1))
}

messages! {
    /// What nodes say to each other. Every message carries its sender's time.
    pub(crate) enum Message {
        /// The sender wants in, with this stamp.
        Request { time: u64 } = "REQUEST",
        /// The sender has seen our request.
        Ack { time: u64 } = "ACK",
        /// The sender has left; drop its request.
        Release { time: u64 } = "RELEASE",
    }
}

impl Message {
    fn time(&self) -> u64 {
        match *self {
            Message::Request { time } | Message::Ack { time } | Message::Release { time } => time,
        }
    }
}

/// The time of a message and its sender; the smaller stamp goes first.
type Stamp = (u64, NodeId);

node! {
    /// What one node knows.
    pub(crate) struct Lamport of setup with me, nodes {
        /// The latest time that we have sent or seen.
        clock: u64 = 0,
        /// Every request that has not been released, as far as we know, ours too.
        queue: BTreeSet<Stamp> = BTreeSet::new(),
        /// The stamp of our open request.
        ours: Option<Stamp> = None,
        /// From whom we have not yet heard anything later than our open request.
        unheard: BTreeSet<NodeId> = BTreeSet::new(),
        inside: bool = false,
    }
}

impl Algorithm for Lamport {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        // No group lives to count so far; a forged time must not end us either.
        self.clock = self.clock.saturating_add(1);
        let time = self.clock;
        self.ours = Some((time, self.me));
        self.queue.insert((time, self.me));
        // Whatever was heard before now is earlier.
        self.unheard = self.others().collect();
        self.broadcast(&Message::Request { time }, out);
        self.enter_if_first(out);
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.inside = false;
        let ours = self.ours.take().expect("a node that is inside has asked");
        self.queue.remove(&ours);
        self.broadcast(&Message::Release { time: self.clock }, out);
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        self.clock = self.clock.max(message.time());
        if self.ours.is_some_and(|ours| (message.time(), from) > ours) {
            self.unheard.remove(&from);
        }
        match message {
            Message::Request { time } => {
                self.queue.insert((time, from));
                // The answer is later than what it answers.
                self.clock = self.clock.max(time.saturating_add(1));
                out.send_for(from, from, Message::Ack { time: self.clock });
            }
            Message::Ack { .. } => {}
            Message::Release { .. } => {
                let theirs = self.queue.iter().find(|(_, node)| *node == from).copied();
                match theirs {
                    Some(stamp) => _ = self.queue.remove(&stamp),
                    None => out.protocol_error(format!("{from} left and never asked")),
                }
            }
        }
        self.enter_if_first(out);
    }

    ignores! {
        timer,
        peer: "the paper assumes that nobody fails: from the dead nothing later is ever heard",
        link,
    }

    fn draw(&self, view: &mut View) {
        view.queue("queue", self.queue.iter().map(|(_, node)| node));
        view.set("not heard", &self.unheard);
    }

    invariants! {
        "a node that is inside asked before everybody who waits": the_first_is_inside,
        "a queued request is open, or its release is on its way": queues_are_true,
        "a node that was not heard from will be": answers_come,
    }
}

impl Lamport {
    fn others(&self) -> impl Iterator<Item = NodeId> + use<> {
        let me = self.me;
        (0..self.nodes).map(NodeId).filter(move |&node| node != me)
    }

    /// Sends a message of ours to all others; one event, one time.
    fn broadcast(&self, message: &Message, out: &mut Outbox<Message>) {
        for other in self.others() {
            out.send_for(self.me, other, message.clone());
        }
    }

    /// The paper's rule 5: first in our queue, and something later heard from everybody.
    fn enter_if_first(&mut self, out: &mut Outbox<Message>) {
        let first = self.ours.is_some() && self.queue.first() == self.ours.as_ref();
        if first && self.unheard.is_empty() && !self.inside {
            self.inside = true;
            out.enter();
        }
    }
}

fn the_first_is_inside(world: &Snapshot<'_, Lamport>) -> Result<(), String> {
    for (me, node) in world.alive().filter(|(_, node)| node.inside) {
        let before = |other: &Lamport| other.ours.is_some() && other.ours < node.ours;
        if let Some((other, _)) = world.alive().find(|(_, other)| before(other)) {
            return Err(format!("{me} is inside, {other} asked before"));
        }
    }
    Ok(())
}

fn queues_are_true(world: &Snapshot<'_, Lamport>) -> Result<(), String> {
    for (me, node) in world.alive() {
        for &(time, other) in &node.queue {
            let Some(owner) = world.nodes[other.index()] else {
                continue;
            };
            let released = world.flight.iter().any(|&(from, to, message)| {
                (from, to) == (other, me) && matches!(message, Message::Release { .. })
            });
            if owner.ours != Some((time, other)) && !released {
                return Err(format!("{me} still queues {other}'s request of {time}"));
            }
        }
    }
    Ok(())
}

fn answers_come(world: &Snapshot<'_, Lamport>) -> Result<(), String> {
    for (me, node) in world.alive() {
        let Some(ours) = node.ours else { continue };
        for &other in &node.unheard {
            if world.nodes[other.index()].is_none() {
                continue;
            }
            let comes = world.flight.iter().any(|&(from, to, message)| {
                let asks = (from, to) == (me, other) && message.time() == ours.0;
                let answers = (from, to) == (other, me) && (message.time(), other) > ours;
                asks || answers
            });
            if !comes {
                return Err(format!("{me} waits for word from {other} in vain"));
            }
        }
    }
    Ok(())
}
