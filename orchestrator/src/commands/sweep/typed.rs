//! A sweep that is typed and not written: `sweep raymond --grid nodes=5,10,20 --vary think=1ms,5ms`.

use std::path::Path;
use std::str::FromStr;

use model::run::Engine;
use toml::{Table, Value};

use crate::scenario::{Layers, Scenario};
use crate::sweep::{Grid, Plot, SweepKeys, put};

/// A key of a scenario, and the values that it takes in turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Factor {
    key: String,
    values: Vec<Value>,
}

impl FromStr for Factor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "'{text}' does not say a key and its values; write nodes=5,10,20 or think=1ms,5ms"
            )
        };
        let (key, values) = text.split_once('=').ok_or_else(wrong)?;
        let (key, values) = (key.trim(), values.trim());
        let values = match values.starts_with('[') {
            true => list(values)?,
            false => values.split(',').map(|word| value(word.trim())).collect(),
        };
        let is_empty = |value: &Value| value.as_str().is_some_and(str::is_empty);
        if key.is_empty() || values.is_empty() || values.iter().any(is_empty) {
            return Err(wrong());
        }
        let key = key.to_owned();
        Ok(Self { key, values })
    }
}

/// The values of a list as a file has it, for values with commas in them.
fn list(text: &str) -> Result<Vec<Value>, String> {
    let table = format!("list = {text}").parse::<Table>();
    match table.as_ref().ok().and_then(|table| table.get("list")) {
        Some(Value::Array(values)) => Ok(values.clone()),
        _ => Err(format!(
            "'{text}' is not a list as a file has it; write [[1, 0, 0], [1, 1, 0]]"
        )),
    }
}

/// A number, yes or no, or else a word.
fn value(word: &str) -> Value {
    let whole = word.parse::<i64>().map(Value::from);
    let number = || {
        let number = word.parse::<f64>();
        number.ok().filter(|number| number.is_finite())
    };
    match word {
        "true" => true.into(),
        "false" => false.into(),
        _ => whole
            .ok()
            .or_else(|| number().map(Value::from))
            .unwrap_or_else(|| word.into()),
    }
}

impl Factor {
    fn is_numeric(&self) -> bool {
        let number = |value: &Value| value.is_integer() || value.is_float();
        self.values.len() > 1 && self.values.iter().all(number)
    }
}

/// The arguments that describe a sweep without a file.
pub(super) struct Typed<'a> {
    /// An algorithm or a scenario file.
    pub(super) target: Option<&'a str>,
    /// The scenario that all cells share.
    pub(super) scenario: &'a Scenario,
    /// The keys of which every combination of values is a cell.
    pub(super) grid: &'a [Factor],
    /// The keys that are varied one at a time, all else as in the base.
    pub(super) vary: &'a [Factor],
    pub(super) repetitions: Option<u64>,
}

/// The name of a sweep that has none, and of its directory.
pub(super) const NAME: &str = "sweep";

impl Typed<'_> {
    /// The sweep that these arguments describe.
    pub(super) fn grid(&self) -> Result<Grid, String> {
        let file = self.target.filter(|target| Layers::names_a_file(target));
        let mut scenario = match self.target {
            Some(target) => Layers::new(target, self.scenario.clone())?
                .scenario()
                .clone(),
            None => {
                self.scenario.says_nothing_twice()?;
                self.scenario.clone()
            }
        };
        let factors = || self.grid.iter().chain(self.vary);
        for (place, factor) in factors().enumerate() {
            if factors().take(place).any(|other| other.key == factor.key) {
                return Err(format!("{}: its values are given twice", factor.key));
            }
        }
        if scenario.algorithm.is_none() && !factors().any(|factor| factor.key == "algorithm") {
            return Err(
                "no algorithm is named; write `sweep raymond --grid …`, or --grid \
                 algorithm=raymond,lamport"
                    .to_owned(),
            );
        }
        let name = scenario.name.take().unwrap_or_else(|| NAME.to_owned());
        let seed = scenario.seed.take();
        for (flag, number) in [("repetitions", self.repetitions), ("seed", seed)] {
            if number.is_some_and(|number| i64::try_from(number).is_err()) {
                return Err(format!("--{flag}: too large"));
            }
        }
        scenario.engine.get_or_insert(Engine::Sim);
        let mut grid = Table::new();
        for factor in self.grid {
            put(&mut grid, &factor.key, factor.values.clone().into())?;
        }
        let sweep = SweepKeys {
            name: Some(name),
            repetitions: self.repetitions,
            seed,
            scenario: Table::try_from(&scenario).expect("a scenario is plain data"),
            grid,
            variant: self.variants()?,
            plot: self.plot(),
            ..SweepKeys::default()
        };
        Grid::made(sweep, NAME, Path::new(file.unwrap_or_default()))
    }

    /// What is drawn where something can be: over the first numbers of the grid, a line for each
    /// combination of all else.
    fn plot(&self) -> Option<Plot> {
        let axis = self.grid.iter().find(|factor| factor.is_numeric())?;
        let others = self.grid.iter().filter(|factor| factor.key != axis.key);
        let others = others.map(|factor| factor.key.clone());
        let varied = self.vary.first().map(|_| "variant".to_owned());
        Some(Plot {
            x: axis.key.clone(),
            y: "messages_per_entry".to_owned(),
            lines: varied.into_iter().chain(others).collect(),
            ..Plot::default()
        })
    }

    /// The base, and each value of each factor with everything else as in the base; none where no
    /// factor is varied by itself.
    fn variants(&self) -> Result<Vec<Table>, String> {
        if self.vary.is_empty() {
            return Ok(Vec::new());
        }
        let named = |name: String| Table::from_iter([("variant".to_owned(), Value::from(name))]);
        let mut variants = vec![named("base".to_owned())];
        for Factor { key, values } in self.vary {
            for value in values {
                let mut variant = named(format!("{key}={}", crate::sweep::shown(value)));
                put(&mut variant, key, value.clone())?;
                variants.push(variant);
            }
        }
        Ok(variants)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(text: &str) -> Result<Factor, String> {
        text.parse()
    }

    #[test]
    fn values_are_numbers_words_or_a_list() {
        let nodes = factor("nodes=5, 10").unwrap();
        assert_eq!((nodes.key.as_str(), nodes.is_numeric()), ("nodes", true));
        assert_eq!(nodes.values, [Value::from(5), Value::from(10)]);
        let think = factor("think=0,exp:5ms").unwrap();
        assert_eq!(think.values, [Value::from(0), Value::from("exp:5ms")]);
        let weights = factor("weights=[[1, 0], [1, 1]]").unwrap();
        assert_eq!(weights.values.len(), 2);
        assert_eq!(factor("settled=true,false").unwrap().values[0], true.into());
        for wrong in ["nodes", "=5", "nodes=", "nodes=5,,6", "weights=[1", "x=[]"] {
            assert!(factor(wrong).is_err(), "{wrong}");
        }
    }
}
