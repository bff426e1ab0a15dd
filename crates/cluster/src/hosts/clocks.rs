//! What the clocks of several hosts have to do with each other.
//!
//! An agent is asked many times what its clock shows. Whatever it answers, it read it between the question
//! and the answer; so of the quickest exchange half the round trip is the most by which the middle of the
//! two can be wrong. That is done before the run and after it, and what lies between is interpolated.

use model::run::HostClock;
use wire::Moment;

/// How often a clock is read.
pub(crate) const EXCHANGES: usize = 40;
/// Two clocks that nobody sets drift apart by less than this, in parts per million: the kernel corrects
/// by at most 500. What goes beyond was a step.
const MOST_DRIFT_PPM: f64 = 1_000.0;

/// By how much the clock of a host is ahead of this host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offset {
    /// When it was measured, by this host's clock.
    pub(crate) at: Moment,
    /// How far it is ahead; below zero if it is behind.
    pub(crate) ns: i64,
    /// The most by which that can be wrong.
    pub(crate) bound_ns: u64,
}

/// One exchange of a question and its answer, on two clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    /// When this host asked.
    pub(crate) asked: Moment,
    /// What the other clock showed.
    pub(crate) read: Moment,
    /// When this host had the answer.
    pub(crate) answered: Moment,
}

impl Offset {
    /// What the quickest exchange says.
    pub(crate) fn of(exchanges: &[Exchange]) -> Option<Self> {
        let took = |exchange: &&Exchange| exchange.answered.since(exchange.asked);
        let quickest = exchanges.iter().min_by_key(took)?;
        let round_trip_ns = took(&quickest);
        let middle = quickest.asked.plus_ns(round_trip_ns / 2);
        Some(Self {
            at: middle,
            ns: quickest.read.ahead_of(middle),
            // The nanosecond that a half may lack.
            bound_ns: round_trip_ns / 2 + 1,
        })
    }
}

/// The clock of a host during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostTime {
    /// The offset before the run.
    pub(crate) before: Offset,
    /// After it, if the host was still there.
    pub(crate) after: Option<Offset>,
    /// The run's moment zero, by the orchestrator's clock, as the times of both offsets are.
    pub(crate) zero: Moment,
}

impl HostTime {
    /// What this host's clock would have shown, counted from zero, when the other one showed this much
    /// since its own zero.
    pub(crate) fn corrected_ns(&self, theirs_ns: u64) -> u64 {
        let Some(after) = self.after else {
            return theirs_ns;
        };
        let between_ns = after.at.since(self.before.at);
        if between_ns == 0 {
            return theirs_ns;
        }
        // Zero was told with the offset before the run; since then they drifted apart by this.
        let since_ns = self.zero.plus_ns(theirs_ns).since(self.before.at);
        let part = since_ns as f64 / between_ns as f64;
        let ahead_ns = (after.ns - self.before.ns) as f64 * part;
        theirs_ns.saturating_add_signed(-(ahead_ns.round() as i64))
    }

    /// By how many parts in a million the other clock runs faster.
    fn drift_ppm(&self) -> Option<f64> {
        let after = self.after?;
        let between_ns = after.at.since(self.before.at);
        let ahead_ns = (after.ns - self.before.ns) as f64;
        (between_ns > 0).then(|| ahead_ns / between_ns as f64 * 1e6)
    }

    /// What is written of it. A clock that was set during the run is wrong by as much somewhere.
    pub(crate) fn told(&self, name: &str) -> HostClock {
        let after_bound_ns = self.after.map_or(0, |after| after.bound_ns);
        let bound_ns = self.before.bound_ns.max(after_bound_ns);
        let step_ns = match self.was_set() {
            true => self
                .after
                .map_or(0, |after| after.ns.abs_diff(self.before.ns)),
            false => 0,
        };
        HostClock {
            name: name.to_owned(),
            offset_before_ns: self.before.ns,
            offset_after_ns: self.after.map(|after| after.ns),
            bound_ns: bound_ns.saturating_add(step_ns),
            drift_ppm: self.drift_ppm(),
        }
    }

    /// Whether it was set during the run: no two clocks drift apart that fast.
    pub(crate) fn was_set(&self) -> bool {
        let Some(after) = self.after else {
            return false;
        };
        let between_ns = after.at.since(self.before.at) as f64;
        let wrong_ns = (self.before.bound_ns + after.bound_ns) as f64;
        let apart_ns = after.ns.abs_diff(self.before.ns) as f64;
        apart_ns > wrong_ns + between_ns * MOST_DRIFT_PPM / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn at(ns: u64) -> Moment {
        Moment::START.plus_ns(ns)
    }

    fn exchange(asked: u64, read: u64, answered: u64) -> Exchange {
        Exchange {
            asked: at(asked),
            read: at(read),
            answered: at(answered),
        }
    }

    #[test]
    fn the_quickest_exchange_counts_and_half_its_round_trip_is_the_bound() {
        let slow = exchange(100, 5_180, 300);
        let quick = exchange(1_000, 6_005, 1_020);
        let offset = Offset::of(&[slow, quick, slow]).expect("there are some");
        assert_eq!((offset.ns, offset.bound_ns), (4_995, 11));
        // The clock was read when ours showed 1,000 to 1,020: it is 4,985 to 5,005 ahead.
        assert!((4_985..=5_005).contains(&offset.ns));
        assert_eq!(Offset::of(&[]), None);
    }

    #[test]
    fn a_clock_that_is_behind_has_an_offset_below_zero() {
        let offset = Offset::of(&[exchange(9_000, 10, 9_010)]).expect("there is one");
        assert_eq!(offset.ns, -8_995);
    }

    fn time(before_ns: i64, after_ns: i64, seconds: u64) -> HostTime {
        let offset = |at_ns, ns| Offset {
            at: at(at_ns),
            ns,
            bound_ns: 50,
        };
        HostTime {
            before: offset(S, before_ns),
            after: Some(offset(S + seconds * S, after_ns)),
            zero: at(S),
        }
    }

    #[test]
    fn drift_is_taken_out_in_proportion() {
        // Ten microseconds in ten seconds: one part in a million.
        let time = time(7_000, 17_000, 10);
        assert_eq!(time.corrected_ns(0), 0);
        assert_eq!(time.corrected_ns(5 * S), 5 * S - 5_000);
        assert_eq!(time.corrected_ns(10 * S), 10 * S - 10_000);
        assert!(!time.was_set());
        let told = time.told("h1");
        assert_eq!((told.offset_before_ns, told.bound_ns), (7_000, 50));
        assert_eq!(told.drift_ppm, Some(1.0));
    }

    #[test]
    fn a_clock_that_was_set_is_noticed_and_its_step_is_the_bound() {
        let time = time(0, 20_000_000, 1);
        assert!(time.was_set());
        assert_eq!(time.told("h1").bound_ns, 20_000_050);
    }
}
