//! Flags and file together, and where each value comes from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::workload::KeyError;
use toml::Table;

use super::resolve::{self, Origin, Resolved};
use super::workload_word::WorkloadWord;
use super::{Scenario, file, load};

/// A scenario from flags and a file together, and which of them each value comes from.
#[derive(Debug)]
pub struct Layers {
    scenario: Scenario,
    by_flags: BTreeSet<String>,
    by_file: Option<file::File>,
}

impl Layers {
    /// The layers of `target`, an algorithm or a scenario file, and these flags.
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
        let by_flags = flags.keys();
        let below = by_file.as_ref().map(|file| below(&file.scenario, &flags));
        let scenario = flags.over(below.unwrap_or_default());
        Ok(Self {
            scenario,
            by_flags,
            by_file,
        })
    }

    /// The layers of a table with the keys of a scenario, which stands in a file.
    pub(crate) fn from_table(table: Table, path: &Path) -> Result<Self, String> {
        Self::over_table(table, path, Scenario::default())
    }

    /// The layers of such a table and these flags.
    pub(crate) fn over_table(table: Table, path: &Path, flags: Scenario) -> Result<Self, String> {
        let scenario = table.try_into::<Scenario>();
        let scenario = scenario.map_err(|error| file::in_our_words(error.message()))?;
        Ok(Self {
            by_flags: flags.keys(),
            scenario: flags.over(below(&scenario, &Scenario::default())),
            by_file: Some(file::File {
                path: path.to_owned(),
                scenario,
                lines: BTreeMap::new(),
            }),
        })
    }

    /// Takes the word `manual` out of the scenario, for somebody who lets a person ask: whether it was
    /// there. Without it the plan has a batch.
    pub(crate) fn take_manual(&mut self) -> bool {
        let manual = self.scenario.workload == WorkloadWord::named("manual");
        if manual {
            self.scenario.workload = WorkloadWord::named("batch");
        }
        manual
    }

    /// The scenario, with the values of all layers.
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
        resolved.map_err(|KeyError { key, why }| format!("{key}: {why}"))
    }

    /// The plan that this makes, or what is wrong with it and in which flag or line.
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

    fn locate(&self, KeyError { key, why }: &KeyError) -> String {
        let line = |file: &file::File| {
            let line = file.lines.get(*key)?;
            Some(format!("{}:{line}: {key}", file.path.display()))
        };
        let by_file = self.by_file.as_ref().and_then(line);
        match (self.by_flags.contains(*key), by_file) {
            (true, _) if *key == "algorithm" => why.clone(),
            (true, _) if *key == "params" => format!("--param: {why}"),
            (true, _) if *key == "program" => why.clone(),
            (true, _) => format!("--{key}: {why}"),
            (false, Some(place)) => format!("{place}: {why}"),
            (false, None) => match &self.by_file {
                Some(file) => format!("{}: {why}", file.path.display()),
                None => why.clone(),
            },
        }
    }
}

/// What the file says, without what flags replace under another key.
fn below(file: &Scenario, flags: &Scenario) -> Scenario {
    let mut below = file.clone();
    let kind = file.workload.unwrap_or_default();
    if flags.workload.is_some_and(|other| other != kind) {
        below = below.without(&load::own_keys().collect::<Vec<_>>());
    }
    if flags.entries.is_some() || flags.total.is_some() || flags.duration.is_some() {
        below = below.without(&["entries", "total", "duration"]);
    }
    if flags.rate.is_some() || flags.gap.is_some() {
        below = below.without(&["rate", "gap"]);
    }
    if flags.detector.is_some() || flags.detect_after.is_some() {
        below = below.without(&["detector", "detect-after"]);
    }
    below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(file: &str, flags: &[&str]) -> Scenario {
        let file = toml::from_str(file).expect("a scenario");
        let flags = Scenario::from_flags(flags).expect("flags");
        let below = below(&file, &flags);
        flags.over(below)
    }

    #[test]
    fn flags_lie_over_the_file_key_by_key() {
        let both = layers(
            "nodes = 5\nentries = 3\nloss = \"5%\"\nparams = { a = 1, b = 2 }",
            &["--total", "9", "--param", "b=3"],
        );
        let keys = ["loss", "nodes", "params", "total"];
        assert!(both.keys().iter().eq(&keys), "{:?}", both.keys());
        let params = both.params.iter().map(|param| param.value.as_str());
        assert!(params.eq(["1", "3"]), "{:?}", both.params);
    }

    #[test]
    fn another_workload_drops_what_only_the_first_has() {
        let file = "think = \"1ms\"\nhold = \"2ms\"";
        let keys = |flags: &[&str]| layers(file, flags).keys();
        assert!(
            keys(&["--workload", "open"])
                .iter()
                .eq(&["hold", "workload"])
        );
        assert!(keys(&["--workload", "closed"]).contains("think"));
    }
}
