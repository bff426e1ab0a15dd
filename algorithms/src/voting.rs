//! A node enters with the votes of a majority.
//!
//! BMaV and NHME-AMC are two covers of one machine, which is in [`votes`]; [`attempts`] is shared by
//! the two algorithms that try again and again, [`weights`] by those that count votes.

mod attempts;
pub(crate) mod bmav;
pub(crate) mod nhme;
pub(crate) mod tb_dva;
pub(crate) mod thomas;
pub(crate) mod votes;
mod weights;
