//! The rows of the taxonomy: where the pending requests are kept.
//!
//! Three share the kernel: [`centralised`] (its queue in the order of arrival, or in ring order),
//! [`distributed`] and [`replicated`]. The other four are machines of their own that share only the
//! columns with it, because nobody has their whole collection and the role has to go and look:
//! [`tree`], [`cohort`], [`ring`] and [`tail_at_home`].

pub(super) mod centralised;
pub(super) mod cohort;
pub(super) mod distributed;
pub(super) mod replicated;
pub(super) mod ring;
pub(super) mod routing;
pub(super) mod tail_at_home;
pub(super) mod tree;
