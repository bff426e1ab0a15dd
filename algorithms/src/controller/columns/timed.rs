//! Timer-based migration: the role moves when it has been here for `max_time`.

use std::time::Duration;

use serde::Serialize;

use crate::contract::{After, Outbox};
use crate::controller::migration_info::{Cause, MigrationInfo, tenure};

/// `migrate` is set by the timer; the next test after that says yes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(in crate::controller) struct Timed {
    max_time: Duration,
    /// The timer of this tenure has been set.
    running: bool,
    /// It has gone off.
    migrate: bool,
}

impl Timed {
    pub(in crate::controller) fn new(max_time: Duration) -> Self {
        Self {
            max_time,
            running: false,
            migrate: false,
        }
    }
}

impl MigrationInfo for Timed {
    fn watch<M>(&mut self, epoch: u64, out: &mut Outbox<M>) {
        if !self.running {
            self.running = true;
            out.set_timer(tenure(epoch), After::Exactly(self.max_time));
        }
    }

    fn due(&mut self, _: Cause) -> bool {
        self.migrate
    }

    fn expired(&mut self) {
        self.migrate = true;
    }

    fn tenure_ends<M>(&mut self, epoch: u64, out: &mut Outbox<M>) {
        out.cancel_timer(tenure(epoch));
        (self.running, self.migrate) = (false, false);
    }
}
