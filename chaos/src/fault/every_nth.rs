//! Regular loss: `loss every 7`.

use std::fmt;
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use super::Fault;
use crate::{Datagram, Draw, Fate};

/// Every n-th packet of the link is lost, counted from when the fault began. netem has no such thing;
/// it is for tests that want loss without chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EveryNth {
    /// The n.
    pub nth: NonZeroU64,
}

impl Fault for EveryNth {
    type Memory = u64;

    fn apply(&self, passed: &mut u64, _: &Datagram, fate: &mut Fate, _: &mut Draw) -> bool {
        *passed = (*passed + 1) % self.nth;
        *passed == 0 && fate.lose()
    }
}

impl fmt::Display for EveryNth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "loss every {}", self.nth)
    }
}
