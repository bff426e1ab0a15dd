//! In what order members got in, against the order they had a right to.
//!
//! Two requests of the same nanosecond have no order, and two entries of the same nanosecond
//! neither: such pairs are never out of order.

use std::collections::BTreeMap;
use std::ops::Bound;

use model::run::{RequestRow, Run};

/// Pairs that entered in the other order than they requested.
pub(crate) fn overtakes(run: &Run) -> u64 {
    let served = run.requests.iter().filter(|row| !row.uninvited);
    inversions(
        served
            .filter_map(|row| Some((row.arrived_ns, row.entered_ns?)))
            .collect(),
    )
}

/// Pairs that were registered in one order and entered in the other; `None` where the algorithm
/// notes no registrations.
pub(crate) fn registration_inversions(run: &Run) -> Option<u64> {
    run.requests.iter().find(|row| row.registered.is_some())?;
    let registered = run.requests.iter();
    Some(inversions(
        registered
            .filter_map(|row| Some((row.registered?, row.entered_ns?)))
            .collect(),
    ))
}

/// For each request, how many that were registered after it entered before it; `None` for those that
/// were not registered.
pub(crate) fn overtaken(run: &Run) -> Vec<Option<u64>> {
    let rows = run.requests.iter().enumerate();
    let mut registered: Vec<_> = rows
        .filter_map(|(place, row)| Some((row.registered?, place)))
        .collect();
    registered.sort_unstable_by(|a, b| b.cmp(a));
    let entered = |place: usize| run.requests[place].entered_ns;
    let mut moments: Vec<_> = registered
        .iter()
        .filter_map(|&(_, place)| entered(place))
        .collect();
    moments.sort_unstable();
    // Of those registered later: how many entered at the n-th moment or before.
    let mut later = Counts::new(moments.len());
    let mut overtaken = vec![None; run.requests.len()];
    for at_once in registered.chunk_by(|a, b| a.0 == b.0) {
        for &(_, place) in at_once {
            let before = match entered(place) {
                Some(at_ns) => moments.partition_point(|&other| other < at_ns),
                None => moments.len(),
            };
            overtaken[place] = Some(later.among_the_first(before));
        }
        for at_ns in at_once.iter().filter_map(|&(_, place)| entered(place)) {
            later.add(moments.partition_point(|&other| other < at_ns));
        }
    }
    overtaken
}

/// How many there are in each of several places, and in the first so many (a Fenwick tree).
struct Counts(Vec<u64>);

impl Counts {
    fn new(places: usize) -> Self {
        Self(vec![0; places + 1])
    }

    fn add(&mut self, place: usize) {
        let mut node = place + 1;
        while node < self.0.len() {
            self.0[node] += 1;
            node += node & node.wrapping_neg();
        }
    }

    fn among_the_first(&self, places: usize) -> u64 {
        let (mut node, mut count) = (places, 0);
        while node > 0 {
            count += self.0[node];
            node -= node & node.wrapping_neg();
        }
        count
    }
}

/// Entries of a lower priority while a higher one was waiting.
pub(crate) fn priority_inversions(run: &Run) -> u64 {
    at_entries(run, |waiting, row| {
        let highest = waiting.last_key_value().map(|(&priority, _)| priority);
        u64::from(highest.is_some_and(|highest| highest > row.priority))
    })
}

/// Pairs of which the one of lower priority entered while the other was waiting.
pub(crate) fn pairs_against_priority(run: &Run) -> u64 {
    at_entries(run, |waiting, row| {
        let higher = (Bound::Excluded(row.priority), Bound::Unbounded);
        waiting.range(higher).map(|(_, count)| count).sum()
    })
}

