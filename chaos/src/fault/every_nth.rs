//! Regular loss: `loss every 7`.

use std::fmt;
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use super::{Fault, Packet};
use crate::language::{Cursor, FaultError};

/// Every n-th packet of the link is lost, counted from when the fault began. netem has no such thing;
/// it is for tests that want loss without chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EveryNth {
    /// Every n-th packet is lost: the n.
    pub nth: NonZeroU64,
}

impl Fault for EveryNth {
    type Memory = u64;

    fn apply(&self, passed: &mut u64, packet: &mut Packet<'_>) -> bool {
        *passed = (*passed + 1) % self.nth;
        *passed == 0 && packet.fate.lose()
    }
}

fault_info! { EveryNth at Loss;
    "loss every N", as in "loss every 7 on all", by parse:
    "Every N-th packet is lost, counted on each link from when the fault began. Not in netem."
}

fn parse(cursor: &mut Cursor<'_>) -> Result<EveryNth, FaultError> {
    let nth = cursor.count("n, so that every n-th packet is lost")?;
    Ok(EveryNth { nth: nth.into() })
}

impl fmt::Display for EveryNth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "loss every {}", self.nth)
    }
}
