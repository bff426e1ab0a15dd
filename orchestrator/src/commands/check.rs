//! `orchestrator check`: a run judged again, from its files alone.

use std::path::PathBuf;

use analysis::files;
use clap::Args;

use crate::outcome::{self, Where};
use crate::{Exit, Failure};

/// Judges a run again from the files in its directory, and compares that with what they say
///
/// The exit code is that of the run; a difference counts as a violation.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The directory of a run, such as results/latest
    directory: PathBuf,
    /// One JSON object on stdout instead of the table
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let recheck = files::recheck(&self.directory);
        let recheck = recheck.map_err(|error| Failure::Usage(error.to_string()))?;
        let place = Where {
            directory: &self.directory,
            again: None,
        };
        let exit = match recheck.differences[..] {
            [] => Exit::of(&recheck.judgement),
            _ => Exit::Violated,
        };
        outcome::tell(&recheck.plan, &recheck.judgement, &place, exit, self.json)?;
        for difference in &recheck.differences {
            outcome::warn(difference);
        }
        Ok(exit)
    }
}
