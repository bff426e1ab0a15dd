//! Time stamps of requests: Lamport's clock, with the node to tell equals apart.

use serde::{Deserialize, Serialize};

use crate::contract::{NodeId, shown};

/// When a request was made: the smaller goes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// The reading of the clock.
    pub(crate) t: u64,
    /// Whose request it is.
    pub(crate) id: NodeId,
}

impl Stamp {
    /// The stamp of a new request: the clock goes on by one.
    pub(crate) fn next(clock: &mut u64, id: NodeId) -> Self {
        *clock = clock.saturating_add(1);
        Self { t: *clock, id }
    }
}

shown! { Stamp: Self { t, id } => "({t},{id})" }
