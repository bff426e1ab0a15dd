//! One share of a sweep, for machines that work side by side.
//!
//! ```text
//!   sweep FILE --shard 1/3 ──► DIR/shards/1-of-3 ─╮
//!   sweep FILE --shard 2/3 ──► DIR/shards/2-of-3 ─┼──► sweep FILE --merge DIR ──► what one sweep writes
//!   sweep FILE --shard 3/3 ──► DIR/shards/3-of-3 ─╯
//! ```
//!
//! Cells are dealt in turn, so that neighbours, which often take as long as each other, go to different
//! shards. A shard is the directory of a sweep that has only its own runs, and is resumed like one.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::journal::{self, Journal};
use super::provenance::Invocation;
use super::{Done, Grid, SweepProvenance, Swept, conclude, manifest};
use crate::{Failure, results};

/// The directory of a sweep's shards, in that of the sweep.
const SHARDS: &str = "shards";

/// One share of a sweep, or of a reproduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// Its number, from 1.
    number: usize,
    /// How many shards there are.
    of: usize,
}

/// Which runs of a sweep to make, and how many at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Share {
    /// The shard whose runs are made; all of them where there is none.
    pub(crate) shard: Option<Shard>,
    /// How many simulated runs are made side by side; by default one for each processor.
    pub(crate) jobs: Option<NonZeroUsize>,
}

impl Share {
    /// Whether the runs of this cell are to be made.
    pub(super) fn has(&self, cell: usize) -> bool {
        self.shard.is_none_or(|shard| shard.has(cell))
    }

    /// Where the runs go, below the directory of the sweep.
    pub(super) fn place(&self, directory: &Path) -> PathBuf {
        match self.shard {
            Some(shard) => shard.place(directory),
            None => directory.to_owned(),
        }
    }
}

impl Shard {
    /// All shards of a sweep that is divided in so many.
    pub(crate) fn all(of: usize) -> impl Iterator<Item = Self> {
        (1..=of).map(move |number| Self { number, of })
    }

    /// Whether what comes in this place, counted from 0, is dealt to it.
    pub(crate) fn has(self, place: usize) -> bool {
        place % self.of + 1 == self.number
    }

    /// Says why so many cells cannot be divided so, if they cannot.
    pub(crate) fn check(self, cells: usize) -> Result<(), String> {
        match self.of <= cells {
            true => Ok(()),
            false => Err(format!(
                "--shard {self}: the sweep has {cells} cells, and some shards would have none; write at \
                 most {cells} behind the stroke"
            )),
        }
    }

    fn place(self, directory: &Path) -> PathBuf {
        let Self { number, of } = self;
        directory.join(SHARDS).join(format!("{number}-of-{of}"))
    }

