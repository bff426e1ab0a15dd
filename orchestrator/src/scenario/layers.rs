//! Flags and file together: who said what.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::{Table, Value};

use super::resolve::{self, Origin, Resolved, ScenarioError};
use super::{Scenario, file};

/// What flags and a scenario file say together, and which of them said what.
#[derive(Debug)]
pub struct Layers {
    scenario: Scenario,
    by_flags: BTreeSet<String>,
    by_file: Option<file::File>,
}

/// Keys of which a flag replaces all that the file says.
const ONE_OF: [&[&str]; 3] = [
    &["entries", "total", "duration"],
    &["rate", "gap"],
    &["detector", "detect-after"],
];

/// Keys that mean something for one workload only: another workload in the flags takes them away.
const OF_A_WORKLOAD: [&str; 8] = [
    "think", "rate", "gap", "asks", "settled", "askers", "within", "arrivals",
];

impl Layers {
    /// What is said by naming `target`, an algorithm or a scenario file, and these flags.
    pub fn new(target: &str, mut flags: Scenario) -> Result<Self, String> {
        flags.says_nothing_twice()?;
        let by_file = if Self::names_a_file(target) {
            Some(file::read(Path::new(target))?)
        } else {
            if let Some(other) = flags.algorithm.replace(target.to_owned()) {
                return Err(format!(
                    "two algorithms are named: {target} and --algorithm {other}; \
                     the flag is for scenario files"
                ));
            }
            None
        };
        let flags = table_of(&flags);
        let by_flags = flags.keys().cloned().collect();
        let scenario = match &by_file {
            None => scenario_of(flags),
            Some(file) => scenario_of(overlay(table_of(&file.scenario), flags)),
        };
        Ok(Self {
            scenario,
            by_flags,
            by_file,
        })
    }

    /// What a table with a scenario's keys says that stands in a file.
    pub(crate) fn from_table(table: Table, path: &Path) -> Result<Self, String> {
        let scenario = table.try_into::<Scenario>();
        let scenario = scenario.map_err(|error| file::in_our_words(error.message()))?;
        Ok(Self {
            scenario: scenario.clone(),
            by_flags: BTreeSet::new(),
            by_file: Some(file::File {
                path: path.to_owned(),
                scenario,
                lines: BTreeMap::new(),
            }),
        })
    }

    /// All of it together.
    pub(crate) fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Whether this is the name of a file rather than of an algorithm.
    pub(crate) fn names_a_file(target: &str) -> bool {
        target.ends_with(".toml") || target.contains('/')
    }

    /// The plan that this makes with that seed.
    pub(crate) fn resolve_with_seed(&self, seed: u64) -> Result<Resolved, String> {
        let scenario = Scenario {
            seed: Some(seed),
            ..self.scenario.clone()
        };
        let folder = self.by_file.as_ref().and_then(|file| file.path.parent());
        let origin = Origin {
            name: None,
            folder: folder.unwrap_or(Path::new("")),
            by_flags: &self.by_flags,
        };
        let resolved = resolve::resolve(&scenario, &origin);
        resolved.map_err(|ScenarioError { key, why }| format!("{key}: {why}"))
    }

    /// The plan that this makes, or what is wrong with it and where that was said.
    pub fn resolve(&self) -> Result<Resolved, String> {
        let file = self.by_file.as_ref();
        let path = file.map(|file| file.path.as_path());
        let stem = path
            .and_then(Path::file_stem)
            .map(|stem| stem.to_string_lossy());
        let origin = Origin {
            name: stem.as_deref(),
            folder: path.and_then(Path::parent).unwrap_or(Path::new("")),
            by_flags: &self.by_flags,
        };
        resolve::resolve(&self.scenario, &origin).map_err(|error| self.locate(&error))
    }

    fn locate(&self, ScenarioError { key, why }: &ScenarioError) -> String {
        let line = |file: &file::File| {
            let line = file.lines.get(*key)?;
            Some(format!("{}:{line}: {key}", file.path.display()))
        };
        let by_file = self.by_file.as_ref().and_then(line);
        match (self.by_flags.contains(*key), by_file) {
            (true, _) if *key == "algorithm" => why.clone(),
            (true, _) if *key == "params" => format!("--param: {why}"),
            (true, _) => format!("--{key}: {why}"),
            (false, Some(place)) => format!("{place}: {why}"),
            (false, None) => match &self.by_file {
                Some(file) => format!("{}: {why}", file.path.display()),
                None => why.clone(),
            },
        }
    }
}

/// What the file says, except where the flags say otherwise.
fn overlay(mut file: Table, flags: Table) -> Table {
    let unless_said = Value::from("closed");
    let said = file.get("workload").unwrap_or(&unless_said);
    if flags.get("workload").is_some_and(|flag| flag != said) {
        file.retain(|key, _| !OF_A_WORKLOAD.contains(&key));
    }
    for group in ONE_OF {
        if group.iter().any(|key| flags.contains_key(*key)) {
            file.retain(|key, _| !group.contains(&key));
        }
    }
    for (key, value) in flags {
        match (file.get_mut(&key), value) {
            (Some(Value::Table(params)), Value::Table(flags)) => params.extend(flags),
            (_, value) => {
                file.insert(key, value);
            }
        }
    }
    file
}

fn table_of(scenario: &Scenario) -> Table {
    Table::try_from(scenario).expect("a scenario is plain data")
}

fn scenario_of(table: Table) -> Scenario {
    table.try_into().expect("every part of it was a scenario")
}
