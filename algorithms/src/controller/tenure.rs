//! The role at one node, for the rows that are machines of their own.

use serde::Serialize;

use super::chosen::Chosen;
use super::migration_info::{Cause, Column, MigrationInfo};
use crate::contract::{Outbox, Timer};
use crate::setup::Setup;

/// Whether the role is here, how often it has moved, and when it is due to move again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Tenure {
    /// The role is here.
    pub(super) active: bool,
    /// How often the role had moved when it was last here.
    pub(super) epoch: u64,
    column: Column,
}

impl Tenure {
    pub(super) fn of(setup: &Setup<'_>) -> Self {
        Self {
            active: setup.is_holder(),
            epoch: 0,
            column: Column::chosen(&Chosen(&setup.setting.params)),
        }
    }

    /// The role has come.
    pub(super) fn begin(&mut self, epoch: u64) {
        self.active = true;
        self.epoch = epoch;
    }

    /// Whether the role is to move now, if it can.
    pub(super) fn is_due<M>(&mut self, cause: Cause, out: &mut Outbox<M>) -> bool {
        self.column.watch(self.epoch, out);
        cause != Cause::Begin && self.column.due(cause)
    }

    /// The role leaves.
    pub(super) fn end<M>(&mut self, out: &mut Outbox<M>) {
        self.column.tenure_ends(self.epoch, out);
        self.active = false;
        self.epoch = self.epoch.saturating_add(1);
        out.note("moves", 1);
    }

    /// A timer went off: it must be that of this tenure.
    pub(super) fn went_off<M>(&mut self, timer: Timer, out: &mut Outbox<M>) {
        let since = self.active.then_some(self.epoch);
        self.column.went_off(timer, since, out);
    }
}
