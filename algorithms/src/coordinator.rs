//! One node decides who enters.

pub(crate) mod centralised;
