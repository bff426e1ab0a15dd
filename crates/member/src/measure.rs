//! The measured window: found while the run goes on.

use std::collections::BTreeMap;

use model::plan::Plan;
use model::run::{NoteRow, Window};
use model::workload::Quota;

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
    marks: Marks,
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
            marks: Marks::default(),
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

    /// A client left at this moment.
    pub(crate) fn left(&mut self, now_ns: u64) {
        self.exits += 1;
        if self.exits < self.warm_up_entries {
            return;
        }
        if self.exits > self.warm_up_entries {
            let sent = self.window.messages + self.since.messages;
            self.marks.exit(self.exits - self.warm_up_entries, sent);
        }
        if self.warm_up_entries == 0 {
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

    /// The window, once the run is over.
    pub(crate) fn window(mut self, ended_ns: u64) -> Window {
        if self.warm_up_entries == 0 {
            self.take_in(ended_ns, self.exits);
        }
        let within = self.window.entries / self.marks.stride;
        self.marks.messages.truncate(within as usize);
        self.window.marks = self.marks.messages;
        self.window.stride = self.marks.stride;
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

/// How many messages had been sent by every `stride`-th exit. The stride doubles whenever [`MARKS`]
/// would be exceeded, so there is always room.
#[derive(Debug)]
struct Marks {
    messages: Vec<u64>,
    stride: u64,
}

/// The number of marks at which every other one is dropped and the stride doubles.
const MARKS: usize = 128;

impl Default for Marks {
    fn default() -> Self {
        Self {
            messages: Vec::new(),
            stride: 1,
        }
    }
}

impl Marks {
    /// Takes note of the n-th exit of the window; `sent` messages had been sent in the window by
    /// then.
    fn exit(&mut self, nth: u64, sent: u64) {
        if !nth.is_multiple_of(self.stride) {
            return;
        }
        self.messages.push(sent);
        if self.messages.len() == MARKS {
            let mut nth = 0;
            self.messages.retain(|_| {
                nth += 1;
                nth % 2 == 0
            });
            self.stride *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(warm_up_entries: u64, nodes: u32, quota: Quota) -> Measure {
        let mut plan = crate::sample::plan();
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

    /// The window of a run with exits until the given moment, and others while clients retire.
    fn drained(mut measure: Measure, retired_ns: u64, last_ns: u64, ended_ns: u64) -> Window {
        exits(&mut measure, 1..=retired_ns);
        measure.retired();
        exits(&mut measure, retired_ns + 1..=last_ns);
        measure.window(ended_ns)
    }

    #[test]
    fn without_a_warm_up_everything_counts() {
        let window = drained(measure(0, 3, Quota::PerNode(1)), 4, 5, 9);
        assert_eq!((window.from_ns, window.until_ns), (0, 9));
        assert_eq!((window.entries, window.messages), (5, 10));
        assert_eq!(window.notes["hops"].sum, 15);
    }

    #[test]
    fn a_window_ends_after_whole_cycles_before_the_drain() {
        let window = drained(measure(2, 3, Quota::PerNode(9)), 12, 20, 20);
        assert_eq!((window.from_ns, window.until_ns), (2, 11));
        assert_eq!(window.notes["hops"].max, 10);
        assert_eq!((window.entries, window.messages), (9, 18));
    }

    #[test]
    fn marks_say_how_many_messages_each_stretch_of_exits_took() {
        let mut measure = measure(0, 3, Quota::PerNode(1));
        exits(&mut measure, 1..=127);
        measure.left(128);
        let window = measure.window(128);
        assert_eq!((window.stride, window.marks.len()), (2, 64));
        // Two messages follow each exit, so the n-th comes after 2(n - 1) of them.
        assert_eq!(window.marks[..3], [2, 6, 10]);
        assert_eq!(window.marks[63], 254);
    }

    #[test]
    fn marks_beyond_the_window_are_not_kept() {
        let window = drained(measure(2, 3, Quota::PerNode(9)), 12, 20, 20);
        assert_eq!((window.entries, window.stride), (9, 1));
        assert_eq!(window.marks, [2, 4, 6, 8, 10, 12, 14, 16, 18]);
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
        let window = measure.window(9);
        assert_eq!((window.entries, window.messages), (0, 0));
        assert_eq!(window.marks, [] as [u64; 0]);
    }
}
