//! The command line of Turnstile: scenarios in, runs and verdicts out.
//!
//! Each command is a file in `commands`; what a run shall do is a [`scenario`], from flags, a file
//! or both.

mod again;
mod cli;
mod commands;
mod exit;
mod interrupt;
mod numbers;
mod outcome;
mod progress;
mod results;
pub mod scenario;
mod suggest;
mod table;

use std::ffi::OsString;
use std::io::{self, Write};

use clap::Parser;

pub use exit::{Exit, Failure};

/// Does what the arguments say, the first of which is the program itself.
pub fn command_line(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let cli = match cli::Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help is asked for and goes to stdout; a mistake goes to stderr.
            let mistake = error.use_stderr();
            // Nothing can be said where neither can be written to.
            let _ = error.print();
            return if mistake { Exit::Usage } else { Exit::Holds };
        }
    };
    match cli.command.perform() {
        Ok(exit) => exit,
        Err(failure) => {
            eprint!("{}", table::indented("error: ", &failure.to_string()));
            failure.exit()
        }
    }
}

/// Writes a result to stdout. A reader that has read enough, as `head` does, is no failure.
fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Testbed(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}
