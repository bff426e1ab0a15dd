//! A sweep as a person writes it, and the cells it means.
//!
//! `docs/sweeps.md` has every key, with an example.

use std::collections::BTreeSet;
use std::path::Path;

use analysis::quantity::Quantity;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::figure::Plot;
use crate::embedded;
use crate::names::directory_name;
use crate::scenario::{Layers, Resolved, maybe_whole};

/// A sweep as a file says it, or as a command that needs no file makes it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct SweepKeys {
    /// The sweep's name; by default that of its file.
    pub(crate) name: Option<String>,
    /// How many times each cell runs, 5 by default.
    #[serde(deserialize_with = "maybe_whole")]
    pub(crate) repetitions: Option<u64>,
    /// The first repetition's seed, 1 by default; the next repetition has the next number.
    #[serde(deserialize_with = "maybe_whole")]
    pub(crate) seed: Option<u64>,
    /// Quantities beside the columns of a summary.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) measure: Vec<String>,
    /// The keys of a scenario that all cells share.
    pub(crate) scenario: Table,
    /// The keys in which cells differ, each with its values; every combination is a cell.
    pub(crate) grid: Table,
    /// Alternatives that differ in several keys at once; each is combined with the whole grid.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) variant: Vec<Table>,
    /// The picture of the results, if one is wanted.
    pub(crate) plot: Option<Plot>,
}

/// All cells of a sweep.
#[derive(Debug)]
pub(crate) struct Grid {
    pub(crate) name: String,
    pub(crate) repetitions: u64,
    /// The seed of the first repetition; the next has the next number.
    pub(crate) seed: u64,
    /// The keys in which cells differ.
    pub(crate) keys: Vec<String>,
    pub(crate) cells: Vec<Cell>,
    /// What is measured beside the columns of a summary, each with its name.
    pub(crate) measured: Vec<(String, Quantity)>,
    pub(crate) plot: Option<Plot>,
    /// The sweep file as it was written, which `sweep.toml` in the results repeats.
    pub(crate) text: String,
}

/// One combination of the values in which cells differ.
#[derive(Debug)]
pub(crate) struct Cell {
    /// The values of the cell, one for each key of the grid.
    pub(crate) values: Vec<String>,
    layers: Layers,
}

/// The key by which a variant has a name; it is no key of a scenario.
const NAME: &str = "variant";

/// More cells than this are a mistake.
const MOST_CELLS: usize = 100_000;

/// More runs than this are a mistake, too: a row of each is kept in memory.
const MOST_RUNS: u64 = 1_000_000;

fn check_runs(cells: usize, repetitions: u64) -> Result<(), String> {
    match (cells as u64).saturating_mul(repetitions) {
        runs if runs <= MOST_RUNS => Ok(()),
        _ => Err(format!(
            "repetitions: {cells} cells, {repetitions} times each, are more than {MOST_RUNS} runs"
        )),
    }
}

impl Grid {
    /// Reads a sweep file.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let text = embedded::read_text(path)
            .map_err(|error| format!("cannot read the sweep {}: {error}", path.display()))?;
        if let Ok(table) = text.parse::<Table>()
            && table.contains_key("algorithm")
        {
            let path = path.display();
            return Err(format!(
                "{path}: this is a scenario; use `orchestrator run {path}`"
            ));
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Self::parse(&text, &stem, path)
    }

    /// What a sweep file says that stands there; where there is no file, the path is empty.
    pub(crate) fn parse(text: &str, stem: &str, path: &Path) -> Result<Self, String> {
        let sweep = toml::from_str::<SweepKeys>(text)
            .map_err(|error| crate::scenario::complaint(path, text, &error))?;
        Self::new(sweep, stem, path, text.to_owned()).map_err(|why| located(path, why))
    }

    /// The sweep of that name that a command makes without a file of its own. The scenario may come
    /// from a file: names of files in it are relative to `path`.
    pub(crate) fn made(sweep: SweepKeys, stem: &str, path: &Path) -> Result<Self, String> {
        let table = Table::try_from(&sweep).map_err(|error| located(path, error.to_string()))?;
        Self::new(sweep, stem, path, table.to_string()).map_err(|why| located(path, why))
    }

