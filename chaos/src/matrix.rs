//! Delays that differ from pair to pair.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::delay::Delay;
use crate::fate::Member;
use crate::table::{self, Cell, TableError};

/// A delay for each pair of sites. Members are dealt to the sites in turn: with s sites, member m is
/// at site m mod s.
///
/// ```text
/// site,   paris,                        tokyo
/// paris,  200us,                        120ms 2ms distribution normal
/// tokyo,  121ms 2ms distribution normal, 200us
/// ```
///
/// A row says where a packet comes from, a column where it goes. A cell is a [`Delay`]; where a site
/// meets itself it is that between two members at one site, and may be left empty for none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Matrix {
    name: String,
    sites: Arc<[String]>,
    /// From the first site to each, from the second to each, …
    delays: Arc<[Delay]>,
}

impl Matrix {
    /// Reads the text of a file of that name.
    pub fn read(name: &str, text: &str) -> Result<Self, TableError> {
        let mut rows = table::rows(text)?.into_iter();
        let header = rows.next().ok_or_else(|| TableError {
            line: 1,
            column: 1,
            why: "the file is empty; its first line is site,NAME,NAME,…".to_owned(),
        })?;
        let sites = header.iter().skip(1).map(|cell| cell.text.clone());
        let sites = sites.collect::<Vec<_>>();
        if sites.is_empty() {
            return Err(header[0].error("no site follows; the first line is site,NAME,NAME,…"));
        }
        let mut delays = Vec::with_capacity(sites.len() * sites.len());
        let mut last = header[0].clone();
        let mut from = 0;
        for row in rows {
            last = row[0].clone();
            let Some(site) = sites.get(from) else {
                let why = format!("the first line names only {} sites", sites.len());
                return Err(last.error(why));
            };
            if last.text != *site {
                let why = "this row is not that of the site whose turn it is in the first line";
                return Err(last.error(why));
            }
            if row.len() != sites.len() + 1 {
                let why = format!(
                    "the row has {} delays for {} sites",
                    row.len() - 1,
                    sites.len()
                );
                return Err(row[row.len() - 1].error(why));
            }
            for (to, cell) in row.iter().skip(1).enumerate() {
                delays.push(read_cell(cell, from == to)?);
            }
            from += 1;
        }
        if from < sites.len() {
            let why = format!("row {} of {} is missing below", from + 1, sites.len());
            return Err(last.error(why));
        }
        Ok(Self {
            name: name.to_owned(),
            sites: sites.into(),
            delays: delays.into(),
        })
    }

    /// A matrix in which the delay between each two sites is computed.
    pub(crate) fn between(
        name: &str,
        sites: &[&str],
        delay: impl Fn(usize, usize) -> Delay,
    ) -> Self {
        let count = sites.len();
        Self {
            name: name.to_owned(),
            sites: sites.iter().map(|site| (*site).to_owned()).collect(),
            delays: (0..count * count)
                .map(|cell| delay(cell / count, cell % count))
                .collect(),
        }
    }

    /// The name of the file it was read from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of the sites.
    pub fn sites(&self) -> &[String] {
        &self.sites
    }

    /// How long it takes from one member to another.
    pub fn delay(&self, from: Member, to: Member) -> &Delay {
        let site = |member: Member| member as usize % self.sites.len();
        &self.delays[site(from) * self.sites.len() + site(to)]
    }

    /// The longest that a packet can take between any two sites, if there is a bound.
    pub fn largest_ns(&self) -> Option<u64> {
        let mut delays = self.delays.iter();
        delays.try_fold(0, |most, delay| delay.largest_ns().map(|ns| ns.max(most)))
    }
}

fn read_cell(cell: &Cell, same_site: bool) -> Result<Delay, TableError> {
    if cell.text.is_empty() && same_site {
        return Ok(Delay::Constant { ns: 0 });
    }
    let why = match cell.text.is_empty() {
        true => "an empty cell",
        false => "this is not a delay",
    };
    let read = cell.text.parse::<Delay>();
    read.map_err(|error| cell.error(format!("{why}; {}", error.right)))
}

#[derive(Serialize, Deserialize)]
struct Stored {
    name: String,
    sites: Vec<String>,
    delays: Vec<Delay>,
}

impl TryFrom<Stored> for Matrix {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let sites = stored.sites.len();
        if sites == 0 || stored.delays.len() != sites * sites {
            let delays = stored.delays.len();
            return Err(format!(
                "{delays} delays do not make a matrix of {sites} sites"
            ));
        }
        Ok(Self {
            name: stored.name,
            sites: stored.sites.into(),
            delays: stored.delays.into(),
        })
    }
}

impl From<Matrix> for Stored {
    fn from(matrix: Matrix) -> Self {
        Self {
            name: matrix.name,
            sites: matrix.sites.to_vec(),
            delays: matrix.delays.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str =
        "# measured on a Sunday\nsite, paris, tokyo\nparis, , 120ms\n\ntokyo, 121ms, 1ms\n";

    #[test]
    fn members_are_dealt_to_the_sites_in_turn() {
        let matrix = Matrix::read("two.csv", TWO).unwrap();
        let ms = |from, to| matrix.delay(from, to).constant_ns().unwrap() / 1_000_000;
        assert_eq!(
            [ms(0, 1), ms(1, 0), ms(0, 2), ms(1, 3), ms(4, 7)],
            [120, 121, 0, 1, 120]
        );
        assert_eq!(matrix.largest_ns(), Some(121_000_000));
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, error) in [
            (
                "",
                "line 1, column 1: the file is empty; its first line is site,NAME,NAME,…",
            ),
            (
                "site",
                "line 1, column 1: no site follows; the first line is site,NAME,NAME,…",
            ),
            (
                "site,a,b\na,,1ms",
                "line 2, column 1: row 2 of 2 is missing below",
            ),
            (
                "site,a,b\nb,1ms,",
                "line 2, column 1: this row is not that of the site whose turn it is in the first line",
            ),
            (
                "site,a,b\na,,1ms,2ms\nb,1ms,",
                "line 2, column 4: the row has 3 delays for 2 sites",
            ),
            (
                "site,a,b\na,,1ms\nb,fast,",
                "line 3, column 2: this is not a delay; write a time such as 200us, 75ms or 1.5s",
            ),
            (
                "site,a,b\na,,\nb,1ms,",
                "line 2, column 3: an empty cell; write a time such as 200us, 75ms or 1.5s",
            ),
            (
                "site,a\na,\na,",
                "line 3, column 1: the first line names only 1 sites",
            ),
        ] {
            assert_eq!(Matrix::read("x.csv", text).unwrap_err().to_string(), error);
        }
    }
}
