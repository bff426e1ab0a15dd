//! `orchestrator report`: a page that a person can read, from the files in a directory.

use std::fs;
use std::path::{Path, PathBuf};

use analysis::files;
use clap::Args;

use crate::report::page::Page;
use crate::{Exit, Failure, print, report};

/// Makes one HTML page of a run or a sweep: verdict, tables, pictures, where it came from
///
/// The page is one file that needs no network and no other file. A run and a sweep write their own
/// report.html; this makes it again from the other files.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// The directory of a run, such as results/latest, or of a sweep
    directory: PathBuf,
    /// File for the page [default: report.html in the directory]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Report {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let directory = &self.directory;
        let page = if directory.join("run.json").is_file() {
            of_run(directory)
        } else if report::is_sweep(directory) {
            report::of_sweep(directory)
        } else {
            Err(format!(
                "{} is not the directory of a run or a sweep: neither run.json nor sweep.toml is there",
                directory.display()
            ))
        };
        let page = page.map_err(Failure::Usage)?;
        let path = match self.out {
            // The user names the file, so it may be a link or a device.
            Some(path) => {
                fs::write(&path, page.html()).map_err(|error| {
                    let path = path.display();
                    Failure::Usage(format!(
                        "cannot write {path}: {error}; name another file with --out"
                    ))
                })?;
                path
            }
            None => {
                let path = directory.join(report::NAME);
                report::write(&page, &path).map_err(|failure| {
                    Failure::Usage(format!("{failure}; or name another file with --out"))
                })?;
                path
            }
        };
        print(&format!("report: {}\n", path.display()))?;
        Ok(Exit::Holds)
    }
}

fn of_run(directory: &Path) -> Result<Page, String> {
    let found = files::read(directory).map_err(|error| error.to_string())?;
    let judgement = analysis::judge(&found.plan, &found.topology, &found.run);
    let page = report::of_run(
        directory,
        &found.plan,
        &found.run,
        &judgement,
        &found.provenance,
    );
    Ok(page)
}
