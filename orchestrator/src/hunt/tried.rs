//! What was tried: how often each fault was in a run of each algorithm, and what came of it.

mod page;

use std::collections::{BTreeMap, BTreeSet};

use analysis::Verdict;
use serde::{Deserialize, Serialize};

use super::coverage::Turn;
use super::trial::Done;
pub(crate) use page::OFTEN;

/// A fault of the language, as it was tried on one algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// Runs that asked for it.
    pub(crate) runs: u64,
    /// Runs in which it did something.
    pub(crate) acted: u64,
    #[serde(flatten)]
    pub(crate) verdicts: Verdicts,
    /// Runs that failed as no run may.
    pub(crate) failed: u64,
    /// Entries of these runs.
    pub(crate) entries: u64,
}

/// How many runs were judged in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Verdicts {
    pub(crate) holds: u64,
    pub(crate) violated: u64,
    pub(crate) inconclusive: u64,
}

impl Verdicts {
    fn of(&mut self, verdict: Verdict) -> &mut u64 {
        match verdict {
            Verdict::Holds => &mut self.holds,
            Verdict::Violated => &mut self.violated,
            Verdict::Inconclusive => &mut self.inconclusive,
        }
    }
}

impl Row {
    fn add(&mut self, done: &Done, acted: bool) {
        self.runs += 1;
        self.acted += u64::from(acted);
        *self.verdicts.of(done.verdict) += 1;
        self.failed += u64::from(done.failure.is_some());
        self.entries += done.entries;
    }
}

/// All that was tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tried {
    /// Each algorithm with all of its runs together.
    pub(crate) algorithms: BTreeMap<String, Row>,
    /// Each algorithm with each fault.
    pub(crate) cells: BTreeMap<String, BTreeMap<String, Row>>,
    /// Runs that were replayed.
    pub(crate) replayed: u64,
    /// Runs of which both engines had to count the same.
    pub(crate) compared: u64,
    /// Each knob with the sorts of value that it was turned to, and in how many runs.
    pub(crate) turned: BTreeMap<String, BTreeMap<String, u64>>,
}

impl Tried {
    /// Adds a run of an algorithm.
    pub(crate) fn add(&mut self, algorithm: &str, turns: &[Turn], done: &Done) {
        let row = self.algorithms.entry(algorithm.to_owned()).or_default();
        let mut words = done.faults.iter();
        row.add(done, words.any(|(word, acted)| *acted && *word != "none"));
        let cells = self.cells.entry(algorithm.to_owned()).or_default();
        for (word, acted) in &done.faults {
            cells
                .entry((*word).to_owned())
                .or_default()
                .add(done, *acted);
        }
        self.replayed += u64::from(done.replayed);
        self.compared += u64::from(done.compared);
        for (knob, value) in turns.iter().collect::<BTreeSet<_>>() {
            let values = self.turned.entry(knob.clone()).or_default();
            *values.entry(value.clone()).or_default() += 1;
        }
    }

    /// All runs together.
    pub(crate) fn all(&self) -> Row {
        let mut all = Row::default();
        for row in self.algorithms.values() {
            all.runs += row.runs;
            all.acted += row.acted;
            all.verdicts.holds += row.verdicts.holds;
            all.verdicts.violated += row.verdicts.violated;
            all.verdicts.inconclusive += row.verdicts.inconclusive;
            all.failed += row.failed;
            all.entries += row.entries;
        }
        all
    }

    /// Which knobs were turned, and to what, as CSV: in how many runs.
    pub(crate) fn turned_to_csv(&self) -> String {
        let mut text = "knob,value,runs\n".to_owned();
        for (knob, values) in &self.turned {
            for (value, runs) in values {
                text += &format!("{knob},\"{value}\",{runs}\n");
            }
        }
        text
    }

    /// The table as CSV: a row for each algorithm and fault.
    pub(crate) fn to_csv(&self) -> String {
        let mut text =
            "algorithm,fault,runs,acted,holds,violated,inconclusive,failed,entries\n".to_owned();
        for (algorithm, cells) in &self.cells {
            for (word, row) in cells {
                let Row {
                    runs,
                    acted,
                    verdicts,
                    failed,
                    entries,
                } = row;
                let Verdicts {
                    holds,
                    violated,
                    inconclusive,
                } = verdicts;
                text += &format!(
                    "{algorithm},{word},{runs},{acted},{holds},{violated},{inconclusive},{failed},\
                     {entries}\n"
                );
            }
        }
        text
    }
}