    /// The sweep of that name that these keys mean; file names in it are relative to `path`.
    pub(crate) fn new(
        sweep: SweepKeys,
        stem: &str,
        path: &Path,
        text: String,
    ) -> Result<Self, String> {
        let repetitions = sweep.repetitions.unwrap_or(5);
        if repetitions == 0 {
            return Err("repetitions: at least 1".to_owned());
        }
        for key in ["seed", "name"] {
            if sweep.scenario.contains_key(key) || sweep.grid.contains_key(key) {
                return Err(format!(
                    "{key}: it stands at the top of a sweep, not in a cell"
                ));
            }
        }
        let axes = axes(&sweep.grid)?;
        let mut combinations = vec![Vec::new()];
        for (key, values) in &axes {
            let longer = combinations.iter().flat_map(|combination| {
                values.iter().map(move |value| {
                    let pair: (&str, &Value) = (key, value);
                    [combination.as_slice(), &[pair]].concat()
                })
            });
            combinations = longer.collect();
            if combinations.len() > MOST_CELLS {
                return Err(format!("grid: more than {MOST_CELLS} cells"));
            }
        }
        let variants = match sweep.variant.as_slice() {
            [] => vec![Table::new()],
            some => some.to_vec(),
        };
        let variant_keys = variants.iter().flat_map(|variant| flat("", variant));
        let mut keys = Vec::new();
        for key in variant_keys.map(|(key, _)| key) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        if let Some(twice) = keys
            .iter()
            .find(|key| axes.iter().any(|(axis, _)| axis == *key))
        {
            return Err(format!("{twice}: it is in the grid and in a variant"));
        }
        let varied = keys.len();
        keys.extend(axes.iter().map(|(key, _)| key.clone()));
        let all = combinations.len().saturating_mul(variants.len());
        if all > MOST_CELLS {
            return Err(format!("grid and variants: more than {MOST_CELLS} cells"));
        }
        check_runs(all, repetitions)?;
        let mut cells = Vec::new();
        for variant in &variants {
            let own = flat("", variant);
            let value_of = |key: &String| {
                let value = own.iter().find(|(name, _)| name == key);
                value.map_or_else(String::new, |(_, value)| shown(value))
            };
            let varied = keys[..varied].iter().map(value_of).collect::<Vec<_>>();
            for combination in &combinations {
                let mut table = sweep.scenario.clone();
                let parts = own.iter().filter(|(key, _)| key != NAME);
                let parts = parts.map(|(key, value)| (key.as_str(), *value));
                for (key, value) in parts.chain(combination.iter().copied()) {
                    put(&mut table, key, value.clone())?;
                }
                let values = combination.iter().map(|(_, value)| shown(value));
                let values = varied.iter().cloned().chain(values).collect::<Vec<_>>();
                let layers = Layers::from_table(table, path)
                    .map_err(|why| format!("in the cell {}: {why}", label(&keys, &values)))?;
                cells.push(Cell { values, layers });
            }
        }
        let mut measure = sweep.measure;
        if let Some(plot) = &sweep.plot {
            plot.add_to(&mut measure)?;
        }
        let measured = measure.into_iter().map(|name| {
            let quantity = Quantity::parse(&name).map_err(|why| format!("measure: {why}"))?;
            Ok((name, quantity))
        });
        let name = sweep.name.unwrap_or_else(|| stem.to_owned());
        let grid = Self {
            name: directory_name(&name)
                .map_err(|why| format!("name: {why}"))?
                .to_owned(),
            repetitions,
            seed: sweep.seed.unwrap_or(1),
            keys,
            cells,
            measured: measured.collect::<Result<_, String>>()?,
            plot: sweep.plot,
            text,
        };
        grid.check()?;
        Ok(grid)
    }

    /// Everything that can be wrong is found before anything runs.
    fn check(&self) -> Result<(), String> {
        let mut fitting = vec![false; self.measured.len()];
        for cell in 0..self.cells.len() {
            let resolved = self.resolve(cell, 0)?;
            let info = resolved.plan.info();
            let kinds = resolved.plan.machine().kinds();
            for (fits, (_, quantity)) in fitting.iter_mut().zip(&self.measured) {
                *fits |= quantity.fits(info, kinds);
            }
        }
        if let Some(place) = fitting.iter().position(|fits| !fits) {
            let (name, _) = &self.measured[place];
            return Err(format!("measure: no algorithm of the sweep has '{name}'"));
        }
        if let Some(plot) = &self.plot {
            self.check_plot(plot)?;
        }
        Ok(())
    }

