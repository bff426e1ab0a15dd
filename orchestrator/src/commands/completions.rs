//! `orchestrator completions`: what a shell needs to complete a line.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::{Exit, Failure, print};

/// Prints what a shell needs to complete commands, flags and choices
///
/// For example `orchestrator completions bash > ~/.local/share/bash-completion/completions/orchestrator`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "orchestrator", &mut script);
        print(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Holds)
    }
}
