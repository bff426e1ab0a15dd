//! What a client is doing, where the paper has no words of its own for it.

use serde::Serialize;

/// What the local client is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) enum Phase {
    Idle,
    Waiting,
    Inside,
}