    /// The shard that a directory of this name holds.
    fn named(name: &str) -> Option<Self> {
        let (number, of) = name.split_once("-of-")?;
        format!("{number}/{of}").parse().ok()
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/');
        let numbers = numbers
            .and_then(|(number, of)| Some((number.trim().parse().ok()?, of.trim().parse().ok()?)));
        match numbers {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err(format!(
                "'{text}' is no shard; write 3/8 for the third of eight"
            )),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// Puts the shards in the directory of a sweep together: its files are then what one sweep writes. Refuses
/// shards of another sweep or commit, and names those that are missing.
pub(crate) fn merge(grid: &Grid, directory: &Path) -> Result<Swept, Failure> {
    let of = divided_in(directory)?;
    let manifest = grid.manifest();
    let mut done = Vec::new();
    let mut invocations = Vec::new();
    let mut missing = Vec::new();
    let mut commits = BTreeSet::from([results::commit()]);
    for shard in Shard::all(of) {
        let place = shard.place(directory);
        if !place.is_dir() {
            missing.push(format!("{shard} is not there"));
            continue;
        }
        let part = read(grid, &manifest, shard, &place)?;
        let cells = (0..grid.cells.len()).filter(|&cell| shard.has(cell));
        let runs = cells.count() as u64 * grid.repetitions;
        let there = part.done.len() as u64;
        if there < runs {
            missing.push(format!("{shard} has {there} of {runs} runs"));
        }
        commits.extend(part.invocations.iter().map(|one| one.from.commit.clone()));
        invocations.extend(part.invocations);
        done.extend(part.done);
    }
    if commits.len() > 1 {
        let word = |commit: &Option<String>| commit.clone().unwrap_or("unknown".to_owned());
        let all = commits.iter().map(word).collect::<Vec<_>>().join(", ");
        return Err(Failure::Usage(format!(
            "{}: the shards and this program were not built from one commit, but from {all}; make the \
             shards again with one program, and merge them with it",
            directory.display()
        )));
    }
    if !missing.is_empty() {
        return Err(Failure::Usage(format!(
            "{}: {}; make them with --shard, and merge again",
            directory.display(),
            listed(&missing)
        )));
    }
    done.sort_by_key(|run| (run.cell, run.repetition));
    let (journal, before) = Journal::open(grid, directory)?;
    if before.iter().any(|run| {
        let key = (run.cell, run.repetition);
        let place = done.binary_search_by_key(&key, |run| (run.cell, run.repetition));
        place.is_ok_and(|place| done[place] != *run)
    }) {
        return Err(Failure::Usage(format!(
            "{} has runs of its own that are not those of its shards; remove its runs.csv, or merge \
             elsewhere",
            directory.display()
        )));
    }
    invocations.sort_by(|one, other| one.from.started.cmp(&other.from.started));
    SweepProvenance::made_by(invocations).write(directory)?;
    conclude(grid, directory, journal, done)
}

/// The runs of one shard.
struct Part {
    done: Vec<Done>,
    invocations: Vec<Invocation>,
}

/// The runs of one shard, if it is of the sweep with this manifest.
fn read(grid: &Grid, expected: &str, shard: Shard, place: &Path) -> Result<Part, Failure> {
    let unfit = |why: &str| {
        Failure::Usage(format!(
            "{} {why}; remove it and make --shard {shard} again, or name the sweep that it is of",
            place.display()
        ))
    };
    let manifest = safe_io::input::read_text(&place.join(manifest::NAME));
    let manifest = manifest.map_err(|error| unfit(&format!("has no sweep ({error})")))?;
    if manifest != expected {
        return Err(unfit(
            "is of another sweep, or of this one before it was changed",
        ));
    }
    let done = journal::read(grid, &place.join(journal::RUNS))?;
    if done.iter().any(|run| !shard.has(run.cell)) {
        return Err(unfit("has runs of other shards"));
    }
    let invocations = SweepProvenance::read(place).map_err(Failure::Usage)?;
    Ok(Part {
        done,
        invocations: invocations.iter().cloned().collect(),
    })
}

/// In how many shards the sweep of that directory is divided.
fn divided_in(directory: &Path) -> Result<usize, Failure> {
    let place = directory.join(SHARDS);
    let refuse = |why: String| Failure::Usage(format!("{}: {why}", place.display()));
    let entries = match fs::read_dir(&place) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let why = "there are no shards; make them with --shard 1/N to N/N and this directory as --out";
            return Err(refuse(why.to_owned()));
        }
        Err(error) => return Err(refuse(error.to_string())),
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let shards = names.filter_map(|name| Shard::named(&name));
    let divisions = shards.map(|shard| shard.of).collect::<BTreeSet<_>>();
    match Vec::from_iter(&divisions)[..] {
        [of] => Ok(*of),
        [] => Err(refuse("there are no shards in it".to_owned())),
        [one, other, ..] => Err(refuse(format!(
            "there are shards of a division in {one} and in {other}; remove those that are not meant"
        ))),
    }
}

/// The first of these, and how many more.
fn listed(all: &[String]) -> String {
    const NAMED: usize = 10;
    let named = all.iter().take(NAMED).map(|one| format!("shard {one}"));
    let named = named.collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_dealt_in_turn_and_each_once() {
        for of in 1..6 {
            let dealt = |cell| Shard::all(of).filter(move |shard| shard.has(cell)).count();
            assert!((0..20).all(|cell| dealt(cell) == 1));
        }
        let second = "2/3".parse::<Shard>().unwrap();
        let cells = (0..8).filter(|&cell| second.has(cell));
        assert_eq!(cells.collect::<Vec<_>>(), [1, 4, 7]);
    }

    #[test]
    fn what_is_no_shard_is_refused() {
        for wrong in ["", "3", "0/3", "4/3", "1/0", "-1/3", "a/3", "1/3/3"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
        assert_eq!(Shard::named("3-of-8"), "3/8".parse().ok());
        assert_eq!(Shard::named("9-of-8"), None);
        let wide = "1/9".parse::<Shard>().unwrap();
        assert!(wide.check(8).is_err() && wide.check(9).is_ok());
    }
}
