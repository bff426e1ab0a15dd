//! Where a measurement is, on disk, so that it can be interrupted.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use algorithms::registry;
use model::run::Engine;
use safe_io::input;
use serde::{Deserialize, Serialize};

use super::super::draw::{self, Source};
use super::super::keep;
use super::{Job, MANNERS, Measure, Sought, Taken};
use crate::{Failure, results};

/// Its file; gone when all is measured.
const STATE: &str = "hunt-worth.json";

/// Written down at least this often.
const WRITTEN_EVERY: Duration = Duration::from_secs(5);

/// What must be the same for a measurement to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Same {
    version: String,
    /// The defects in their order, by algorithm and id.
    defects: Vec<String>,
    manners: Vec<String>,
    seed: u64,
    limit: u64,
    /// What the drawing draws, in a number: another drawing would be another measurement.
    drawn: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct State {
    same: Same,
    /// By defect, manner and seed.
    done: BTreeMap<String, Option<u64>>,
}

/// How far a measurement has come.
pub(super) struct Progress {
    path: Option<PathBuf>,
    state: State,
    written: Instant,
}

impl Progress {
    /// A new measurement, or the one that was interrupted in this directory.
    pub(super) fn open(
        out: Option<&Path>,
        all: &[Sought],
        measure: Measure,
    ) -> Result<Self, Failure> {
        let path = out.map(|out| out.join(STATE));
        let fresh = State {
            same: Same {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                defects: all
                    .iter()
                    .map(|one| format!("{} {}", one.info.name, one.defect.id))
                    .collect(),
                manners: MANNERS.iter().map(|(_, name)| (*name).to_owned()).collect(),
                seed: measure.seed,
                limit: measure.limit,
                drawn: drawn(),
            },
            done: BTreeMap::new(),
        };
        let state = match path
            .as_deref()
            .map(|path| (path, input::read(path, input::DOCUMENT_BYTES)))
        {
            None => fresh,
            Some((_, Err(error))) if error.kind() == ErrorKind::NotFound => fresh,
            Some((path, Err(error))) => {
                let why = format!("cannot read {}: {error}", path.display());
                return Err(Failure::Usage(why));
            }
            Some((path, Ok(bytes))) => {
                let state = serde_json::from_slice::<State>(&bytes).ok();
                let state = state.filter(|state| state.same == fresh.same);
                state.ok_or_else(|| {
                    Failure::Usage(format!(
                        "{} is of another measurement; give the flags that it was begun with, remove it, \
                         or name another directory with --out",
                        path.display()
                    ))
                })?
            }
        };
        Ok(Self {
            path,
            state,
            written: Instant::now(),
        })
    }

    pub(super) fn has(&self, job: Job) -> bool {
        self.state.done.contains_key(&key(job))
    }

    pub(super) fn add(&mut self, job: Job, runs: Option<u64>) -> Result<(), Failure> {
        self.state.done.insert(key(job), runs);
        if self.written.elapsed() < WRITTEN_EVERY {
            return Ok(());
        }
        self.written = Instant::now();
        self.write()
    }

    pub(super) fn write(&self) -> Result<(), Failure> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let state = serde_json::to_string(&self.state);
        let state = state.map_err(|error| Failure::Testbed(error.to_string()))?;
        results::replace(path, &(state + "\n"))
    }

    /// What somebody does who wants the rest.
    pub(super) fn how_to_go_on(&self) -> String {
        match &self.path {
            Some(path) => format!(
                "the same command goes on from {}, where {} hunts are done",
                path.display(),
                self.state.done.len()
            ),
            None => "with --out DIR it would go on from there".to_owned(),
        }
    }

    /// By defect, manner and seed.
    pub(super) fn taken(&self, defects: usize, manners: &[usize], seeds: u64) -> Vec<Vec<Taken>> {
        let runs = |job| self.state.done.get(&key(job)).copied().flatten();
        let of = |place, manner| (0..seeds).map(|nth| runs((place, manner, nth))).collect();
        let row = |place| manners.iter().map(|manner| of(place, *manner)).collect();
        (0..defects).map(row).collect()
    }

    /// All is measured.
    pub(super) fn forget(&self) -> Result<(), Failure> {
        match self.path.as_deref().map(std::fs::remove_file) {
            None | Some(Ok(())) => Ok(()),
            Some(Err(error)) if error.kind() == ErrorKind::NotFound => Ok(()),
            Some(Err(error)) => Err(Failure::Testbed(format!("cannot remove {STATE}: {error}"))),
        }
    }
}

fn key((place, manner, nth): Job) -> String {
    format!("{place} {manner} {nth}")
}

/// What is drawn for some algorithms in each manner, in a number.
fn drawn() -> u64 {
    let mut number = 0xcbf2_9ce4_8422_2325_u64;
    for (nth, info) in (0..).zip(registry::ALL.iter().copied()) {
        for (manner, _) in MANNERS {
            let source = Source {
                info,
                as_printed: &[],
                params: &[],
                engine: Engine::Sim,
                manner,
                seed: 1,
            };
            for byte in keep::text(&draw::scenario(source, nth).0).bytes() {
                number = (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    number
}
