//! A coordinator with a queue: the yardstick for everything distributed.
//!
//! Folklore; described, for example, in A. S. Tanenbaum, M. van Steen, "Distributed systems:
//! principles and paradigms", the section on mutual exclusion.
//!
//! One node decides. The others ask it, wait for its grant, and tell it when they leave:
//!
//! ```text
//!     1 --REQUEST--> C      C is free: it grants at once
//!     1 <---GRANT--- C
//!     2 --REQUEST--> C      taken: 2 waits in C's queue
//!     1 --RELEASE--> C
//!     2 <---GRANT--- C
//! ```
//!
//! Cost: 3 messages for everybody but the coordinator, whose own entries cost nothing, so
//! `3(n-1)/n` on average over nodes. Links need not keep order: a new request that overtakes the
//! release before it waits in the queue like any other.
//! The first holder of a run is the coordinator, and stays it.

use std::collections::VecDeque;

use crate::common::phase::Phase;
use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, declared, ignores, invariants, messages, node,
};
use crate::registry::{ALONE, AlgorithmInfo, Circumstances, ClosedForm, FormKind, SATURATED, info};
use crate::view::View;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "centralised", title: "A coordinator with a queue",
    paper: "folklore; A. S. Tanenbaum, M. van Steen, \"Distributed systems: principles and \
            paradigms\"",
    cost: "3 messages per entry, 0 for the coordinator's own",
    family Coordinator, graph Complete, order Any, links Patient, token None,
    more: {
        forms: &[
            ClosedForm::messages(FormKind::Mean, "3(N-1)/N", ALONE, light),
            ClosedForm::messages(FormKind::Exact, "3(N-1)/N", SATURATED, saturated),
        ],
    },
    explanation: EXPLANATION,
    // The one long queue, shared out among all.
    node Centralised, further bytes: |_| size_of::<NodeId>() as u64,
};

const EXPLANATION: &str = "\
One node, the coordinator, decides alone. It knows who is inside and keeps
everybody else in a queue, first come first served.

    node 1            coordinator            node 2
      |---- REQUEST ---->|                      |
      |<---- GRANT ------|  free: granted       |
      |  (inside)        |<----- REQUEST -------|  taken: queued
      |---- RELEASE ---->|                      |
      |                  |------- GRANT ------->|  (inside)
      |                  |<----- RELEASE -------|

A node that wants in sends REQUEST and waits for GRANT; when it leaves it sends
RELEASE. The coordinator asks and grants itself without a message.

Why it is safe: only the coordinator grants, and it grants again only after the
RELEASE of the last grant. Why nobody starves: the queue is first come, first
served, by arrival at the coordinator.

What it costs: three messages per entry, none for the coordinator's own. Nothing
that is distributed gets by with fewer in the worst case, which makes it the
yardstick. From one exit to the next entry it takes two messages in a row
(RELEASE, then GRANT) where a token needs one.

What it gives up: the coordinator's death stops everybody, and all messages
meet at one node.

--holder says which node is the coordinator.";

fn light(run: &Circumstances<'_>) -> Option<f64> {
    run.is_alone()
        .then(|| 3.0 * f64::from(run.nodes - 1) / f64::from(run.nodes))
}

/// With a constant delay a request arrives together with the release before it, so the queue goes
/// round: everybody enters once in N entries. The hold must be the longer, or the coordinator
/// begins with several entries before the first request has reached it.
fn saturated(run: &Circumstances<'_>) -> Option<f64> {
    let (hold, delay) = run.saturated()?;
    (hold > delay).then(|| 3.0 * f64::from(run.nodes - 1) / f64::from(run.nodes))
}

messages! {
    /// What nodes and the coordinator say to each other.
    pub(crate) enum Message {
        /// The sender wants in.
        Request = "REQUEST",
        /// The addressee may enter.
        Grant = "GRANT",
        /// The sender has left.
        Release = "RELEASE",
    }
}

