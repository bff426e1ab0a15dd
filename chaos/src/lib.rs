//! The network as an adversary: what a link does to a packet.
//!
//! Everything here is pure and repeatable: what happens to the n-th packet of a link depends only
//! on the seed, the fault, the link and n. Here are three faults on a link from 0 to 1, and the
//! delays in ms of what arrives of five packets:
//!
//! ```
//! use chaos::timeline::{Group, Timeline};
//!
//! let faults = ["loss every 3 on 0->1", "duplicate 50% on 0->1", "delay 10ms on all"];
//! let faults = faults.map(|text| text.parse().expect("a fault"));
//! let mut network = Timeline::resolve(&faults, &Group::complete(2, 1))?.network();
//! let arrive = [0, 1, 2, 3, 4].map(|sent_ns| {
//!     let fate = network.fate(sent_ns, 0, 1, 100);
//!     fate.copies.iter().map(|copy| copy.delay_ns / 1_000_000).collect::<Vec<_>>()
//! });
//! assert_eq!(arrive, [vec![10, 10], vec![10], vec![], vec![10, 10], vec![10]]);
//! # Ok::<(), chaos::FaultError>(())
//! ```

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
