//! Who asks next in a workload that needs the whole system to decide.
//!
//! The world is *settled* when nothing is under way: every message that was sent has arrived, and no
//! timer is armed, neither the algorithm's nor a client's. Whoever sees the whole world (the
//! simulator, or the orchestrator over the control channel) asks the conductor then.

use algorithms::NodeId;

use crate::members::Cue;
use crate::requests::{Purpose, Weights, draw};
use model::plan::Plan;
use model::workload::{Arrivals, Quota};

/// Conducts one-at-a-time workloads and settled batches.
#[derive(Clone, Debug)]
pub struct Conductor {
    piece: Piece,
    /// Requests made so far.
    asked: u64,
}

#[derive(Clone, Debug)]
enum Piece {
    /// One request at a time by a node drawn by weight.
    Draws {
        seed: u64,
        weights: Weights,
        total: u64,
        until_ns: u64,
    },
    /// These nodes in this order, the first to enter staying inside until all have asked.
    Batch {
        order: Vec<NodeId>,
        /// Those told to stay, if they enter before somebody else does.
        staying: Vec<NodeId>,
    },
}

/// A world in which nothing is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Since when, in nanoseconds from the start.
    pub now_ns: u64,
    /// Whether somebody is inside.
    pub inside: bool,
    /// Whether somebody has asked and not entered.
    pub waiting: bool,
}

impl Conductor {
    /// The conductor of the planned workload, if it needs one.
    pub fn new(plan: &Plan) -> Option<Self> {
        let piece = match &plan.workload.arrivals {
            Arrivals::OneAtATime => Piece::Draws {
                seed: plan.seed,
                weights: Weights::new(&plan.workload.weights, plan.nodes),
                total: match plan.workload.quota {
                    Quota::PerNode(share) => share.saturating_mul(u64::from(plan.nodes)),
                    Quota::Total(total) => total,
                    Quota::Until(_) => u64::MAX,
                },
                until_ns: match plan.workload.quota {
                    Quota::Until(moment_ns) => moment_ns,
                    Quota::PerNode(_) | Quota::Total(_) => u64::MAX,
                },
            },
            Arrivals::Batch {
                asks,
                settled: true,
            } => Piece::Batch {
                order: asks.iter().map(|ask| ask.node).collect(),
                staying: Vec::new(),
            },
            Arrivals::Batch { settled: false, .. }
            | Arrivals::Closed { .. }
            | Arrivals::Open { .. }
            | Arrivals::Window { .. } => return None,
        };
        Some(Self { piece, asked: 0 })
    }

    /// What to tell whom in a settled world; `None` when the piece is over, or cannot go on because
    /// somebody waits in vain.
    pub fn next(&mut self, world: Settled) -> Option<(NodeId, Cue)> {
        let nth = self.asked;
        let (node, stay) = match &mut self.piece {
            Piece::Draws {
                seed,
                weights,
                total,
                until_ns,
            } => {
                if nth >= *total || world.now_ns >= *until_ns || world.waiting {
                    return None;
                }
                let mut draw = draw(*seed, Purpose::Next, NodeId(0), nth);
                (weights.pick(&mut draw), false)
            }
            Piece::Batch { order, staying } => {
                let Some(&node) = order.get(nth as usize) else {
                    return staying.pop().map(|node| (node, Cue::Leave));
                };
                if !world.inside {
                    staying.push(node);
                }
                (node, !world.inside)
            }
        };
        self.asked += 1;
        Some((node, Cue::Ask { stay }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::workload::Ask;

    #[test]
    fn a_settled_batch_asks_in_order_then_lets_the_first_one_go() {
        let asks = [4, 1, 4].map(|node| Ask::at(0, NodeId(node)));
        let mut plan = crate::sample::plan();
        plan.workload.arrivals = Arrivals::Batch {
            asks: asks.to_vec(),
            settled: true,
        };
        let mut conductor = Conductor::new(&plan).unwrap();
        let ask = |node, stay| Some((NodeId(node), Cue::Ask { stay }));
        assert_eq!(conductor.next(settled(0, false, false)), ask(4, true));
        assert_eq!(conductor.next(settled(5, true, false)), ask(1, false));
        assert_eq!(conductor.next(settled(6, true, true)), ask(4, false));
        let leave = Some((NodeId(4), Cue::Leave));
        assert_eq!(conductor.next(settled(7, true, true)), leave);
        assert_eq!(conductor.next(settled(9, false, false)), None);
    }

    #[test]
    fn one_at_a_time_asks_as_often_as_the_quota_says() {
        let mut plan = crate::sample::plan();
        plan.workload.arrivals = Arrivals::OneAtATime;
        plan.workload.quota = Quota::Total(3);
        let mut conductor = Conductor::new(&plan).unwrap();
        let next = || conductor.next(settled(0, false, false));
        let cues = std::iter::from_fn(next).collect::<Vec<_>>();
        assert_eq!(cues.len(), 3);
        plan.workload.quota = Quota::Until(10);
        let mut conductor = Conductor::new(&plan).unwrap();
        assert_eq!(conductor.next(settled(0, false, false)), Some(cues[0]));
        assert_eq!(conductor.next(settled(9, false, false)), Some(cues[1]));
        assert_eq!(conductor.next(settled(10, false, false)), None);
    }

    #[test]
    fn one_at_a_time_ends_when_the_one_waits_in_vain() {
        let mut plan = crate::sample::plan();
        plan.workload.arrivals = Arrivals::OneAtATime;
        let mut conductor = Conductor::new(&plan).unwrap();
        assert_eq!(conductor.next(settled(0, false, true)), None);
    }

    fn settled(now_ns: u64, inside: bool, waiting: bool) -> Settled {
        Settled {
            now_ns,
            inside,
            waiting,
        }
    }
}
