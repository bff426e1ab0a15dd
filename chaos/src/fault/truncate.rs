//! Truncation: `truncate 1%`, `truncate 1% to 20`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Fault, Packet};
use crate::chance::{Chance, Deviation};
use crate::language::{Cursor, FaultError, Token};

/// Only the beginning of the packet arrives: the given number of bytes, or any number less than it
/// has. netem has no such fault.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Truncate {
    /// How likely it is that the packet is cut short.
    pub chance: Chance,
    /// How many bytes are left; by default drawn for each packet.
    pub to: Option<u32>,
}

impl Fault for Truncate {
    type Memory = Deviation;

    fn is_idle(&self) -> bool {
        self.chance.percent.is_zero()
    }

    fn apply(&self, memory: &mut Deviation, packet: &mut Packet<'_>) -> bool {
        self.chance.strike(memory, packet, |copy, length, draw| {
            let keep = match self.to {
                Some(bytes) => bytes,
                None => draw.below(u64::from(length).max(1)) as u32,
            };
            let shorter = keep < length;
            if shorter {
                copy.keep = Some(keep);
            }
            shorter
        })
    }
}

fn parse_bytes(cursor: &mut Cursor<'_>) -> Result<u32, FaultError> {
    let bytes = match cursor.peek() {
        Token::Number(number, "") => number.parse().ok(),
        _ => None,
    };
    let bytes = bytes.ok_or_else(|| cursor.unfit("write how many bytes are left"))?;
    cursor.take();
    Ok(bytes)
}

fault_info! { Truncate at Length;
    "truncate P% [CORRELATION%] [to BYTES]", as in "truncate 1% to 20 on all", by parse:
    "Only the beginning of the packet arrives, cut at random or to BYTES. Not in netem."
}

fn parse(cursor: &mut Cursor<'_>) -> Result<Truncate, FaultError> {
    let chance = cursor.chance()?;
    let to = match cursor.takes("to") {
        true => Some(parse_bytes(cursor)?),
        false => None,
    };
    Ok(Truncate { chance, to })
}

impl fmt::Display for Truncate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "truncate {}", self.chance)?;
        match self.to {
            Some(bytes) => write!(f, " to {bytes}"),
            None => Ok(()),
        }
    }
}
