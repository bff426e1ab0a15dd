//! `orchestrator replay`: a traced run given to the same machines again.

use std::path::PathBuf;

use analysis::files::{self, FilesError};
use analysis::replay::Replay as Machines;
use clap::Args;
use model::event::Event;
use model::run::deaths;

use crate::numbers::count;
use crate::scenario::whole;
use crate::table::indented;
use crate::{Exit, Failure, print};

/// Gives what happened in a traced run to the same machines again, and stops where they do something
/// else
///
/// The run was made with --trace. Every member's algorithm gets the requests, messages, timers and
/// news that it got then, in the same order; what it sends, whom it lets in and what it notes must
/// be what it was then. The exit code is 0 if it is, and 1 if not.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The directory of a run, such as results/latest
    directory: PathBuf,
    /// Stop after this event, by its line in events.jsonl, and show the state of the member it is
    /// about [default: the last]
    #[arg(long, value_name = "EVENT", value_parser = line_number)]
    to: Option<u64>,
}

impl Replay {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let directory = &self.directory;
        let usage = |error: FilesError| Failure::Usage(error.to_string());
        let files::Contents {
            plan,
            topology,
            run,
            ..
        } = files::read(directory).map_err(usage)?;
        if !plan.trace {
            let why = "there are no events to replay; make the run with --trace";
            return Err(Failure::Usage(format!("{}: {why}", directory.display())));
        }
        let mut machines = Machines::new(&plan, topology);
        let mut last: Option<(u64, Event)> = None;
        let mut different = None;
        let last_wanted = self.to.unwrap_or(u64::MAX);
        files::read_events(directory, &plan, |line, event| {
            if line <= last_wanted && different.is_none() {
                different = machines.take(&event).err().map(|why| (line, why));
                last = Some((line, event));
            }
            Ok(())
        })
        .map_err(usage)?;
        let Some((line, event)) = last else {
            return Err(Failure::Usage(format!(
                "{}: nothing happened in this run",
                directory.display()
            )));
        };
        if self.to.is_some_and(|to| to > line) && different.is_none() {
            let why = format!("--to: events.jsonl has only {line} events");
            return Err(Failure::Usage(why));
        }
        if self.to.is_none() && different.is_none() {
            different = machines
                .close(&deaths(&run.faults))
                .err()
                .map(|why| (line, why));
        }
        // Events that are missing at the end ask no machine for anything; the tables know of them.
        if self.to.is_none() && different.is_none() {
            let differences = files::compare_events(directory, &plan, &run).map_err(usage)?;
            different = differences.into_iter().next().map(|why| (line, why));
        }
        let mut text = format!("event {}: {}\n", count(line), event.line());
        if let Some(node) = event
            .node
            .filter(|_| self.to.is_some() || different.is_some())
        {
            text.push_str(&format!("{node} is now: {}\n", machines.state(node)));
        }
        text.push_str(&format!(
            "\nreplayed: {} events, {} given to machines and {} that came out of them\n",
            count(line),
            count(machines.progress.inputs),
            count(machines.progress.outputs),
        ));
        let exit = match different {
            None => {
                text.push_str("\nverdict: holds\n");
                Exit::Holds
            }
            Some((line, why)) => {
                text.push_str("\nverdict: violated\n");
                let why = format!("event {}: {why}", count(line));
                text.push_str(&indented("  because ", &why));
                Exit::Violated
            }
        };
        print(&text)?;
        Ok(exit)
    }
}

fn line_number(text: &str) -> Result<u64, String> {
    match whole(text)? {
        0 => Err("lines are counted from 1".to_owned()),
        line => Ok(line),
    }
}
