//! The receiving half of a link: each segment once, in order or on arrival.

use std::collections::BTreeMap;

use algorithms::registry::LinkOrder;

use crate::fragments::Assembly;
use crate::packet::{Part, SELECTIVE, Segment};

/// What has arrived, and what of it still waits for its predecessors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receiver {
    /// All segments below this number have arrived.
    below: u64,
    /// Bit `i`: so has segment `below + 1 + i`.
    beyond: u64,
    /// Segments that arrived before their predecessors.
    early: BTreeMap<u64, (Part, Box<[u8]>)>,
    early_bytes: usize,
    /// The parts of a message whose rest is missing.
    assembly: Assembly,
}

/// What became of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It was the next one.
    Next,
    /// It came before its predecessors and is kept.
    Early,
    /// It had arrived before.
    Again,
    /// It came so early that there is no room for it; it will be sent again.
    TooEarly,
}

/// How much a receiver may keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Bytes of segments that came early.
    pub early: usize,
    /// Bytes of a message whose rest is missing.
    pub message: usize,
}

impl Receiver {
    /// All segments below this have arrived, and these beyond it.
    pub(crate) fn arrived(&self) -> (u64, u64) {
        (self.below, self.beyond)
    }

    /// How many bytes are kept until they can be delivered.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.early_bytes + self.assembly.bytes()
    }

    /// Takes a segment and hands over the messages that can be delivered now.
    pub(crate) fn take(
        &mut self,
        segment: &Segment<'_>,
        order: LinkOrder,
        room: Room,
        deliver: &mut dyn FnMut(&[u8]),
    ) -> Arrival {
        let Some(ahead) = segment.number.checked_sub(self.below) else {
            return Arrival::Again;
        };
        if ahead == 0 {
            if self.assembly.bytes() + segment.bytes.len() > room.message {
                return Arrival::TooEarly;
            }
            self.assembly.add(segment.part, segment.bytes, deliver);
            self.advance(deliver);
            return Arrival::Next;
        }
        if ahead > SELECTIVE {
            return Arrival::TooEarly;
        }
        let bit = 1 << (ahead - 1);
        if self.beyond & bit != 0 {
            return Arrival::Again;
        }
        let whole = segment.part == Part::Whole;
        match order {
            LinkOrder::Any if whole => deliver(segment.bytes),
            LinkOrder::Any | LinkOrder::Fifo => {
                if self.early_bytes + segment.bytes.len() > room.early {
                    return Arrival::TooEarly;
                }
                self.early_bytes += segment.bytes.len();
                let kept = (segment.part, segment.bytes.into());
                self.early.insert(segment.number, kept);
            }
        }
        self.beyond |= bit;
        if order == LinkOrder::Any && !whole {
            self.deliver_if_complete(segment.number, deliver);
        }
        Arrival::Early
    }

    /// Passes over the segment just taken and all that arrived behind it without a gap.
    fn advance(&mut self, deliver: &mut dyn FnMut(&[u8])) {
        loop {
            self.below += 1;
            let arrived = self.beyond & 1 != 0;
            self.beyond >>= 1;
            if !arrived {
                return;
            }
            // What is not kept was delivered on arrival.
            if let Some((part, bytes)) = self.early.remove(&self.below) {
                self.early_bytes -= bytes.len();
                self.assembly.add(part, &bytes, deliver);
            }
        }
    }

    /// With `any` order a message need not wait for earlier ones, only for all of its parts.
    fn deliver_if_complete(&mut self, number: u64, deliver: &mut dyn FnMut(&[u8])) {
        let part = |number| self.early.get(&number).map(|&(part, _)| part);
        let mut first = number;
        while part(first) != Some(Part::First) {
            if part(first).is_none() {
                return;
            }
            first -= 1;
        }
        let mut last = number;
        while part(last) != Some(Part::Last) {
            if part(last).is_none() {
                return;
            }
            last += 1;
        }
        let mut assembly = Assembly::default();
        for number in first..=last {
            let (part, bytes) = self.early.remove(&number).expect("all parts are there");
            self.early_bytes -= bytes.len();
            assembly.add(part, &bytes, deliver);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room {
        early: 100,
        message: 50,
    };

    /// A receiver of segments, and what it delivers after each.
    struct Taking {
        receiver: Receiver,
        order: LinkOrder,
    }

    impl Taking {
        fn new(order: LinkOrder) -> Self {
            let receiver = Receiver::default();
            Self { receiver, order }
        }

        fn take(&mut self, number: u64, part: Part, bytes: &[u8]) -> (Arrival, Vec<Vec<u8>>) {
            let mut delivered = Vec::new();
            let segment = Segment {
                number,
                part,
                bytes,
            };
            let mut deliver = |bytes: &[u8]| delivered.push(bytes.to_vec());
            let arrival = self.receiver.take(&segment, self.order, ROOM, &mut deliver);
            (arrival, delivered)
        }

        fn whole(&mut self, number: u64, byte: u8) -> (Arrival, Vec<Vec<u8>>) {
            self.take(number, Part::Whole, &[byte])
        }

        /// The message that this segment completes; nothing if it completes none.
        fn delivered(&mut self, (number, part, byte): (u64, Part, u8)) -> String {
            let messages = self.take(number, part, &[byte]).1;
            assert!(messages.len() <= 1, "{messages:?}");
            String::from_utf8(messages.concat()).expect("the bytes are letters")
        }
    }

    #[test]
    fn in_order_means_that_the_early_wait() {
        let mut end = Taking::new(LinkOrder::Fifo);
        assert_eq!(end.whole(2, b'c'), (Arrival::Early, vec![]));
        assert_eq!(end.whole(1, b'b'), (Arrival::Early, vec![]));
        assert_eq!(end.whole(2, b'c'), (Arrival::Again, vec![]));
        let all = vec![b"a".to_vec(), b"b".to_vec(), b"c".to_vec()];
        assert_eq!(end.whole(0, b'a'), (Arrival::Next, all));
        assert_eq!(end.whole(1, b'b'), (Arrival::Again, vec![]));
        assert_eq!(end.receiver.arrived(), (3, 0));
        assert_eq!(end.receiver.kept_bytes(), 0);
    }

    #[test]
    fn in_any_order_nothing_waits() {
        let mut end = Taking::new(LinkOrder::Any);
        assert_eq!(end.whole(2, b'c'), (Arrival::Early, vec![b"c".to_vec()]));
        assert_eq!(end.whole(2, b'c'), (Arrival::Again, vec![]));
        assert_eq!(end.whole(0, b'a'), (Arrival::Next, vec![b"a".to_vec()]));
        assert_eq!(end.receiver.arrived(), (1, 0b1));
    }

    #[test]
    fn in_any_order_a_message_waits_for_its_own_parts_alone() {
        let mut end = Taking::new(LinkOrder::Any);
        // Segment 0 is still missing; and nothing is delivered twice when it comes.
        let (last, first) = ((3, Part::Last, b'c'), (1, Part::First, b'a'));
        let (middle, whole) = ((2, Part::Middle, b'b'), (0, Part::Whole, b'z'));
        let delivered = [last, first, middle, whole].map(|one| end.delivered(one));
        assert_eq!(delivered, ["", "", "abc", "z"]);
        assert_eq!(end.receiver.arrived(), (4, 0));
        assert_eq!(end.receiver.kept_bytes(), 0);
    }

    #[test]
    fn in_any_order_parts_that_came_in_order_are_completed_too() {
        let mut end = Taking::new(LinkOrder::Any);
        let (first, last) = ((0, Part::First, b'a'), (2, Part::Last, b'c'));
        let (whole, middle) = ((3, Part::Whole, b'z'), (1, Part::Middle, b'b'));
        let delivered = [first, last, whole, middle].map(|one| end.delivered(one));
        assert_eq!(delivered, ["", "", "z", "abc"]);
        assert_eq!(end.receiver.arrived(), (4, 0));
    }

    #[test]
    fn what_comes_too_early_leaves_no_trace() {
        let mut end = Taking::new(LinkOrder::Fifo);
        let mut take = |number, length| end.take(number, Part::Whole, &vec![7; length]).0;
        assert_eq!(take(SELECTIVE, 1), Arrival::Early);
        assert_eq!(take(SELECTIVE + 1, 1), Arrival::TooEarly);
        assert_eq!(take(u64::MAX, 1), Arrival::TooEarly);
        assert_eq!(take(5, 99), Arrival::Early);
        assert_eq!(take(6, 1), Arrival::TooEarly);
        assert_eq!(end.receiver.arrived(), (0, 1 << 63 | 1 << 4));
        assert_eq!(end.receiver.kept_bytes(), 100);
    }

    #[test]
    fn a_message_without_end_is_not_kept() {
        let mut end = Taking::new(LinkOrder::Fifo);
        let mut take = |number, part| end.take(number, part, &[7; 20]).0;
        assert_eq!(take(0, Part::First), Arrival::Next);
        assert_eq!(take(1, Part::Middle), Arrival::Next);
        assert_eq!(take(2, Part::Middle), Arrival::TooEarly);
        assert_eq!(end.receiver.kept_bytes(), 40);
    }
}
