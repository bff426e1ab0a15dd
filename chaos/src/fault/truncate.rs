//! Truncation: `truncate 1%`, `truncate 1% to 20`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Fault;
use crate::chance::{Chance, Deviation};
use crate::{Datagram, Draw, Fate};

/// Only the beginning of the packet arrives: so many bytes, or any number less than it has. netem has
/// no such thing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Truncate {
    /// How likely.
    pub chance: Chance,
    /// The bytes left; drawn anew for each packet unless said.
    pub to: Option<u32>,
}

impl Fault for Truncate {
    type Memory = Deviation;

    fn apply(
        &self,
        memory: &mut Deviation,
        datagram: &Datagram,
        fate: &mut Fate,
        draw: &mut Draw,
    ) -> bool {
        self.chance.strike(memory, fate, draw, |copy, draw| {
            let length = copy.length(datagram.size);
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

impl fmt::Display for Truncate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "truncate {}", self.chance)?;
        match self.to {
            Some(bytes) => write!(f, " to {bytes}"),
            None => Ok(()),
        }
    }
}
