//! What a node does that tries for votes again and again.

use serde::Serialize;

use crate::common::stamp::Stamp;
use crate::contract::{NodeId, Visit};

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

impl Stage {
    /// Visits the number of the attempt. No rule reads it; it is only a note of the run.
    pub(crate) fn growing(&mut self, me: NodeId, each: Visit<'_>) {
        match self {
            Stage::Waiting(_, tries) | Stage::BackingOff(_, tries) => each((me, "tries"), tries),
            Stage::Idle | Stage::Inside(_) => {}
        }
    }
}
