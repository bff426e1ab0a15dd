//! Real datagrams and real time, for whoever sends or waits for any: a port that takes datagrams in
//! batches and sends them in bundles, the clock all processes of a host share, an alarm finer than the
//! runtime's own, and a child's line to its parent. The members and the proxy stand on this.

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
