//! What a hunt has done so far, on disk: what was tried, and what was found.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use safe_io::input;
use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::trial::Done;
use super::tried::Tried;
use super::{Engines, Hunt, coverage, keep, shrink};
use crate::scenario::Scenario;
use crate::{Failure as Refusal, results};

/// The table of what was tried, in the directory of a hunt.
pub(crate) const TRIED: &str = "tried.csv";
/// The same as a page.
const PAGE: &str = "tried.md";
/// The table of the knobs that were turned.
const TURNED: &str = "turned.csv";
/// Where a hunt goes on.
const STATE: &str = "state.json";
/// The folder of scenario files that fail.
const FOUND: &str = "found";

/// How far a hunt has come, and what decides how it goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    version: String,
    algorithms: Vec<String>,
    as_printed: Vec<String>,
    engines: Engines,
    seed: u64,
    /// The run that comes next.
    pub(crate) next: u64,
    pub(crate) tried: Tried,
    pub(crate) found: Vec<Finding>,
}

/// One sort of failure of one algorithm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Finding {
    pub(crate) algorithm: String,
    pub(crate) failure: Failure,
    /// The file of the smallest scenario that fails so.
    pub(crate) file: String,
    /// Whether that scenario is as small as it gets; not where the hunt was interrupted meanwhile.
    small: bool,
    /// How many runs failed in that way.
    pub(crate) times: u64,
    /// The first of these runs.
    pub(crate) first: u64,
    /// How often it came again on processes, which take their own course each time.
    pub(crate) again: Option<Again>,
}

/// A scenario that was run again, unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Again {
    /// How often it was run.
    pub(crate) runs: u64,
    /// How often it failed in the same way.
    pub(crate) failed: u64,
}

/// The directory of a hunt.
pub(super) struct Journal {
    directory: PathBuf,
    pub(super) state: State,
    simulated: bool,
    as_printed: Vec<String>,
    /// The directory, locked: two hunts in it would count each other's runs.
    _lock: File,
}

