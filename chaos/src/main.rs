//! The proxy as a program of its own.

use std::process::ExitCode;

use chaos::proxy::cli::{self, Failure, Options};
use clap::Parser;

#[derive(Debug, Parser)]
#[command(name = "chaos", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    match cli::main(Cli::parse().options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            safe_io::to_stderr(&format!("error: {failure}\n"));
            ExitCode::from(match failure {
                Failure::Usage(_) => 2,
                Failure::System(_) => 4,
            })
        }
    }
}
