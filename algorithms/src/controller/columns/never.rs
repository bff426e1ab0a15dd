//! No migration: the first controller stays.

use serde::Serialize;

use crate::controller::migration_info::{Cause, MigrationInfo};

/// The role never moves.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(in crate::controller) struct Never;

impl MigrationInfo for Never {
    fn due(&mut self, _: Cause) -> bool {
        false
    }
}
