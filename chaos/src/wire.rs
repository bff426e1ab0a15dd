//! Real datagrams and real time, for whoever sends or waits for any: a port that takes datagrams in
//! batches and sends them in bundles, the clock all processes of a host share, an alarm finer than the
//! runtime's own, and a child's line to its parent. The members and the proxy stand on this.

mod alarm;
mod bundle;
mod channel;
mod overflow;
mod port;

pub use alarm::Alarm;
pub use bundle::Bundle;
pub use channel::Channel;
pub use overflow::Overflows;
pub use port::{Inbox, Port};

use std::borrow::Cow;
use std::io::Write;

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of CLOCK_MONOTONIC. It has the same zero in every process of a host and is never set
/// back, so times of different members may be compared.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Says something to a person, with what a terminal would obey written out. Where stderr is closed, or its disk is full, nobody hears it, and that
/// is no reason to stop.
///
/// No line is longer than a few of a terminal's, for somebody may have a megabyte quoted; its
/// beginning and its end are shown.
pub fn to_stderr(text: &str) {
    let lines = crate::visible(text);
    let lines = lines.split('\n').map(shortened).collect::<Vec<_>>();
    let _ = std::io::stderr().write_all(lines.join("\n").as_bytes());
}

fn shortened(line: &str) -> Cow<'_, str> {
    const MOST_BYTES: usize = 2_000;
    if line.len() <= MOST_BYTES {
        return Cow::Borrowed(line);
    }
    let end = line.floor_char_boundary(MOST_BYTES / 2);
    let start = line.ceil_char_boundary(line.len() - MOST_BYTES / 2);
    let left_out = start - end;
    Cow::Owned(format!(
        "{} … ({left_out} bytes) … {}",
        &line[..end],
        &line[start..]
    ))
}
