//! What algorithms of several families share.

pub(crate) mod broadcast;
pub(crate) mod stamp;
