//! Loss: `loss 5%`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Fault, Stage};
use crate::chance::{Chance, Deviation};
use crate::language::{Form, Token, Word};
use crate::{Datagram, Draw, Fate};

/// Each packet is lost with the same probability. With a correlation, neighbours share their fate
/// more often; for bursts of a known length say [`gemodel`](super::Burst).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// How likely it is that a packet is lost.
    pub chance: Chance,
}

impl Fault for Loss {
    type Memory = Deviation;

    const WORD: &'static str = "loss";
    const FORMS: &'static [Form] = &[Form {
        word: Word {
            word: "loss",
            form: "loss P% [CORRELATION%]",
            meaning: "Each packet is lost with this probability.",
            example: "loss 5% on all",
        },
        parse: |cursor| {
            cursor.takes("random");
            let Token::Number(..) = cursor.peek() else {
                let right =
                    "write a share such as 5%, gemodel and its shares, or every and a number";
                return Err(cursor.unfit(right));
            };
            let chance = cursor.chance()?;
            Ok(Loss { chance }.into())
        },
    }];
    const STAGE: Stage = Stage::Loss;
    const HARMS: bool = true;

    fn is_idle(&self) -> bool {
        self.chance.percent.is_zero()
    }

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
