//! Faults that strike members and their messages; `chaos` knows those of links.

pub(crate) mod messages;
pub mod processes;
