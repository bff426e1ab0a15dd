//! Counter-based migration: the role moves after `max_req` entries.

use serde::Serialize;

use crate::contract::Outbox;
use crate::controller::migration_info::{Cause, MigrationInfo};

/// Counts entries: the role moves when `req_served` reaches `max_req`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(in crate::controller) struct Counter {
    max_req: u64,
    /// Entries of this tenure.
    req_served: u64,
}

impl Counter {
    pub(in crate::controller) fn new(max_req: u64) -> Self {
        Self {
            max_req,
            req_served: 0,
        }
    }
}

impl MigrationInfo for Counter {
    fn due(&mut self, cause: Cause) -> bool {
        match cause {
            Cause::Exit => self.req_served = self.req_served.saturating_add(1),
            Cause::Begin | Cause::Wake => {}
        }
        // Not `=`, as printed: where the role could not move when it was due, it moves later.
        self.req_served >= self.max_req
    }

    fn tenure_ends<M>(&mut self, _: u64, _: &mut Outbox<M>) {
        self.req_served = 0;
    }
}