/// A count over all entries, each with how many of each priority waited then.
fn at_entries(run: &Run, counted: impl Fn(&BTreeMap<u32, u64>, &RequestRow) -> u64) -> u64 {
    let (arrivals, entries) = (arrivals(run), entries(run));
    let mut arrivals = arrivals.into_iter().peekable();
    // How many wait of each priority: all that arrived before this nanosecond and have not
    // entered in it or earlier.
    let mut waiting = BTreeMap::<u32, u64>::new();
    let mut count = 0;
    for at_once in entries.chunk_by(|a, b| a.0 == b.0) {
        let now_ns = at_once[0].0;
        let rows = at_once.iter().map(|&(_, row)| &run.requests[row]);
        while let Some((_, row)) = arrivals.next_if(|&(arrived_ns, _)| arrived_ns < now_ns) {
            *waiting.entry(run.requests[row].priority).or_default() += 1;
        }
        for row in rows.clone().filter(|row| row.arrived_ns < now_ns) {
            let same = waiting.get_mut(&row.priority).expect("it has arrived");
            *same -= 1;
            if *same == 0 {
                waiting.remove(&row.priority);
            }
        }
        count += rows.map(|row| counted(&waiting, row)).sum::<u64>();
        while let Some((_, row)) = arrivals.next_if(|&(arrived_ns, _)| arrived_ns == now_ns) {
            // A request that arrived in this very nanosecond and is inside already never waits.
            if run.requests[row].entered_ns != Some(now_ns) {
                *waiting.entry(run.requests[row].priority).or_default() += 1;
            }
        }
    }
    count
}

/// The most entries of other members between a request and its own entry.
pub(crate) fn passed_over_max(run: &Run) -> Option<u64> {
    passed_over(run).into_iter().flatten().max()
}

/// For each request the entries of other members between it and its own entry; `None` for one that
/// never entered.
pub(crate) fn passed_over(run: &Run) -> Vec<Option<u64>> {
    let (arrivals, entries) = (arrivals(run), entries(run));
    let mut arrivals = arrivals.into_iter().peekable();
    let nodes = run.requests.iter().map(|row| row.node.index() + 1).max();
    // Entries so far, of all and of each node.
    let (mut all, mut own) = (0, vec![0_u64; nodes.unwrap_or(0)]);
    // For each request the entries of others up to its arrival.
    let mut before = vec![0; run.requests.len()];
    let mut passed_over = vec![None; run.requests.len()];
    for at_once in entries.chunk_by(|a, b| a.0 == b.0) {
        let now_ns = at_once[0].0;
        while let Some((_, row)) = arrivals.next_if(|&(arrived_ns, _)| arrived_ns < now_ns) {
            before[row] = all - own[run.requests[row].node.index()];
        }
        for &(_, row) in at_once {
            let others = all - own[run.requests[row].node.index()];
            let waited = run.requests[row].arrived_ns < now_ns;
            passed_over[row] = Some(if waited { others - before[row] } else { 0 });
        }
        for &(_, row) in at_once {
            all += 1;
            own[run.requests[row].node.index()] += 1;
        }
    }
    passed_over
}

/// The arrivals in order, with the places of their requests.
fn arrivals(run: &Run) -> Vec<(u64, usize)> {
    in_order(run, |row| Some(row.arrived_ns))
}

/// The entries in order, with the places of their requests.
fn entries(run: &Run) -> Vec<(u64, usize)> {
    in_order(run, |row| row.entered_ns)
}

fn in_order(run: &Run, moment: impl Fn(&RequestRow) -> Option<u64>) -> Vec<(u64, usize)> {
    let rows = run.requests.iter().enumerate();
    let mut moments = rows
        .filter_map(|(place, row)| Some((moment(row)?, place)))
        .collect::<Vec<_>>();
    moments.sort_unstable();
    moments
}

/// Pairs of which one comes strictly first by the first number and strictly last by the second,
/// in O(n log n).
fn inversions(mut pairs: Vec<(u64, u64)>) -> u64 {
    // Pairs that are equal in the first are put in order of the second: they count as none.
    pairs.sort_unstable();
    let mut seconds = pairs
        .into_iter()
        .map(|(_, second)| second)
        .collect::<Vec<_>>();
    let mut merged = vec![0; seconds.len()];
    let mut count = 0;
    let mut width = 1;
    while width < seconds.len() {
        for start in (0..seconds.len()).step_by(2 * width) {
            let middle = (start + width).min(seconds.len());
            let end = (start + 2 * width).min(seconds.len());
            let (left, right) = (&seconds[start..middle], &seconds[middle..end]);
            count += merge(left, right, &mut merged[start..end]);
        }
        std::mem::swap(&mut seconds, &mut merged);
        width *= 2;
    }
    count
}

