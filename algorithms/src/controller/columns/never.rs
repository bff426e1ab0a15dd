//! No migration: the first controller stays.

use serde::Serialize;

use crate::contract::Outbox;
use crate::controller::migration_info::{Cause, MigrationInfo};

/// The role never moves.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(in crate::controller) struct Never;

impl MigrationInfo for Never {
    fn watch<M>(&mut self, _: u64, _: &mut Outbox<M>) {}

    fn due(&mut self, _: Cause) -> bool {
        false
    }

    fn expired(&mut self) {}

    fn tenure_ends<M>(&mut self, _: u64, _: &mut Outbox<M>) {}
}
