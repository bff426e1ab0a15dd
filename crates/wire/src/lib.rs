//! Datagrams, time and child processes of one Linux host: a UDP port that receives in batches and
//! sends in bundles, the clock that all processes of the host share, an alarm finer than the
//! runtime's own, and the channel between a child and its parent. The members and the proxy stand on
//! this.
//!
//! Nothing here is reliable or secret: `transport` repeats what was lost, and seals what is sent.
//!
//! ```
//! use wire::{Bundle, Inbox, Port};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
//! # runtime.block_on(async {
//! let here = Port::bind("127.0.0.1:0".parse()?, 1 << 16)?;
//! let there = Port::bind("127.0.0.1:0".parse()?, 1 << 16)?;
//! let mut bundle = Bundle::default();
//! bundle.send(&here, there.address()?, b"hello")?;
//! bundle.flush(&here)?;
//!
//! there.readable().await?;
//! let mut inbox = Inbox::new();
//! let places = there.receive(&mut inbox)?;
//! let datagram = inbox.datagrams(places).next();
//! assert_eq!(datagram, Some((here.address()?, &b"hello"[..])));
//! # Ok(())
//! # })
//! # }
//! ```

mod alarm;
mod bundle;
mod channel;
mod child;
pub mod log;
mod overflow;
mod port;

pub use alarm::Alarm;
pub use bundle::Bundle;
pub use channel::Channel;
pub use child::{ChildArgs, survive_file_limit};
pub use overflow::Overflows;
pub use port::{Inbox, Port};

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of CLOCK_MONOTONIC. It has the same zero in every process of a host and is never set
/// back, so times of different members may be compared.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
