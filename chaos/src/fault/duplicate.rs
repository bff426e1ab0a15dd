//! Duplication: `duplicate 1%`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Fault;
use crate::chance::{Chance, Deviation};
use crate::{Carried, Datagram, Draw, Fate};

/// A second copy arrives, with a delay, corruption and truncation of its own. In netem a packet that
/// is both lost and duplicated passes once; here it is lost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Duplicate {
    /// How likely.
    pub chance: Chance,
}

impl Fault for Duplicate {
    type Memory = Deviation;

    fn apply(
        &self,
        memory: &mut Deviation,
        _: &Datagram,
        fate: &mut Fate,
        draw: &mut Draw,
    ) -> bool {
        let acted = self.chance.happens(memory, draw) && !fate.is_lost();
        if acted {
            fate.copies.push(Carried::default());
        }
        acted
    }
}

impl fmt::Display for Duplicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "duplicate {}", self.chance)
    }
}
