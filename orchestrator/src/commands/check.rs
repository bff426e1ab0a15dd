//! `orchestrator check`: a run judged again, from its files alone.

use std::path::PathBuf;

use analysis::files::{self, FilesError, Recheck, State};
use clap::Args;

use crate::result_table::{self, Where};
use crate::{Exit, Failure};

/// Judges a run again from the files in its directory, and compares that with what they say
///
/// The exit code is that of the run; a difference counts as a violation. A run that failed, was
/// interrupted or was abandoned is judged as far as it came; if it failed, the exit code is 4.
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
        let recheck = recheck.map_err(|error| self.unreadable(&error))?;
        let place = Where {
            directory: &self.directory,
            again: None,
        };
        let exit = match recheck.differences[..] {
            [] if recheck.state.failure().is_some() => Exit::Testbed,
            [] => Exit::of(&recheck.judgement),
            _ => Exit::Violated,
        };
        let Recheck {
            plan,
            judgement,
            state,
            ..
        } = &recheck;
        result_table::tell(plan, judgement, state, &place, exit, self.json)?;
        for difference in &recheck.differences {
            result_table::warn(difference);
        }
        Ok(exit)
    }

    /// A run that did not come to its end may lack files, and that is not the reader's mistake.
    fn unreadable(&self, error: &FilesError) -> Failure {
        let cut_short = match files::head(&self.directory).map(|head| head.state) {
            Ok(State::Failed { why }) => format!("failed ({why})"),
            Ok(State::Abandoned) => "was abandoned, because its orchestrator was killed".to_owned(),
            Ok(State::Complete | State::Interrupted) | Err(_) => {
                return Failure::Usage(error.to_string());
            }
        };
        let directory = self.directory.display();
        Failure::Testbed(format!(
            "the run in {directory} {cut_short}, and not all of it could be written: {error}\n\
             what its members recorded is in {directory}/members"
        ))
    }
}
