//! The sending half of a link: what was not acknowledged yet, and what of it to send next.

use std::collections::VecDeque;

use crate::fragments;
use crate::frame::Rejected;
use crate::packet::{Ack, Part, SELECTIVE};
use crate::window::Window;

/// A segment is given up for lost when this many later frames have arrived.
const OVERTAKERS: usize = 3;

/// Everything sent or to be sent that is not acknowledged.
///
/// The bytes of all segments lie one behind the other in one ring, so a message costs a copy and no
/// allocation, and the queue is as large as what is in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sender {
    bytes: VecDeque<u8>,
    segments: VecDeque<Unacknowledged>,
    /// The number of the first of them.
    base: u64,
    /// How many of them, from the front, were sent, and how many bytes these have.
    sent: usize,
    sent_bytes: usize,
    /// How many bytes and how many segments are under way.
    in_flight: usize,
    flying: usize,
    /// How many segments are given up for lost and not yet sent again.
    lost: usize,
}

#[derive(Clone, Copy, Debug)]
struct Unacknowledged {
    /// The number of the frame it was last sent in.
    frame: u64,
    length: u32,
    part: Part,
    fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It was never sent.
    Waiting,
    /// It was sent and is not acknowledged.
    Flying,
    /// It is taken for lost and is to be sent again.
    Lost,
    /// It arrived at the other end before something that was sent earlier.
    Arrived,
}

/// A segment to be written into a frame.
#[derive(Debug)]
pub(crate) struct Outgoing<'a> {
    pub number: u64,
    pub part: Part,
    pub pieces: [&'a [u8]; 2],
    /// Whether it was sent before.
    pub again: bool,
}

/// What an acknowledgement brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Bytes known to have arrived that were not before.
    pub bytes: usize,
    /// How many segments there were among them; they may be empty.
    pub segments: u64,
    /// The last segment that is now given up for lost.
    pub overtaken: Option<u64>,
}

impl Sender {
    /// Queues a message.
    pub(crate) fn push(&mut self, message: &[u8], segment_bytes: usize) {
        self.bytes.extend(message);
        for (part, length) in fragments::parts(message.len(), segment_bytes) {
            self.segments.push_back(Unacknowledged {
                frame: 0,
                length: length as u32,
                part,
                fate: Fate::Waiting,
            });
        }
    }

    /// What the queue occupies.
    pub(crate) fn queued_bytes(&self) -> usize {
        self.bytes.len() + self.segments.len() * size_of::<Unacknowledged>()
    }

    /// Whether everything is acknowledged.
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Whether something is under way of which nothing was heard.
    pub(crate) fn is_flying(&self) -> bool {
        self.flying > 0
    }

    /// The number of the next segment that was never sent.
    pub(crate) fn next_new(&self) -> u64 {
        self.base + self.sent as u64
    }

    /// Messages that are not known to have arrived. With `any` order, what overtook others was
    /// delivered.
    pub(crate) fn unconfirmed(&self, delivered_on_arrival: bool) -> u64 {
        let confirmed = |kept: &Unacknowledged| {
            delivered_on_arrival && kept.part == Part::Whole && kept.fate == Fate::Arrived
        };
        let ends = self.segments.iter().filter(|kept| kept.part.ends());
        ends.filter(|kept| !confirmed(kept)).count() as u64
    }

    /// Whether there is a segment that may leave now.
    pub(crate) fn has_next(&self, window: &Window) -> bool {
        self.has_repetition(window) || self.has_new(window)
    }

    /// Whether there is one that was sent before.
    pub(crate) fn has_repetition(&self, window: &Window) -> bool {
        self.first_lost()
            .is_some_and(|(place, _)| self.may_leave(place, window))
    }

    /// Whether there is one that was never sent.
    pub(crate) fn has_new(&self, window: &Window) -> bool {
        self.sent < self.segments.len() && self.may_leave(self.sent, window)
    }

