//! The runs that a test looks at.

use std::collections::BTreeMap;

use crate::expression::{Bound, Expression};

/// Runs, by cell and repetition, with everything that was measured in them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The keys in which cells differ.
    pub keys: Vec<String>,
    /// The values of each cell, one for each key.
    pub cells: Vec<Vec<String>>,
    /// The runs of all cells.
    pub rows: Vec<Row>,
}

/// One run, or one table of published numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The place of its cell among the cells.
    pub cell: usize,
    /// Which of the cell's runs it is, from 0.
    pub repetition: u64,
    /// What was measured, by name.
    pub values: BTreeMap<String, f64>,
}

/// Cells that have one of these values under each of these keys; all cells if it is empty.
pub type Selection = BTreeMap<String, Vec<String>>;

impl Evidence {
    /// The cells that a selection means.
    pub fn selected(&self, selection: &Selection) -> Vec<usize> {
        let cells = (0..self.cells.len()).filter(|&cell| {
            let fits = |(key, values): (&String, &Vec<String>)| {
                let value = self.word(cell, key);
                value.is_some_and(|value| values.contains(value))
            };
            selection.iter().all(fits)
        });
        cells.collect()
    }

    /// How many runs each cell has.
    pub fn repetitions(&self) -> u64 {
        let last = self.rows.iter().map(|row| row.repetition).max();
        last.map_or(0, |last| last + 1)
    }

    /// The first runs of each cell alone.
    pub fn first(&self, repetitions: u64) -> Self {
        let rows = self.rows.iter();
        let rows = rows.filter(|row| row.repetition < repetitions);
        Self {
            keys: self.keys.clone(),
            cells: self.cells.clone(),
            rows: rows.cloned().collect(),
        }
    }

    /// What is wrong with a selection: a key that is none, a value that no cell has.
    pub fn misses(&self, selection: &Selection) -> Option<String> {
        let there = |key: &String, value: &String| {
            let mut cells = 0..self.cells.len();
            cells.any(|cell| self.word(cell, key) == Some(value))
        };
        let pairs = selection
            .iter()
            .flat_map(|(key, values)| values.iter().map(move |value| (key, value)));
        let mut wrong = pairs.filter(|(key, value)| !there(key, value));
        let single = wrong.next().map(|(key, value)| {
            let keys = self.keys.join(", ");
            format!("no cell has {key} = {value}; the keys are {keys}")
        });
        single.or_else(|| {
            let none = self.selected(selection).is_empty();
            none.then(|| "no cell fits the whole selection".to_owned())
        })
    }

    /// A cell's word under a key.
    pub(super) fn word(&self, cell: usize, key: &str) -> Option<&String> {
        let place = self.keys.iter().position(|known| known == key)?;
        self.cells[cell].get(place)
    }

    /// A cell's number under a key.
    pub(super) fn number(&self, cell: usize, key: &str) -> Option<f64> {
        self.word(cell, key)?.parse().ok()
    }

    /// The runs of a cell.
    pub(super) fn rows(&self, cell: usize) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.cell == cell)
    }

    /// What a formula is in a run.
    pub(super) fn value(&self, row: &Row, formula: &Expression) -> Option<f64> {
        formula.evaluate(&|name| self.known(row, name))
    }

    /// The tightest of the bounds that a formula sets, in a run.
    pub(super) fn tightest_bound(&self, row: &Row, formula: &Expression) -> Option<Bound> {
        formula.tightest_bound(&|name| self.known(row, name))
    }

    /// A quantity of a run, or a number of its cell.
    fn known(&self, row: &Row, name: &str) -> Option<f64> {
        let measured = row.values.get(name).copied();
        measured.or_else(|| self.number(row.cell, name))
    }

    /// What a formula is in each run of a cell in which it is anything.
    pub fn values(&self, cell: usize, formula: &Expression) -> impl Iterator<Item = f64> {
        self.rows(cell).filter_map(|row| self.value(row, formula))
    }

    /// What two formulas are in each run of a cell in which both are anything.
    pub fn pairs(&self, cell: usize, one: &Expression, other: &Expression) -> Vec<(f64, f64)> {
        let rows = self.rows(cell);
        let pairs = rows.filter_map(|row| Some((self.value(row, one)?, self.value(row, other)?)));
        pairs.collect()
    }

    /// A cell as a person knows it.
    pub fn label(&self, cell: usize) -> String {
        let pairs = self.keys.iter().zip(&self.cells[cell]);
        let pairs = pairs.filter(|(_, value)| !value.is_empty());
        let pairs = pairs.map(|(key, value)| format!("{key}={value}"));
        pairs.collect::<Vec<_>>().join(" ")
    }
}
