//! Whether two engines saw the same.

use super::{Evidence, LEVEL, Selection};
use crate::expression::Expression;
use crate::statistics::Moments;
use crate::words::significant;

/// A quantity in the same cell of two sets of runs that no chance explains, in a sentence; `None` if
/// there is no such cell.
///
/// Where it is the same in all runs of both, it must be equal; elsewhere the 99 % intervals must
/// overlap.
pub fn disagreement(
    simulated: &Evidence,
    real: &Evidence,
    among: &Selection,
    value: &Expression,
) -> Option<String> {
    let moments = |evidence: &Evidence, cell| {
        let rows = evidence.rows(cell);
        Moments::of(rows.filter_map(|row| evidence.value(row, value)))
    };
    let differs = |&cell: &usize| {
        let (a, b) = (moments(simulated, cell), moments(real, cell));
        if a.n == 0 || b.n == 0 {
            return None;
        }
        let ends = |of: Moments| of.interval(LEVEL).unwrap_or((of.mean, of.mean));
        let ((a_low, a_high), (b_low, b_high)) = (ends(a), ends(b));
        let rounding = 1e-9 * (1.0 + a.mean.abs());
        let apart = a_low > b_high + rounding || b_low > a_high + rounding;
        apart.then(|| {
            format!(
                "{value}: {} simulated, {} on processes at {}",
                significant(a.mean),
                significant(b.mean),
                simulated.label(cell)
            )
        })
    };
    simulated.selected(among).iter().find_map(differs)
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
            disagreement(&evidence(a), &evidence(b), &Selection::new(), &cost).is_some()
        };
        assert!(!differ(&[8.0, 8.0], &[8.0, 8.0]));
        assert!(differ(&[8.0, 8.0], &[8.1, 8.1]));
        assert!(!differ(&[7.9, 8.1, 8.0], &[8.0, 8.2, 8.1]));
        assert!(differ(&[7.9, 8.1, 8.0, 8.0], &[9.0, 9.2, 9.1, 9.1]));
    }
}
