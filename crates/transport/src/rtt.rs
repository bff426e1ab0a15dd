//! How long to wait for an acknowledgement: RFC 6298 with a floor that suits loopback.
//!
//! A sample belongs to one frame, not to a segment: an acknowledgement names the frame it answers
//! and how long it was held back. So a segment that was sent twice cannot be mistaken for a slow
//! one (Karn's problem does not arise, as with RFC 7323's timestamps), and samples measure the path
//! alone. What the other end may hold an acknowledgement back is added to the timeout instead.

use std::collections::VecDeque;

use crate::config::Timing;

/// How many frames are timed at once.
const TIMED: usize = 8;

/// RFC 6298's G: a deviation below this says nothing, because the scheduler's is larger.
const GRANULARITY_NS: u64 = 1_000_000;

/// A backed-off timeout is no longer than this many doublings once the peer is heard again.
const HEARD_BACKOFF: u32 = 2;

/// What a long round trip tells of the next one counts half after this long.
const HALF_LIFE_NS: u64 = 250_000_000;

/// How many samples tell how fast a path is at its best.
const ENOUGH: u32 = 8;

/// What samples of round trips say of the next one.
///
/// A link may carry one message while the whole group is overloaded, and the next one, which must
/// not be waited for as long, when that is over. So what a queue somewhere added to the samples is
/// forgotten with time; what the path takes at its best is not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Estimate {
    /// SRTT and RTTVAR, once there was a sample.
    smoothed: Option<(u64, u64)>,
    /// When the last one was taken, and how many were.
    sampled_at: u64,
    samples: u32,
    /// The shortest round trip.
    least: u64,
}

impl Estimate {
    /// A round trip took so long.
    pub(crate) fn sample(&mut self, now: u64, sample: u64) {
        let halvings = self.halvings(now);
        let smoothed = self
            .smoothed
            .map(|(smoothed, deviation)| (smoothed >> halvings, deviation >> halvings));
        self.smoothed = Some(match smoothed {
            None => (sample, sample / 2),
            Some((smoothed, deviation)) => (
                (7 * smoothed + sample) / 8,
                (3 * deviation + smoothed.abs_diff(sample)) / 4,
            ),
        });
        self.least = match self.samples {
            0 => sample,
            _ => self.least.min(sample),
        };
        self.samples = self.samples.saturating_add(1);
        self.sampled_at = now;
    }

    /// The smoothed round trip, once there was a sample.
    pub(crate) fn smoothed_ns(&self) -> Option<u64> {
        self.smoothed.map(|(smoothed, _)| smoothed)
    }

    /// The shortest round trip, if there are at least this many samples.
    pub(crate) fn least_ns(&self, samples: u32) -> Option<u64> {
        (self.samples >= samples).then_some(self.least)
    }

    /// How long the next one will take at most, as far as that is known. Age makes that no less
    /// than what the path takes at rest.
    pub(crate) fn path_ns(&self, now: u64, at_rest_ns: u64) -> Option<u64> {
        let (smoothed, deviation) = self.smoothed?;
        let path = smoothed + GRANULARITY_NS.max(4 * deviation);
        let aged = path >> self.halvings(now);
        Some(aged.max(path.min(at_rest_ns)))
    }

    fn halvings(&self, now: u64) -> u32 {
        let age = now.saturating_sub(self.sampled_at);
        (age / HALF_LIFE_NS).min(63) as u32
    }
}

/// What round trips to a peer are taken for before enough were measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Presumed {
    /// How long the next one will take at most.
    pub path_ns: u64,
    /// What one takes at its best.
    pub least_ns: u64,
}

/// What is known of a path's round trips.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundTrips {
    estimate: Estimate,
    /// What other paths tell, until this one has enough samples.
    presumed: Presumed,
    /// How often in a row the timeout passed without an answer.
    backoff: u32,
    /// Frames that want an answer: their numbers and when they left, oldest first.
    ///
    /// Once there are enough no more are added, rather than the oldest given up: on a path that is
    /// slower than our timeout, it is the first copy whose answer comes first.
    timed: VecDeque<(u64, u64)>,
}

impl RoundTrips {
    /// A frame that wants an answer leaves.
    pub(crate) fn sent(&mut self, now: u64, number: u64) {
        if self.timed.len() < TIMED {
            self.timed.push_back((number, now));
        }
    }

