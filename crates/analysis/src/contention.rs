//! Contention: how many members wanted in at the same time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use model::run::{Run, deaths};

/// How many wanted in at the same time as others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contention {
    /// Entries whose request arrived while another member waited or was inside.
    pub contended: u64,
    /// The most members that waited or were inside at the same time.
    pub most_wanting: u32,
}

impl Contention {
    /// Sweeps over the arrivals. Of requests that arrive in the same nanosecond, the earlier row is
    /// there first; who leaves in that nanosecond is already gone.
    pub(crate) fn of(run: &Run) -> Self {
        let deaths = deaths(&run.faults);
        let nodes = run.requests.iter().map(|row| row.node.index() + 1).max();
        let mut wants = vec![0_u32; nodes.unwrap_or(0)];
        let mut wanting = 0;
        let mut open = BinaryHeap::new();
        let mut contention = Self::default();
        let mut arrivals = (0..run.requests.len()).collect::<Vec<_>>();
        arrivals.sort_by_key(|&row| run.requests[row].arrived_ns);
        for row in arrivals {
            let request = &run.requests[row];
            while let Some(&Reverse((gone_ns, node))) = open.peek() {
                if gone_ns > request.arrived_ns {
                    break;
                }
                open.pop();
                let wants: &mut u32 = &mut wants[node];
                *wants -= 1;
                wanting -= u32::from(*wants == 0);
            }
            let node = request.node.index();
            let others = wanting - u32::from(wants[node] > 0);
            if others > 0 && request.entered_ns.is_some() {
                contention.contended += 1;
            }
            wanting += u32::from(wants[node] == 0);
            wants[node] += 1;
            contention.most_wanting = contention.most_wanting.max(wanting);
            let death_ns = deaths.get(&request.node).copied();
            let gone_ns = request.left_ns.or(death_ns).unwrap_or(u64::MAX);
            open.push(Reverse((gone_ns, node)));
        }
        contention
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{death, entry, run, served, waiting};

    /// How many entries were contended, and the most members that wanted in at once.
    fn measured(run: &Run) -> (u64, u32) {
        let contention = Contention::of(run);
        (contention.contended, contention.most_wanting)
    }

    #[test]
    fn a_request_that_comes_while_another_is_inside_or_waits_is_contended() {
        let run = served([
            (0, 0, 0, 10),
            (1, 5, 10, 20),  // 0 is inside
            (2, 8, 20, 30),  // 0 is inside, 1 waits
            (0, 30, 30, 31), // all are gone
        ]);
        assert_eq!(measured(&run), (2, 3));
    }

    #[test]
    fn ones_own_requests_are_no_competition() {
        let run = served([(0, 0, 0, 10), (0, 5, 10, 20)]);
        assert_eq!(measured(&run), (0, 1));
    }

    #[test]
    fn of_simultaneous_requests_only_the_first_finds_nobody() {
        let run = served([(0, 0, 1, 2), (1, 0, 3, 4), (2, 0, 5, 6)]);
        assert_eq!(Contention::of(&run).contended, 2);
    }

    #[test]
    fn a_request_that_never_entered_is_no_contended_entry_but_competes() {
        let run = run(vec![waiting(0, 0), entry(1, 5, 6, 7), waiting(2, 6)]);
        assert_eq!(measured(&run), (1, 3));
    }

    #[test]
    fn the_dead_do_not_compete() {
        let mut run = run(vec![waiting(0, 0), entry(1, 5, 6, 7)]);
        run.faults = vec![death(0, 3)];
        assert_eq!(Contention::of(&run).contended, 0);
    }
}
