//! `orchestrator view`: a page that steps through a run, forwards and backwards.

use std::path::{Path, PathBuf};

use analysis::files;
use clap::{Args, Parser};

use crate::commands::explore::WorldSpec;
use crate::view::{self, Around, At, Choice, ViewPage};
use crate::{Exit, Failure, print};

/// Makes a page that steps through a run, forwards and backwards
///
/// The page is one file that needs no network and no other file. It has a lane for each member, the
/// messages between them, faults and violations; below, who points to whom, queues, token and votes, and
/// the state of a member with what the last event changed. A run made with --trace has all of that;
/// of others only requests, entries, exits and faults are known.
#[derive(Debug, Args)]
pub(crate) struct View {
    /// The directory of a run, such as results/latest
    #[arg(required_unless_present = "explore", conflicts_with = "explore")]
    directory: Option<PathBuf>,
    /// Instead of a run, a small world, as `orchestrator explore` takes it: "suzuki-kasami -n 2
    /// --as-printed=SK1" [default: none]
    ///
    /// The page steps through the schedule of --replay, or through the shortest one that ends badly. Where
    /// there is none, every step of the world can be taken on it, up to 20,000 states.
    #[arg(long, value_name = "ARGUMENTS", conflicts_with_all = ["from", "to", "around"])]
    explore: Option<String>,
    /// First event to show, by its number or its time, such as 1500 or 2.5ms
    #[arg(long, value_name = "MOMENT", conflicts_with = "around")]
    from: Option<At>,
    /// Last event to show, by its number or its time
    #[arg(long, value_name = "MOMENT", conflicts_with = "around")]
    to: Option<At>,
    /// Show what happened around a moment, or around the first violation: violation, 1500, 2.5ms
    /// [default: the first violation, else the end of a run that is not over well, else its beginning;
    /// only where there are more than 20,000 events]
    #[arg(long, value_name = "MOMENT")]
    around: Option<Around>,
    /// File for the page [default: view.html in the directory of the run, or in the current one]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl View {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let (page, directory) = match (&self.explore, &self.directory) {
            (Some(line), _) => (of_world(line)?, PathBuf::new()),
            (None, directory) => {
                let directory = directory.clone().unwrap_or_default();
                (self.of_run(&directory)?, directory)
            }
        };
        let path = self.out.unwrap_or_else(|| directory.join(view::NAME));
        page.write(&path).map_err(|failure| {
            Failure::Usage(format!("{failure}; or name another file with --out"))
        })?;
        print(&format!("view: {}\n", path.display()))?;
        Ok(Exit::Holds)
    }

    fn of_run(&self, directory: &Path) -> Result<ViewPage, Failure> {
        let contents = files::read(directory).map_err(|error| Failure::Usage(error.to_string()))?;
        let judgement = analysis::judge(&contents.plan, &contents.topology, &contents.run);
        let choice = Choice {
            from: self.from,
            to: self.to,
            around: self.around,
        };
        view::of_run(directory, &contents, &judgement, &choice).map_err(Failure::Usage)
    }
}

/// The arguments of `orchestrator explore`, in one word.
#[derive(Debug, Parser)]
#[command(name = "--explore", no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[command(flatten)]
    world: WorldSpec,
}

fn of_world(line: &str) -> Result<ViewPage, Failure> {
    let usage = |why: String| Failure::Usage(format!("--explore: {why}"));
    let words = shlex::split(line);
    let words = words.ok_or_else(|| usage("a quotation mark is missing".to_owned()))?;
    let line = Line::try_parse_from(words).map_err(|error| {
        let text = error.to_string();
        let text = text.lines().next().unwrap_or_default().to_owned();
        usage(text.trim_start_matches("error: ").to_owned())
    })?;
    line.world.world().map_err(usage)?.page()
}