    /// The other end says that this frame arrived, and that it took so long to say it. Gives the
    /// round trip, if the frame was timed.
    pub(crate) fn answered(&mut self, now: u64, number: u64, held_ns: u64) -> Option<u64> {
        let mut measured = None;
        while let Some(&(timed, left)) = self.timed.front()
            && timed <= number
        {
            self.timed.pop_front();
            if timed == number {
                let sample = now.saturating_sub(left).saturating_sub(held_ns);
                self.backoff = 0;
                self.estimate.sample(now, sample);
                measured = Some(sample);
            }
        }
        measured
    }

    /// How long to wait before sending again.
    pub(crate) fn timeout(&self, now: u64, timing: &Timing) -> u64 {
        let least = self.estimate.least_ns(ENOUGH);
        let least = least.unwrap_or(self.presumed.least_ns);
        let at_rest = timing.at_rest_ns(least);
        let path = match self.estimate.path_ns(now, at_rest) {
            None => timing.first_ns.max(self.presumed.path_ns),
            Some(path_ns) => path_ns,
        };
        let base = path.max(timing.floor_ns) + timing.ack_delay_ns;
        let doubled = base.saturating_mul(1 << self.backoff.min(20));
        // The cap is on patience with a cut link. A path that really is slower than that is waited
        // for.
        base.max(doubled.min(timing.cap_ns))
    }

    /// The timeout passed without an answer.
    pub(crate) fn expired(&mut self) {
        self.backoff += 1;
    }

    /// Something was heard of the other end, so it is worth trying again soon: says whether the
    /// timeout had become longer than that.
    pub(crate) fn heard(&mut self) -> bool {
        let long = self.backoff > HEARD_BACKOFF;
        self.backoff = self.backoff.min(HEARD_BACKOFF);
        long
    }

    /// Other paths say this of round trips.
    pub(crate) fn presume(&mut self, presumed: Presumed) {
        self.presumed = presumed;
    }

    /// The smoothed round trip, once there was a sample.
    pub(crate) fn smoothed_ns(&self) -> Option<u64> {
        self.estimate.smoothed_ns()
    }

