//! Each exit: migration is as frequent as entries.

use serde::Serialize;

use crate::controller::migration_info::{Cause, MigrationInfo};

/// The role moves whenever it may.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(in crate::controller) struct Each;

impl MigrationInfo for Each {
    fn due(&mut self, _: Cause) -> bool {
        true
    }
}
