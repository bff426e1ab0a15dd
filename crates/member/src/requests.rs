//! What the clients want, request by request.
//!
//! Everything here follows from the plan: the n-th request of a node has the same priority, the
//! same time inside and the same time of thought before it in every engine, and nothing has to
//! remember it. A member keeps nothing but how many requests there have been.

use std::collections::BTreeMap;

use algorithms::NodeId;
use chaos::Draw;

use model::plan::Plan;
use model::workload::{Arrivals, Ask, PerNode, Quota, Span, Urgency};

/// What the clients of all nodes want.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    seed: u64,
    rhythm: Rhythm,
    hold: PerNode<Span>,
    priority: PerNode<Urgency>,
    /// How many clients each node has.
    pub(crate) clients: u32,
    shares: Shares,
    /// From this moment nobody asks again.
    until_ns: Option<u64>,
    weights: Weights,
    /// The requests of a batch, by node and in order of time.
    scripts: BTreeMap<NodeId, Vec<Ask>>,
}

/// What makes a client ask.
#[derive(Clone, Debug)]
pub(crate) enum Rhythm {
    /// It has thought since it left.
    Closed { think: PerNode<Span> },
    /// It comes by chance.
    Open { mean_gap_ns: u64 },
    /// It is in the list, with the moment.
    Scripted { asks: Vec<(u64, NodeId)> },
    /// A conductor says so.
    Conducted,
}

/// What a draw is for: each purpose has a stream of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Think = 1,
    Hold = 2,
    Gap = 3,
    /// Who asks next, one at a time.
    Next = 4,
    /// Who asks within the window, and when.
    Window = 5,
    /// When a timer goes off that may do so between two moments.
    Timer = 6,
    Priority = 7,
}

/// The stream for the n-th draw of a purpose at a node.
pub(crate) fn draw(seed: u64, purpose: Purpose, node: NodeId, nth: u64) -> Draw {
    Draw::new([seed, purpose as u64, u64::from(node.0), nth])
}

impl Requests {
    pub(crate) fn new(plan: &Plan) -> Self {
        let workload = &plan.workload;
        let weights = Weights::new(&workload.weights, plan.nodes);
        let mut scripts = BTreeMap::<_, Vec<Ask>>::new();
        let (asks, settled) = match &workload.arrivals {
            Arrivals::Batch { asks, settled } => (asks.clone(), *settled),
            Arrivals::Window { nodes, within_ns } => {
                let chosen = choose(plan, &weights, *nodes, *within_ns);
                (chosen, false)
            }
            Arrivals::Closed { .. } | Arrivals::Open { .. } | Arrivals::OneAtATime => {
                (Vec::new(), false)
            }
        };
        for ask in &asks {
            scripts.entry(ask.node).or_default().push(*ask);
        }
        if !settled {
            for script in scripts.values_mut() {
                script.sort_by_key(|ask| ask.at_ns);
            }
        }
        let rhythm = match &workload.arrivals {
            Arrivals::Closed { think } => Rhythm::Closed {
                think: think.clone(),
            },
            Arrivals::Open { mean_gap_ns } => Rhythm::Open {
                mean_gap_ns: *mean_gap_ns,
            },
            Arrivals::Batch { settled: true, .. } | Arrivals::OneAtATime => Rhythm::Conducted,
            Arrivals::Batch { settled: false, .. } | Arrivals::Window { .. } => Rhythm::Scripted {
                asks: asks.iter().map(|ask| (ask.at_ns, ask.node)).collect(),
            },
        };
        let (shares, until_ns) = match workload.quota {
            Quota::PerNode(share) => (Shares::Alike(share), None),
            Quota::Total(total) => (Shares::Dealt(weights.deal(total)), None),
            Quota::Until(moment_ns) => (Shares::Alike(u64::MAX), Some(moment_ns)),
        };
        Self {
            seed: plan.seed,
            rhythm,
            hold: workload.hold.clone(),
            priority: workload.priority.clone(),
            clients: workload.clients.max(1),
            shares,
            until_ns,
            weights,
            scripts,
        }
    }

