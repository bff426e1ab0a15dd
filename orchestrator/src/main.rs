//! The command line of Turnstile.

use std::process::ExitCode;

fn main() -> ExitCode {
    match cluster::child_main(std::env::args_os()) {
        Some(exit) => exit,
        None => orchestrator::command_line(std::env::args_os()).into(),
    }
}
