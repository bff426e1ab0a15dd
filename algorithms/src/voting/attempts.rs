//! What a node does that tries for votes again and again.

use std::collections::BTreeSet;

use serde::Serialize;

use super::weights::is_majority;
use crate::common::stamp::Stamp;
use crate::contract::{Algorithm, NodeId, Snapshot, Visit};

/// What a node does for its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) enum Stage {
    Idle,
    /// It waits for votes, in the n-th attempt.
    Waiting(Stamp, u64),
    /// It waits for the moment to try again.
    BackingOff(Stamp, u64),
    Inside(Stamp),
}

/// What a node with a `clock` and a `stage` does when its client asks and when it leaves: its `begin`
/// makes an attempt, its `give_back` ends one.
macro_rules! in_attempts {
    (request, release) => {
        fn request(&mut self, _: $crate::contract::Request, out: &mut Outbox<Message>) {
            let req = $crate::common::stamp::Stamp::next(&mut self.clock, self.me);
            self.begin(req, 1, out);
        }

        fn release(&mut self, out: &mut Outbox<Message>) {
            if let Some(req) = self.stage.leave() {
                self.give_back(req, out);
            }
        }
    };
}
pub(super) use in_attempts;

impl Stage {
    /// The request that the client is inside with, if it is.
    pub(crate) fn inside(self) -> Option<Stamp> {
        match self {
            Stage::Inside(req) => Some(req),
            Stage::Idle | Stage::Waiting(..) | Stage::BackingOff(..) => None,
        }
    }

    /// The client leaves, and this is the request that it was inside with.
    pub(crate) fn leave(&mut self) -> Option<Stamp> {
        let req = self.inside()?;
        *self = Stage::Idle;
        Some(req)
    }

    /// Visits the number of the attempt. No rule reads it; it is only a note of the run.
    pub(crate) fn growing(&mut self, me: NodeId, each: Visit<'_>) {
        match self {
            Stage::Waiting(_, tries) | Stage::BackingOff(_, tries) => each((me, "tries"), tries),
            Stage::Idle | Stage::Inside(_) => {}
        }
    }
}

/// What a node is inside with: its attempt, who voted for it, and how many votes each node has.
pub(super) struct Inside<'a, T> {
    pub(super) attempt: T,
    pub(super) voters: &'a BTreeSet<NodeId>,
    pub(super) weights: &'a [u32],
}

/// Checks that a node that is inside has the votes of a majority, and that each of these voters is locked.
pub(super) fn who_is_inside_has_locked_a_majority<A: Algorithm, T: PartialEq>(
    world: &Snapshot<'_, A>,
    inside: impl Fn(&A) -> Option<Inside<'_, T>>,
    lock: impl Fn(&A) -> Option<T>,
) -> Result<(), String> {
    for (id, node) in world.alive() {
        let Some(inside) = inside(node) else {
            continue;
        };
        let holds = |voter: &NodeId| match world.nodes[voter.index()] {
            Some(voter) => lock(voter).as_ref() == Some(&inside.attempt),
            None => true,
        };
        let is_held = inside.voters.iter().all(holds);
        if !is_held || !is_majority(inside.weights, inside.voters) {
            return Err(format!(
                "{id} is inside with the votes of {:?}",
                inside.voters
            ));
        }
    }
    Ok(())
}
