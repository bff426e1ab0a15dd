//! How much may be under way to one peer.
//!
//! A burst must not overflow the receiver's socket buffer, which loses everything behind it. Linux
//! gives a socket 208 KiB, and charges a full datagram of 1 200 bytes about 2.3 KiB and a tiny one
//! 0.8 KiB; so 48 KiB and 64 segments, whichever is less, leave room for the bursts of two or three
//! peers at once. When more peers than that talk at once, losses show it and the window gives way:
//! it halves when a segment was overtaken, shrinks to two datagrams when a timeout passed in
//! silence, and grows again by what is acknowledged.

/// The window to one peer.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    bytes: usize,
    smallest: usize,
    largest: usize,
    /// Losses among segments below this number belong to a flight that was punished already.
    punished_below: u64,
}

impl Window {
    pub(crate) fn new(datagram_bytes: usize, window_bytes: usize) -> Self {
        let smallest = 2 * datagram_bytes;
        let largest = window_bytes.max(smallest);
        Self {
            bytes: largest,
            smallest,
            largest,
            punished_below: 0,
        }
    }

    /// Whether a segment of that length may join those under way. One always may.
    pub(crate) fn admits(&self, in_flight: usize, length: usize) -> bool {
        in_flight == 0 || in_flight + length <= self.bytes
    }

    /// Whether the receiver keeps a segment of that length if none of so many bytes before it can be
    /// delivered.
    pub(crate) fn is_kept(&self, before: usize, length: usize) -> bool {
        before + length <= self.largest
    }

    /// How much a receiver keeps.
    pub(crate) fn largest(&self) -> usize {
        self.largest
    }

    /// This many bytes were acknowledged.
    pub(crate) fn acknowledged(&mut self, bytes: usize) {
        self.bytes = (self.bytes + bytes).min(self.largest);
    }

    /// The segment of that number was overtaken; `next` is the number of the next new one.
    pub(crate) fn overtaken(&mut self, number: u64, next: u64) {
        if number >= self.punished_below {
            self.bytes = (self.bytes / 2).max(self.smallest);
            self.punished_below = next;
        }
    }

    /// A timeout passed without an answer.
    pub(crate) fn timed_out(&mut self, next: u64) {
        self.bytes = self.smallest;
        self.punished_below = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_flight_is_punished_once() {
        let mut window = Window::new(1_000, 16_000);
        window.overtaken(3, 10);
        window.overtaken(4, 10);
        assert_eq!(window.bytes, 8_000);
        window.overtaken(10, 20);
        assert_eq!(window.bytes, 4_000);
    }

    #[test]
    fn it_gives_way_to_the_smallest_and_grows_to_the_largest() {
        let mut window = Window::new(1_000, 16_000);
        window.timed_out(10);
        assert_eq!(window.bytes, 2_000);
        window.overtaken(11, 20);
        assert_eq!(window.bytes, 2_000);
        window.acknowledged(1_500);
        assert_eq!(window.bytes, 3_500);
        window.acknowledged(1_000_000);
        assert_eq!(window.bytes, 16_000);
    }

    #[test]
    fn a_segment_larger_than_the_window_goes_alone() {
        let window = Window::new(60_000, 48_000);
        assert!(window.admits(0, 500_000));
        assert!(!window.admits(1, 500_000));
    }
}
