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
mod clock;
pub mod log;
pub mod mapped;
mod overflow;
mod port;

pub use alarm::Alarm;
pub use bundle::Bundle;
pub use channel::Channel;
pub use child::{Bind, ChildArgs, survive_file_limit};
pub use clock::Moment;
pub use overflow::Overflows;
pub use port::{Inbox, Port};
