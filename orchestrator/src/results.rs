//! Where a run's files go, and where they come from.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use analysis::Judgement;
use analysis::files::{self, Draft, FilesError, Provenance, utc};
use node::plan::Plan;
use node::run::Run;

use crate::{Failure, report};

/// Where results are kept unless said otherwise, below the current directory.
const RESULTS: &str = "results";

/// The directory of a run that is under way; it appears when it is complete.
#[derive(Debug)]
pub(crate) struct Pending {
    draft: Draft,
    path: PathBuf,
    /// Whether it is one of many, of which `results/latest` is the last.
    among_results: bool,
    started: SystemTime,
}

impl Pending {
    /// Begins `results/<name>/<UTC time>`, or `out`. That it can be written is known before the run
    /// rather than after it.
    pub(crate) fn begin(out: Option<&Path>, name: &str) -> Result<Self, Failure> {
        let started = SystemTime::now();
        let path = match out {
            Some(out) => out.to_owned(),
            None => free_place(&Path::new(RESULTS).join(name), started),
        };
        let draft = Draft::begin(&path).map_err(|error| match &error {
            FilesError::Io { source, .. } => Failure::Usage(format!(
                "cannot write results to {}: {source}; name another directory with --out",
                path.display()
            )),
            _ => Failure::Usage(format!("--out: {error}")),
        })?;
        Ok(Self {
            draft,
            path,
            among_results: out.is_none(),
            started,
        })
    }

    /// The directory as long as it is under way, for what is written meanwhile.
    pub(crate) fn dir(&self) -> &Path {
        self.draft.path()
    }

    /// Writes the run's files, lets the directory appear, and says where it is.
    pub(crate) fn finish(
        self,
        plan: &Plan,
        run: &Run,
        judgement: &Judgement,
    ) -> Result<PathBuf, Failure> {
        let provenance = provenance(self.started);
        let failed = |error: FilesError| Failure::Testbed(error.to_string());
        files::write_into(self.draft.path(), plan, run, judgement, &provenance).map_err(failed)?;
        let page = report::of_run(plan, run, judgement, &provenance);
        report::write(&page, &self.draft.path().join(report::NAME))?;
        self.draft.publish().map_err(failed)?;
        if self.among_results {
            make_latest(&self.path)?;
        }
        Ok(self.path)
    }
}

/// Where something comes from that was begun then and is over now.
pub(crate) fn provenance(started: SystemTime) -> Provenance {
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("TURNSTILE_COMMIT").map(str::to_owned),
        host: host(),
        command_line: std::env::args_os()
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        started: utc(started),
        finished: utc(SystemTime::now()),
    }
}

/// `results/<name>/<UTC time>`, which is not there yet.
pub(crate) fn place(name: &str) -> PathBuf {
    free_place(&Path::new(RESULTS).join(name), SystemTime::now())
}

/// The first of `<time>`, `<time>.2`, … that is not there: two runs may begin in one second.
fn free_place(parent: &Path, now: SystemTime) -> PathBuf {
    let time = utc(now).replace(':', "-");
    let first = parent.join(&time);
    let others = (2_u32..).map(|number| parent.join(format!("{time}.{number}")));
    let mut places = std::iter::once(first).chain(others);
    let free = places.find(|place| !place.exists());
    free.expect("fewer runs in a second than numbers")
}

/// Lets `results/latest` lead to the run.
fn make_latest(run: &Path) -> Result<(), Failure> {
    let latest = Path::new(RESULTS).join("latest");
    let target = run
        .strip_prefix(RESULTS)
        .expect("the run is among the results");
    // Under another name first, so that readers always find a link.
    let fresh = Path::new(RESULTS).join(format!(".latest.{}", std::process::id()));
    let linked = symlink(target, &fresh).and_then(|()| fs::rename(&fresh, &latest));
    linked.map_err(|error| {
        // Nothing more can be done about a link that stays behind.
        let _ = fs::remove_file(&fresh);
        let latest = latest.display();
        Failure::Testbed(format!(
            "{} is complete, but {latest} is not a link: {error}",
            run.display()
        ))
    })
}

fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname");
    name.map_or_else(|_| "unknown".to_owned(), |name| name.trim().to_owned())
}
