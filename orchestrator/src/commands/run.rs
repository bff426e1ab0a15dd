//! `orchestrator run`: one scenario, from start to verdict.

use clap::Args;

use crate::scenario::{Said, Scenario};
use crate::{Exit, Failure, print};

/// Runs an algorithm or a scenario file, checks it, and measures it.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// An algorithm, as `orchestrator list` shows it, or a scenario file: NAME.toml.
    target: String,
    #[command(flatten)]
    scenario: Scenario,
    /// Show the resolved scenario as a scenario file, and run nothing.
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
}

impl Run {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let said = Said::new(&self.target, self.scenario).map_err(Failure::Usage)?;
        let resolved = said.resolve().map_err(Failure::Usage)?;
        if self.dry_run {
            print(&resolved.to_toml())?;
            return Ok(Exit::Holds);
        }
        Err(Failure::Testbed(
            "only --dry-run works yet: the simulator is not built".to_owned(),
        ))
    }
}
