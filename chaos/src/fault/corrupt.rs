//! Corruption: `corrupt 0.1%`, `corrupt 1% bits 3`.

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{Fault, Packet};
use crate::chance::{Chance, Deviation};
use crate::language::{Cursor, FaultError};
use crate::{Carried, Draw};

/// Bits of the packet are turned over: one, as in netem, or several different ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Corrupt {
    /// How likely it is that a packet is corrupted.
    pub chance: Chance,
    /// How many bits of a packet are flipped.
    pub bits: u32,
}

/// As many bits as one packet may have turned over.
pub(super) const MOST_BITS: u32 = 64;

impl Fault for Corrupt {
    type Memory = Deviation;

    fn is_idle(&self) -> bool {
        self.chance.percent.is_zero()
    }

    fn apply(&self, memory: &mut Deviation, packet: &mut Packet<'_>) -> bool {
        let flip = |copy: &mut Carried, length: u32, draw: &mut Draw| {
            let bits = length.saturating_mul(8);
            let flipped_before = copy.flips.len();
            let wanted = flipped_before + self.bits.min(bits) as usize;
            while copy.flips.len() < wanted.min(bits as usize) {
                let bit = draw.below(u64::from(bits)) as u32;
                if !copy.flips.contains(&bit) {
                    copy.flips.push(bit);
                }
            }
            copy.flips.len() > flipped_before
        };
        self.chance.strike(memory, packet, flip)
    }
}

fn parse_bits(cursor: &mut Cursor<'_>) -> Result<u32, FaultError> {
    let start = cursor.place().start;
    let bits = cursor.count_after("bits", "how many bits are flipped", NonZeroU32::MIN)?;
    if bits.get() > MOST_BITS {
        let wrong = format!("{bits} bits are too many");
        let right = format!("write at most {MOST_BITS}");
        return Err(cursor.error(cursor.since(start), wrong, right));
    }
    Ok(bits.get())
}

fault_info! { Corrupt at Bits;
    "corrupt P% [CORRELATION%] [bits N]", as in "corrupt 0.1% on all", by parse:
    "A bit of the packet is flipped, or N different ones."
}

fn parse(cursor: &mut Cursor<'_>) -> Result<Corrupt, FaultError> {
    Ok(Corrupt {
        chance: cursor.chance()?,
        bits: parse_bits(cursor)?,
    })
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "corrupt {}", self.chance)?;
        match self.bits {
            1 => Ok(()),
            bits => write!(f, " bits {bits}"),
        }
    }
}
