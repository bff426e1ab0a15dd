//! The picture that a sweep's file asks for, and whether the sweep has what it takes.
//!
//! `docs/sweeps.md` has every key.

use std::collections::BTreeMap;
use std::path::Path;

use analysis::Summary;
use analysis::expression::Expression;
use analysis::quantity::Quantity;
use serde::{Deserialize, Serialize};

use super::grid::Grid;
use crate::claims::{PAPERS, Published};

/// What is drawn over what, a line for each combination of the other keys.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Plot {
    /// A key of the grid or of the variants, something that is measured, or `#`.
    pub(crate) x: String,
    /// Where the values of `x` stand on the axis, in their order; not needed where they are numbers.
    #[serde(default)]
    pub(crate) at: Option<Vec<f64>>,
    /// The numbers that `#` stands for in `y`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) each: Vec<u32>,
    /// Whether each value of a measured `x` has a point of its own, from the runs that have it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) groups: bool,
    /// What the x axis says, if not the key.
    #[serde(default)]
    pub(crate) label: Option<String>,
    /// A column of `summary.csv`, something that can be measured, or a formula over them.
    pub(crate) y: String,
    /// What the y axis says, if not the column.
    #[serde(default)]
    pub(crate) y_label: Option<String>,
    /// The keys that tell one line from another; by default all that do not follow from x.
    #[serde(default)]
    pub(crate) lines: Vec<String>,
    /// The keys whose values stand beside each point; the points are then not joined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) names: Vec<String>,
    /// The key whose values are rows: every cell of the sweep is then a field of a map.
    #[serde(default)]
    pub(crate) rows: Option<String>,
    /// What else stands in each field of a map, in the order of the cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) written: Vec<String>,
    /// Which axes are logarithmic.
    #[serde(default, skip_serializing_if = "Logarithmic::is_none")]
    pub(crate) logarithmic: Logarithmic,
    /// The title above the plot.
    #[serde(default)]
    pub(crate) title: Option<String>,
    /// What stands below the plot.
    #[serde(default)]
    pub(crate) note: Option<String>,
    /// The claims that the plot belongs to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) claims: Vec<String>,
    /// What should have been measured, over the same x.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) curve: Vec<Curve>,
    /// What a paper printed, over the same x.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) published: Vec<PublishedLine>,
}

/// Points that a paper printed, from a table of `results/papers`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct PublishedLine {
    /// The name of the points in the legend.
    pub(crate) label: String,
    /// The name of the table, without its ending.
    pub(crate) table: String,
    /// A formula over the columns of the table: the place along the x axis.
    #[serde(with = "formula")]
    pub(crate) x: Expression,
    /// A formula over the columns of the table: what is drawn.
    #[serde(with = "formula")]
    pub(crate) y: Expression,
}

/// A closed form or a published value.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Curve {
    /// The name of the curve in the legend; curves of one name are one.
    pub(crate) label: String,
    /// Over the keys of the grid whose values are numbers, and `x`, the place on the axis.
    #[serde(with = "formula")]
    pub(crate) formula: Expression,
    /// The place on the axis, if it is not that of what was measured.
    #[serde(
        default,
        with = "maybe_formula",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) x: Option<Expression>,
    /// Only for cells that have these values.
    #[serde(default, rename = "where", skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) among: BTreeMap<String, String>,
}

mod formula {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    use super::Expression;

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Expression, D::Error> {
        let text = String::deserialize(from)?;
        Expression::parse(&text).map_err(D::Error::custom)
    }

    pub(super) fn serialize<S: Serializer>(
        formula: &Expression,
        into: S,
    ) -> Result<S::Ok, S::Error> {
        into.collect_str(formula)
    }
}

mod maybe_formula {
    use serde::de::Deserializer;
    use serde::ser::Serializer;

    use super::{Expression, formula};

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Expression>, D::Error> {
        formula::deserialize(from).map(Some)
    }

    pub(super) fn serialize<S: Serializer>(
        formula: &Option<Expression>,
        into: S,
    ) -> Result<S::Ok, S::Error> {
        match formula {
            Some(formula) => into.collect_str(formula),
            None => into.serialize_none(),
        }
    }
}

