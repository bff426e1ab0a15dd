//! What algorithms of several families share.

pub(crate) mod broadcast;
pub(crate) mod phase;
pub(crate) mod stamp;
pub(crate) mod time;
