//! `orchestrator bench`: the benchmarks, which are a program of their own.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use clap::{Args, ValueEnum};

use crate::{Exit, Failure};

/// Measures how fast it is here, against a limit measured in the same run
///
/// Product and limit take turns, five times; the median of their ratios counts. Exit code 1 if a
/// ratio is missed: machines are noisy, so look at the range before believing it. The benchmarks are a
/// program of their own, `bench`, beside this one: `cargo build --release -p bench`.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// What to measure; `bench --help` says against what
    #[arg(value_enum)]
    what: What,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    Sim,
    Cluster,
    Chaos,
    External,
    Locks,
}

impl Bench {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let this = std::env::current_exe()
            .map_err(|error| Failure::Testbed(format!("cannot find this program: {error}")))?;
        let bench = this.with_file_name("bench");
        let what = self.what.to_possible_value();
        let what = what.expect("every choice has a name");
        // It takes the place of this process; coming back means that it could not.
        let error = Command::new(&bench).arg(what.get_name()).exec();
        Err(Failure::Usage(explained(&bench, &error)))
    }
}

fn explained(bench: &Path, error: &std::io::Error) -> String {
    format!(
        "cannot start {}: {error}; build it with `cargo build --release -p bench`",
        bench.display()
    )
}
