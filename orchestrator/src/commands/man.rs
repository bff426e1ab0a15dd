//! `orchestrator man`: the help as manual pages.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};
use clap_mangen::Man as Page;

use crate::cli::Cli;
use crate::suggest::did_you_mean;
use crate::{Exit, Failure, print};

/// Prints a manual page: of the program, or of one of its commands
///
/// `orchestrator man run | man -l -` shows that of `run`; `orchestrator man --out DIR` writes all of
/// them, for example to ~/.local/share/man/man1.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// A command, such as run [default: the program]
    #[arg(conflicts_with = "out")]
    command: Option<String>,
    /// Directory for the pages of the program and of all its commands
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Man {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let mut program = Cli::command();
        program.build();
        if let Some(out) = &self.out {
            let out = out.as_path();
            let failed = |error| format!("--out: cannot write to {}: {error}", out.display());
            let written = write(program, out).map_err(failed);
            return written.map(|()| Exit::Holds).map_err(Failure::Usage);
        }
        let page = match &self.command {
            None => program,
            Some(name) => one(&program, name).map_err(Failure::Usage)?,
        };
        let mut text = Vec::new();
        let rendered = Page::new(page).render(&mut text);
        rendered.map_err(|error| Failure::Testbed(format!("cannot make the page: {error}")))?;
        print(&String::from_utf8_lossy(&text))?;
        Ok(Exit::Holds)
    }
}

/// The command of that name, or which there are instead.
fn one(program: &clap::Command, name: &str) -> Result<clap::Command, String> {
    let found = program.find_subcommand(name).cloned();
    found.ok_or_else(|| {
        let known = program.get_subcommands().map(clap::Command::get_name);
        let known = known.collect::<Vec<_>>();
        let hint = did_you_mean(name, known.iter().copied());
        let known = known.join(", ");
        format!("there is no command '{name}'{hint}\nThere are {known}.")
    })
}

/// Writes a page for the program and each of its commands.
fn write(program: clap::Command, out: &Path) -> io::Result<()> {
    std::fs::create_dir_all(out)?;
    clap_mangen::generate_to(program, out)
}
