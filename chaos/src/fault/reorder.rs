//! Reordering: `reorder 25%`, `reorder 25% 50% gap 5`.

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{Fault, Packet};
use crate::chance::{Chance, Deviation};
use crate::language::{Cursor, FaultError};

/// Some packets are sent at once while the others are delayed, so it needs a delay or a rate on the
/// same link. As in netem, at least `gap` − 1 packets between two such ones are delayed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reorder {
    /// How likely it is that a packet which may overtake does so.
    pub chance: Chance,
    /// Every n-th packet may overtake: the n, by default 1.
    pub gap: NonZeroU32,
}

/// What the packets before leave behind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Before {
    deviation: Deviation,
    /// How many were delayed since the last that was not.
    delayed: u32,
}

impl Fault for Reorder {
    type Memory = Before;

    const HARMS: bool = false;

    fn is_idle(&self) -> bool {
        self.chance.percent.is_zero()
    }

    fn apply(&self, memory: &mut Before, packet: &mut Packet<'_>) -> bool {
        let happens = self.chance.happens(&mut memory.deviation, packet.draw);
        if !happens || memory.delayed < self.gap.get() - 1 {
            memory.delayed = memory.delayed.saturating_add(1);
            return false;
        }
        memory.delayed = 0;
        // A second copy is delayed like any other packet.
        match packet.fate.copies.first_mut() {
            Some(original) => std::mem::take(&mut original.delay_ns) > 0,
            None => false,
        }
    }
}

fault_info! { Reorder at Overtaking;
    "reorder P% [CORRELATION%] [gap N]", as in "reorder 25% 50% gap 5 on all", by parse:
    "A packet is sent at once with this probability while the others are delayed, as in netem; so \
     it needs a delay or a rate on the same link. After one that was, at least N - 1 are delayed \
     (by default 1). Lost packets count as delayed."
}

fn parse(cursor: &mut Cursor<'_>) -> Result<Reorder, FaultError> {
    Ok(Reorder {
        chance: cursor.chance()?,
        gap: cursor.count_after("gap", "the gap", NonZeroU32::MIN)?,
    })
}

impl fmt::Display for Reorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reorder {}", self.chance)?;
        match self.gap.get() {
            1 => Ok(()),
            gap => write!(f, " gap {gap}"),
        }
    }
}
