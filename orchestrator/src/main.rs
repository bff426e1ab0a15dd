//! The command line of Turnstile.

use std::process::ExitCode;

fn main() -> ExitCode {
    orchestrator::command_line(std::env::args_os()).into()
}
