//! Corruption: `corrupt 0.1%`, `corrupt 1% bits 3`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Fault;
use crate::chance::{Chance, Deviation};
use crate::{Datagram, Draw, Fate};

/// Bits of the packet are turned over: one, as in netem, or so many different ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Corrupt {
    /// How likely.
    pub chance: Chance,
    /// How many bits of one packet.
    pub bits: u32,
}

/// As many bits as one packet may have turned over.
pub const MOST_BITS: u32 = 64;

impl Fault for Corrupt {
    type Memory = Deviation;

    fn apply(
        &self,
        memory: &mut Deviation,
        datagram: &Datagram,
        fate: &mut Fate,
        draw: &mut Draw,
    ) -> bool {
        self.chance.strike(memory, fate, draw, |copy, draw| {
            let bits = copy.length(datagram.size).saturating_mul(8);
            let flipped_before = copy.flips.len();
            let wanted = flipped_before + self.bits.min(bits) as usize;
            while copy.flips.len() < wanted.min(bits as usize) {
                let bit = draw.below(u64::from(bits)) as u32;
                if !copy.flips.contains(&bit) {
                    copy.flips.push(bit);
                }
            }
            copy.flips.len() > flipped_before
        })
    }
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
