//! Whether two engines saw the same.

use std::fmt;

use super::{Evidence, LEVEL, Selection};
use crate::expression::Expression;
use crate::prose::significant;
use crate::statistics::Moments;

/// A quantity that two engines measured differently, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    /// The formula that was compared.
    pub quantity: String,
    /// The cell of the grid, in words.
    pub cell: String,
    /// The mean of the simulated runs.
    pub simulated: f64,
    /// The mean of the runs on processes.
    pub real: f64,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (simulated, real) = (significant(self.simulated), significant(self.real));
        let (quantity, cell) = (&self.quantity, &self.cell);
        write!(
            f,
            "{quantity}: {simulated} simulated, {real} on processes at {cell}"
        )
    }
}

/// The first cell of two sets of runs in which a quantity differs by more than chance explains, if
/// there is one; `None` if it was not measured in both.
///
/// Where it is the same in all runs of both, it must be equal; elsewhere the 99 % intervals must
/// overlap.
pub fn disagreement(
    simulated: &Evidence,
    real: &Evidence,
    among: &Selection,
    value: &Expression,
) -> Option<Option<Disagreement>> {
    let moments = |evidence: &Evidence, cell| {
        let rows = evidence.rows(cell);
        Moments::of(rows.filter_map(|row| evidence.value(row, value)))
    };
    // On processes there may be fewer cells.
    let partner = |cell: usize| {
        let words = &simulated.cells[cell];
        real.cells.iter().position(|other| other == words)
    };
    let cells = simulated.selected(among).into_iter();
    let cells = cells.filter_map(|cell| {
        let pair = (moments(simulated, cell), moments(real, partner(cell)?));
        Some((cell, pair))
    });
    let measured = cells.filter(|(_, (a, b))| a.n > 0 && b.n > 0);
    let measured = measured.collect::<Vec<_>>();
    let differs = |&(cell, (a, b)): &(usize, (Moments, Moments))| {
        let ends = |of: Moments| of.interval(LEVEL).unwrap_or((of.mean, of.mean));
        let ((a_low, a_high), (b_low, b_high)) = (ends(a), ends(b));
        let rounding = 1e-9 * (1.0 + a.mean.abs());
        let apart = a_low > b_high + rounding || b_low > a_high + rounding;
        apart.then(|| Disagreement {
            quantity: value.to_string(),
            cell: simulated.label(cell),
            simulated: a.mean,
            real: b.mean,
        })
    };
    (!measured.is_empty()).then(|| measured.iter().find_map(differs))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::Row;
    use super::*;

    fn evidence(values: &[f64]) -> Evidence {
        let rows = values.iter().enumerate().map(|(nth, value)| Row {
            cell: 0,
            repetition: nth as u64,
            values: BTreeMap::from([("cost".to_owned(), *value)]),
        });
        Evidence {
            keys: vec!["nodes".to_owned()],
            cells: vec![vec!["5".to_owned()]],
            rows: rows.collect(),
        }
    }

    #[test]
    fn what_never_varies_must_be_equal() {
        let cost = Expression::parse("cost").unwrap();
        let differ = |a: &[f64], b: &[f64]| {
            let compared = disagreement(&evidence(a), &evidence(b), &Selection::new(), &cost);
            compared.expect("both have it").is_some()
        };
        assert!(!differ(&[8.0, 8.0], &[8.0, 8.0]));
        assert!(differ(&[8.0, 8.0], &[8.1, 8.1]));
        assert!(!differ(&[7.9, 8.1, 8.0], &[8.0, 8.2, 8.1]));
        assert!(differ(&[7.9, 8.1, 8.0, 8.0], &[9.0, 9.2, 9.1, 9.1]));
        let unmeasured = evidence(&[]);
        let compared = disagreement(&evidence(&[8.0]), &unmeasured, &Selection::new(), &cost);
        assert_eq!(compared, None);
    }
}
