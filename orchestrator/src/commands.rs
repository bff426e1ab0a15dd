//! What the program can do, a file for each command.
//!
//! A new command is a new file with its arguments and a `perform`, and a line in the list below:
//! `docs/adding-a-command.md` shows one.

use clap::Subcommand;

use crate::{Exit, Failure};

/// Declares the module of each command, and the enum that clap and `perform` choose from.
macro_rules! commands {
    ($($(#[$attribute:meta])* $file:ident::$Name:ident,)*) => {
        $(pub(crate) mod $file;)*

        /// A command with its arguments.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($(#[$attribute])* $Name(Box<$file::$Name>),)*
        }

        impl Command {
            /// Does what the command is for.
            pub(crate) fn perform(self) -> Result<Exit, Failure> {
                match self {
                    $(Command::$Name(command) => command.perform(),)*
                }
            }
        }
    };
}

// In the order of the help. `cargo fmt` does not see these files; `scripts/test` does.
commands! {
    run::Run,
    list::List,
    explain::Explain,
    check::Check,
    replay::Replay,
    trace::Trace,
    report::Report,
    view::View,
    explore::Explore,
    external::External,
    grade::Grade,
    structure::Structure,
    sweep::Sweep,
    compare::Compare,
    reproduce::Reproduce,
    hunt::Hunt,
    bench::Bench,
    chaos::Chaos,
    hosts::Hosts,
    #[command(hide = true)]
    agent::Agent,
    completions::Completions,
    man::Man,
}