    /// What makes clients ask.
    pub(crate) fn rhythm(&self) -> &Rhythm {
        &self.rhythm
    }

    /// How urgent the n-th request of a node is.
    pub(crate) fn priority(&self, node: NodeId, nth: u64) -> u32 {
        let own = self.scripted(node, nth).and_then(|ask| ask.priority);
        own.unwrap_or_else(|| match self.priority.of(node) {
            Urgency::Constant(priority) => priority,
            drawn => drawn.draw(&mut draw(self.seed, Purpose::Priority, node, nth)),
        })
    }

    /// How long the client stays inside with the n-th request of a node.
    pub(crate) fn hold_ns(&self, node: NodeId, nth: u64) -> u64 {
        let own = self.scripted(node, nth).and_then(|ask| ask.hold_ns);
        own.unwrap_or_else(|| match self.hold.of(node) {
            Span::Constant(ns) => ns,
            drawn => drawn.draw_ns(&mut draw(self.seed, Purpose::Hold, node, nth)),
        })
    }

    /// When the n-th request of a node arrives, if the one before it left (or, in an open workload,
    /// arrived) now; `None` if there is no such request.
    pub(crate) fn next_ns(&self, now_ns: u64, node: NodeId, nth: u64) -> Option<u64> {
        if nth >= self.shares.of(node) {
            return None;
        }
        let gap_ns = match &self.rhythm {
            Rhythm::Closed { think } => match think.of(node) {
                Span::Constant(ns) => ns,
                drawn => drawn.draw_ns(&mut draw(self.seed, Purpose::Think, node, nth)),
            },
            Rhythm::Open { mean_gap_ns } => {
                let gap = Span::Exponential(*mean_gap_ns);
                gap.draw_ns(&mut draw(self.seed, Purpose::Gap, node, nth))
            }
            Rhythm::Scripted { .. } | Rhythm::Conducted => return None,
        };
        let at_ns = now_ns.saturating_add(self.weights.stretch(node, gap_ns)?);
        let in_time = self.until_ns.is_none_or(|until_ns| at_ns < until_ns);
        in_time.then_some(at_ns)
    }

    fn scripted(&self, node: NodeId, nth: u64) -> Option<&Ask> {
        if self.scripts.is_empty() {
            return None;
        }
        self.scripts.get(&node)?.get(usize::try_from(nth).ok()?)
    }
}

/// So many different nodes, drawn by weight, each at a moment within the window.
fn choose(plan: &Plan, weights: &Weights, nodes: u32, within_ns: u64) -> Vec<Ask> {
    // Efraimidis and Spirakis: with these keys, the smallest are a weighted sample.
    let mut keyed = (0..plan.nodes)
        .map(NodeId)
        .filter(|&node| weights.of(node) > 0.0)
        .map(|node| {
            let mut draw = draw(plan.seed, Purpose::Window, node, 0);
            let key = -(1.0 - draw.unit()).ln() / weights.of(node);
            (key, node, draw)
        })
        .collect::<Vec<_>>();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    keyed.truncate(nodes as usize);
    keyed
        .into_iter()
        .map(|(_, node, mut draw)| Ask::at(draw.below(within_ns.max(1)), node))
        .collect()
}

/// How many requests each node makes.
#[derive(Clone, Debug)]
enum Shares {
    Alike(u64),
    Dealt(Vec<u64>),
}

impl Shares {
    fn of(&self, node: NodeId) -> u64 {
        match self {
            Shares::Alike(share) => *share,
            Shares::Dealt(shares) => shares[node.index()],
        }
    }
}

