//! Says in the log when faults of the timeline begin and end.

use std::collections::BTreeSet;

use tracing::info;

use super::faults::Faults;

/// How many changes are recorded one by one when the proxy wakes; beyond that it would be busy with
/// nothing else.
const MOST_AT_ONCE: usize = 64;

/// What has been recorded of the timeline so far.
#[derive(Default)]
pub(super) struct FaultLog {
    /// Steps that have begun and not ended, by their place in the timeline.
    in_force: BTreeSet<usize>,
    /// When to look again, if ever.
    next_ns: Option<u64>,
}

impl FaultLog {
    /// A log with no records yet, if anybody reads it.
    pub(super) fn begin() -> Option<Self> {
        let log = Self {
            next_ns: Some(0),
            ..Self::default()
        };
        tracing::enabled!(tracing::Level::INFO).then_some(log)
    }

    /// When the next fault begins or ends.
    pub(super) fn next_ns(&self) -> Option<u64> {
        self.next_ns
    }

    /// Something was changed that no time foretold.
    pub(super) fn look_again(&mut self, now_ns: u64) {
        self.next_ns = Some(self.next_ns.map_or(now_ns, |next_ns| next_ns.min(now_ns)));
    }

    /// Says what has begun and ended by now.
    pub(super) fn tell(&mut self, faults: &Faults, now_ns: u64) {
        for _ in 0..MOST_AT_ONCE {
            match self.next_ns {
                Some(at_ns) if at_ns <= now_ns => self.tell_at(faults, at_ns),
                _ => return,
            }
        }
        if self.next_ns.is_some_and(|next_ns| next_ns <= now_ns) {
            info!(now_ns, "faults change too often to tell each time");
            self.tell_at(faults, now_ns);
        }
    }

    fn tell_at(&mut self, faults: &Faults, at_ns: u64) {
        let in_force = faults.network.steps_in_force(at_ns);
        for step in self.in_force.difference(&in_force) {
            info!(at_ns, fault = faults.text(*step), "a fault ends");
        }
        for step in in_force.difference(&self.in_force) {
            info!(at_ns, fault = faults.text(*step), "a fault begins");
        }
        self.in_force = in_force;
        self.next_ns = faults.network.next_change_ns(at_ns);
    }
}
