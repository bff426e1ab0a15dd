//! The end of a pause: `resume 2`.

use serde::{Deserialize, Serialize};

use super::{ProcessEffect, ProcessFault};
use crate::language::{Cursor, FaultError, Word};

/// A paused process goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume;

impl ProcessFault for Resume {
    const WORD: Word = Word {
        word: "resume",
        form: "resume WHO",
        meaning: "A paused process goes on.",
        example: "at 5s resume 2",
    };

    fn parse(_: &mut Cursor<'_>) -> Result<Self, FaultError> {
        Ok(Self)
    }

    fn effect(&self) -> ProcessEffect {
        ProcessEffect::Continue
    }
}
