//! The command line of Turnstile: scenarios in, runs and verdicts out.
//!
//! Each command is a file in `commands`; what a run shall do is a [`scenario`], from flags, a file
//! or both. What a user types is given to [`command_line`], which prints, and returns the exit code:
//!
//! ```
//! use orchestrator::{Exit, command_line};
//!
//! let typed = |line: &str| command_line(line.split(' ').map(Into::into));
//! assert_eq!(typed("orchestrator explain raymond"), Exit::Holds);
//! assert_eq!(typed("orchestrator explain raimond"), Exit::Usage);
//! ```

mod claims;
mod cli;
mod commands;
mod embedded;
mod engine;
mod exit;
mod figures;
mod files;
mod grade;
#[cfg(test)]
mod grammar;
mod hunt;
pub mod interrupt;
pub mod live;
mod names;
pub mod numbers;
mod pictures;
mod progress;
mod reach;
mod repeat_line;
mod report;
mod result_table;
mod results;
pub mod scenario;
mod suggest;
mod sweep;
pub mod table;
mod trace;
mod view;

use std::ffi::OsString;
use std::io::{self, Write};

use clap::Parser;
use safe_io::to_stderr;

pub use exit::{Exit, Failure};
pub use results::commit;

/// Does what the arguments say, the first of which is the program itself.
pub fn command_line(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let arguments = cli::joined(arguments);
    let cli = match cli::Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // What is wrong is quoted, and a terminal would obey it: the same with words to be read.
            let shown = |word: &OsString| safe_io::visible(&word.to_string_lossy()).into_owned();
            let again = cli::Cli::try_parse_from(arguments.iter().map(shown));
            let error = again.err().unwrap_or(error);
            if let Some(why) = cli::in_our_words(&error) {
                to_stderr(&table::indented("error: ", &why));
                return Exit::Usage;
            }
            // Help is asked for and goes to stdout; a mistake goes to stderr.
            let mistake = error.use_stderr();
            // Nothing can be said where neither can be written to.
            let _ = error.print();
            return if mistake { Exit::Usage } else { Exit::Holds };
        }
    };
    external::drive(Some(cluster::THIS_PROGRAM.into()));
    let begun = wire::log::begin();
    let done = match begun.and_then(|()| wire::survive_file_limit()) {
        Ok(()) => cli.command.perform(),
        Err(why) => Err(Failure::Usage(why)),
    };
    match done {
        Ok(exit) => exit,
        Err(failure) => {
            to_stderr(&table::indented("error: ", &failure.to_string()));
            failure.exit()
        }
    }
}

/// Writes a result to stdout. A reader that has read enough, as `head` does, is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(safe_io::visible(text).as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Testbed(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}
