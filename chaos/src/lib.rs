//! The network as an adversary: what a link does to a packet.
//!
//! Everything here is pure and repeatable: what happens to the n-th packet of a link depends only
//! on the seed, the fault, the link and n.

pub mod delay;
pub mod draw;
pub mod span;

pub use delay::Delay;
pub use draw::Draw;
