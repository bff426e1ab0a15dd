//! Duplication: `duplicate 1%`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Fault, Packet};
use crate::Carried;
use crate::chance::{Chance, Deviation};
use crate::language::{Cursor, FaultError};

/// A second copy arrives, with a delay, corruption and truncation of its own. In netem a packet that
/// is both lost and duplicated passes once; here it is lost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Duplicate {
    /// How likely it is that a packet is duplicated.
    pub chance: Chance,
}

impl Fault for Duplicate {
    type Memory = Deviation;

    fn is_idle(&self) -> bool {
        self.chance.percent.is_zero()
    }

    fn apply(&self, memory: &mut Deviation, packet: &mut Packet<'_>) -> bool {
        let acted = self.chance.happens(memory, packet.draw) && !packet.fate.is_lost();
        if acted {
            packet.fate.copies.push(Carried::default());
        }
        acted
    }
}

fault_info! { Duplicate at Copies;
    "duplicate P% [CORRELATION%]", as in "duplicate 1% on all", by parse:
    "A second copy arrives, delayed and damaged on its own account. A packet that is lost is not \
     duplicated (in netem it then arrives once)."
}

fn parse(cursor: &mut Cursor<'_>) -> Result<Duplicate, FaultError> {
    let chance = cursor.chance()?;
    Ok(Duplicate { chance })
}

impl fmt::Display for Duplicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "duplicate {}", self.chance)
    }
}
