//! The network as an adversary: what a link does to a packet.
//!
//! Everything here is pure and repeatable: what happens to the n-th packet of a link depends only
//! on the seed, the fault, the link and n.

#![warn(unreachable_pub)]

pub mod chance;
pub mod churn;
mod delay;
mod draw;
mod fate;
pub mod fault;
pub mod language;
mod link;
mod matrix;
mod network;
pub mod partition;
mod percent;
pub mod preset;
pub mod process_fault;
#[cfg(feature = "proxy")]
pub mod proxy;
pub mod reach;
mod rule;
pub mod sample;
pub mod span;
mod table;
mod time_window;
pub mod timeline;
mod totals;

pub use delay::Delay;
pub use draw::Draw;
pub use fate::{Carried, Datagram, Fate, Member};
pub use fault::AnyFault;
pub use language::{FaultError, FaultSpec};
pub use link::Arrival;
pub use matrix::Matrix;
pub use network::Network;
pub use percent::Percent;
pub use reach::Reach;
pub use rule::{Count, Rule};
pub use table::TableError;
pub use time_window::TimeWindow;
pub use timeline::Timeline;
pub use totals::Totals;