    /// Forgets the frames under way, not the path.
    pub(crate) fn forget_frames(&mut self) {
        self.timed.clear();
        self.backoff = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMING: Timing = Timing {
        floor_ns: 4 * MS,
        cap_ns: 300 * MS,
        ..Timing::LOOPBACK
    };
    const MS: u64 = 1_000_000;

    fn measured(samples: &[u64]) -> RoundTrips {
        let mut trips = RoundTrips::default();
        for (number, &sample) in (1..).zip(samples) {
            trips.sent(0, number);
            trips.answered(sample, number, 0);
        }
        trips
    }

    #[test]
    fn before_any_sample_the_first_timeout_holds() {
        assert_eq!(RoundTrips::default().timeout(0, &TIMING), 55 * MS);
    }

    #[test]
    fn the_first_sample_sets_and_later_ones_smooth_as_in_rfc_6298() {
        let trips = measured(&[80 * MS]);
        assert_eq!(trips.estimate.smoothed, Some((80 * MS, 40 * MS)));
        assert_eq!(trips.timeout(0, &TIMING), (80 + 4 * 40 + 5) * MS);
        let trips = measured(&[80 * MS, 160 * MS]);
        // RTTVAR = 3/4·40 + 1/4·|80 - 160|, SRTT = 7/8·80 + 1/8·160.
        assert_eq!(trips.estimate.smoothed, Some((90 * MS, 50 * MS)));
    }

    #[test]
    fn on_loopback_the_floor_holds_and_exceeds_the_delay_of_acknowledgements() {
        let trips = measured(&[50_000; 20]);
        assert_eq!(trips.timeout(0, &TIMING), 9 * MS);
        assert!(trips.timeout(0, &TIMING) > TIMING.ack_delay_ns);
    }

    #[test]
    fn what_was_measured_long_ago_counts_less_and_less() {
        let path = |trips: &RoundTrips, now| trips.timeout(now, &TIMING) - TIMING.ack_delay_ns;
        let mut trips = RoundTrips::default();
        trips.sent(0, 1);
        trips.answered(1_000 * MS, 1, 0);
        assert_eq!(path(&trips, 1_249 * MS), 3_000 * MS);
        assert_eq!(path(&trips, 1_250 * MS), 1_500 * MS);
        assert_eq!(path(&trips, 1_750 * MS), 375 * MS);
        assert_eq!(path(&trips, 100_000 * MS), TIMING.first_ns);
        // A new sample is worth more than one eighth by then.
        trips.sent(1_742 * MS, 2);
        trips.answered(1_750 * MS, 2, 0);
        assert_eq!(trips.smoothed_ns(), Some((7 * 125 + 8) * MS / 8));
    }

    #[test]
    fn a_path_that_is_always_slow_is_waited_for_however_long_it_was_idle() {
        let trips = measured(&[400 * MS; 8]);
        assert!(trips.timeout(3_600_000 * MS, &TIMING) > 400 * MS);
        let trips = measured(&[8 * MS]);
        assert_eq!(trips.timeout(3_600_000 * MS, &TIMING), (8 + 4 * 4 + 5) * MS);
    }

    #[test]
    fn what_the_other_end_held_back_is_not_the_path() {
        let mut trips = RoundTrips::default();
        trips.sent(10 * MS, 1);
        trips.answered(18 * MS, 1, 5 * MS);
        assert_eq!(trips.smoothed_ns(), Some(3 * MS));
    }

    #[test]
    fn timeouts_double_up_to_the_cap_and_a_sample_ends_that() {
        let mut trips = measured(&[20 * MS; 50]);
        let base = trips.timeout(0, &TIMING);
        assert!(base < 30 * MS, "{base}");
        trips.expired();
        assert_eq!(trips.timeout(0, &TIMING), 2 * base);
        for _ in 0..100 {
            trips.expired();
        }
        assert_eq!(trips.timeout(0, &TIMING), TIMING.cap_ns);
        trips.sent(0, 1000);
        trips.answered(20 * MS, 1000, 0);
        assert!(trips.timeout(0, &TIMING) <= base);
    }

    #[test]
    fn the_first_timeout_follows_what_other_paths_say() {
        let mut trips = RoundTrips::default();
        let presumed = |path_ns| Presumed {
            path_ns,
            least_ns: 0,
        };
        trips.presume(presumed(MS));
        assert_eq!(trips.timeout(0, &TIMING), 55 * MS);
        trips.presume(presumed(200 * MS));
        assert_eq!(trips.timeout(0, &TIMING), 205 * MS);
        trips.sent(0, 1);
        trips.answered(20 * MS, 1, 0);
        assert_eq!(trips.timeout(0, &TIMING), (20 + 4 * 10 + 5) * MS);
    }

    #[test]
    fn a_peer_that_is_heard_ends_the_long_pauses() {
        let mut trips = measured(&[20 * MS; 50]);
        let base = trips.timeout(0, &TIMING);
        trips.expired();
        assert!(!trips.heard(), "the pause was not long");
        for _ in 0..10 {
            trips.expired();
        }
        assert!(trips.heard());
        assert_eq!(trips.timeout(0, &TIMING), 4 * base);
    }

    #[test]
    fn an_answer_to_the_first_copy_is_told_from_one_to_the_second() {
        let mut trips = RoundTrips::default();
        trips.sent(0, 1);
        trips.sent(100 * MS, 2);
        trips.answered(150 * MS, 1, 0);
        assert_eq!(trips.smoothed_ns(), Some(150 * MS));

        let mut trips = RoundTrips::default();
        trips.sent(0, 1);
        trips.sent(100 * MS, 2);
        trips.answered(150 * MS, 2, 0);
        assert_eq!(trips.smoothed_ns(), Some(50 * MS));
    }

    #[test]
    fn a_path_slower_than_the_cap_is_measured_and_waited_for() {
        let mut trips = RoundTrips::default();
        for number in 1..=40 {
            trips.sent(number * 300 * MS, number);
            trips.expired();
        }
        trips.answered(5_300 * MS, 1, 0);
        assert_eq!(trips.smoothed_ns(), Some(5_000 * MS));
        assert!(trips.timeout(0, &TIMING) > 5_000 * MS);
    }

    #[test]
    fn frames_that_were_never_answered_do_not_stop_the_measuring() {
        let mut trips = RoundTrips::default();
        for number in 1..=20 {
            trips.sent(0, number);
        }
        assert_eq!(trips.answered(MS, 20, 0), None);
        assert_eq!(trips.smoothed_ns(), None);
        trips.sent(MS, 21);
        assert_eq!(trips.answered(3 * MS, 21, 0), Some(2 * MS));
        assert_eq!(trips.smoothed_ns(), Some(2 * MS));
    }
}