/// Which axes go by logarithms: `true` is both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "LogarithmicWord", into = "LogarithmicWord")]
pub(crate) struct Logarithmic {
    pub(crate) x: bool,
    pub(crate) y: bool,
}

#[derive(Clone, Deserialize, Serialize)]
#[serde(untagged)]
enum LogarithmicWord {
    Both(bool),
    One(String),
}

impl Logarithmic {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl TryFrom<LogarithmicWord> for Logarithmic {
    type Error = String;

    fn try_from(word: LogarithmicWord) -> Result<Self, String> {
        let (x, y) = match word {
            LogarithmicWord::Both(both) => (both, both),
            LogarithmicWord::One(axis) if axis == "x" => (true, false),
            LogarithmicWord::One(axis) if axis == "y" => (false, true),
            LogarithmicWord::One(word) => {
                return Err(format!(
                    "logarithmic: '{word}' is no axis; write \"x\", \"y\" or true for both"
                ));
            }
        };
        Ok(Self { x, y })
    }
}

impl From<Logarithmic> for LogarithmicWord {
    fn from(Logarithmic { x, y }: Logarithmic) -> Self {
        match (x, y) {
            (true, false) => Self::One("x".to_owned()),
            (false, true) => Self::One("y".to_owned()),
            (both, _) => Self::Both(both),
        }
    }
}

/// What stands along the x axis.
pub(super) enum Across {
    /// The values of a key.
    Key(usize),
    /// The numbers that `#` stands for.
    Each,
    /// Something that is measured.
    Measured(Expression),
}

/// What a formula of a plot says: one quantity, whatever signs its name has, or a formula over several.
fn plotted(text: &str) -> Result<Expression, String> {
    // `messages.REQUEST+BOUNCE` is one quantity; these signs are in none.
    let is_formula = text.contains([' ', '*', '/', '(']);
    match !is_formula && Quantity::parse(text).is_ok() {
        true => Ok(Expression::quantity(text)),
        false => Expression::parse(text),
    }
}

impl Plot {
    /// Adds to what a sweep measures what the picture needs of it.
    pub(super) fn add_to(&self, measure: &mut Vec<String>) -> Result<(), String> {
        let mut formulas = self.values()?;
        // A key of the grid is no quantity, and nothing is added for it.
        formulas.extend(plotted(&self.x).ok());
        for name in formulas.iter().flat_map(Expression::names) {
            let is_there = Summary::metric(name).is_some() || measure.iter().any(|it| it == name);
            if !is_there && Quantity::parse(name).is_ok() {
                measure.push(name.to_owned());
            }
        }
        Ok(())
    }

    /// What is drawn along the y axis: one formula, or one for each number that `#` stands for.
    pub(crate) fn values(&self) -> Result<Vec<Expression>, String> {
        let texts = match self.each.as_slice() {
            [] => vec![self.y.clone()],
            numbers => {
                let with = |number: &u32| self.y.replace('#', &number.to_string());
                numbers.iter().map(with).collect()
            }
        };
        let formulas = texts.iter().map(|text| plotted(text));
        formulas
            .map(|formula| formula.map_err(|why| format!("plot.y: {why}")))
            .collect()
    }
}

impl Grid {
    /// Everything that can be wrong with a picture.
    pub(super) fn check_plot(&self, plot: &Plot) -> Result<(), String> {
        let known = self.keys.join(", ");
        let named = plot.lines.iter().map(|key| ("lines", key));
        let named = named.chain(plot.names.iter().map(|key| ("names", key)));
        let named = named.chain(plot.rows.iter().map(|key| ("rows", key)));
        let in_curves = plot.curve.iter().flat_map(|curve| curve.among.keys());
        for (place, key) in named.chain(in_curves.map(|key| ("curve.where", key))) {
            if !self.keys.contains(key) {
                return Err(format!(
                    "plot.{place}: '{key}' is not in the grid; there are {known}"
                ));
            }
        }
        for curve in &plot.curve {
            if !self.cells.iter().any(|cell| curve.is_about(self, cell)) {
                let label = &curve.label;
                return Err(format!("plot.curve: no cell is what '{label}' is about"));
            }
        }
        if !plot.written.is_empty() && plot.written.len() != self.cells.len() {
            return Err(format!(
                "plot.written: {} texts for {} cells",
                plot.written.len(),
                self.cells.len()
            ));
        }
        self.check_across(plot)?;
        for published in &plot.published {
            published.points()?;
        }
        let is_known = |name: &str| self.measures(name) || Summary::metric(name).is_some();
        let is_key = |name: &str| self.keys.iter().any(|key| key == name);
        for formula in plot.values()? {
            let mut names = formula.names().into_iter();
            if let Some(name) = names.find(|name| !is_known(name) && !is_key(name)) {
                let known = Summary::metrics().map(|column| column.name);
                let known = known.collect::<Vec<_>>().join(", ");
                return Err(format!(
                    "plot.y: there is no metric '{name}'; there are {known}"
                ));
            }
        }
        Ok(())
    }