/// Merges two ascending runs and counts the pairs of which the left one is larger.
fn merge(left: &[u64], right: &[u64], merged: &mut [u64]) -> u64 {
    let (mut l, mut r, mut count) = (0, 0, 0);
    for place in merged {
        if r == right.len() || (l < left.len() && left[l] <= right[r]) {
            *place = left[l];
            l += 1;
        } else {
            *place = right[r];
            r += 1;
            count += (left.len() - l) as u64;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixtures::{entry, run, served, waiting};

    #[test]
    fn overtakes_are_pairs() {
        // The last to ask is the first to enter: it overtakes both others.
        let run = served([(0, 0, 30, 31), (1, 1, 40, 41), (2, 2, 20, 21)]);
        assert_eq!(overtakes(&run), 2);
    }

    #[test]
    fn simultaneous_requests_cannot_overtake_each_other() {
        let run = served([(0, 5, 30, 31), (1, 5, 20, 21)]);
        assert_eq!(overtakes(&run), 0);
    }

    #[test]
    fn an_uninvited_entry_overtakes_nobody() {
        let mut run = served([(0, 0, 30, 31), (1, 20, 20, 21)]);
        assert_eq!(overtakes(&run), 1);
        run.requests[1].uninvited = true;
        assert_eq!(overtakes(&run), 0);
    }

    #[test]
    fn registrations_count_where_they_are_noted() {
        let mut run = served([(0, 0, 30, 31), (1, 0, 20, 21), (2, 0, 40, 41)]);
        assert_eq!(registration_inversions(&run), None);
        run.requests[0].registered = Some(1);
        run.requests[1].registered = Some(2);
        assert_eq!(registration_inversions(&run), Some(1));
        run.requests[2].registered = Some(0);
        assert_eq!(registration_inversions(&run), Some(3));
    }

    fn prioritised(rows: &[(u32, u64, Option<u64>)]) -> Run {
        let mut requests = Vec::new();
        for (node, &(priority, arrived_ns, entered_ns)) in rows.iter().enumerate() {
            let mut row = waiting(node as u32, arrived_ns);
            row.priority = priority;
            row.entered_ns = entered_ns;
            row.left_ns = entered_ns;
            requests.push(row);
        }
        run(requests)
    }

    #[test]
    fn an_entry_past_several_higher_ones_is_one_inversion() {
        let run = prioritised(&[
            (1, 0, Some(10)),
            (2, 5, Some(20)),
            (3, 6, None),
            (2, 7, Some(11)),
        ]);
        // The first enters past two higher ones, the second and the last past the third.
        assert_eq!(priority_inversions(&run), 3);
    }

    #[test]
    fn equal_priorities_and_later_arrivals_invert_nothing() {
        assert_eq!(
            priority_inversions(&prioritised(&[(1, 0, Some(10)), (1, 5, Some(20))])),
            0
        );
        assert_eq!(
            priority_inversions(&prioritised(&[(1, 0, Some(10)), (2, 10, Some(20))])),
            0
        );
        assert_eq!(
            priority_inversions(&prioritised(&[(1, 0, Some(10)), (2, 9, Some(20))])),
            1
        );
    }

    #[test]
    fn a_member_that_enters_on_arrival_leaves_no_trace_among_the_waiting() {
        let run = prioritised(&[(9, 10, Some(10)), (1, 0, Some(20))]);
        assert_eq!(priority_inversions(&run), 0);
    }

    #[test]
    fn passed_over_counts_entries_of_others_between_request_and_entry() {
        let run = served([
            (0, 0, 50, 51),
            (1, 0, 10, 11),  // passes 0
            (1, 11, 20, 21), // passes 0 again
            (2, 0, 60, 61),  // passed by three, two of them node 1's
            (0, 5, 70, 71),  // own earlier entry does not count
        ]);
        assert_eq!(passed_over_max(&run), Some(3));
        assert_eq!(passed_over_max(&Run::default()), None);
    }

    #[test]
    fn a_member_that_still_waits_is_overtaken_by_all_that_were_registered_later() {
        let mut run = run(vec![
            waiting(0, 0),
            entry(1, 0, 10, 11),
            entry(2, 0, 20, 21),
        ]);
        for (row, registered) in run.requests.iter_mut().zip([2, 1, 3]) {
            row.registered = Some(registered);
        }
        assert_eq!(overtaken(&run), [Some(1), Some(0), Some(0)]);
        run.requests[2].registered = None;
        assert_eq!(overtaken(&run), [Some(0), Some(0), None]);
    }

    proptest! {
        #[test]
        fn overtaken_is_that_of_the_definition(
            rows in prop::collection::vec((prop::option::of(0_u64..20), prop::option::of(0_u64..20)), 0..60),
        ) {
            let requests = rows.iter().map(|&(registered, entered_ns)| {
                let mut row = waiting(0, 0);
                (row.registered, row.entered_ns) = (registered, entered_ns);
                row
            });
            let run = run(requests.collect());
            let naive = rows.iter().map(|&(registered, entered)| {
                let past = |other: &&(Option<u64>, Option<u64>)| {
                    other.0 > registered && other.1.is_some_and(|at| entered.is_none_or(|own| at < own))
                };
                registered.map(|_| rows.iter().filter(past).count() as u64)
            });
            prop_assert_eq!(overtaken(&run), naive.collect::<Vec<_>>());
        }

        #[test]
        fn inversions_are_those_of_the_definition(
            pairs in prop::collection::vec((0_u64..20, 0_u64..20), 0..200),
        ) {
            let mut naive = 0;
            for a in &pairs {
                naive += pairs.iter().filter(|b| a.0 < b.0 && a.1 > b.1).count() as u64;
            }
            prop_assert_eq!(inversions(pairs), naive);
        }

        #[test]
        fn priority_inversions_are_those_of_the_definition(
            rows in prop::collection::vec((0_u32..4, 0_u64..30, prop::option::of(0_u64..10)), 0..60),
        ) {
            let rows = rows
                .into_iter()
                .map(|(priority, arrived, wait)| (priority, arrived, wait.map(|wait| arrived + wait)))
                .collect::<Vec<_>>();
            let (mut naive, mut pairs) = (0, 0);
            for &(priority, _, entered) in &rows {
                let Some(now) = entered else { continue };
                let past = |&&(other, arrived, entered): &&(u32, u64, Option<u64>)| {
                    other > priority && arrived < now && entered.is_none_or(|at| at > now)
                };
                naive += u64::from(rows.iter().any(|row| past(&row)));
                pairs += rows.iter().filter(past).count() as u64;
            }
            let run = prioritised(&rows);
            prop_assert_eq!(priority_inversions(&run), naive);
            prop_assert_eq!(pairs_against_priority(&run), pairs);
        }

        #[test]
        fn passed_over_is_that_of_the_definition(
            rows in prop::collection::vec((0_u32..4, 0_u64..30, 0_u64..10), 1..60),
        ) {
            let rows = rows
                .into_iter()
                .map(|(node, arrived, wait)| entry(node, arrived, arrived + wait, arrived + wait))
                .collect::<Vec<_>>();
            let naive = rows.iter().map(|own| {
                let between = |other: &&RequestRow| {
                    other.node != own.node
                        && other.entered_ns > Some(own.arrived_ns)
                        && other.entered_ns < own.entered_ns
                };
                rows.iter().filter(between).count() as u64
            });
            prop_assert_eq!(passed_over_max(&run(rows.clone())), naive.max());
        }
    }
}
