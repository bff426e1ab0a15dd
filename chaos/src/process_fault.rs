//! The faults of processes: one file each.
//!
//! A fault is written as its word, a member, and what else it needs: `restart 5 after 500ms`. What an
//! engine does for it is one of the few things in [`ProcessEffect`], so no engine knows a fault by its
//! name.
//!
//! One more fault is one more file in `process_fault/`, with a type that is a `ProcessFault`, and its
//! line in the list `process_faults!` below; everything else follows from the two.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::language::{Cursor, FaultError, Word};

/// Something that happens to the process of a member, and how it is written.
pub(crate) trait ProcessFault: Default {
    /// The word that it begins with, and what that means.
    const WORD: Word;

    /// What an engine does for it.
    fn effect(&self) -> ProcessEffect;

    /// Reads what follows the member; for most faults that is nothing.
    fn parse_rest(&mut self, _: &mut Cursor<'_>) -> Result<(), FaultError> {
        Ok(())
    }

    /// Prints what follows the member, with a space before it; for most faults that is nothing.
    fn print_rest(&self, _: &mut dyn fmt::Write) -> fmt::Result {
        Ok(())
    }
}

/// Makes a fault that needs nothing but its word and a member.
macro_rules! plain_fault {
    (
        $(#[doc = $doc:literal])+
        $Fault:ident does $effect:expr;
        $form:literal, as in $example:literal: $meaning:literal
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub struct $Fault;

        impl super::ProcessFault for $Fault {
            const WORD: crate::language::Word =
                crate::language::Word::new($form, $example, $meaning);

            fn effect(&self) -> ProcessEffect {
                $effect
            }
        }
    };
}

/// What an engine does to a process for a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessEffect {
    /// Ends the process at once: it can neither prevent that nor say anything more.
    End {
        /// How long after that a new process takes its place, if one does.
        start_after_ns: Option<u64>,
    },
    /// Stops the process where it is, until the fault is over or another continues it.
    Stop,
    /// Lets a stopped process continue.
    Continue,
}

impl ProcessEffect {
    /// Whether it goes on for some time, and is then undone.
    pub fn lasts(self) -> bool {
        match self {
            ProcessEffect::Stop => true,
            ProcessEffect::End { .. } | ProcessEffect::Continue => false,
        }
    }
}

/// Makes of the list of all faults their modules, and [`AnyProcessFault`], which is one of them.
macro_rules! process_faults {
    ($($module:ident::$Fault:ident),+ $(,)?) => {
        $(
            mod $module;
            pub use $module::$Fault;
        )+

        /// Any of the faults.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum AnyProcessFault {
            $(
                #[doc = concat!("See [`", stringify!($Fault), "`].")]
                $Fault($Fault),
            )+
        }

        /// The words that the faults begin with.
        pub(crate) const WORDS: &[Word] = &[$($Fault::WORD),+];

        impl AnyProcessFault {
            /// The word that it begins with.
            pub fn word(&self) -> &'static str {
                match self {
                    $(AnyProcessFault::$Fault(_) => $Fault::WORD.word,)+
                }
            }

            /// What an engine does for it.
            pub fn effect(&self) -> ProcessEffect {
                match self {
                    $(AnyProcessFault::$Fault(fault) => fault.effect(),)+
                }
            }

            /// Prints what follows the member.
            pub(crate) fn print_rest(&self, out: &mut dyn fmt::Write) -> fmt::Result {
                match self {
                    $(AnyProcessFault::$Fault(fault) => fault.print_rest(out),)+
                }
            }

            /// Reads what follows the word and the member.
            pub(crate) fn parse(word: &str, cursor: &mut Cursor<'_>) -> Result<Self, FaultError> {
                $(
                    if word == $Fault::WORD.word {
                        let mut fault = $Fault::default();
                        fault.parse_rest(cursor)?;
                        return Ok(fault.into());
                    }
                )+
                unreachable!("'{word}' is none of the words")
            }
        }

        $(
            impl From<$Fault> for AnyProcessFault {
                fn from(fault: $Fault) -> Self {
                    AnyProcessFault::$Fault(fault)
                }
            }
        )+
    };
}

// In the order in which the glossary and the error messages list them. `cargo fmt` does not find
// modules that a macro declares: `scripts/test` formats them by their names.
process_faults! {
    kill::Kill,
    pause::Pause,
    resume::Resume,
    restart::Restart,
}
