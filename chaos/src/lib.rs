//! The network as an adversary: what a link does to a packet.
//!
//! Everything here is pure and repeatable: what happens to the n-th packet of a link depends only
//! on the seed, the fault, the link and n.

pub mod chance;
pub mod churn;
pub mod delay;
pub mod draw;
pub mod fate;
pub mod fault;
pub mod language;
pub mod link;
pub mod matrix;
pub mod network;
pub mod partition;
pub mod percent;
pub mod preset;
pub mod process_fault;
#[cfg(feature = "proxy")]
pub mod proxy;
pub mod reach;
pub mod rule;
pub mod sample;
pub mod span;
pub mod table;
pub mod time_window;
pub mod timeline;
mod totals;

pub use delay::Delay;
pub use draw::Draw;
pub use fate::{Carried, Datagram, Fate, Member};
pub use fault::AnyFault;
pub use language::{FaultError, FaultSpec};
pub use link::Arrival;
pub use network::Network;
pub use percent::Percent;
pub use reach::Reach;
pub use rule::Rule;
pub use time_window::TimeWindow;
pub use timeline::Timeline;
pub use totals::Totals;
