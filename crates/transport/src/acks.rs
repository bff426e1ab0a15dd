//! When to acknowledge what has arrived.
//!
//! An acknowledgement waits a little for a message that goes the same way. It leaves at once when
//! something is out of order, which tells the sender what is missing; when the other end asked; and
//! when so much has arrived that the sender's window may be running out.

use crate::packet::{Ack, SELECTIVE};

/// This many segments are acknowledged at once, however young they are: a quarter of what may be
/// under way.
const AT_ONCE_SEGMENTS: u64 = SELECTIVE / 4;

/// What we owe the other end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acks {
    due: Due,
    /// Segments that arrived since the last acknowledgement, and their bytes.
    segments: u64,
    bytes: usize,
    /// The frame that arrived last of those that want an answer, and when; 0 when answered.
    echo: u64,
    echo_at: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Due {
    #[default]
    Never,
    At(u64),
    Now,
}

impl Acks {
    /// A frame that wants an answer arrived, with so many segments of so many bytes.
    pub(crate) fn note(&mut self, now: u64, frame: u64, segments: u64, bytes: usize) {
        self.echo = frame;
        self.echo_at = now;
        self.segments += segments;
        self.bytes += bytes;
    }

    /// The answer may wait for a message, but not longer than this.
    pub(crate) fn soon(&mut self, now: u64, delay_ns: u64, window_bytes: usize) {
        if self.segments >= AT_ONCE_SEGMENTS || self.bytes >= window_bytes / 4 {
            self.due = Due::Now;
        } else if self.due == Due::Never {
            self.due = Due::At(now + delay_ns);
        }
    }

    /// The answer is to leave now.
    pub(crate) fn at_once(&mut self) {
        self.due = Due::Now;
    }

    /// Whether it is to leave now.
    pub(crate) fn is_due(&self) -> bool {
        self.due == Due::Now
    }

    /// When an acknowledgement will be due.
    pub(crate) fn deadline(&self) -> Option<u64> {
        match self.due {
            Due::At(deadline) => Some(deadline),
            Due::Never | Due::Now => None,
        }
    }

    /// Makes an acknowledgement due whose time has come.
    pub(crate) fn tick(&mut self, now: u64) {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            self.due = Due::Now;
        }
    }

    /// What a frame that leaves now says; nothing is owed after that.
    pub(crate) fn write(&mut self, now: u64, (below, beyond): (u64, u64)) -> Ack {
        self.due = Due::Never;
        self.segments = 0;
        self.bytes = 0;
        // A frame is answered once: if the answer is lost, another frame will be measured.
        let echo = std::mem::take(&mut self.echo);
        let held_us = match echo {
            0 => 0,
            _ => now.saturating_sub(self.echo_at) / 1_000,
        };
        Ack {
            below,
            beyond,
            echo,
            held_us: u32::try_from(held_us).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_arrival_decides_how_long_it_waits() {
        let mut acks = Acks::default();
        acks.note(100, 1, 1, 10);
        acks.soon(100, 50, 1_000);
        acks.note(130, 2, 1, 10);
        acks.soon(130, 50, 1_000);
        assert_eq!(acks.deadline(), Some(150));
        acks.tick(149);
        assert!(!acks.is_due());
        acks.tick(150);
        assert!(acks.is_due());
    }

    #[test]
    fn a_quarter_of_the_window_does_not_wait() {
        let mut acks = Acks::default();
        acks.note(0, 1, 1, 249);
        acks.soon(0, 50, 1_000);
        assert!(!acks.is_due());
        acks.note(0, 2, 1, 1);
        acks.soon(0, 50, 1_000);
        assert!(acks.is_due());
    }

    #[test]
    fn a_frame_is_answered_once_with_how_long_it_waited() {
        let mut acks = Acks::default();
        acks.note(1_000_000, 7, 1, 10);
        acks.at_once();
        let first = acks.write(3_500_999, (4, 0));
        assert_eq!((first.below, first.echo, first.held_us), (4, 7, 2_500));
        assert!(!acks.is_due());
        let second = acks.write(9_000_000, (4, 0));
        assert_eq!((second.below, second.echo, second.held_us), (4, 0, 0));
    }
}
