//! What the clocks of several hosts allow one to say: two stays on different hosts overlap for sure only
//! if they do so by more than both clocks can be wrong.

use algorithms::NodeId;
use model::plan::Plan;
use model::run::Run;

use crate::occupancy::Stay;

/// By how much the clock of each member's host can be wrong; nothing where there is one host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    /// The place of the host and its bound, by member.
    of: Vec<(usize, u64)>,
}

impl Clocks {
    /// Those of a run.
    pub(crate) fn of(plan: &Plan, run: &Run) -> Self {
        let Some(placement) = plan.placement.as_ref().filter(|_| !run.clocks.is_empty()) else {
            return Self::default();
        };
        let of = (0..plan.nodes).map(|node| {
            let host = placement.host_of(NodeId(node));
            (host, run.clocks.get(host).map_or(0, |clock| clock.bound_ns))
        });
        Self { of: of.collect() }
    }

    /// By how much times of these members can be wrong against each other.
    fn margin_ns(&self, one: NodeId, other: NodeId) -> u64 {
        match (self.of.get(one.index()), self.of.get(other.index())) {
            (Some((here, one_ns)), Some((there, other_ns))) if here != there => one_ns + other_ns,
            _ => 0,
        }
    }

    /// Whether two stays that overlap by their times do so whatever the clocks may have been wrong by.
    pub(crate) fn surely_overlap(&self, one: &Stay, other: &Stay) -> bool {
        let margin_ns = self.margin_ns(one.node, other.node);
        let goes_on =
            |one: &Stay, other: &Stay| one.exit_ns.saturating_sub(other.enter_ns) > margin_ns;
        margin_ns == 0 || goes_on(one, other) && goes_on(other, one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stay(node: u32, enter_ns: u64, exit_ns: u64) -> Stay {
        Stay {
            enter_ns,
            exit_ns,
            node: NodeId(node),
            row: 0,
        }
    }

    /// Members 0 and 1 on one host, whose clock can be wrong by 10 ns, and 2 on another, by 30 ns.
    fn clocks() -> Clocks {
        Clocks {
            of: vec![(0, 10), (0, 10), (1, 30)],
        }
    }

    #[test]
    fn an_overlap_within_the_error_of_two_clocks_says_nothing() {
        let clocks = clocks();
        assert!(!clocks.surely_overlap(&stay(0, 100, 240), &stay(2, 200, 400)));
        assert!(clocks.surely_overlap(&stay(0, 100, 241), &stay(2, 200, 400)));
        assert!(clocks.surely_overlap(&stay(2, 200, 400), &stay(0, 100, 241)));
        // A short stay well within another one overlaps it wherever it was.
        assert!(clocks.surely_overlap(&stay(0, 100, 900), &stay(2, 500, 501)));
        assert!(!clocks.surely_overlap(&stay(0, 100, 900), &stay(2, 890, 891)));
    }

    #[test]
    fn members_of_one_host_have_one_clock() {
        assert!(clocks().surely_overlap(&stay(0, 100, 201), &stay(1, 200, 300)));
    }
}
