//! `sweep.json`: where the runs of a sweep come from.
//!
//! A sweep that was interrupted goes on at another time, perhaps on another machine or with another
//! build: each time is a sitting. What differs from one machine and hour to the next is in this file
//! alone, so that the others repeat to the byte.

use std::io::ErrorKind;
use std::path::Path;

use analysis::files::Provenance;
use chaos::input;
use serde::{Deserialize, Serialize};

/// The file's name.
pub(crate) const NAME: &str = "sweep.json";

/// The form of the file.
const SCHEMA: u32 = 1;

/// The sittings that made a sweep, the first first. One that was killed leaves only its runs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Sittings {
    schema: u32,
    sittings: Vec<Sitting>,
}

/// The runs that were made in one go.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Sitting {
    #[serde(flatten)]
    pub(crate) from: Provenance,
    /// How many runs were made.
    pub(crate) runs: usize,
}

impl Sittings {
    /// Those of the sweep in that directory; none in a new one, or in one from before there was such
    /// a file.
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
                    sittings: Vec::new(),
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

    /// Each of them, the first first.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Sitting> {
        self.sittings.iter()
    }

    /// One more has ended.
    pub(crate) fn add(&mut self, sitting: Sitting) {
        self.sittings.push(sitting);
    }

    /// As the file has them.
    pub(crate) fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("sittings are plain data") + "\n"
    }
}
