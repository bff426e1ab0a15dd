//! Everything a member does, for `--trace`: a line of the run's `events.jsonl` after another, among
//! its records.

use algorithms::erased::MessageId;

use super::Member;
use crate::record::Record;
use member::members::{self, Members};
use member::trace;
use model::event::{Event, What};

impl Member {
    /// Writes down what happened, if everything is.
    pub(crate) fn trace(&mut self, now_ns: u64, what: impl FnOnce(&Members) -> What) {
        if let (Some(_), Some(members)) = (&self.traced, &self.members) {
            let event = Event {
                time_ns: now_ns,
                node: Some(self.me),
                what: what(members),
            };
            let line = event.line().into();
            self.recorder.add(now_ns, &Record::Traced { line });
        }
    }

    /// Writes down what a record says, if no other event does.
    pub(super) fn trace_record(
        &mut self,
        now_ns: u64,
        record: &members::Record,
        witness: Option<u32>,
    ) {
        let faults = self.traced.as_ref();
        if let Some(what) = faults.and_then(|faults| trace::of_record(record, witness, faults)) {
            self.trace(now_ns, |_| what);
        }
    }

    /// The number that a message travels with, if it is traced.
    pub(super) fn number(&self, message: MessageId) -> Option<u64> {
        let members = self.members.as_ref().filter(|_| self.traced.is_some());
        members.map(|members| members.number(message))
    }
}
