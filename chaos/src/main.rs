//! The proxy as a program of its own.

use std::io;
use std::process::ExitCode;

use chaos::proxy::cli::{Args, run};
use clap::Parser;

fn main() -> ExitCode {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let ended = match runtime {
        Ok(runtime) => runtime.block_on(run(args, &mut io::stdout())),
        Err(error) => Err(error.to_string()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            chaos::wire::to_stderr(&format!("error: {why}\n"));
            ExitCode::from(2)
        }
    }
}
