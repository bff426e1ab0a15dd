//! One session's worth of talk with one peer: both halves, their acknowledgements and their timer.

use algorithms::registry::LinkOrder;

use crate::acks::Acks;
use crate::config::Config;
use crate::counters::Counters;
use crate::frame::{MAC_BYTES, Rejected};
use crate::packet::{self, Ack, Part, Segments};
use crate::receiver::{Arrival, Receiver, Room};
use crate::rtt::RoundTrips;
use crate::sender::Sender;
use crate::window::Window;

/// How long a timer of repetitions is left alone at most.
const LOOK_AGAIN_NS: u64 = 250_000_000;

/// Everything that begins afresh with a session.
#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    sender: Sender,
    receiver: Receiver,
    acks: Acks,
    window: Window,
    /// When to see whether what is under way is to be given up for lost.
    resend_at: Option<u64>,
    /// Since when it is under way and nothing was heard of it.
    flying_since: u64,
}

/// A frame that is about to leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    /// The number of the frame, which never repeats.
    pub number: u64,
    /// Whether it may carry what was sent before.
    pub repeats: bool,
}

/// What an acknowledgement told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Learned {
    /// The round trip that was measured, if one was.
    pub round_trip_ns: Option<u64>,
    /// How many segments are now known to have arrived.
    pub segments: u64,
}