    /// The segment that is to leave next in this frame, if it may and has room: first those to be sent
    /// again, if any may be.
    pub(crate) fn next(
        &mut self,
        room: usize,
        frame: u64,
        window: &Window,
        repeats: bool,
    ) -> Option<Outgoing<'_>> {
        let lost = repeats.then(|| self.first_lost()).flatten();
        let lost = lost.filter(|&(place, _)| self.may_leave(place, window));
        let (place, offset) = lost.or_else(|| self.first_new())?;
        let length = self.segments[place].length as usize;
        if length > room || !self.may_leave(place, window) {
            return None;
        }
        let kept = &mut self.segments[place];
        let again = kept.fate == Fate::Lost;
        if again {
            self.lost -= 1;
        } else {
            self.sent += 1;
            self.sent_bytes += length;
        }
        kept.fate = Fate::Flying;
        kept.frame = frame;
        let part = kept.part;
        self.in_flight += length;
        self.flying += 1;
        Some(Outgoing {
            number: self.base + place as u64,
            part,
            pieces: self.pieces(offset, length),
            again,
        })
    }

    /// Learns what has arrived.
    pub(crate) fn acknowledge(&mut self, ack: &Ack) -> Result<Progress, Rejected> {
        // The last bit that is set stands for this segment; without any, for the one that is asked
        // for next.
        let last = u64::from(u64::BITS - ack.beyond.leading_zeros());
        let claimed = ack.below.saturating_add(last);
        let sent = self.next_new();
        if claimed > sent || (claimed == sent && ack.beyond != 0) {
            return Err(Rejected::Malformed);
        }
        let mut progress = Progress::default();
        while self.base < ack.below {
            self.arrived(0, &mut progress);
            let kept = self.segments.pop_front().expect("what was sent is kept");
            let length = kept.length as usize;
            self.bytes.drain(..length);
            self.base += 1;
            self.sent -= 1;
            self.sent_bytes -= length;
        }
        let mut beyond = ack.beyond;
        while beyond != 0 {
            let number = ack.below + 1 + u64::from(beyond.trailing_zeros());
            beyond &= beyond - 1;
            if let Some(place) = number.checked_sub(self.base) {
                self.arrived(place as usize, &mut progress);
            }
        }
        if ack.beyond != 0 && progress.segments > 0 {
            progress.overtaken = self.give_up_overtaken();
        }
        Ok(progress)
    }

    /// Gives up everything under way for lost: too much time has passed.
    pub(crate) fn give_up_flying(&mut self) {
        for kept in self.segments.range_mut(..self.sent) {
            if kept.fate == Fate::Flying {
                kept.fate = Fate::Lost;
                self.lost += 1;
            }
        }
        self.in_flight = 0;
        self.flying = 0;
    }

    fn arrived(&mut self, place: usize, progress: &mut Progress) {
        let kept = &mut self.segments[place];
        let length = kept.length as usize;
        match kept.fate {
            Fate::Flying => {
                self.in_flight -= length;
                self.flying -= 1;
            }
            Fate::Lost => self.lost -= 1,
            Fate::Arrived => return,
            Fate::Waiting => unreachable!("an acknowledgement of what was never sent is refused"),
        }
        kept.fate = Fate::Arrived;
        progress.segments += 1;
        progress.bytes += length;
    }

    /// Gives up the segments that enough frames sent later have overtaken.
    fn give_up_overtaken(&mut self) -> Option<u64> {
        let mut last = None;
        for place in 0..self.sent {
            let kept = self.segments[place];
            if kept.fate == Fate::Flying && self.overtakers(kept.frame) >= OVERTAKERS {
                self.segments[place].fate = Fate::Lost;
                self.in_flight -= kept.length as usize;
                self.flying -= 1;
                self.lost += 1;
                last = Some(self.base + place as u64);
            }
        }
        last
    }

    /// How many frames sent after this one are known to have arrived. A frame's segments are
    /// neighbours, so counting changes from one segment to the next is enough.
    fn overtakers(&self, frame: u64) -> usize {
        let mut count = 0;
        let mut latest = frame;
        for kept in self.segments.range(..self.sent) {
            if kept.fate == Fate::Arrived && kept.frame > frame && kept.frame != latest {
                count += 1;
                latest = kept.frame;
            }
        }
        count
    }

    /// The first segment to be sent again, and where its bytes begin.
    fn first_lost(&self) -> Option<(usize, usize)> {
        if self.lost == 0 {
            return None;
        }
        let mut offset = 0;
        for (place, kept) in self.segments.range(..self.sent).enumerate() {
            if kept.fate == Fate::Lost {
                return Some((place, offset));
            }
            offset += kept.length as usize;
        }
        None
    }

    /// The first segment that was never sent, and where its bytes begin.
    fn first_new(&self) -> Option<(usize, usize)> {
        (self.sent < self.segments.len()).then_some((self.sent, self.sent_bytes))
    }

    /// A segment leaves if the window admits it and, the first time, if the receiver will keep it
    /// whatever is missing before it. The first one missing is what all others wait for: it leaves
    /// again however much is under way.
    fn may_leave(&self, place: usize, window: &Window) -> bool {
        let kept = &self.segments[place];
        let length = kept.length as usize;
        if kept.fate == Fate::Lost {
            return place == 0 || window.admits(self.in_flight, length);
        }
        place < SELECTIVE as usize
            && window.is_kept(self.sent_bytes, length)
            && window.admits(self.in_flight, length)
    }

    fn pieces(&self, offset: usize, length: usize) -> [&[u8]; 2] {
        let (front, back) = self.bytes.as_slices();
        let until = offset + length;
        if until <= front.len() {
            [&front[offset..until], &[]]
        } else if offset >= front.len() {
            [&back[offset - front.len()..until - front.len()], &[]]
        } else {
            [&front[offset..], &back[..until - front.len()]]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window() -> Window {
        Window::new(1_200, 48_000)
    }

    /// Sends everything that may leave, one segment to a frame; the numbers are those of frames.
    fn send_all(sender: &mut Sender, frames: std::ops::Range<u64>) -> Vec<(u64, Vec<u8>)> {
        let mut sent = Vec::new();
        for frame in frames {
            let Some(segment) = sender.next(10_000, frame, &window(), true) else {
                break;
            };
            sent.push((segment.number, segment.pieces.concat()));
        }
        sent
    }

    /// A sender of these messages, in segments of at most ten bytes.
    fn queued(messages: &[&[u8]]) -> Sender {
        let mut sender = Sender::default();
        for message in messages {
            sender.push(message, 10);
        }
        sender
    }

    fn ack(below: u64, beyond: u64) -> Ack {
        Ack {
            below,
            beyond,
            ..Ack::default()
        }
    }

    #[test]
    fn segments_leave_in_order_and_once() {
        let mut sender = queued(&[b"ab", b"", b"cde"]);
        let sent = send_all(&mut sender, 1..10);
        let expected = [(0, b"ab".to_vec()), (1, b"".to_vec()), (2, b"cde".to_vec())];
        assert_eq!(sent, expected);
        assert!(!sender.has_next(&window()));
        assert_eq!(sender.acknowledge(&ack(3, 0)).unwrap().bytes, 5);
        assert!(sender.is_empty());
        assert_eq!(sender.queued_bytes(), 0);
    }

    #[test]
    fn the_ring_may_wrap_anywhere() {
        let mut sender = Sender::default();
        let mut below = 0;
        for round in 0..200_u64 {
            let message = vec![round as u8; 1 + (round as usize * 7) % 23];
            sender.push(&message, 5);
            let sent = send_all(&mut sender, 1_000 * round..1_000 * round + 100);
            let bytes: Vec<u8> = sent.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
            assert_eq!(bytes, message);
            // All but the last segment are acknowledged, so the ring is never empty.
            let newest = sent.last().expect("something was sent").0;
            assert!(newest >= below);
            below = newest;
            sender.acknowledge(&ack(below, 0)).unwrap();
        }
    }

    #[test]
    fn what_was_never_sent_cannot_be_acknowledged() {
        let mut sender = queued(&[b"x".as_slice(); 3]);
        send_all(&mut sender, 1..3);
        for wrong in [
            ack(3, 0),
            ack(0, 0b10),
            ack(1, 1),
            ack(2, 1),
            ack(u64::MAX, u64::MAX),
        ] {
            assert_eq!(
                sender.acknowledge(&wrong),
                Err(Rejected::Malformed),
                "{wrong:?}"
            );
        }
        assert_eq!(sender.acknowledge(&ack(0, 1)).unwrap().bytes, 1);
        assert_eq!(sender.acknowledge(&ack(2, 0)).unwrap().bytes, 1);
    }

    #[test]
    fn an_old_acknowledgement_changes_nothing() {
        let mut sender = queued(&[b"x".as_slice(); 5]);
        send_all(&mut sender, 1..6);
        assert_eq!(sender.acknowledge(&ack(3, 0)).unwrap().bytes, 3);
        assert_eq!(
            sender.acknowledge(&ack(1, 0b1)).unwrap(),
            Progress::default()
        );
        assert_eq!(sender.unconfirmed(false), 2);
    }

    #[test]
    fn only_frames_sent_later_overtake() {
        let mut sender = queued(&[b"x".as_slice(); 5]);
        send_all(&mut sender, 1..6);
        assert_eq!(sender.acknowledge(&ack(0, 0b011)).unwrap().overtaken, None);
        assert_eq!(
            sender.acknowledge(&ack(0, 0b111)).unwrap().overtaken,
            Some(0)
        );
        // It leaves again, in frame 9; what overtook its first copy says nothing about this one.
        assert_eq!(send_all(&mut sender, 9..10)[0].0, 0);
        assert_eq!(sender.acknowledge(&ack(0, 0b1111)).unwrap().overtaken, None);
        assert!(!sender.has_next(&window()));
    }

    #[test]
    fn segments_of_one_frame_are_one_overtaker() {
        let mut sender = queued(&[b"x".as_slice(); 5]);
        send_all(&mut sender, 1..2);
        for _ in 0..4 {
            sender
                .next(10_000, 2, &window(), true)
                .expect("there are four more");
        }
        assert_eq!(sender.acknowledge(&ack(0, 0b1111)).unwrap().overtaken, None);
    }

    #[test]
    fn after_a_timeout_all_but_the_arrived_leave_again() {
        let mut sender = queued(&[&[0], &[1], &[2], &[3]]);
        send_all(&mut sender, 1..5);
        sender.acknowledge(&ack(0, 0b10)).unwrap();
        sender.give_up_flying();
        assert!(!sender.is_flying());
        let again = send_all(&mut sender, 5..10);
        assert_eq!(again, [(0, vec![0]), (1, vec![1]), (3, vec![3])]);
    }

    #[test]
    fn no_more_leaves_than_an_acknowledgement_can_tell() {
        let mut sender = queued(&[b"".as_slice(); 100]);
        assert_eq!(send_all(&mut sender, 1..100).len() as u64, SELECTIVE);
        sender.acknowledge(&ack(10, 0)).unwrap();
        assert_eq!(send_all(&mut sender, 100..200).len(), 10);
    }

    #[test]
    fn with_any_order_what_overtook_is_not_lost() {
        let mut sender = queued(&[b"whole", b"whole", b"in two parts"]);
        send_all(&mut sender, 1..10);
        sender.acknowledge(&ack(0, 0b101)).unwrap();
        assert_eq!(sender.unconfirmed(false), 3);
        assert_eq!(sender.unconfirmed(true), 2);
    }
}