    /// Whether what stands along the x axis is there, and has its places.
    fn check_across(&self, plot: &Plot) -> Result<(), String> {
        if plot.groups && !matches!(self.across(plot)?, Across::Measured(_)) {
            return Err("plot.groups: only of an x that is measured".to_owned());
        }
        let (values, of) = match self.across(plot)? {
            Across::Measured(_) => return Ok(()),
            // The columns of a map are words.
            Across::Key(_) if plot.rows.is_some() => return Ok(()),
            Across::Each => (plot.each.len(), "each"),
            Across::Key(_) => {
                let values = self.values(&plot.x).unwrap_or_default();
                let word = values.iter().find(|word| word.parse::<f64>().is_err());
                if let (Some(word), None) = (word, &plot.at) {
                    return Err(format!(
                        "plot.x: '{word}' of {} is not a number; write at = [1, 2] to say where its \
                         values stand",
                        plot.x
                    ));
                }
                (values.len(), plot.x.as_str())
            }
        };
        match &plot.at {
            Some(places) if places.len() != values => {
                let places = places.len();
                Err(format!(
                    "plot.at: {places} places for the {values} values of {of}"
                ))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// What stands along the x axis of a picture.
    pub(super) fn across(&self, plot: &Plot) -> Result<Across, String> {
        let missing = || {
            let keys = self.keys.join(", ");
            let x = &plot.x;
            format!("plot.x: '{x}' is not in the grid and cannot be measured; there are {keys}")
        };
        if let Some(place) = self.keys.iter().position(|key| *key == plot.x) {
            return Ok(Across::Key(place));
        }
        if plot.x == "#" {
            return match plot.each.is_empty() || !plot.y.contains('#') {
                true => {
                    Err("plot.x: # stands in y too, and each = [1, 2] says for what".to_owned())
                }
                false => Ok(Across::Each),
            };
        }
        let formula = plotted(&plot.x).map_err(|_| missing())?;
        let is_known = |name: &&str| self.measures(name) || Summary::metric(name).is_some();
        match formula.names().iter().all(is_known) {
            true => Ok(Across::Measured(formula)),
            false => Err(missing()),
        }
    }

    /// Whether the runs have a quantity of that name beside the columns of a summary.
    fn measures(&self, name: &str) -> bool {
        self.measured.iter().any(|(known, _)| known == name)
    }

    /// The different values of a key, in the order in which they come up.
    pub(super) fn values(&self, key: &str) -> Option<Vec<&str>> {
        let place = self.keys.iter().position(|other| other == key)?;
        let mut values = Vec::new();
        for cell in &self.cells {
            let value = cell.values[place].as_str();
            if !values.contains(&value) {
                values.push(value);
            }
        }
        Some(values)
    }

    /// Where a value of the key that is plotted over stands.
    pub(crate) fn place_of(&self, plot: &Plot, value: &str) -> Option<f64> {
        match &plot.at {
            None => value.parse().ok(),
            Some(places) => {
                let values = self.values(&plot.x)?;
                let nth = values.into_iter().position(|other| other == value)?;
                places.get(nth).copied()
            }
        }
    }
}

impl Curve {
    /// Whether a cell is one that the curve says something of.
    pub(super) fn is_about(&self, grid: &Grid, cell: &super::grid::Cell) -> bool {
        let fits = |(key, value): (&String, &String)| {
            let place = grid.keys.iter().position(|known| known == key);
            place.is_some_and(|place| cell.values[place] == *value)
        };
        self.among.iter().all(fits)
    }
}

impl PublishedLine {
    /// The points as they are printed, in the units of the axes.
    pub(super) fn points(&self) -> Result<Vec<(f64, f64)>, String> {
        let wrong = |why: String| format!("plot.published: {}: {why}", self.table);
        let table = Published::read(Path::new(PAPERS), &self.table).map_err(wrong)?;
        let of = |formula: &Expression| table.evaluate(formula).map_err(wrong);
        Ok(of(&self.x)?.into_iter().zip(of(&self.y)?).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "[scenario]\nengine = \"sim\"\n[grid]\nnodes = [3, 5]\n\
                         algorithm = [\"raymond\", \"lamport\"]\n";

    fn plot(keys: &str) -> Result<Grid, String> {
        Grid::parse(&format!("{PLAIN}[plot]\n{keys}\n"), "test", Path::new(""))
    }

    #[test]
    fn what_is_plotted_is_measured() {
        let grid = plot("x = 'sync_delay_mean_t'\ny = 'messages.REQUEST/entries'").unwrap();
        let names = grid.measured.iter().map(|(name, _)| name.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["messages.REQUEST"]);
        let grid = plot("x = '#'\neach = [1, 2]\ny = 'entry.wait_us.mean[node=#]'").unwrap();
        let names = grid.measured.iter().map(|(name, _)| name.as_str());
        let expected = ["entry.wait_us.mean[node=1]", "entry.wait_us.mean[node=2]"];
        assert_eq!(names.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_picture_that_cannot_be_drawn_is_refused() {
        for (keys, why) in [
            ("x = 'beauty'\ny = 'messages'", "cannot be measured"),
            ("x = '#'\ny = 'messages'", "each = [1, 2] says"),
            ("x = 'nodes'\ny = 'messages'\ngroups = true", "plot.groups"),
            (
                "x = 'nodes'\ny = 'messages'\nrows = 'hold'",
                "plot.rows: 'hold'",
            ),
            (
                "x = 'nodes'\ny = 'messages'\nnames = ['hold']",
                "plot.names: 'hold'",
            ),
            (
                "x = 'nodes'\ny = 'messages'\nwritten = ['one']",
                "1 texts for 4 cells",
            ),
            (
                "x = 'nodes'\ny = 'messages'\nlogarithmic = 'z'",
                "'z' is no axis",
            ),
            (
                "x = 'nodes'\ny = 'messages'\n\
                 curve = [{ label = 'a', formula = '1', where = { algorithm = 'mra' } }]",
                "no cell is what 'a' is about",
            ),
            (
                "x = 'nodes'\ny = 'messages'\n\
                 published = [{ label = 'a', table = 'kanrar-table-4.2', x = 'beauty', y = 'rq1' }]",
                "beauty",
            ),
        ] {
            let refused = plot(keys).unwrap_err();
            assert!(refused.contains(why), "{keys}: {refused}");
        }
    }

    #[test]
    fn one_axis_or_both_go_by_logarithms() {
        let of = |word: &str| {
            let grid = plot(&format!(
                "x = 'nodes'\ny = 'messages'\nlogarithmic = {word}"
            ))
            .unwrap();
            let logarithmic = grid.plot.unwrap().logarithmic;
            (logarithmic.x, logarithmic.y)
        };
        assert_eq!(of("true"), (true, true));
        assert_eq!(of("'x'"), (true, false));
        assert_eq!(of("'y'"), (false, true));
        assert_eq!(of("false"), (false, false));
    }

    #[test]
    fn printed_points_may_be_computed_from_their_columns() {
        let line = PublishedLine {
            label: "in print".to_owned(),
            table: "banta-efficient".to_owned(),
            x: Expression::parse("10/sites_per_request").unwrap(),
            y: Expression::parse("messages_per_entry").unwrap(),
        };
        assert_eq!(
            line.points().unwrap(),
            [(1.0, 11.0), (2.0, 6.0), (10.0, 2.0)]
        );
    }
}