node! {
    /// A node, which may be the coordinator.
    pub(crate) struct Centralised of setup with me {
        coordinator: NodeId = setup.setting.holder,
        phase: Phase = Phase::Idle,
        /// At the coordinator: who was granted and has not been heard to leave.
        granted: Option<NodeId> = None,
        /// At the coordinator: who waits, first come first served.
        queue: VecDeque<NodeId> = VecDeque::new(),
    }
}

impl Algorithm for Centralised {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.phase = Phase::Waiting;
        out.send_for(self.me, self.coordinator, Message::Request);
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.phase = Phase::Idle;
        out.send_for(self.me, self.coordinator, Message::Release);
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request | Message::Release if self.me != self.coordinator => {
                out.protocol_error(format!("{from} takes us for the coordinator"));
            }
            Message::Request => {
                self.queue.push_back(from);
                self.grant_next(out);
            }
            Message::Release if self.granted != Some(from) => {
                out.protocol_error(format!("{from} left without having been let in"));
            }
            Message::Release => {
                self.granted = None;
                self.grant_next(out);
            }
            Message::Grant if from != self.coordinator || self.phase != Phase::Waiting => {
                out.protocol_error(format!("a grant from {from} that nobody waits for"));
            }
            Message::Grant => {
                self.phase = Phase::Inside;
                out.enter();
            }
        }
    }

    ignores! {
        timer,
        peer: "nobody replaces the coordinator, and a grant to the dead is never returned",
        link,
    }

    fn draw(&self, view: &mut View) {
        view.points_to("coordinator", self.coordinator);
        view.points_to("granted", self.granted);
        view.queue("queue", &self.queue);
    }

    invariants! {
        "a grant is on its way, in use or on its way back, once": one_grant,
        "a node that waits is queued, or its request or grant is on its way": nobody_is_forgotten,
    }
}

impl Centralised {
    /// Lets the first in the queue in, if nobody is.
    fn grant_next(&mut self, out: &mut Outbox<Message>) {
        if self.granted.is_some() {
            return;
        }
        if let Some(first) = self.queue.pop_front() {
            self.granted = Some(first);
            out.send_for(first, first, Message::Grant);
        }
    }
}

/// The coordinator as everybody knows it, unless it has crashed.
fn coordinator<'a>(world: &Snapshot<'a, Centralised>) -> Option<&'a Centralised> {
    let (_, anyone) = world.alive().next()?;
    world.nodes[anyone.coordinator.index()]
}

fn one_grant(world: &Snapshot<'_, Centralised>) -> Result<(), String> {
    let Some(coordinator) = coordinator(world) else {
        return Ok(());
    };
    let mut with = Vec::new();
    with.extend(
        world
            .alive()
            .filter(|(_, node)| node.phase == Phase::Inside)
            .map(|(me, _)| me),
    );
    with.extend(
        world
            .flight
            .iter()
            .filter_map(|&(from, to, message)| match message {
                Message::Grant => Some(to),
                Message::Release => Some(from),
                Message::Request => None,
            }),
    );
    match (coordinator.granted, with.as_slice()) {
        (None, []) => Ok(()),
        (Some(granted), [one]) if granted == *one => Ok(()),
        // It died with the one that had it.
        (Some(granted), []) if world.nodes[granted.index()].is_none() => Ok(()),
        (granted, with) => Err(format!("granted to {granted:?}, but with {with:?}")),
    }
}

fn nobody_is_forgotten(world: &Snapshot<'_, Centralised>) -> Result<(), String> {
    let Some(coordinator) = coordinator(world) else {
        return Ok(());
    };
    for (me, _) in world
        .alive()
        .filter(|(_, node)| node.phase == Phase::Waiting)
    {
        let on_its_way = world
            .flight
            .iter()
            .any(|&(from, to, message)| match message {
                Message::Request => from == me,
                Message::Grant => to == me,
                Message::Release => false,
            });
        if !on_its_way && !coordinator.queue.contains(&me) {
            return Err(format!("{me} waits and nobody knows"));
        }
    }
    Ok(())
}
