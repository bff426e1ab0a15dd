//! Duplication: `duplicate 1%`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Fault, Stage};
use crate::chance::{Chance, Deviation};
use crate::language::{Form, Word};
use crate::{Carried, Datagram, Draw, Fate};

/// A second copy arrives, with a delay, corruption and truncation of its own. In netem a packet that
/// is both lost and duplicated passes once; here it is lost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Duplicate {
    /// How likely it is that a packet is duplicated.
    pub chance: Chance,
}

impl Fault for Duplicate {
    type Memory = Deviation;

    const WORD: &'static str = "duplicate";
    const FORMS: &'static [Form] = &[Form {
        word: Word {
            word: "duplicate",
            form: "duplicate P% [CORRELATION%]",
            meaning: "A second copy arrives, delayed and damaged on its own account. A packet that \
                      is lost is not duplicated (in netem it then arrives once).",
            example: "duplicate 1% on all",
        },
        parse: |cursor| {
            let chance = cursor.chance()?;
            Ok(Duplicate { chance }.into())
        },
    }];
    const STAGE: Stage = Stage::Copies;
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
