//! A death: `kill 3`.

use serde::{Deserialize, Serialize};

use super::{ProcessEffect, ProcessFault};
use crate::language::{Cursor, FaultError, Word};

/// The process dies, and nothing takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kill;

impl ProcessFault for Kill {
    const WORD: Word = Word {
        word: "kill",
        form: "kill WHO",
        meaning: "The process dies at once.",
        example: "when enter 3 kill 3",
    };

    fn parse(_: &mut Cursor<'_>) -> Result<Self, FaultError> {
        Ok(Self)
    }

    fn effect(&self) -> ProcessEffect {
        ProcessEffect::End {
            start_after_ns: None,
        }
    }
}
