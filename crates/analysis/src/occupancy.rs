//! Occupancy: which member was inside, from when to when.

use algorithms::NodeId;
use model::run::{End, Run, deaths};

/// One entry, from entering to leaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stay {
    /// When the member entered.
    pub enter_ns: u64,
    /// When the stay ended: at the exit, else at the member's death, else at the end of the run. Of an
    /// abandoned run nobody knows who died, so there an entry without exit lasts no time.
    pub exit_ns: u64,
    /// The member that was inside.
    pub node: NodeId,
    /// Its place among the run's requests.
    pub row: usize,
}

/// Every entry of the run, in order of entering; of those that entered in the same nanosecond, the
/// ones that left first come first.
pub(crate) fn stays(run: &Run) -> Vec<Stay> {
    let deaths = deaths(&run.faults);
    let mut stays = run
        .requests
        .iter()
        .enumerate()
        .filter_map(|(row, request)| {
            let enter_ns = request.entered_ns?;
            let known_ns = match run.end {
                End::Abandoned => enter_ns,
                _ => run.ended_ns,
            };
            let end_ns = deaths.get(&request.node).copied().unwrap_or(known_ns);
            let exit_ns = request.left_ns.unwrap_or(end_ns).max(enter_ns);
            Some(Stay {
                enter_ns,
                exit_ns,
                node: request.node,
                row,
            })
        })
        .collect::<Vec<_>>();
    stays.sort_unstable_by_key(|stay| (stay.enter_ns, stay.exit_ns, stay.row));
    stays
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{death, served};

    #[test]
    fn an_entry_without_exit_lasts_until_the_death_or_the_end() {
        let mut run = served([(0, 0, 5, 9), (1, 0, 10, 0), (2, 0, 20, 0)]);
        run.requests[1].left_ns = None;
        run.requests[2].left_ns = None;
        run.ended_ns = 100;
        run.faults = vec![death(1, 15)];
        let exits = stays(&run)
            .iter()
            .map(|stay| stay.exit_ns)
            .collect::<Vec<_>>();
        assert_eq!(exits, [9, 15, 100]);
    }

    #[test]
    fn nobody_knows_how_long_an_abandoned_entry_lasted() {
        let mut run = served([(0, 0, 5, 0), (1, 0, 10, 20)]);
        run.requests[0].left_ns = None;
        run.ended_ns = 100;
        run.end = End::Abandoned;
        assert_eq!(stays(&run)[0].exit_ns, 5);
    }
}
