//! How the program ends.

use std::process::ExitCode;

use analysis::{Judgement, Verdict};
use model::engine::EngineError;
use thiserror::Error;

/// What the exit code says. Scripts rely on these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: everything exercised holds, or what was asked for was shown.
    Holds,
    /// 1: a property was violated or an exact expectation missed.
    Violated,
    /// 2: bad usage or scenario.
    Usage,
    /// 3: the run does not say whether the properties hold.
    Inconclusive,
    /// 4: the testbed itself failed.
    Testbed,
    /// 130: interrupted; what was recorded is written.
    Interrupted,
}

impl Exit {
    /// What a judgement comes to.
    pub fn of(judgement: &Judgement) -> Self {
        match judgement.conclusion() {
            Verdict::Holds => Exit::Holds,
            Verdict::Violated => Exit::Violated,
            Verdict::Inconclusive => Exit::Inconclusive,
        }
    }

    /// The number a shell sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::Holds => 0,
            Exit::Violated => 1,
            Exit::Usage => 2,
            Exit::Inconclusive => 3,
            Exit::Testbed => 4,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Why a command could not do what it was asked for: one message that says what was wrong, where,
/// and what would be right.
#[derive(Debug, Error)]
pub enum Failure {
    /// The user asked for something impossible.
    #[error("{0}")]
    Usage(String),
    /// The testbed could not do something possible.
    #[error("{0}")]
    Testbed(String),
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Plan(why) => Self::Usage(why),
            EngineError::Testbed(why) => Self::Testbed(why),
        }
    }
}

impl Failure {
    /// The exit code that goes with it.
    pub fn exit(&self) -> Exit {
        match self {
            Failure::Usage(_) => Exit::Usage,
            Failure::Testbed(_) => Exit::Testbed,
        }
    }
}
