//! How long things took.

use model::run::Run;

use crate::measured::Measured;
use crate::occupancy::Stay;

/// Lengths of time in nanoseconds, the shortest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times(Vec<u64>);

impl Times {
    /// From the arrival of a request to its entry.
    pub(crate) fn waits(run: &Run, measured: &Measured) -> Self {
        Self::of(run, measured, |row| row.entered_ns)
    }

    /// From the arrival of a request to its exit.
    pub(crate) fn turnarounds(run: &Run, measured: &Measured) -> Self {
        Self::of(run, measured, |row| row.left_ns)
    }

    fn of(
        run: &Run,
        measured: &Measured,
        end_ns: impl Fn(&model::run::RequestRow) -> Option<u64>,
    ) -> Self {
        let rows = run.requests.iter();
        rows.filter(|row| !row.uninvited && measured.contains(row))
            .filter_map(|row| Some(end_ns(row)?.saturating_sub(row.arrived_ns)))
            .collect()
    }

    /// All of them, the shortest first.
    pub(crate) fn into_ascending(self) -> Vec<u64> {
        self.0
    }

    /// Their mean, in microseconds.
    pub(crate) fn mean_us(&self) -> Option<f64> {
        let sum = self.0.iter().map(|&ns| u128::from(ns)).sum::<u128>();
        (!self.0.is_empty()).then(|| sum as f64 / self.0.len() as f64 / 1e3)
    }

    /// The smallest that so large a share of them does not exceed, in microseconds.
    pub(crate) fn quantile_us(&self, share: f64) -> Option<f64> {
        let rank = (share * self.0.len() as f64).ceil() as usize;
        self.0.get(rank.max(1) - 1).map(|&ns| ns as f64 / 1e3)
    }

    /// The largest, in microseconds.
    pub(crate) fn max_us(&self) -> Option<f64> {
        self.0.last().map(|&ns| ns as f64 / 1e3)
    }
}

impl FromIterator<u64> for Times {
    fn from_iter<I: IntoIterator<Item = u64>>(times: I) -> Self {
        let mut times = times.into_iter().collect::<Vec<_>>();
        times.sort_unstable();
        Self(times)
    }
}

/// One hand-over: from an exit to the next entry, by somebody who was already waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handover {
    /// When the next one entered.
    pub at_ns: u64,
    /// How long the hand-over took.
    pub delay_ns: u64,
    /// The place of the next one among the run's requests.
    pub row: usize,
    /// The place of the one that left.
    pub after: usize,
}

/// All hand-overs, in order, where one member at a time is admitted; empty where more are.
///
/// Somebody is already waiting if the algorithm was asked before the exit: a client in its own
/// member's queue waits for its turn to ask, and the algorithm cannot hand over to it. Where
/// two were inside at once there is no hand-over between them.
pub(crate) fn handovers(run: &Run, stays: &[Stay], admitted: u32) -> Vec<Handover> {
    if admitted > 1 {
        return Vec::new();
    }
    let pairs = stays.array_windows();
    let handover = |[last, next]: &[Stay; 2]| {
        run.requests[last.row].left_ns?;
        let asked_ns = run.requests[next.row].asked_ns?;
        let delay_ns = next.enter_ns.checked_sub(last.exit_ns)?;
        (asked_ns < last.exit_ns).then_some(Handover {
            at_ns: next.enter_ns,
            delay_ns,
            row: next.row,
            after: last.row,
        })
    };
    pairs.filter_map(handover).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{plan, served};
    use crate::occupancy::stays;

    fn delays(run: &Run, admitted: u32) -> Vec<u64> {
        let handovers = handovers(run, &stays(run), admitted);
        handovers.iter().map(|handover| handover.delay_ns).collect()
    }

    #[test]
    fn quantiles_are_values_that_occurred() {
        let times = (1..=200_u64).map(|us| us * 1_000).collect::<Times>();
        assert_eq!(times.quantile_us(0.5), Some(100.0));
        assert_eq!(times.quantile_us(0.99), Some(198.0));
        assert_eq!(times.max_us(), Some(200.0));
        assert_eq!(times.mean_us(), Some(100.5));
        let one = [7_000_u64].into_iter().collect::<Times>();
        assert_eq!(
            (one.quantile_us(0.5), one.quantile_us(0.99)),
            (Some(7.0), Some(7.0))
        );
        assert_eq!(Times::default().quantile_us(0.5), None);
        assert_eq!(Times::default().mean_us(), None);
    }

    #[test]
    fn waits_begin_at_arrival_not_at_asking() {
        let mut run = served([(0, 1_000, 5_000, 9_000)]);
        run.requests[0].asked_ns = Some(4_000);
        let measured = Measured::of(&plan("raymond", 1), &run);
        assert_eq!(Times::waits(&run, &measured).max_us(), Some(4.0));
        assert_eq!(Times::turnarounds(&run, &measured).max_us(), Some(8.0));
        run.requests[0].uninvited = true;
        assert_eq!(Times::waits(&run, &measured), Times::default());
    }

    #[test]
    fn a_handover_needs_somebody_who_already_waits() {
        let run = served([
            (0, 0, 0, 10),
            (1, 5, 13, 20),  // waited: 3
            (2, 20, 24, 30), // asked when 1 left, not before
            (0, 25, 31, 40), // waited: 1
        ]);
        assert_eq!(delays(&run, 1), [3, 1]);
        assert_eq!(delays(&run, 2), [] as [u64; 0]);
    }

    #[test]
    fn a_client_still_in_its_members_queue_does_not_wait_for_the_algorithm() {
        let mut run = served([(0, 0, 0, 10), (0, 5, 13, 20)]);
        assert_eq!(delays(&run, 1), [3]);
        run.requests[1].asked_ns = Some(10);
        assert_eq!(delays(&run, 1), [] as [u64; 0]);
    }

    #[test]
    fn there_is_no_handover_between_two_who_were_inside_at_once() {
        let run = served([(0, 0, 0, 10), (1, 0, 9, 20), (2, 0, 21, 22)]);
        assert_eq!(delays(&run, 1), [1]);
    }
}
