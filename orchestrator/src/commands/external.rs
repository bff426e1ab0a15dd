//! `orchestrator external`: does a program keep to the protocol?

use std::path::PathBuf;
use std::time::Duration;

use algorithms::external::Limits;
use clap::Args;
use external::Start;
use external::conformance::{self, Line, Outcome};
use serde_json::json;

use crate::scenario::Time;
use crate::table::indented;
use crate::{Exit, Failure, print};

/// Walks a program through the protocol of docs/protocol.md, and says what it does not do
///
/// Every question, in order and out of it, fields that it does not know, a message of a megabyte, letters of
/// every script, ten thousand events, the same twice, save and load. Exit code 0: it does all it should; 1: it does
/// not.
#[derive(Debug, Args)]
pub(crate) struct External {
    /// Check that the program keeps to the protocol
    #[arg(long, required = true)]
    check: bool,
    /// Time in which the program must answer each line
    #[arg(long, value_name = "TIME", default_value = "5s")]
    answer_within: Time,
    /// One JSON object on stdout instead of the lines
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<String>,
}

impl External {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let start = Start {
            command: self.program,
            directory: current_directory()?,
            answer_within: Duration::from_nanos(self.answer_within.0),
            limits: Limits::default(),
            executable: Some(PathBuf::from(cluster::THIS_PROGRAM)),
            in_our_group: false,
        };
        let mut lines = Vec::new();
        let mut printed = Ok(());
        let goes_on = || false;
        conformance::check(&start, &goes_on, &mut |line: Line| {
            if !self.json && printed.is_ok() {
                printed = print(&shown(&line));
            }
            lines.push(line);
        });
        printed?;
        let missed = lines
            .iter()
            .filter(|line| matches!(line.outcome, Outcome::DoesNot(_)));
        let missed = missed.count();
        let exit = match missed {
            0 => Exit::Holds,
            _ => Exit::Violated,
        };
        if self.json {
            let lines = lines.iter().map(|line| {
                let (outcome, why) = words(&line.outcome);
                json!({ "what": line.what, "outcome": outcome, "why": why })
            });
            let lines = lines.collect::<Vec<_>>();
            let object = json!({ "lines": lines, "missed": missed, "exit_code": exit.code() });
            print(&format!("{object:#}\n"))?;
        } else {
            let verdict = match missed {
                0 => "\nit keeps to the protocol\n".to_owned(),
                1 => "\n1 thing that it does not do\n".to_owned(),
                more => format!("\n{more} things that it does not do\n"),
            };
            print(&verdict)?;
        }
        Ok(exit)
    }
}

/// Where a program is started that is named on the command line.
pub(crate) fn current_directory() -> Result<PathBuf, Failure> {
    std::env::current_dir()
        .map_err(|error| Failure::Testbed(format!("no current directory: {error}")))
}

fn words(outcome: &Outcome) -> (&'static str, &str) {
    match outcome {
        Outcome::Does => ("yes", ""),
        Outcome::DoesNot(why) => ("no", why),
        Outcome::NeedNot(why) => ("need not", why),
    }
}

fn shown(line: &Line) -> String {
    let (outcome, why) = words(&line.outcome);
    let first = format!("{outcome:<8}  {}\n", line.what);
    match why {
        "" => first,
        why => first + &indented("          ", why),
    }
}