impl Journal {
    /// Opens the directory, new or left by the same hunt.
    pub(super) fn open(hunt: &Hunt, directory: &Path) -> Result<Self, Refusal> {
        let shown = directory.display();
        let refuse = |error: std::io::Error| {
            Refusal::Usage(format!(
                "cannot write results to {shown}: {error}; name another directory with --out"
            ))
        };
        fs::create_dir_all(directory).map_err(refuse)?;
        let lock = File::open(directory).map_err(refuse)?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(Refusal::Usage(format!(
                "another hunt is at work in {shown}; wait until it is over, or name another \
                 directory with --out"
            )));
        }
        let fresh = State {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            algorithms: hunt
                .algorithms
                .iter()
                .map(|info| info.name.to_owned())
                .collect(),
            as_printed: hunt.as_printed.clone(),
            engines: hunt.engines,
            seed: hunt.seed,
            next: 0,
            tried: Tried::default(),
            found: Vec::new(),
        };
        let state = match input::read(&directory.join(STATE), input::DOCUMENT_BYTES) {
            Err(error) if error.kind() == ErrorKind::NotFound => fresh,
            Err(error) => return Err(refuse(error)),
            Ok(bytes) => {
                let state = serde_json::from_slice::<State>(&bytes).ok();
                let state = state.filter(|state| state.is_of(&fresh));
                state.ok_or_else(|| {
                    Refusal::Usage(format!(
                        "{shown} holds another hunt; give the flags that it was begun with, or name \
                         another directory with --out"
                    ))
                })?
            }
        };
        Ok(Self {
            directory: directory.to_owned(),
            state,
            simulated: hunt.is_simulated(),
            as_printed: hunt.as_printed.clone(),
            _lock: lock,
        })
    }

    /// Adds a run. What is found for the first time is made small and kept; what processes did is done
    /// again, to say how often it comes.
    pub(super) fn take(
        &mut self,
        nth: u64,
        scenario: &Scenario,
        done: &Done,
        stopped: &dyn Fn() -> bool,
        again: &mut dyn FnMut(&Scenario, &Failure) -> Result<Again, Refusal>,
    ) -> Result<(), Refusal> {
        let algorithm = scenario.algorithm.clone().unwrap_or_default();
        self.state.next = nth + 1;
        let turns = coverage::turned(scenario);
        self.state.tried.add(&algorithm, &turns, done);
        let Some(failure) = &done.failure else {
            return Ok(());
        };
        let mut found = self.state.found.iter_mut();
        if let Some(known) = found.find(|known| super::same(known, &algorithm, failure)) {
            known.times += 1;
            return Ok(());
        }
        let (smallest, failure, again) = match self.simulated {
            true => {
                let shrunk = shrink::shrink(scenario.clone(), failure.clone(), stopped);
                (shrunk.scenario, shrunk.failure, None)
            }
            false => {
                let again = again(scenario, failure)?;
                // The simulator may fail in the same way, and is quick.
                match shrink::found_in_simulator(scenario, failure, stopped) {
                    Some(found) => {
                        let shrunk = shrink::shrink(found.scenario, found.failure, stopped);
                        (shrunk.scenario, shrunk.failure, Some(again))
                    }
                    None => (scenario.clone(), failure.clone(), Some(again)),
                }
            }
        };
        let file = self.keep(&algorithm, &smallest, &failure, again)?;
        self.state.found.push(Finding {
            algorithm,
            failure,
            times: 1,
            first: nth,
            small: !self.simulated || !stopped(),
            again,
            file,
        });
        Ok(())
    }

    /// Makes small what was found when the hunt was interrupted the last time.
    pub(super) fn finish_earlier(
        &mut self,
        hunt: &Hunt,
        stopped: &dyn Fn() -> bool,
    ) -> Result<(), Refusal> {
        for place in 0..self.state.found.len() {
            let found = &self.state.found[place];
            if found.small {
                continue;
            }
            let (scenario, _) = hunt.draw(found.first);
            let shrunk = shrink::shrink(scenario, found.failure.clone(), stopped);
            let file = self.keep(&found.algorithm, &shrunk.scenario, &shrunk.failure, None)?;
            let found = &mut self.state.found[place];
            found.failure = shrunk.failure;
            found.file = file;
            found.small = !stopped();
        }
        Ok(())
    }

    /// Writes a scenario that fails as a file.
    fn keep(
        &self,
        algorithm: &str,
        scenario: &Scenario,
        failure: &Failure,
        again: Option<Again>,
    ) -> Result<String, Refusal> {
        let folder = self.directory.join(FOUND);
        fs::create_dir_all(&folder).map_err(|error| {
            Refusal::Testbed(format!("cannot write {}: {error}", folder.display()))
        })?;
        let name = keep::name(algorithm, &self.as_printed, failure);
        let path = folder.join(format!("{name}.toml"));
        results::replace(&path, &keep::file(&name, scenario, failure, again))?;
        Ok(path.display().to_string())
    }

    /// Writes down how far the hunt has come.
    pub(super) fn write(&self) -> Result<(), Refusal> {
        let state = serde_json::to_string_pretty(&self.state);
        let state = state.map_err(|error| Refusal::Testbed(error.to_string()))?;
        let tried = &self.state.tried;
        results::replace(&self.directory.join(TRIED), &tried.to_csv())?;
        results::replace(&self.directory.join(PAGE), &tried.page())?;
        results::replace(&self.directory.join(TURNED), &tried.turned_to_csv())?;
        results::replace(&self.directory.join(STATE), &(state + "\n"))
    }
}

impl State {
    /// Whether this is the same hunt as a fresh one, further on.
    fn is_of(&self, fresh: &Self) -> bool {
        self.version == fresh.version
            && self.algorithms == fresh.algorithms
            && self.as_printed == fresh.as_printed
            && self.engines == fresh.engines
            && self.seed == fresh.seed
    }
}
