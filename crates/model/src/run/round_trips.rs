//! How long round trips took, over time, in a space that does not grow with their number.
//!
//! A transport measures with nearly every datagram, so a long run has more round trips than anything
//! else. They are counted as coarsely as the log of latencies tells them, which is all they are for:
//! by the interval in which they ended, and to three digits.

use std::collections::BTreeMap;

/// As short as an interval gets: the log's times have milliseconds.
pub const SHORTEST_INTERVAL_NS: u64 = 1_000_000;

/// The number of intervals from which on ten become one. The log has at most 50 intervals, and each
/// is 1, 2 or 5 times a power of ten: so it always takes whole ones of these.
const MOST_INTERVALS: u64 = 250;

/// Bits of a length that count: HdrHistogram's three significant digits, at most 1 024 lengths from
/// one power of two to the next.
const BITS: u32 = 11;

/// Round trips, by when they ended and how long they took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundTrips {
    interval_ns: u64,
    intervals: BTreeMap<u64, Lengths>,
}

impl Default for RoundTrips {
    fn default() -> Self {
        Self {
            interval_ns: SHORTEST_INTERVAL_NS,
            intervals: BTreeMap::new(),
        }
    }
}

impl RoundTrips {
    /// Adds a round trip that ended at this time.
    pub fn add(&mut self, at_ns: u64, took_ns: u64) {
        while at_ns / self.interval_ns >= MOST_INTERVALS {
            self.lengthen();
        }
        let interval = self.intervals.entry(at_ns / self.interval_ns);
        interval.or_default().add(took_ns);
    }

    /// How long an interval is: a power of ten.
    pub fn interval_ns(&self) -> u64 {
        self.interval_ns
    }

    /// When each interval began in which some ended, and how long those took.
    pub fn intervals(&self) -> impl Iterator<Item = (u64, &Lengths)> {
        let intervals = self.intervals.iter();
        intervals.map(|(number, lengths)| (number * self.interval_ns, lengths))
    }

    fn lengthen(&mut self) {
        self.interval_ns *= 10;
        for (number, lengths) in std::mem::take(&mut self.intervals) {
            let whole = self.intervals.entry(number / 10).or_default();
            whole.merge(&lengths);
        }
    }
}

/// Lengths of time to three significant digits, and how often each occurred.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    /// By the shortest length that is not told apart from it.
    counts: BTreeMap<u64, u64>,
    longest_ns: u64,
}

impl Lengths {
    /// Something took that long.
    pub fn add(&mut self, ns: u64) {
        *self.counts.entry(rounded(ns)).or_default() += 1;
        self.longest_ns = self.longest_ns.max(ns);
    }

    /// All those of another.
    pub fn merge(&mut self, other: &Self) {
        for (length_ns, times) in other.iter() {
            *self.counts.entry(length_ns).or_default() += times;
        }
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }

    /// Each length, rounded down, and how often it occurred; the shortest first.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.counts
            .iter()
            .map(|(length_ns, times)| (*length_ns, *times))
    }

    /// The longest, to the nanosecond.
    pub fn longest_ns(&self) -> u64 {
        self.longest_ns
    }
}

fn rounded(ns: u64) -> u64 {
    let dropped = (u64::BITS - ns.leading_zeros()).saturating_sub(BITS);
    ns >> dropped << dropped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(trips: &RoundTrips) -> usize {
        trips.intervals.values().map(|of| of.counts.len()).sum()
    }

    fn told(trips: &RoundTrips) -> Vec<(u64, Vec<(u64, u64)>)> {
        let intervals = trips.intervals();
        let told = intervals.map(|(from_ns, lengths)| (from_ns, lengths.iter().collect()));
        told.collect()
    }

    /// Lengths from 1 to 3 ms, one after another, spread over that time.
    fn spread(number: u64, over_ns: u64) -> RoundTrips {
        let mut trips = RoundTrips::default();
        for nth in 0..number {
            let took_ns = 1_000_000 + nth * 7_919 % 2_000_000;
            trips.add(nth * (over_ns / number), took_ns);
        }
        trips
    }

    #[test]
    fn what_is_held_does_not_grow_with_the_number_of_round_trips() {
        let (few, many) = (spread(200_000, 100_000_000), spread(2_000_000, 100_000_000));
        let count = |trips: &RoundTrips| -> u64 {
            let lengths = trips.intervals().flat_map(|(_, lengths)| lengths.iter());
            lengths.map(|(_, times)| times).sum()
        };
        assert_eq!((count(&few), count(&many)), (200_000, 2_000_000));
        // Two powers of two begin in 1 to 3 ms, each with 1 024 lengths, in 100 intervals.
        let bound = 100 * 2 * 1_024;
        assert!(
            held(&few) <= bound && held(&many) <= bound,
            "{}",
            held(&many)
        );
        assert!(held(&many) < 2 * held(&few), "{}", held(&many));
    }

    #[test]
    fn however_long_it_lasts_there_are_few_intervals() {
        for over_ns in [1_000_000_000, 3_600_000_000_000, u64::MAX] {
            let trips = spread(10_000, over_ns);
            assert!(trips.intervals.len() <= 250, "{over_ns}");
            assert!(trips.intervals.len() >= 24, "{over_ns}");
        }
    }

    #[test]
    fn ten_intervals_make_one_when_there_are_too_many() {
        let mut trips = RoundTrips::default();
        for (at_ns, took_ns) in [(999_999, 90), (1_000_000, 40), (249_999_999, 40)] {
            trips.add(at_ns, took_ns);
        }
        let fine = [
            (0, vec![(90, 1)]),
            (1_000_000, vec![(40, 1)]),
            (249_000_000, vec![(40, 1)]),
        ];
        assert_eq!(told(&trips), fine);
        trips.add(250_000_000, 30);
        let coarse = [
            (0, vec![(40, 1), (90, 1)]),
            (240_000_000, vec![(40, 1)]),
            (250_000_000, vec![(30, 1)]),
        ];
        assert_eq!(told(&trips), coarse);
        assert_eq!(trips.interval_ns(), 10_000_000);
        // A member may be late to tell.
        trips.add(5, 30);
        assert_eq!(told(&trips)[0], (0, vec![(30, 1), (40, 1), (90, 1)]));
    }

    #[test]
    fn lengths_have_three_digits_and_the_longest_has_all() {
        let mut lengths = Lengths::default();
        for ns in [0, 2_047, 2_048, 2_049, 1_234_567_890] {
            lengths.add(ns);
        }
        let all = lengths.iter().collect::<Vec<_>>();
        assert_eq!(all[..3], [(0, 1), (2_047, 1), (2_048, 2)]);
        let (rounded_ns, _) = all[3];
        assert!(
            (1_234_567_890 - rounded_ns) * 1_000 < rounded_ns,
            "{rounded_ns}"
        );
        assert_eq!(lengths.longest_ns(), 1_234_567_890);
    }
}
