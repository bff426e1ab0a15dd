//! What the program can do, a file for each.
//!
//! A new command is a new file with its arguments and a `perform`, and a line in [`Command`].

mod bench;
mod check;
mod compare;
mod completions;
mod explain;
pub(crate) mod explore;
mod list;
mod man;
mod replay;
mod report;
mod reproduce;
mod run;
mod structure;
mod sweep;

use clap::Subcommand;

use crate::{Exit, Failure};

/// One thing to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Box<run::Run>),
    List(list::List),
    Explain(explain::Explain),
    Check(check::Check),
    Replay(replay::Replay),
    Report(report::Report),
    Explore(Box<explore::Explore>),
    Structure(structure::Structure),
    Sweep(Box<sweep::Sweep>),
    Compare(Box<compare::Compare>),
    Reproduce(reproduce::Reproduce),
    Bench(bench::Bench),
    Chaos(Box<chaos::proxy::cli::Options>),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    /// Does it.
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        match self {
            Command::Run(run) => run.perform(),
            Command::List(list) => list.perform(),
            Command::Explain(explain) => explain.perform(),
            Command::Check(check) => check.perform(),
            Command::Replay(replay) => replay.perform(),
            Command::Report(report) => report.perform(),
            Command::Explore(explore) => explore.perform(),
            Command::Structure(structure) => structure.perform(),
            Command::Sweep(sweep) => sweep.perform(),
            Command::Compare(compare) => compare.perform(),
            Command::Reproduce(reproduce) => reproduce.perform(),
            Command::Bench(bench) => bench.perform(),
            Command::Chaos(options) => alone(*options),
            Command::Completions(completions) => completions.perform(),
            Command::Man(man) => man.perform(),
        }
    }
}

/// Is the proxy on its own.
fn alone(options: chaos::proxy::cli::Options) -> Result<Exit, Failure> {
    use chaos::proxy::cli;
    match cli::main(options) {
        Ok(()) => Ok(Exit::Holds),
        Err(cli::Failure::Usage(why)) => Err(Failure::Usage(why)),
        Err(cli::Failure::System(why)) => Err(Failure::Testbed(why)),
    }
}
