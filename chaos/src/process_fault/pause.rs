//! A pause: `pause 2 for 1s`.

use serde::{Deserialize, Serialize};

use super::{ProcessEffect, ProcessFault};
use crate::language::{Cursor, FaultError, Word};

/// The process stops, and goes on when the fault is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause;

impl ProcessFault for Pause {
    const WORD: Word = Word {
        word: "pause",
        form: "pause WHO",
        meaning: "The process stops, and goes on when the fault is over.",
        example: "at 4s pause 2 for 1s",
    };

    fn parse(_: &mut Cursor<'_>) -> Result<Self, FaultError> {
        Ok(Self)
    }

    fn effect(&self) -> ProcessEffect {
        ProcessEffect::Stop
    }
}
