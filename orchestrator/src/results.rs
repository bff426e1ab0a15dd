//! Where a run's files go, and where they come from.

use std::fs;
use std::os::unix::fs::symlink;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use analysis::files::{self, Draft, Events, FilesError, Provenance, utc};
use analysis::{Judgement, Verdict};
use model::run::{End, Engine, Run};

use crate::engine::Watch;
use crate::result_table::warn;
use crate::scenario::Resolved;
use crate::view::{self, Choice};
use crate::{Failure, repeat_line, report};

/// The default directory of results, below the current one.
pub(crate) const RESULTS: &str = "results";

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
    /// rather than after it, and from the beginning the directory says which run it is.
    pub(crate) fn begin(out: Option<&Path>, resolved: &Resolved) -> Result<Self, Failure> {
        let started = SystemTime::now();
        let draft = match out {
            Some(out) => {
                recover(out.parent().filter(|parent| *parent != Path::new("")));
                Draft::begin(out)
            }
            None => {
                recover_below(Path::new(RESULTS));
                first_free(&resolved.name, started, Draft::begin)
            }
        };
        Self::announced(draft, started, resolved)
    }

    /// Takes this name, or the next that is free.
    pub(crate) fn begin_kept(first: &Path, resolved: &Resolved) -> Result<Self, Failure> {
        recover(first.parent());
        let parent = first.parent().unwrap_or(Path::new("."));
        let made = fs::create_dir_all(parent);
        let draft = made
            .map_err(|source| FilesError::io("write", parent, source))
            .and_then(|()| free_of(first, Draft::begin));
        // The sweep has begun: it is not the command line that is wrong.
        Self::announced(draft, SystemTime::now(), resolved)
            .map_err(|failure| Failure::Testbed(failure.to_string()))
    }

    fn announced(
        draft: Result<Draft, FilesError>,
        started: SystemTime,
        resolved: &Resolved,
    ) -> Result<Self, Failure> {
        let pending = Self {
            draft: draft.map_err(|error| unwritable(&error))?,
            started,
        };
        let begun = pending.record(resolved, End::Abandoned, None);
        begun.map_err(|error| unwritable(&error))?;
        Ok(pending)
    }

    /// The directory as long as it is under way, for what is written meanwhile.
    pub(crate) fn dir(&self) -> &Path {
        self.draft.path()
    }

    /// Writes the run's files, has them on disk, lets the directory appear, and only then draws the
    /// page: whatever becomes of that, the run is safe.
    pub(crate) fn finish(
        self,
        resolved: &Resolved,
        run: &Run,
        judgement: &Judgement,
    ) -> Result<Published, Failure> {
        let plan = &resolved.plan;
        let provenance = provenance(&resolved.name, self.started);
        let written = files::write_into(self.draft.path(), plan, run, judgement, &provenance);
        if let Err(error) = written {
            return Err(self.give_up(resolved, Failure::Testbed(error.to_string())));
        }
        let asked = self.draft.target().to_owned();
        let published = self.draft.publish();
        let directory = published.map_err(|error| Failure::Testbed(error.to_string()))?;
        let misplaced = (directory != asked).then(|| {
            Failure::Testbed(format!(
                "somebody took {} during the run, so it is in {}",
                asked.display(),
                directory.display()
            ))
        });
        let page = afterwards("report.html", || {
            let page = report::of_run(&directory, plan, run, judgement, &provenance);
            report::write(&page, &directory.join(report::NAME))
        });
        // A user who traced a run that did not end well wants to see where.
        let wanted = plan.trace && judgement.verdict != Verdict::Holds;
        let steps = wanted.then(|| afterwards(view::NAME, || view_of(&directory, judgement)));
        let warnings = page.into_iter().chain(steps.flatten());
        Ok(Published {
            warnings: warnings.chain(make_latest(&directory)).collect(),
            directory,
            misplaced,
        })
    }

    /// What to do when the program is stopped at once; it returns the message for the user.
    pub(crate) fn when_stopped(
        &self,
        resolved: &Resolved,
    ) -> impl FnOnce() -> String + Send + 'static {
        let (draft, target) = (self.draft.path().to_owned(), self.draft.target().to_owned());
        let (engine, seed) = (resolved.engine, resolved.plan.seed);
        move || match engine {
            Engine::Cluster => format!(
                "there are no tables of this run; what its members recorded is in {}, and the next \
                 `orchestrator run` or `orchestrator list runs` gives it its name, {}",
                draft.display(),
                target.display()
            ),
            Engine::Sim => {
                // Whatever stays behind is swept by the next run.
                let _ = fs::remove_dir_all(draft).and_then(|()| fs::remove_dir(target));
                format!("nothing is kept of this simulated run, which --seed {seed} repeats")
            }
        }
    }

    /// The run failed, and there are no tables of it. What its members recorded is kept, and the
    /// failure then says where.
    pub(crate) fn give_up(self, resolved: &Resolved, failure: Failure) -> Failure {
        if !self.draft.has_records() {
            return failure;
        }
        // A table that was half written may have filled the disk.
        files::remove_tables(self.draft.path());
        // If not even that can be written, the directory still says that the run was abandoned.
        let _ = self.record(resolved, End::Failed, Some(failure.to_string()));
        let Ok(directory) = self.draft.publish() else {
            return failure;
        };
        make_latest(&directory).iter().for_each(|text| warn(text));
        let kept = format!("what its members recorded is in {}", directory.display());
        match failure {
            Failure::Usage(why) => Failure::Usage(format!("{why}\n{kept}")),
            Failure::Testbed(why) => Failure::Testbed(format!("{why}\n{kept}")),
        }
    }

    /// The run went well, and only numbers of it are wanted.
    pub(crate) fn discard(self) {
        self.draft.discard();
    }

    /// Writes which run this is, and how far it came.
    fn record(
        &self,
        resolved: &Resolved,
        end: End,
        failure: Option<String>,
    ) -> Result<(), FilesError> {
        let run = Run {
            engine: resolved.engine,
            end,
            failure,
            ..Run::default()
        };
        let (plan, topology) = (&resolved.plan, &resolved.topology);
        let provenance = provenance(&resolved.name, self.started);
        files::write_record(self.draft.path(), plan, topology, &run, &provenance)
    }
}

