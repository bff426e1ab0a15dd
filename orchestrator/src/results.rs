//! Where a run's files go, and where they come from.

use std::fs;
use std::os::unix::fs::symlink;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use analysis::Judgement;
use analysis::files::{self, Draft, FilesError, Provenance, utc};
use node::plan::Plan;
use node::run::Run;

use crate::{Failure, again, report};

/// Where results are kept unless said otherwise, below the current directory.
const RESULTS: &str = "results";

/// The directory of a run that is under way. Its name is taken; what is below it appears when it is
/// complete.
#[derive(Debug)]
pub(crate) struct Pending {
    draft: Draft,
    started: SystemTime,
}

/// The directory of a run that is over.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) directory: PathBuf,
    /// What went wrong after the results were safe, one warning each.
    pub(crate) warnings: Vec<String>,
    /// Why it is not where it should be, if somebody took its name meanwhile.
    pub(crate) misplaced: Option<Failure>,
}

impl Pending {
    /// Takes `results/<name>/<UTC time>`, or `out`. That it can be written is known before the run
    /// rather than after it.
    pub(crate) fn begin(out: Option<&Path>, name: &str) -> Result<Self, Failure> {
        let started = SystemTime::now();
        let draft = match out {
            Some(out) => Draft::begin(out),
            None => first_free(name, started, Draft::begin),
        };
        Ok(Self {
            draft: draft.map_err(|error| unwritable(&error))?,
            started,
        })
    }

    /// The directory as long as it is under way, for what is written meanwhile.
    pub(crate) fn dir(&self) -> &Path {
        self.draft.path()
    }

    /// Writes the run's files, has them on disk, lets the directory appear, and only then draws the
    /// page: whatever becomes of that, the run is safe.
    pub(crate) fn finish(
        self,
        plan: &Plan,
        run: &Run,
        judgement: &Judgement,
    ) -> Result<Published, Failure> {
        let provenance = provenance(self.started);
        let failed = |error: FilesError| Failure::Testbed(error.to_string());
        files::write_into(self.draft.path(), plan, run, judgement, &provenance).map_err(failed)?;
        let asked = self.draft.target().to_owned();
        let directory = self.draft.publish().map_err(failed)?;
        let misplaced = (directory != asked).then(|| {
            Failure::Testbed(format!(
                "somebody took {} during the run, so it is in {}",
                asked.display(),
                directory.display()
            ))
        });
        let page = afterwards("report.html", || {
            let page = report::of_run(plan, run, judgement, &provenance);
            report::write(&page, &directory.join(report::NAME))
        });
        Ok(Published {
            warnings: page.into_iter().chain(make_latest(&directory)).collect(),
            directory,
            misplaced,
        })
    }
}

/// Makes something that is nice to have of results that are safe: that it fails, or panics, is only
/// worth a warning.
pub(crate) fn afterwards(what: &str, make: impl FnOnce() -> Result<(), Failure>) -> Option<String> {
    let why = match panic::catch_unwind(AssertUnwindSafe(make)) {
        Ok(made) => made.err()?.to_string(),
        Err(_) => "drawing it panicked, which is a mistake in this program".to_owned(),
    };
    Some(format!(
        "there is no {what}: {why}.\nEverything else is there."
    ))
}

/// Lets a file appear as a whole, and has it on disk.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    crate::files::replace(path, text.as_bytes())
        .map_err(|error| Failure::Testbed(format!("cannot write {}: {error}", path.display())))
}

fn unwritable(error: &FilesError) -> Failure {
    match error {
        FilesError::Io { path, source, .. } => Failure::Usage(format!(
            "cannot write results to {}: {source}; name another directory with --out",
            path.display()
        )),
        _ => Failure::Usage(format!("--out: {error}")),
    }
}

/// Where something comes from that was begun then and is over now.
pub(crate) fn provenance(started: SystemTime) -> Provenance {
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("TURNSTILE_COMMIT").map(str::to_owned),
        host: host(),
        command_line: again::command_line(),
        started: utc(started),
        finished: utc(SystemTime::now()),
    }
}

/// Makes `results/<name>/<UTC time>`, an empty directory that is nobody else's.
pub(crate) fn reserve(name: &str) -> Result<PathBuf, Failure> {
    let make = |place: &Path| files::reserve(place).map(|()| place.to_owned());
    first_free(name, SystemTime::now(), make).map_err(|error| unwritable(&error))
}

/// Makes the first of `results/<name>/<time>`, `<time>.2`, … that is not there: two may begin in one
/// second.
fn first_free<T>(
    name: &str,
    now: SystemTime,
    make: impl Fn(&Path) -> Result<T, FilesError>,
) -> Result<T, FilesError> {
    let parent = Path::new(RESULTS).join(name);
    fs::create_dir_all(&parent).map_err(|source| FilesError::io("write", &parent, source))?;
    let first = parent.join(utc(now).replace(':', "-"));
    let mut places = std::iter::once(first.clone()).chain(files::numbered(&first));
    let made = places.find_map(|place| match make(&place) {
        Err(FilesError::Exists(_)) => None,
        made => Some(made),
    });
    made.expect("fewer runs in a second than numbers")
}

/// Lets `results/latest` lead to what was written, if that lies in `results`; says why if it cannot.
pub(crate) fn make_latest(written: &Path) -> Option<String> {
    let target = written.strip_prefix(RESULTS).ok()?;
    let latest = Path::new(RESULTS).join("latest");
    // Under another name first, so that readers always find a link.
    let fresh = Path::new(RESULTS).join(format!(".latest.{}", std::process::id()));
    let linked = symlink(target, &fresh).and_then(|()| fs::rename(&fresh, &latest));
    linked.err().map(|error| {
        // Nothing more can be done about a link that stays behind.
        let _ = fs::remove_file(&fresh);
        let (latest, written) = (latest.display(), written.display());
        format!("{latest} does not lead to {written}: {error}.\nRemove what is there.")
    })
}

fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname");
    name.map_or_else(|_| "unknown".to_owned(), |name| name.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_fails_or_panics_is_only_a_warning() {
        let full = || Err(Failure::Testbed("no space".to_owned()));
        let warning = afterwards("report.html", full).expect("a warning");
        assert!(warning.starts_with("there is no report.html: no space."));
        let warning = afterwards("report.html", || panic!("index out of bounds"));
        assert!(warning.is_some_and(|text| text.contains("panicked")));
        assert_eq!(afterwards("report.html", || Ok(())), None);
    }
}
