//! Loss: `loss 5%`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Fault;
use crate::chance::{Chance, Deviation};
use crate::{Datagram, Draw, Fate};

/// Each packet is lost with the same probability. With a correlation, neighbours share their fate
/// more often; for bursts of a known length say [`gemodel`](super::burst::Burst).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// How likely.
    pub chance: Chance,
}

impl Fault for Loss {
    type Memory = Deviation;

    fn apply(
        &self,
        memory: &mut Deviation,
        _: &Datagram,
        fate: &mut Fate,
        draw: &mut Draw,
    ) -> bool {
        self.chance.happens(memory, draw) && fate.lose()
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "loss {}", self.chance)
    }
}