/// Looks in this directory, and in those in it, for runs whose orchestrator was killed.
pub(crate) fn recover_below(dir: &Path) {
    recover(Some(dir));
    let files = fs::read_dir(dir).into_iter().flatten().flatten();
    let dirs = files.filter(|file| file.file_type().is_ok_and(|kind| kind.is_dir()));
    dirs.for_each(|dir| recover(Some(&dir.path())));
}

/// Publishes what runs recorded in this directory whose orchestrator was killed, marked as
/// abandoned; where nothing was recorded nothing stays.
pub(crate) fn recover(dir: Option<&Path>) {
    for orphan in files::orphans(dir.unwrap_or(Path::new("."))) {
        if !orphan.has_records() {
            let head = files::head(orphan.path());
            if head.is_ok_and(|head| head.plan.placement.is_some()) {
                warn(
                    "a run on several hosts was abandoned, because its orchestrator was killed.\nWhat its \
                     members recorded went with their agents, so there are no tables of it.",
                );
            }
            continue;
        }
        // Whatever the records look like, they are kept.
        let salvaged = panic::catch_unwind(|| salvage(orphan.path()));
        let how = match salvaged {
            Ok(Ok(())) => "`orchestrator check` judges it".to_owned(),
            Ok(Err(failure)) => format!("there are no tables of it: {failure}"),
            Err(_) => "there are no tables of it: making them panicked".to_owned(),
        };
        if let Ok(directory) = orphan.publish() {
            warn(&format!(
                "a run was abandoned, because its orchestrator was killed.\nWhat its members \
                 recorded is in {}; {how}.",
                directory.display()
            ));
        }
    }
}

/// Makes tables of what the members of an abandoned run have recorded.
fn salvage(dir: &Path) -> Result<(), Failure> {
    let failed = |error: FilesError| Failure::Testbed(error.to_string());
    let head = files::head(dir).map_err(failed)?;
    let events = head.plan.trace.then(|| Events::begin(dir)).transpose();
    let mut events = events.map_err(failed)?;
    let mut watch = Watch {
        events: events.as_mut(),
        ..Watch::until(&|| false)
    };
    let mut run = cluster::salvage(&head.plan, dir, &mut watch)?;
    events
        .map_or(Ok(()), |events| events.finish(&head.plan, &mut run))
        .map_err(failed)?;
    let judgement = analysis::judge(&head.plan, &head.topology, &run);
    let provenance = Provenance {
        finished: utc(SystemTime::now()),
        ..head.provenance
    };
    files::write_into(dir, &head.plan, &run, &judgement, &provenance).map_err(failed)
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

/// Writes the page that steps through a run, around its first violation.
pub(crate) fn view_of(directory: &Path, judgement: &Judgement) -> Result<(), Failure> {
    let contents = files::read(directory).map_err(|error| Failure::Testbed(error.to_string()))?;
    let page = view::of_run(directory, &contents, judgement, &Choice::default());
    let page = page.map_err(Failure::Testbed)?;
    page.write(&directory.join(view::NAME))
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

/// The commit that this program was built from, where that is known.
pub fn commit() -> Option<String> {
    option_env!("TURNSTILE_COMMIT").map(str::to_owned)
}

/// Where something of that name comes from that was begun then and is over now.
pub(crate) fn provenance(name: &str, started: SystemTime) -> Provenance {
    Provenance {
        name: name.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: commit(),
        host: host(),
        command_line: repeat_line::command_line(),
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
    free_of(&parent.join(utc(now).replace(':', "-")), make)
}

/// Makes the first of `<first>`, `<first>.2`, … that is not there.
fn free_of<T>(
    first: &Path,
    make: impl Fn(&Path) -> Result<T, FilesError>,
) -> Result<T, FilesError> {
    let mut places = std::iter::once(first.to_owned()).chain(files::numbered(first));
    let made = places.find_map(|place| match make(&place) {
        Err(FilesError::Exists(_)) => None,
        made => Some(made),
    });
    made.expect("fewer directories than numbers")
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
