//! `sweep.json`: where the runs of a sweep come from.
//!
//! A sweep that was interrupted goes on at another time, perhaps on another machine or with another
//! build: each time is an invocation. What differs from one machine and hour to the next is in this file
//! alone, so that the others repeat to the byte.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use analysis::files::Provenance;
use safe_io::input;
use serde::{Deserialize, Serialize};

use crate::{Failure, results};

/// The name of the file in the directory of a sweep.
pub(crate) const NAME: &str = "sweep.json";

/// The version of the format of the file.
const SCHEMA: u32 = 1;

/// The invocations that made a sweep, in the order of time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SweepProvenance {
    schema: u32,
    /// The file has had this name for them from the beginning.
    #[serde(rename = "sittings")]
    invocations: Vec<Invocation>,
}

/// The runs that one invocation of the program made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Invocation {
    #[serde(flatten)]
    pub(crate) from: Provenance,
    /// How many runs were made; after a kill the next invocation counts them.
    pub(crate) runs: usize,
    /// The invocation's process is at work, or was killed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unfinished: bool,
}

/// Counts the runs of this invocation: every run that is written down belongs to one, whatever ends
/// it.
#[derive(Debug)]
pub(crate) struct InvocationLog {
    path: PathBuf,
    /// The invocations before this one.
    earlier: SweepProvenance,
    opened: SystemTime,
    runs: usize,
}

impl InvocationLog {
    /// Begins an invocation for the sweep in that directory, whose `runs.csv` has `written` runs.
    pub(crate) fn open(directory: &Path, written: usize) -> Result<Self, String> {
        let mut earlier = SweepProvenance::read(directory)?;
        let counted: usize = earlier.iter().map(|invocation| invocation.runs).sum();
        if let Some(last) = earlier
            .invocations
            .last_mut()
            .filter(|last| last.unfinished)
        {
            last.runs += written.saturating_sub(counted);
        }
        Ok(Self {
            path: directory.join(NAME),
            earlier,
            opened: SystemTime::now(),
            runs: 0,
        })
    }

    /// One more run is about to be written down; the first one writes the invocation down.
    pub(crate) fn add(&mut self) -> Result<(), Failure> {
        if self.runs == 0 {
            self.write(true)?;
        }
        self.runs += 1;
        Ok(())
    }

    /// How many runs were made in this invocation.
    pub(crate) fn runs(&self) -> usize {
        self.runs
    }

    /// The invocation is over. One in which no run was made leaves no trace.
    pub(crate) fn close(&self) -> Result<(), Failure> {
        match self.runs {
            0 => Ok(()),
            _ => self.write(false),
        }
    }

    fn write(&self, unfinished: bool) -> Result<(), Failure> {
        let mut all = self.earlier.clone();
        all.invocations.push(Invocation {
            // A sweep is named by its directory.
            from: results::provenance("", self.opened),
            runs: self.runs,
            unfinished,
        });
        results::replace(&self.path, &all.text())
    }
}

impl SweepProvenance {
    /// The invocations of the sweep in that directory; none in a new one, or in one from before there
    /// was such a file.
    pub(crate) fn read(directory: &Path) -> Result<Self, String> {
        let path = directory.join(NAME);
        let unfit = |why: String| {
            let path = path.display();
            format!("{path} cannot be understood ({why}); remove it, and nothing but it is lost")
        };
        let text = match input::read_text(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self {
                    schema: SCHEMA,
                    invocations: Vec::new(),
                });
            }
            Err(error) => return Err(unfit(error.to_string())),
        };
        let read = serde_json::from_str::<Self>(&text).map_err(|error| unfit(error.to_string()))?;
        match read.schema {
            SCHEMA => Ok(read),
            schema => Err(unfit(format!("its schema is {schema}, expected {SCHEMA}"))),
        }
    }

    /// A sweep that these invocations made, in the order of time.
    pub(super) fn made_by(invocations: Vec<Invocation>) -> Self {
        Self {
            schema: SCHEMA,
            invocations,
        }
    }

    /// Writes the file in the directory of a sweep.
    pub(super) fn write(&self, directory: &Path) -> Result<(), Failure> {
        results::replace(&directory.join(NAME), &self.text())
    }

    /// The invocations, in the order of time.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Invocation> {
        self.invocations.iter()
    }

    /// The text of `sweep.json`.
    fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("invocations are plain data") + "\n"
    }
}
