//! The columns of the taxonomy: how often the role moves.

mod counter;
mod each;
mod never;
mod timed;

pub(super) use counter::Counter;
pub(super) use each::Each;
pub(super) use never::Never;
pub(super) use timed::Timed;
