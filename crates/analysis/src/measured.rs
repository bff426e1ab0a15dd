//! The part of a run that is measured.

use model::plan::Plan;
use model::run::{RequestRow, Run};

/// From when to when a run is measured: all of it, unless a warm-up is cut off.
///
/// What says how a run behaves (messages per entry, times, throughput, fairness, how full it was
/// inside) is measured here; what says that something happened at all (requests, overtakes,
/// protocol errors) is counted over the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    /// When measuring begins.
    pub from_ns: u64,
    /// When measuring ends.
    pub until_ns: u64,
    /// Entries between the two.
    pub entries: u64,
    /// Messages of the algorithm that were sent between the two.
    pub messages: u64,
    /// Whether a warm-up is cut off; it then begins and ends at an exit.
    pub cut: bool,
}

impl Measured {
    pub(crate) fn of(plan: &Plan, run: &Run) -> Self {
        if plan.warm_up_entries > 0 {
            return Self {
                from_ns: run.window.from_ns,
                until_ns: run.window.until_ns,
                entries: run.window.entries,
                messages: run.window.messages,
                cut: true,
            };
        }
        let entered = |row: &&RequestRow| row.entered_ns.is_some();
        Self {
            from_ns: 0,
            until_ns: run.ended_ns,
            entries: run.requests.iter().filter(entered).count() as u64,
            messages: run.messages.values().map(|row| row.sent).sum(),
            cut: false,
        }
    }

    /// Whether an entry belongs to it: where a warm-up is cut off, by its exit.
    pub(crate) fn contains(&self, request: &RequestRow) -> bool {
        if !self.cut {
            return request.entered_ns.is_some();
        }
        let inside = |left_ns| left_ns > self.from_ns && left_ns <= self.until_ns;
        request.left_ns.is_some_and(inside)
    }

    /// How long the measured part is.
    pub(crate) fn length_ns(&self) -> u64 {
        self.until_ns.saturating_sub(self.from_ns)
    }

    /// How much of the time between the two lies in it.
    pub(crate) fn overlap_ns(&self, from_ns: u64, until_ns: u64) -> u64 {
        let until_ns = until_ns.min(self.until_ns);
        until_ns.saturating_sub(from_ns.max(self.from_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{plan, served};

    #[test]
    fn a_window_begins_after_the_exit_that_ends_the_warm_up() {
        let mut plan = plan("raymond", 2);
        plan.warm_up_entries = 1;
        let mut run = served([(0, 0, 1, 5), (1, 0, 6, 9), (0, 5, 10, 12)]);
        run.window.from_ns = 5;
        run.window.until_ns = 9;
        let measured = Measured::of(&plan, &run);
        let inside = run.requests.iter().map(|row| measured.contains(row));
        assert_eq!(inside.collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(measured.overlap_ns(6, 12), 3);
        assert_eq!(measured.overlap_ns(10, 12), 0);
    }
}
