//! Challenge files: what is asked of a program, and how it is found out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use analysis::claims::Expectation;
use analysis::quantity::Quantity;
use serde::Deserialize;
use toml::{Table, Value};

use crate::claims::TestKeys;
use crate::commands::explore::WorldSpec;
use crate::embedded;
use crate::scenario::{Layers, read_toml};
use crate::suggest::did_you_mean;

/// Where the challenges of the course are, in the repository and in the program.
const COURSE: &str = "experiments/course";

/// What an expectation calls the number of members.
pub(super) const NODES: &str = "nodes";

/// More runs than this in one check are a mistake.
const MOST_RUNS: u64 = 10_000;

/// What is asked of a program, and the checks that find out.
#[derive(Debug)]
pub(crate) struct Challenge {
    /// What the challenge is called: its file without a number and an ending.
    pub(crate) name: String,
    /// What is to be achieved, in a few words.
    pub(crate) title: String,
    /// What is to be achieved, in sentences.
    pub(crate) asks: String,
    /// A program that passes, for a student who gives up.
    pub(crate) solution: Option<String>,
    /// What a program has to be, whatever it says of itself.
    pub(super) declares: Table,
    /// The checks, in the order in which they are made.
    pub(crate) checks: Vec<Check>,
    /// The file, from which names of other files lead on.
    pub(super) path: PathBuf,
}

/// One thing that is checked.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) name: String,
    pub(crate) points: u32,
    pub(super) kind: Kind,
}

/// How it is checked.
#[derive(Debug)]
pub(super) enum Kind {
    /// `orchestrator external --check` finds nothing.
    Protocol,
    /// Every schedule of a small world ends well.
    Explore(Table),
    /// Runs hold, and are as expected.
    Runs(Box<Runs>),
}

