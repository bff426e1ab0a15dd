//! Loss: `loss 5%`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Fault, Packet};
use crate::chance::{Chance, Deviation};
use crate::language::{Cursor, FaultError, Token};

/// Each packet is lost with the same probability. With a correlation, neighbours share their fate
/// more often; for bursts of a known length say [`gemodel`](super::Burst).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// How likely it is that a packet is lost.
    pub chance: Chance,
}

impl Fault for Loss {
    type Memory = Deviation;

    fn is_idle(&self) -> bool {
        self.chance.percent.is_zero()
    }

    fn apply(&self, memory: &mut Deviation, packet: &mut Packet<'_>) -> bool {
        self.chance.happens(memory, packet.draw) && packet.fate.lose()
    }
}

fault_info! { Loss at Loss;
    "loss P% [CORRELATION%]", as in "loss 5% on all", by parse:
    "Each packet is lost with this probability."
}

fn parse(cursor: &mut Cursor<'_>) -> Result<Loss, FaultError> {
    cursor.takes("random");
    let Token::Number(..) = cursor.peek() else {
        let right = "write a share such as 5%, gemodel and its shares, or every and a number";
        return Err(cursor.unfit(right));
    };
    let chance = cursor.chance()?;
    Ok(Loss { chance })
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "loss {}", self.chance)
    }
}
