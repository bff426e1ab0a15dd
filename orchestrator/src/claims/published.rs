//! Numbers that the sources print: `results/papers/*.csv`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use analysis::claims::{Evidence, Row};
use analysis::expression::Expression;
use analysis::statistics::Moments;
use serde::Deserialize;

use crate::embedded;
use crate::names::directory_name;

/// Which published column belongs to which cell: names `paper.COLUMN` then mean the number in the
/// row whose `column` is the cell's `key`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct PublishedKeys {
    /// The name of the file, without its ending.
    pub(super) table: String,
    /// The key of the sweep whose value finds the row.
    pub(super) key: String,
    /// The column that has the same values.
    pub(super) column: String,
}

/// A table of numbers that a source published.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Published {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Published {
    /// Reads the table of that name from a directory.
    pub(crate) fn read(directory: &Path, name: &str) -> Result<Self, String> {
        directory_name(name).map_err(|why| format!("table: {why}"))?;
        let path: PathBuf = directory.join(format!("{name}.csv"));
        let wrong = |why: String| format!("{}: {why}", path.display());
        let text = embedded::read_text(&path).map_err(|error| wrong(error.to_string()))?;
        let mut reader = csv::ReaderBuilder::new()
            .comment(Some(b'#'))
            .from_reader(text.as_bytes());
        let words = |record: &csv::StringRecord| {
            let cells = record.iter().map(|cell| cell.trim().to_owned());
            cells.collect::<Vec<_>>()
        };
        let columns = words(reader.headers().map_err(|error| wrong(error.to_string()))?);
        let rows = reader.records().map(|record| Ok(words(&record?)));
        let rows = rows.collect::<Result<Vec<_>, csv::Error>>();
        Ok(Self {
            columns,
            rows: rows.map_err(|error| wrong(error.to_string()))?,
        })
    }

    /// The names of its columns.
    pub(super) fn columns(&self) -> &[String] {
        &self.columns
    }

    fn place(&self, column: &str) -> Result<usize, String> {
        let place = self.columns.iter().position(|known| known == column);
        place.ok_or_else(|| {
            let known = self.columns.join(", ");
            format!("there is no column '{column}'; there are {known}")
        })
    }

    /// The numbers of a column, from the first row to the last.
    fn numbers(&self, column: &str) -> Result<Vec<f64>, String> {
        let place = self.place(column)?;
        let cells = self.rows.iter().map(|row| {
            let cell = &row[place];
            cell.parse()
                .map_err(|_| format!("'{cell}' in {column} is no number"))
        });
        cells.collect()
    }

    /// What a formula over the columns is in each row.
    pub(crate) fn evaluate(&self, formula: &Expression) -> Result<Vec<f64>, String> {
        let names = formula.names();
        let columns = names.iter().map(|&name| Ok((name, self.numbers(name)?)));
        let columns = columns.collect::<Result<BTreeMap<_, _>, String>>()?;
        let rows = (0..self.rows.len()).map(|row| {
            let number = |name: &str| columns.get(name).map(|column| column[row]);
            let value = formula.evaluate(&number);
            value.ok_or_else(|| format!("'{formula}' is no number in row {}", row + 1))
        });
        rows.collect()
    }

    /// The number in this column where another has this word.
    pub(super) fn number(&self, by: &str, word: &str, column: &str) -> Result<f64, String> {
        let (by_place, place) = (self.place(by)?, self.place(column)?);
        let row = self.rows.iter().find(|row| row[by_place] == word);
        let row = row.ok_or_else(|| format!("no row has {by} = {word}"))?;
        let cell = &row[place];
        cell.parse()
            .map_err(|_| format!("'{cell}' in {column} is no number"))
    }

    /// The table as evidence by itself: `COLUMN.mean`, `.sum`, `.sd`, `.n`, `.min`, `.max` of its
    /// numeric columns, and `paired_t[A,B]`, Student's statistic of their differences.
    pub(super) fn recomputed(&self) -> Evidence {
        let numbers = self.columns.iter().enumerate().filter_map(|(place, name)| {
            let cells = self.rows.iter().map(|row| row[place].parse::<f64>().ok());
            Some((name, cells.collect::<Option<Vec<_>>>()?))
        });
        let numbers = numbers.collect::<Vec<_>>();
        let mut values = BTreeMap::new();
        for (name, column) in &numbers {
            let moments = Moments::of(column.iter().copied());
            let (least, most) = column
                .iter()
                .fold((f64::MAX, f64::MIN), |(low, high), &value| {
                    (low.min(value), high.max(value))
                });
            for (statistic, value) in [
                ("n", moments.n as f64),
                ("mean", moments.mean),
                ("sd", moments.sd),
                ("sum", column.iter().sum()),
                ("min", least),
                ("max", most),
            ] {
                values.insert(format!("{name}.{statistic}"), value);
            }
            for (other, column_b) in &numbers {
                let pairs = column.iter().zip(column_b).map(|(a, b)| a - b);
                let difference = Moments::of(pairs);
                let error = difference.sd / (difference.n as f64).sqrt();
                if error > 0.0 {
                    values.insert(format!("paired_t[{name},{other}]"), difference.mean / error);
                }
            }
        }
        Evidence {
            keys: Vec::new(),
            cells: vec![Vec::new()],
            rows: vec![Row {
                cell: 0,
                repetition: 0,
                values,
            }],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Published {
        let words = |row: [&str; 3]| row.map(str::to_owned).to_vec();
        Published {
            columns: words(["size", "a", "b"]),
            rows: vec![words(["4", "10", "8"]), words(["6", "13", "9"])],
        }
    }

    #[test]
    fn a_number_is_found_by_its_row() {
        assert_eq!(table().number("size", "6", "b"), Ok(9.0));
        assert!(
            table()
                .number("size", "5", "b")
                .unwrap_err()
                .contains("no row")
        );
        assert!(
            table()
                .number("size", "6", "c")
                .unwrap_err()
                .contains("no column")
        );
    }

    #[test]
    fn a_table_is_evidence_by_itself() {
        let evidence = table().recomputed();
        let values = &evidence.rows[0].values;
        assert_eq!(values["a.mean"], 11.5);
        // Differences 2 and 4: mean 3, standard error 1.
        assert!((values["paired_t[a,b]"] - 3.0).abs() < 1e-12);
    }
}
