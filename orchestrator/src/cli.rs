//! The arguments of the program.

use clap::Parser;

use crate::commands::Command;

/// Runs distributed mutual exclusion algorithms, checks that they are safe and live, and measures
/// what they cost.
///
/// Try `orchestrator run raymond`, then `orchestrator explain raymond`.
#[derive(Debug, Parser)]
#[command(name = "orchestrator", version, max_term_width = 100)]
#[command(after_help = "\
Exit codes: 0 everything exercised holds · 1 violated, or an exact expectation missed ·
            2 bad usage or scenario · 3 inconclusive · 4 the testbed itself failed ·
            130 interrupted, what was recorded is written")]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_fit_together() {
        Cli::command().debug_assert();
    }
}