    /// Changes how many times each cell runs.
    pub(crate) fn repeat(&mut self, repetitions: u64) -> Result<(), String> {
        if repetitions == 0 {
            return Err("--repetitions: at least 1".to_owned());
        }
        check_runs(self.cells.len(), repetitions).map_err(|why| format!("--{why}"))?;
        self.repetitions = repetitions;
        Ok(())
    }

    /// What a run of a cell does.
    pub(crate) fn resolve(&self, cell: usize, repetition: u64) -> Result<Resolved, String> {
        let Cell { values, layers } = &self.cells[cell];
        let resolved = layers.resolve_with_seed(self.seed.wrapping_add(repetition));
        let resolved = resolved.and_then(|resolved| match resolved.plan.trace {
            false => Ok(resolved),
            true => {
                Err("trace: of these runs only numbers are kept; trace one with run".to_owned())
            }
        });
        resolved.map_err(|why| match values.as_slice() {
            [] => why,
            values => format!("in the cell {}: {why}", label(&self.keys, values)),
        })
    }

    /// How many runs there are.
    pub(crate) fn runs(&self) -> u64 {
        self.cells.len() as u64 * self.repetitions
    }
}

/// What is wrong, with the file where it is wrong, if there is one.
fn located(path: &Path, why: String) -> String {
    match path.as_os_str().is_empty() {
        true => why,
        false => format!("{}: {why}", path.display()),
    }
}

/// The name of a cell: `algorithm=raymond nodes=5`.
pub(crate) fn label(keys: &[String], values: &[String]) -> String {
    let pairs = keys
        .iter()
        .zip(values)
        .filter(|(_, value)| !value.is_empty());
    let pairs = pairs.map(|(key, value)| format!("{key}={value}"));
    pairs.collect::<Vec<_>>().join(" ")
}

/// The keys of the grid and the values of each.
fn axes(grid: &Table) -> Result<Vec<(String, Vec<Value>)>, String> {
    let axes = flat("", grid).into_iter().map(|(key, value)| match value {
        Value::Array(values) if values.is_empty() => Err(format!(
            "grid.{key}: an empty list leaves no cell; a list of values has at least one"
        )),
        Value::Array(values) if values.len() > MOST_CELLS => {
            Err(format!("grid.{key}: more than {MOST_CELLS} values"))
        }
        Value::Array(values) => {
            let mut seen = BTreeSet::new();
            match values.iter().find(|value| !seen.insert(value.to_string())) {
                None => Ok((key, values.clone())),
                Some(twice) => Err(format!(
                    "grid.{key}: {twice} is there twice; repetitions = 10 runs every cell 10 times"
                )),
            }
        }
        _ => Err(format!(
            "grid.{key}: a list of values, such as {key} = [{value}]"
        )),
    });
    axes.collect()
}

/// The values of a table, each with its key; those of tables in it with a dotted key.
pub(crate) fn flat<'a>(prefix: &str, table: &'a Table) -> Vec<(String, &'a Value)> {
    let entries = table.iter().flat_map(|(key, value)| match value {
        Value::Table(inner) => flat(&format!("{prefix}{key}."), inner),
        value => vec![(format!("{prefix}{key}"), value)],
    });
    entries.collect()
}

/// Puts a value where a dotted key leads.
pub(crate) fn put(table: &mut Table, key: &str, value: Value) -> Result<(), String> {
    match key.split_once('.') {
        None => {
            table.insert(key.to_owned(), value);
            Ok(())
        }
        Some((first, rest)) => {
            let inner = table
                .entry(first)
                .or_insert_with(|| Value::Table(Table::new()));
            match inner {
                Value::Table(inner) => put(inner, rest, value),
                _ => Err(format!("{key}: {first} is no table")),
            }
        }
    }
}

