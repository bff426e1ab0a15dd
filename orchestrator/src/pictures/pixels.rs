//! Time along a picture, to the pixel: however long a run was, its marks are few.

use std::fmt::Write;

use super::axis::Axis;
use super::{LEFT, RIGHT};

/// Columns from left to right in which something goes on, or not.
pub(super) const COLUMNS: usize = 700;

/// An axis of the run's time, in seconds.
pub(super) fn seconds(from_ns: u64, until_ns: u64) -> Axis {
    Axis::new(from_ns as f64 / 1e9..=until_ns as f64 / 1e9, LEFT, RIGHT)
}

/// The columns of a picture in which something is going on.
#[derive(Clone)]
pub(super) struct PixelRow {
    from_ns: u64,
    until_ns: u64,
    marked: Vec<bool>,
}

impl PixelRow {
    /// A row for these times in which nothing is marked.
    pub(super) fn new(from_ns: u64, until_ns: u64) -> Self {
        Self {
            from_ns,
            until_ns,
            marked: vec![false; COLUMNS],
        }
    }

    /// Something goes on from one time to another, as far as the picture shows them.
    pub(super) fn mark(&mut self, start_ns: u64, end_ns: u64) {
        if end_ns < start_ns || end_ns < self.from_ns || start_ns > self.until_ns {
            return;
        }
        let column = |ns: u64| {
            let ns = u128::from(ns.clamp(self.from_ns, self.until_ns) - self.from_ns);
            let column = ns * COLUMNS as u128 / u128::from(self.until_ns - self.from_ns);
            (column as usize).min(COLUMNS - 1)
        };
        let (first, last) = (column(start_ns), column(end_ns));
        self.marked[first..=last].fill(true);
    }

    /// Where neighbouring columns begin and end.
    pub(super) fn spans(&self) -> impl Iterator<Item = (f64, f64)> {
        self.runs()
            .into_iter()
            .map(|(first, last)| (edge(first), edge(last + 1)))
    }

    /// Adds a level line for each span at that height.
    pub(super) fn draw(&self, path: &mut String, y: f64) {
        for (start, end) in self.spans() {
            write!(path, "M{start:.1} {y:.0}h{:.1}", end - start)
                .expect("a text takes every letter");
        }
    }

    /// The first and the last of neighbouring columns.
    fn runs(&self) -> Vec<(usize, usize)> {
        let columns = (0..COLUMNS).collect::<Vec<_>>();
        let runs = columns.chunk_by(|one, next| self.marked[*one] == self.marked[*next]);
        let runs = runs.filter(|run| self.marked[run[0]]);
        runs.map(|run| (run[0], run[run.len() - 1])).collect()
    }
}

/// Where a column begins.
fn edge(column: usize) -> f64 {
    LEFT + (RIGHT - LEFT) * column as f64 / COLUMNS as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_columns_are_one_mark() {
        let mut row = PixelRow::new(0, 700);
        for (from, until) in [(10, 12), (13, 20), (30, 30), (800, 900)] {
            row.mark(from, until);
        }
        assert_eq!(row.runs(), [(10, 20), (30, 30)]);
    }
}