impl Conversation {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            sender: Sender::default(),
            receiver: Receiver::default(),
            acks: Acks::default(),
            window: Window::new(config.datagram_bytes, config.window_bytes),
            resend_at: None,
            flying_since: 0,
        }
    }

    /// Queues a message.
    pub(crate) fn send(&mut self, message: &[u8], config: &Config) {
        self.sender.push(message, config.segment_bytes());
    }

    /// What waits to be acknowledged, and what it takes to keep it.
    pub(crate) fn queued_bytes(&self) -> usize {
        self.sender.queued_bytes()
    }

    /// What has arrived and cannot be delivered yet.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.receiver.kept_bytes()
    }

    /// Whether everything sent is acknowledged.
    pub(crate) fn is_settled(&self) -> bool {
        self.sender.is_empty()
    }

    /// Messages that are not known to have arrived.
    pub(crate) fn unconfirmed(&self, config: &Config) -> u64 {
        self.sender.unconfirmed(config.order == LinkOrder::Any)
    }

    /// Learns what has arrived at the other end.
    pub(crate) fn acknowledge(
        &mut self,
        now: u64,
        ack: &Ack,
        trips: &mut RoundTrips,
        config: &Config,
    ) -> Result<Learned, Rejected> {
        let progress = self.sender.acknowledge(ack)?;
        let round_trip_ns = match ack.echo {
            0 => None,
            frame => trips.answered(now, frame, 1_000 * u64::from(ack.held_us)),
        };
        if let Some(number) = progress.overtaken {
            self.window.overtaken(number, self.sender.next_new());
        }
        if progress.segments > 0 {
            self.window.acknowledged(progress.bytes);
            self.resend_at = None;
            if self.sender.is_flying() {
                self.wait_for_answer(now, trips, config);
            }
        }
        Ok(Learned {
            round_trip_ns,
            segments: progress.segments,
        })
    }

    /// The other end is alive: what is under way is given up for lost soon, if it had been left alone
    /// for long.
    pub(crate) fn heard(&mut self, now: u64, trips: &mut RoundTrips, config: &Config) {
        if trips.heard() {
            let soon = now + trips.timeout(now, &config.timing);
            self.resend_at = self.resend_at.map(|at| at.min(soon));
        }
    }

    /// Begins to wait for an answer. How long that is may change while it waits, because what long
    /// round trips tell fades; so it looks again before long.
    fn wait_for_answer(&mut self, now: u64, trips: &RoundTrips, config: &Config) {
        self.flying_since = now;
        self.resend_at = Some(now + trips.timeout(now, &config.timing).min(LOOK_AGAIN_NS));
    }

    /// Takes the segments of one frame.
    pub(crate) fn take(
        &mut self,
        now: u64,
        frame: u64,
        segments: Segments<'_>,
        config: &Config,
        counters: &mut Counters,
        deliver: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Rejected> {
        if segments.is_empty() {
            return Ok(());
        }
        let room = Room {
            early: self.window.largest(),
            message: config.hard_limit_bytes,
        };
        let (mut count, mut bytes) = (0, 0);
        let mut orderly = self.receiver.arrived().1 == 0;
        let mut outcome = Ok(());
        for segment in segments {
            let segment = match segment {
                Ok(segment) => segment,
                Err(reason) => {
                    outcome = Err(reason);
                    break;
                }
            };
            match self.receiver.take(&segment, config.order, room, deliver) {
                Arrival::Next => {}
                Arrival::Early => orderly = false,
                Arrival::Again => {
                    counters.duplicates += 1;
                    orderly = false;
                }
                Arrival::TooEarly => {
                    counters.too_early += 1;
                    orderly = false;
                }
            }
            count += 1;
            bytes += segment.bytes.len();
        }
        self.acks.note(now, frame, count, bytes);
        if orderly {
            let delay_ns = config.timing.ack_delay_ns;
            self.acks.soon(now, delay_ns, self.window.largest());
        } else {
            self.acks.at_once();
        }
        outcome
    }

    /// The other end asked whether we are there.
    pub(crate) fn answer(&mut self, now: u64, frame: u64) {
        self.acks.note(now, frame, 0, 0);
        self.acks.at_once();
    }

    /// Whether a frame is to leave now.
    pub(crate) fn has_something(&self) -> bool {
        self.acks.is_due() || self.sender.has_next(&self.window)
    }

    /// Whether something is to be sent again.
    pub(crate) fn has_repetition(&self) -> bool {
        self.sender.has_repetition(&self.window)
    }

    /// Whether a frame is to leave for more than repetitions.
    pub(crate) fn has_more_than_repetitions(&self) -> bool {
        self.acks.is_due() || self.sender.has_new(&self.window)
    }

    /// What a frame that leaves now acknowledges.
    pub(crate) fn write_ack(&mut self, now: u64) -> Ack {
        self.acks.write(now, self.receiver.arrived())
    }

    /// Appends as many segments as there are, may leave, and have room; says how many.
    pub(crate) fn write_segments(
        &mut self,
        now: u64,
        frame: Outgoing,
        datagram: &mut Vec<u8>,
        trips: &RoundTrips,
        config: &Config,
        counters: &mut Counters,
    ) -> usize {
        let Outgoing { number, repeats } = frame;
        let mut count = 0;
        loop {
            let taken = datagram.len() + packet::MAX_SEGMENT_OVERHEAD + MAC_BYTES;
            let room = match count {
                // The first has room in any case: if the path became narrow after it was cut, it
                // leaves in a datagram longer than those of today.
                0 => usize::MAX,
                _ => match config.datagram_bytes.checked_sub(taken) {
                    Some(room) => room,
                    None => break,
                },
            };
            let Some(segment) = self.sender.next(room, number, &self.window, repeats) else {
                break;
            };
            packet::write_segment(segment.number, segment.part, segment.pieces, datagram);
            count += 1;
            if segment.again {
                counters.retransmissions += 1;
            } else if segment.part != Part::Whole {
                counters.fragments += 1;
            }
        }
        if count > 0 && self.resend_at.is_none() {
            self.wait_for_answer(now, trips, config);
        }
        count
    }

    /// When something is to be done here.
    pub(crate) fn deadline(&self) -> Option<u64> {
        [self.acks.deadline(), self.resend_at]
            .into_iter()
            .flatten()
            .min()
    }

    /// Does what has become due by this time.
    pub(crate) fn tick(&mut self, now: u64, trips: &mut RoundTrips, config: &Config) {
        self.acks.tick(now);
        if self.resend_at.is_some_and(|at| at <= now) {
            let late_at = self.flying_since + trips.timeout(now, &config.timing);
            if now < late_at {
                self.resend_at = Some(late_at.min(now + LOOK_AGAIN_NS));
                return;
            }
            self.resend_at = None;
            self.sender.give_up_flying();
            self.window.timed_out(self.sender.next_new());
            trips.expired();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: Config = Config::PATIENT;

    /// Writes frames of these numbers; says how many had segments.
    fn frames(talk: &mut Conversation, numbers: std::ops::Range<u64>) -> usize {
        let trips = RoundTrips::default();
        let mut counters = Counters::default();
        let mut datagram = Vec::new();
        let mut write = |number| {
            datagram.clear();
            let frame = Outgoing {
                number,
                repeats: true,
            };
            talk.write_segments(0, frame, &mut datagram, &trips, &CONFIG, &mut counters)
        };
        numbers.filter(|&number| write(number) > 0).count()
    }

    #[test]
    fn a_loss_halves_the_window_and_what_is_missing_goes_first() {
        let mut talk = Conversation::new(&CONFIG);
        talk.send(&vec![7; 1_000_000], &CONFIG);
        let full = frames(&mut talk, 1..1_000);
        assert!(full > 40, "{full}");
        let acknowledge = |beyond: u64, talk: &mut Conversation| {
            let ack = Ack {
                beyond,
                ..Ack::default()
            };
            let mut trips = RoundTrips::default();
            talk.acknowledge(0, &ack, &mut trips, &CONFIG)
                .expect("all of it was sent");
        };
        // Three later segments have arrived: the first one leaves again, and nothing new.
        acknowledge(0b111, &mut talk);
        assert_eq!(frames(&mut talk, 1_000..2_000), 1);
        // Neither does when a few more have: half a window is still under way.
        acknowledge(0xfff, &mut talk);
        assert_eq!(frames(&mut talk, 2_000..3_000), 0);
    }
}