/// A value as it stands in a table: a word without its quotation marks.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(word) => word.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> Result<Grid, String> {
        let sweep = toml::from_str(text).map_err(|error| error.to_string())?;
        Grid::new(sweep, "test", Path::new(""), text.to_owned())
    }

    const PLAIN: &str = "[scenario]\nengine = \"sim\"\n[grid]\nnodes = [3, 5]\n\
                         algorithm = [\"raymond\", \"lamport\"]\n";

    #[test]
    fn every_combination_is_a_cell() {
        let grid = grid(PLAIN).unwrap();
        assert_eq!(grid.keys, ["algorithm", "nodes"]);
        let cells = grid.cells.iter().map(|cell| cell.values.join(" "));
        let cells = cells.collect::<Vec<_>>();
        assert_eq!(cells, ["raymond 3", "raymond 5", "lamport 3", "lamport 5"]);
        assert_eq!(grid.runs(), 20);
    }

    #[test]
    fn the_nth_repetition_of_every_cell_has_the_same_seed() {
        let grid = grid(PLAIN).unwrap();
        let seed = |cell, nth| grid.resolve(cell, nth).unwrap().plan.seed;
        assert_eq!((seed(0, 2), seed(3, 2)), (3, 3));
        assert_eq!(seed(0, 0), 1);
    }

    #[test]
    fn variants_differ_in_several_keys() {
        let text = "[scenario]\nengine = \"sim\"\nnodes = 7\n\
                    [[variant]]\nalgorithm = \"sanders\"\nparams.structure = \"plane\"\n\
                    [[variant]]\nalgorithm = \"lamport\"\n[grid]\nhold = [\"1ms\", \"2ms\"]\n";
        let grid = grid(text).unwrap();
        assert_eq!(grid.keys, ["algorithm", "params.structure", "hold"]);
        let labels = grid
            .cells
            .iter()
            .map(|cell| label(&grid.keys, &cell.values));
        let labels = labels.collect::<Vec<_>>();
        assert_eq!(
            labels[0],
            "algorithm=sanders params.structure=plane hold=1ms"
        );
        assert_eq!(labels[3], "algorithm=lamport hold=2ms");
    }

    #[test]
    fn a_variant_may_have_a_name_and_lines_go_by_it() {
        let text = "[scenario]\nengine = \"sim\"\nalgorithm = \"lamport\"\n\
                    [[variant]]\nvariant = \"few\"\nnodes = 3\nhold = \"1ms\"\n\
                    [[variant]]\nvariant = \"few\"\nnodes = 5\nhold = \"2ms\"\n\
                    [plot]\nx = \"nodes\"\ny = \"messages\"\nlines = [\"variant\"]\n";
        let grid = grid(text).unwrap();
        let place = grid.keys.iter().position(|key| key == "variant").unwrap();
        assert!(grid.cells.iter().all(|cell| cell.values[place] == "few"));
        let plot = grid.plot.unwrap();
        assert_eq!(plot.lines, ["variant"]);
    }

    #[test]
    fn what_is_wrong_is_found_before_anything_runs() {
        let wrong = |text: &str| grid(text).unwrap_err();
        assert!(wrong(&PLAIN.replace("3, 5", "")).contains("a list of values"));
        assert!(wrong(&PLAIN.replace("lamport", "lampert")).contains("algorithm=lampert"));
        assert!(wrong(&format!("repetitions = 0\n{PLAIN}")).contains("at least 1"));
        assert!(wrong(&PLAIN.replace("engine", "seed = 3\nengine")).contains("top of a sweep"));
        let plot = |x, y| format!("{PLAIN}[plot]\nx = \"{x}\"\ny = \"{y}\"\n");
        assert!(wrong(&plot("hold", "messages_per_entry")).contains("not in the grid"));
        assert!(wrong(&plot("algorithm", "messages_per_entry")).contains("not a number"));
        assert!(wrong(&plot("nodes", "beauty")).contains("no metric 'beauty'"));
        assert!(grid(&plot("nodes", "messages_per_entry")).is_ok());
        let at = |places| format!("{}at = {places}\n", plot("algorithm", "messages_per_entry"));
        assert!(wrong(&at("[1]")).contains("1 places for the 2 values of algorithm"));
        let placed = grid(&at("[7, 3]")).unwrap();
        let plot = placed.plot.as_ref().unwrap();
        assert_eq!(placed.place_of(plot, "lamport"), Some(3.0));
    }
}
