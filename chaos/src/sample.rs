//! Delays as they were once measured: a column of a CSV file.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::delay::normal_rank;
use crate::fault::quoted;
use crate::span::{LONGEST_NS, scale};
use crate::table::{self, TableError};

/// Where measured delays stand: `pings.csv:rtt_ms`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The file's name.
    pub file: String,
    /// The column's name, which ends in its unit: `_ns`, `_us`, `_ms` or `_s`.
    pub column: String,
}

/// A distribution of measured delays.
///
/// Of more than 1025 values only 1025 quantiles are kept; between two neighbours every value is as
/// likely as the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Sample {
    source: Source,
    quantiles_ns: Arc<[u64]>,
}

impl Sample {
    /// Reads the column from the file's text.
    pub fn read(source: &Source, text: &str) -> Result<Self, TableError> {
        let mut rows = table::rows(text)?.into_iter();
        let header = rows.next().unwrap_or_default();
        let Some(place) = header.iter().position(|cell| cell.text == source.column) else {
            return Err(TableError {
                line: header.first().map_or(1, |cell| cell.line),
                column: 1,
                why: format!(
                    "none of the {} columns that this line names is '{}'",
                    header.len(),
                    source.column,
                ),
            });
        };
        let unit = source.column.rsplit_once('_').map(|(_, unit)| unit);
        let unit_ns = match unit {
            Some("ns") => 1,
            Some("us") => 1_000,
            Some("ms") => 1_000_000,
            Some("s") => 1_000_000_000,
            _ => {
                return Err(header[place].error(format!(
                    "the name '{}' does not end in its unit: _ns, _us, _ms or _s",
                    source.column
                )));
            }
        };
        let mut values_ns = Vec::new();
        for row in rows {
            let Some(cell) = row.get(place) else {
                return Err(row[0].error(format!(
                    "the line has {} cells and no '{}'",
                    row.len(),
                    source.column
                )));
            };
            match scale(&cell.text, unit_ns) {
                Some(ns) if ns <= LONGEST_NS => values_ns.push(ns),
                _ => return Err(cell.error("this is not a delay; write a number such as 12.5")),
            }
        }
        if values_ns.is_empty() {
            return Err(header[place].error(format!("'{}' has no values", source.column)));
        }
        values_ns.sort_unstable();
        let sample = Self {
            source: source.clone(),
            quantiles_ns: values_ns.into(),
        };
        Ok(sample.thinned())
    }

    /// The file and the column that it was read from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The delay with this share of the others below it.
    pub(crate) fn at_rank_ns(&self, rank: f64) -> u64 {
        let place = rank * (self.quantiles_ns.len() - 1) as f64;
        let below = self.quantiles_ns[place as usize];
        let above = self.quantiles_ns[(place as usize + 1).min(self.quantiles_ns.len() - 1)];
        below + ((above - below) as f64 * place.fract()) as u64
    }

    /// The delay that is as far up among the others as this deviation is in the normal distribution.
    pub fn at_deviation_ns(&self, deviation: f64) -> u64 {
        self.at_rank_ns(normal_rank(deviation))
    }

    /// The longest delay there is.
    pub fn largest_ns(&self) -> u64 {
        *self.quantiles_ns.last().expect("a sample has a value")
    }

    fn thinned(self) -> Self {
        if self.quantiles_ns.len() <= MOST_QUANTILES {
            return self;
        }
        let steps = MOST_QUANTILES - 1;
        let quantile = |step: usize| self.at_rank_ns(step as f64 / steps as f64);
        Self {
            quantiles_ns: (0..=steps).map(quantile).collect(),
            source: self.source,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quoted(&format!("{}:{}", self.file, self.column)))
    }
}

const MOST_QUANTILES: usize = 1025;

#[derive(Serialize, Deserialize)]
struct Stored {
    file: String,
    column: String,
    quantiles_ns: Vec<u64>,
}

impl TryFrom<Stored> for Sample {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, &'static str> {
        if stored.quantiles_ns.is_empty() || !stored.quantiles_ns.is_sorted() {
            return Err("the quantiles of a sample ascend, and there is at least one");
        }
        Ok(Self {
            source: Source {
                file: stored.file,
                column: stored.column,
            },
            quantiles_ns: stored.quantiles_ns.into(),
        })
    }
}

impl From<Sample> for Stored {
    fn from(sample: Sample) -> Self {
        Self {
            file: sample.source.file,
            column: sample.source.column,
            quantiles_ns: sample.quantiles_ns.to_vec(),
        }
    }
}