/// How often each node asks, relative to the others.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    nodes: u32,
    /// By node; beyond its end it begins again. Empty if all are alike.
    given: Vec<f64>,
    /// For each node the weights up to its own, summed; empty if all are alike.
    summed: Vec<f64>,
    sum: f64,
}

impl Weights {
    pub(crate) fn new(given: &[f64], nodes: u32) -> Self {
        let each = given.iter().cycle().take(nodes as usize);
        let summed = each.scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        let summed = summed.collect::<Vec<_>>();
        Self {
            nodes,
            given: given.to_vec(),
            sum: summed.last().copied().unwrap_or(f64::from(nodes)),
            summed,
        }
    }

    /// The node's weight; 1 if all are alike.
    fn of(&self, node: NodeId) -> f64 {
        match self.given.len() {
            0 => 1.0,
            len => self.given[node.index() % len],
        }
    }

    /// A node drawn by weight.
    pub(crate) fn pick(&self, draw: &mut Draw) -> NodeId {
        if self.summed.is_empty() {
            return NodeId(draw.below(u64::from(self.nodes)) as u32);
        }
        let fell_on = draw.unit() * self.sum;
        let node = self.summed.partition_point(|&sum| sum <= fell_on) as u32;
        NodeId(node.min(self.nodes - 1))
    }

    /// A gap between two requests at this node; `None` if it never asks.
    fn stretch(&self, node: NodeId, gap_ns: u64) -> Option<u64> {
        if self.given.is_empty() {
            return Some(gap_ns);
        }
        let mean = self.sum / f64::from(self.nodes);
        let weight = self.of(node);
        (weight > 0.0).then(|| (gap_ns as f64 * mean / weight) as u64)
    }

    /// Deals a total to the nodes as closely to their weights as whole numbers allow: the largest
    /// remainders get what is left, the lower node first.
    fn deal(&self, total: u64) -> Vec<u64> {
        let exact = |node| total as f64 * self.of(NodeId(node)) / self.sum;
        let mut shares = (0..self.nodes)
            .map(|node| exact(node) as u64)
            .collect::<Vec<_>>();
        let mut by_remainder = (0..self.nodes).collect::<Vec<_>>();
        by_remainder.sort_by(|&a, &b| {
            exact(b)
                .fract()
                .total_cmp(&exact(a).fract())
                .then(a.cmp(&b))
        });
        let left = total.saturating_sub(shares.iter().sum());
        for &node in by_remainder.iter().cycle().take(left as usize) {
            shares[node as usize] += 1;
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_is_dealt_to_the_last_one() {
        let deal = |weights: &[f64], nodes, total| Weights::new(weights, nodes).deal(total);
        assert_eq!(deal(&[], 3, 10), [4, 3, 3]);
        assert_eq!(deal(&[], 3, 2), [1, 1, 0]);
        assert_eq!(deal(&[2.0, 1.0, 1.0], 3, 10), [5, 3, 2]);
        assert_eq!(deal(&[1.0, 0.0], 2, 7), [7, 0]);
        assert_eq!(deal(&[0.0], 2, 0), [0, 0]);
    }

    #[test]
    fn heavier_nodes_are_picked_more_often() {
        let weights = Weights::new(&[1.0, 0.0, 3.0], 3);
        let mut picked = [0; 3];
        for nth in 0..10_000 {
            let mut draw = draw(1, Purpose::Next, NodeId(0), nth);
            picked[weights.pick(&mut draw).index()] += 1;
        }
        assert_eq!(picked[1], 0);
        assert!((2_350..2_650).contains(&picked[0]), "{picked:?}");
    }

    #[test]
    fn a_node_of_twice_the_mean_weight_waits_half_as_long() {
        let weights = Weights::new(&[2.0, 1.0, 0.0], 3);
        assert_eq!(weights.stretch(NodeId(0), 100), Some(50));
        assert_eq!(weights.stretch(NodeId(1), 100), Some(100));
        assert_eq!(weights.stretch(NodeId(2), 100), None);
    }
}
