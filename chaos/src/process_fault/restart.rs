//! A death and a new beginning: `restart 5 after 500ms`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ProcessEffect, ProcessFault};
use crate::language::{Cursor, FaultError, Word};
use crate::span::show_ns;

/// The process dies, and another is started in its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restart {
    /// How long after the death the new process is started.
    pub after_ns: u64,
}

impl ProcessFault for Restart {
    const WORD: Word = Word::new(
        "restart WHO after TIME",
        "at 3s restart 5 after 500ms",
        "The process dies at once, and a new one is started after that time.",
    );

    fn parse_rest(&mut self, cursor: &mut Cursor<'_>) -> Result<(), FaultError> {
        cursor.expect("after", "write after and how long it is away: after 500ms")?;
        self.after_ns = cursor.time_ns()?;
        Ok(())
    }

    fn effect(&self) -> ProcessEffect {
        ProcessEffect::End {
            start_after_ns: Some(self.after_ns),
        }
    }

    fn print_rest(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, " after {}", show_ns(self.after_ns))
    }
}
