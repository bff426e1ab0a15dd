//! How long to wait for an acknowledgement: RFC 6298 with a floor that suits loopback.
//!
//! A sample belongs to one frame, not to a segment: an acknowledgement names the frame it answers
//! and how long it was held back. So a segment that was sent twice cannot be mistaken for a slow
//! one (Karn's problem does not arise, as with RFC 7323's timestamps), and samples measure the path
//! alone. What the other end may hold an acknowledgement back is added to the timeout instead.

use std::collections::VecDeque;

use super::config::Timing;

/// How many frames are timed at once.
const TIMED: usize = 8;

/// RFC 6298's G: a deviation below this says nothing, because the scheduler's is larger.
const GRANULARITY_NS: u64 = 1_000_000;

/// What is known of a path's round trips.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundTrips {
    /// SRTT and RTTVAR, once there was a sample.
    estimate: Option<(u64, u64)>,
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
    pub fn sent(&mut self, now: u64, number: u64) {
        if self.timed.len() < TIMED {
            self.timed.push_back((number, now));
        }
    }

    /// The other end says that this frame arrived, and that it took so long to say it. Gives the
    /// round trip, if the frame was timed.
    pub fn answered(&mut self, now: u64, number: u64, held_ns: u64) -> Option<u64> {
        let mut measured = None;
        while let Some(&(timed, left)) = self.timed.front()
            && timed <= number
        {
            self.timed.pop_front();
            if timed == number {
                let sample = now.saturating_sub(left).saturating_sub(held_ns);
                self.sample(sample);
                measured = Some(sample);
            }
        }
        measured
    }

    /// How long to wait before sending again.
    pub fn timeout(&self, timing: &Timing) -> u64 {
        let path = match self.estimate {
            None => timing.first_ns,
            Some((smoothed, deviation)) => smoothed + GRANULARITY_NS.max(4 * deviation),
        };
        let base = path.max(timing.floor_ns) + timing.ack_delay_ns;
        let doubled = base << self.backoff.min(20);
        // The cap is on patience with a cut link. A path that really is slower than that is waited
        // for.
        base.max(doubled.min(timing.cap_ns))
    }

    /// The timeout passed without an answer.
    pub fn expired(&mut self) {
        self.backoff += 1;
    }

    /// The smoothed round trip, once there was a sample.
    pub fn smoothed_ns(&self) -> Option<u64> {
        self.estimate.map(|(smoothed, _)| smoothed)
    }

    /// Forgets the frames under way, not the path.
    pub fn forget_frames(&mut self) {
        self.timed.clear();
        self.backoff = 0;
    }

    fn sample(&mut self, sample: u64) {
        self.backoff = 0;
        self.estimate = Some(match self.estimate {
            None => (sample, sample / 2),
            Some((smoothed, deviation)) => (
                (7 * smoothed + sample) / 8,
                (3 * deviation + smoothed.abs_diff(sample)) / 4,
            ),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    const TIMING: Timing = Timing {
        ack_delay_ns: 5 * MS,
        floor_ns: 4 * MS,
        first_ns: 50 * MS,
        cap_ns: 300 * MS,
    };

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
        assert_eq!(RoundTrips::default().timeout(&TIMING), 55 * MS);
    }

    #[test]
    fn the_first_sample_sets_and_later_ones_smooth_as_in_rfc_6298() {
        let trips = measured(&[80 * MS]);
        assert_eq!(trips.estimate, Some((80 * MS, 40 * MS)));
        assert_eq!(trips.timeout(&TIMING), (80 + 4 * 40 + 5) * MS);
        let trips = measured(&[80 * MS, 160 * MS]);
        // RTTVAR = 3/4·40 + 1/4·|80 - 160|, SRTT = 7/8·80 + 1/8·160.
        assert_eq!(trips.estimate, Some((90 * MS, 50 * MS)));
    }

    #[test]
    fn on_loopback_the_floor_holds_and_exceeds_the_delay_of_acknowledgements() {
        let trips = measured(&[50_000; 20]);
        assert_eq!(trips.timeout(&TIMING), 9 * MS);
        assert!(trips.timeout(&TIMING) > TIMING.ack_delay_ns);
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
        let base = trips.timeout(&TIMING);
        assert!(base < 30 * MS, "{base}");
        trips.expired();
        assert_eq!(trips.timeout(&TIMING), 2 * base);
        for _ in 0..100 {
            trips.expired();
        }
        assert_eq!(trips.timeout(&TIMING), TIMING.cap_ns);
        trips.sent(0, 1000);
        trips.answered(20 * MS, 1000, 0);
        assert!(trips.timeout(&TIMING) <= base);
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
        assert!(trips.timeout(&TIMING) > 5_000 * MS);
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
