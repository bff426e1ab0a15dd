//! `orchestrator run`: one scenario, from start to verdict.

use clap::Args;

use crate::{Exit, Failure, scenario};

/// Runs an algorithm or a scenario file, checks it, and measures it.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// An algorithm, as `orchestrator list` shows it.
    target: String,
}

impl Run {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let entry = scenario::find_algorithm(&self.target).map_err(Failure::Usage)?;
        Err(Failure::Testbed(format!(
            "{} cannot be run yet: the simulator is not built",
            entry.name
        )))
    }
}