/// Runs of one scenario.
#[derive(Debug)]
pub(super) struct Runs {
    pub(super) scenario: Table,
    /// How many there are, where no seeds are given from elsewhere.
    pub(super) runs: u64,
    pub(super) expects: Option<Expectation>,
    /// What it needs to know that a summary does not have.
    pub(super) measured: Vec<(String, Quantity)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct ChallengeKeys {
    title: String,
    asks: String,
    #[serde(default)]
    solution: Option<String>,
    /// A program that does not pass, for those who test the challenge.
    #[serde(default, rename = "wrong")]
    _wrong: Option<String>,
    #[serde(default)]
    declares: Table,
    #[serde(default)]
    check: Vec<CheckKeys>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct CheckKeys {
    name: String,
    points: u32,
    #[serde(default)]
    protocol: bool,
    #[serde(default)]
    explore: Option<Table>,
    #[serde(default)]
    run: Option<Table>,
    #[serde(default)]
    runs: Option<u64>,
    #[serde(default)]
    expects: Option<TestKeys>,
}

/// The challenges of the course, in their order.
pub(crate) fn course() -> Result<Vec<Challenge>, String> {
    let paths = embedded::list(Path::new(COURSE), "toml")
        .map_err(|error| format!("cannot read the challenges in {COURSE}: {error}"))?;
    paths.iter().map(|path| Challenge::read(path)).collect()
}

impl Challenge {
    /// The challenge of the course that has this name, or the file.
    pub(crate) fn find(target: &str) -> Result<Self, String> {
        if Layers::names_a_file(target) {
            return Self::read(Path::new(target));
        }
        let mut course = course()?;
        if let Some(place) = course.iter().position(|known| known.name == target) {
            return Ok(course.swap_remove(place));
        }
        let names = course.iter().map(|known| known.name.as_str());
        let hint = did_you_mean(target, names.clone());
        let names = names.collect::<Vec<_>>().join(", ");
        Err(format!(
            "there is no challenge '{target}'{hint}\nThere are {names}; a file of your own ends in .toml."
        ))
    }

    fn read(path: &Path) -> Result<Self, String> {
        let keys = read_toml::<ChallengeKeys>(path, "challenge")?;
        Self::new(keys, path).map_err(|why| format!("{}: {why}", path.display()))
    }

    fn new(keys: ChallengeKeys, path: &Path) -> Result<Self, String> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = match stem.split_once('-') {
            Some((number, name)) if number.parse::<u32>().is_ok() => name.to_owned(),
            _ => stem.into_owned(),
        };
        if keys.check.is_empty() {
            return Err("nothing is checked; write [[check]] with a name and points".to_owned());
        }
        let mut names = BTreeSet::new();
        let mut checks = Vec::new();
        for check in keys.check {
            let wrong = |why: String| format!("check '{}': {why}", check.name);
            if !names.insert(check.name.clone()) {
                return Err(wrong("it is there twice".to_owned()));
            }
            if check.points == 0 {
                return Err(wrong("points: at least 1".to_owned()));
            }
            let kind = kind(&check, path).map_err(wrong)?;
            checks.push(Check {
                name: check.name,
                points: check.points,
                kind,
            });
        }
        let declared = keys.declares.clone();
        let declared = declared.try_into::<algorithms::external::Declaration>();
        declared.map_err(|error| format!("declares: {}", error.message()))?;
        Ok(Self {
            name,
            title: keys.title,
            asks: keys.asks,
            solution: keys.solution,
            declares: keys.declares,
            checks,
            path: path.to_owned(),
        })
    }

    /// What there is to be had.
    pub(crate) fn points(&self) -> u32 {
        self.checks.iter().map(|check| check.points).sum()
    }
}

fn kind(check: &CheckKeys, path: &Path) -> Result<Kind, String> {
    let only_runs = |key: &str| Err(format!("{key}: only a check with run = {{ … }} has this"));
    match (check.protocol, &check.explore, &check.run) {
        (_, _, None) if check.runs.is_some() => only_runs("runs"),
        (_, _, None) if check.expects.is_some() => only_runs("expects"),
        (true, None, None) => Ok(Kind::Protocol),
        (false, Some(world), None) => {
            belongs_to_the_program(world, &["algorithm", "program", "declares", "replay"])?;
            let whole = with(world, [("algorithm", "external".into())]);
            let spec = whole.try_into::<WorldSpec>();
            spec.map_err(|error| format!("explore: {}", error.message()))?;
            Ok(Kind::Explore(world.clone()))
        }
        (false, None, Some(scenario)) => {
            let own = ["algorithm", "program", "declares", "seed", "name", "trace"];
            belongs_to_the_program(scenario, &own)?;
            Layers::from_table(scenario.clone(), path)
                .map_err(|why| format!("run: {why}"))?;
            let runs = check.runs.unwrap_or(1);
            if !(1..=MOST_RUNS).contains(&runs) {
                return Err(format!("runs: 1 to {MOST_RUNS}"));
            }
            let expects = check.expects.as_ref().map(TestKeys::plain_expectation);
            let expects = expects.transpose();
            let expects = expects.map_err(|why| format!("expects: {why}"))?;
            let mut measured = Vec::new();
            let names = expects.iter().flat_map(Expectation::names);
            for name in names.filter(|name| *name != NODES) {
                match Quantity::parse(name).map_err(|why| format!("expects: {why}"))? {
                    Quantity::Column(_) => {}
                    quantity => measured.push((name.to_owned(), quantity)),
                }
            }
            Ok(Kind::Runs(Box::new(Runs {
                scenario: scenario.clone(),
                runs,
                expects,
                measured,
            })))
        }
        _ => Err(
            "one of protocol = true, explore = { nodes = 3 } and run = { nodes = 5 } says what is done"
                .to_owned(),
        ),
    }
}

/// What a challenge leaves to the program and to the person who grades.
fn belongs_to_the_program(table: &Table, keys: &[&str]) -> Result<(), String> {
    match keys.iter().find(|key| table.contains_key(**key)) {
        Some(key) => Err(format!(
            "{key}: a challenge leaves this open; what a program has to be stands in [declares]"
        )),
        None => Ok(()),
    }
}

/// The table with these keys as well.
pub(super) fn with(table: &Table, more: impl IntoIterator<Item = (&'static str, Value)>) -> Table {
    let mut table = table.clone();
    table.extend(more.into_iter().map(|(key, value)| (key.to_owned(), value)));
    table
}
