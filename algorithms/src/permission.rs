//! A node enters with the permission of everybody, or of a quorum.
//!
//! [`quorums`] are the sets that Maekawa's algorithm asks.

pub(crate) mod carvalho_roucairol;
pub(crate) mod lamport;
pub(crate) mod maekawa;
mod quorums;
pub(crate) mod raymond_k;
mod requester;
pub(crate) mod ricart_agrawala;
pub mod sanders;
pub(crate) mod singhal_dynamic;
