//! What was tried as a page: each algorithm with each fault, cell by cell.

use algorithms::registry;

use super::{Row, Tried};
use crate::numbers::{count, many};
use crate::table::Table;

/// The words of the fault language as the cells are called, what a scenario without any is, and the
/// detector that errs.
const WORDS: [&str; 24] = [
    "none",
    "loss",
    "delay",
    "duplicate",
    "reorder",
    "corrupt",
    "truncate",
    "rate",
    "preset",
    "cut",
    "partition",
    "isolate",
    "heal",
    "churn",
    "kill",
    "pause",
    "resume",
    "restart",
    "lose message",
    "delay message",
    "duplicate message",
    "hide",
    "detector timeout",
    "schedule pct",
];

/// A fault that acted in so many runs of an algorithm has been tried well.
pub(crate) const OFTEN: u64 = 1_000;

/// The remark on a fault that an algorithm cannot meet: nobody tells it who is down.
fn cannot_act(algorithm: &str, word: &str) -> bool {
    let mut all = registry::ALL.iter();
    let info = all.find(|info| info.name == algorithm);
    let told = info.is_some_and(|info| info.wants_peer_events());
    !told && ["hide", "detector timeout"].contains(&word)
}

impl Tried {
    /// Each algorithm and word that can meet, with what was tried of it.
    fn pairs(&self) -> impl Iterator<Item = (&str, &'static str, Row)> {
        self.algorithms.keys().flat_map(move |algorithm| {
            let words = WORDS
                .into_iter()
                .filter(move |word| !cannot_act(algorithm, word));
            words.map(move |word| (algorithm.as_str(), word, self.row(algorithm, word)))
        })
    }

    fn row(&self, algorithm: &str, word: &str) -> Row {
        let cells = self.cells.get(algorithm);
        let row = cells.and_then(|cells| cells.get(word));
        row.copied().unwrap_or_default()
    }

    /// How many pairs there are, and in how many of them the fault acted in at least so many runs.
    pub(crate) fn well_tried(&self, least: u64) -> (usize, usize) {
        let well = self.pairs().filter(|(_, _, row)| row.acted >= least);
        (self.pairs().count(), well.count())
    }

    /// The page: all runs by algorithm, in how many the faults acted cell by cell, and which cells have few.
    pub(crate) fn page(&self) -> String {
        let headings = [
            "algorithm",
            "runs",
            "faults acted",
            "entries",
            "holds",
            "violated",
            "inconclusive",
            "failed",
        ];
        let mut table = Table::new(headings);
        let rows = self
            .algorithms
            .iter()
            .map(|(name, row)| (name.as_str(), *row));
        for (name, row) in rows.chain([("all", self.all())]) {
            let numbers = [
                row.runs,
                row.acted,
                row.entries,
                row.verdicts.holds,
                row.verdicts.violated,
                row.verdicts.inconclusive,
                row.failed,
            ];
            let cells = numbers.iter().map(|number| count(*number));
            table.add(std::iter::once(name.to_owned()).chain(cells).collect());
        }
        let mut page = table.shown(true);
        page += &format!(
            "\n{} replayed and read back from files; {} on both engines with the same counts, where they had to \
             agree.\n",
            many(self.replayed, "trace", "traces"),
            many(self.compared, "run", "runs"),
        );
        page += "\n## Runs in which the fault acted\n\n\
                 Where there is a stroke, nobody tells the algorithm who is down, so the fault cannot be.\n\n";
        let mut headings = vec!["algorithm".to_owned()];
        headings.extend(WORDS.map(str::to_owned));
        let mut table = Table::of(headings);
        for name in self.algorithms.keys() {
            let cells = WORDS.map(|word| match cannot_act(name, word) {
                true => "-".to_owned(),
                false => count(self.row(name, word).acted),
            });
            table.add(std::iter::once(name.clone()).chain(cells).collect());
        }
        page += &table.shown(true);
        let (pairs, often) = self.well_tried(OFTEN);
        page += &format!(
            "\n{} of {} cells acted in at least {} runs.",
            count(often as u64),
            count(pairs as u64),
            count(OFTEN),
        );
        let few = self.pairs().filter(|(_, _, row)| row.acted < OFTEN);
        let few = few.map(|(name, word, row)| format!("{name} × {word} {}", count(row.acted)));
        let few = few.collect::<Vec<_>>();
        match few.is_empty() {
            true => page + "\n",
            false => page + " Fewer: " + &few.join(", ") + ".\n",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_cell_that_can_be_is_there_and_says_how_often_it_acted() {
        let row = Row {
            runs: 1_200,
            acted: 1_000,
            ..Row::default()
        };
        let cells = BTreeMap::from([("loss".to_owned(), row)]);
        let tried = Tried {
            algorithms: BTreeMap::from([("raymond".to_owned(), row)]),
            cells: BTreeMap::from([("raymond".to_owned(), cells)]),
            ..Tried::default()
        };
        // Nobody tells raymond who is down.
        assert_eq!(tried.well_tried(OFTEN), (WORDS.len() - 2, 1));
        let page = tried.page();
        assert!(
            page.contains("1 of 22 cells acted in at least 1,000 runs"),
            "{page}"
        );
        assert!(page.contains("raymond × churn 0"), "{page}");
        assert!(!page.contains("raymond × hide"), "{page}");
    }
}
