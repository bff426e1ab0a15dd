//! The measured window: found while the run goes on.

use std::collections::BTreeMap;

use crate::plan::Plan;
use crate::run::{NoteRow, Window};
use crate::workload::Quota;

/// Counts what happens in the measured window.
///
/// Without a warm-up that is the whole run. With one, the window begins at the exit that ends the
/// warm-up and ends at an exit before the drain, after a multiple of N entries; before the first
/// such multiple any exit will do. What has happened since the last exit that could be its end is
/// kept apart, because it may turn out not to belong.
#[derive(Debug)]
pub(crate) struct Measure {
    nodes: u64,
    warm_up_entries: u64,
    /// From this moment nobody asks again.
    until_ns: Option<u64>,
    /// Somebody has stopped asking.
    drains: bool,
    exits: u64,
    window: Window,
    since: Sums,
}

#[derive(Debug, Default)]
struct Sums {
    messages: u64,
    notes: BTreeMap<&'static str, NoteRow>,
}

impl Measure {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            nodes: u64::from(plan.nodes),
            warm_up_entries: plan.warm_up_entries,
            until_ns: match plan.workload.quota {
                Quota::Until(moment_ns) => Some(moment_ns),
                Quota::PerNode(_) | Quota::Total(_) => None,
            },
            drains: false,
            exits: 0,
            window: Window::default(),
            since: Sums::default(),
        }
    }

    /// A message was sent.
    pub(crate) fn sent(&mut self) {
        self.since.messages += 1;
    }

    /// A number was noted.
    pub(crate) fn note(&mut self, name: &'static str, value: u64) {
        self.since.notes.entry(name).or_default().add(value);
    }

    /// A client will not ask again. Where the time is up the moment is known; otherwise the drain
    /// begins with the first one.
    pub(crate) fn retired(&mut self) {
        self.drains |= self.until_ns.is_none();
    }

    /// A client left.
    pub(crate) fn left(&mut self, now_ns: u64) {
        self.exits += 1;
        if self.warm_up_entries == 0 || self.exits < self.warm_up_entries {
            return;
        }
        if self.exits == self.warm_up_entries {
            self.since = Sums::default();
            self.window.from_ns = now_ns;
            self.window.until_ns = now_ns;
            return;
        }
        let drains = self.drains || self.until_ns.is_some_and(|until_ns| now_ns >= until_ns);
        let entries = self.exits - self.warm_up_entries;
        if !drains && (entries < self.nodes || entries.is_multiple_of(self.nodes)) {
            self.take_in(now_ns, entries);
        }
    }

    /// The run is over.
    pub(crate) fn window(mut self, ended_ns: u64) -> Window {
        if self.warm_up_entries == 0 {
            self.take_in(ended_ns, self.exits);
        }
        self.window
    }

    fn take_in(&mut self, until_ns: u64, entries: u64) {
        self.window.until_ns = until_ns;
        self.window.entries = entries;
        self.window.messages += std::mem::take(&mut self.since.messages);
        for (name, row) in std::mem::take(&mut self.since.notes) {
            let notes = &mut self.window.notes;
            notes.entry(name.to_owned()).or_default().merge(&row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(warm_up_entries: u64, nodes: u32, quota: Quota) -> Measure {
        let mut plan = crate::plan::tests::plan();
        plan.warm_up_entries = warm_up_entries;
        plan.nodes = nodes;
        plan.workload.quota = quota;
        Measure::new(&plan)
    }

    /// Exits at 1, 2, 3, … with two messages after each.
    fn exits(measure: &mut Measure, moments: std::ops::RangeInclusive<u64>) {
        for now_ns in moments {
            measure.left(now_ns);
            measure.sent();
            measure.sent();
            measure.note("hops", now_ns);
        }
    }

    #[test]
    fn without_a_warm_up_everything_counts() {
        let mut measure = measure(0, 3, Quota::PerNode(1));
        exits(&mut measure, 1..=4);
        measure.retired();
        exits(&mut measure, 5..=5);
        let window = measure.window(9);
        assert_eq!((window.from_ns, window.until_ns), (0, 9));
        assert_eq!((window.entries, window.messages), (5, 10));
        assert_eq!(window.notes["hops"].sum, 15);
    }

    #[test]
    fn a_window_ends_after_whole_cycles_before_the_drain() {
        let mut measure = measure(2, 3, Quota::PerNode(9));
        exits(&mut measure, 1..=12);
        measure.retired();
        exits(&mut measure, 13..=20);
        let window = measure.window(20);
        assert_eq!((window.from_ns, window.until_ns), (2, 11));
        assert_eq!((window.entries, window.messages), (9, 18));
        assert_eq!(window.notes["hops"].max, 10);
    }

    #[test]
    fn a_short_window_ends_at_the_last_exit() {
        let mut measure = measure(2, 100, Quota::Until(7));
        exits(&mut measure, 1..=9);
        let window = measure.window(9);
        assert_eq!((window.from_ns, window.until_ns, window.entries), (2, 6, 4));
    }

    #[test]
    fn a_warm_up_that_never_ends_leaves_nothing_to_measure() {
        let mut measure = measure(5, 3, Quota::PerNode(1));
        exits(&mut measure, 1..=3);
        assert_eq!(measure.window(9), Window::default());
    }
}
