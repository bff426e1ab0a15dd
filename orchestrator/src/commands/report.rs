//! `orchestrator report`: a page that a person can read, from the files in a directory.

use std::fs;
use std::path::PathBuf;

use analysis::files::{self, FilesError};
use clap::Args;

use crate::{Exit, Failure, print, report};

/// Makes one HTML page of a run: verdict, tables, pictures, where it came from
///
/// The page is one file that needs no network and no other file. A run writes its own report.html;
/// this makes it anew, from the other files.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// The directory of a run, such as results/latest
    directory: PathBuf,
    /// File for the page [default: report.html in the directory]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Report {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let unfit = |error: FilesError| Failure::Usage(error.to_string());
        let (plan, run, provenance) = files::read(&self.directory).map_err(unfit)?;
        let topology = plan.build_topology().map_err(|error| {
            let directory = self.directory.display();
            Failure::Usage(format!("{directory}/run.json: scenario.topology: {error}"))
        })?;
        let judgement = analysis::judge(&plan, &topology, &run);
        let page = report::of_run(&plan, &run, &judgement, &provenance);
        let path = self
            .out
            .unwrap_or_else(|| self.directory.join("report.html"));
        fs::write(&path, page.html()).map_err(|error| {
            let path = path.display();
            Failure::Usage(format!(
                "cannot write {path}: {error}; name another file with --out"
            ))
        })?;
        print(&format!("report: {}\n", path.display()))?;
        Ok(Exit::Holds)
    }
}
