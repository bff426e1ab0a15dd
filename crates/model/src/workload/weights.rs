//! How often each node asks, relative to the others.

use algorithms::NodeId;
use chaos::Draw;

/// How often each node asks, relative to the others.
#[derive(Clone, Debug)]
pub struct Weights {
    nodes: u32,
    /// By node; beyond its end it begins again. Empty if all are alike.
    given: Vec<f64>,
    /// For each node the weights up to its own, summed; empty if all are alike.
    summed: Vec<f64>,
    sum: f64,
}

impl Weights {
    /// The weights of all nodes; none are given if all are alike.
    pub fn new(given: &[f64], nodes: u32) -> Self {
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
    #[inline]
    pub fn of(&self, node: NodeId) -> f64 {
        match self.given.len() {
            0 => 1.0,
            len => self.given[node.index() % len],
        }
    }

    /// A node drawn by weight.
    pub fn pick(&self, draw: &mut Draw) -> NodeId {
        if self.summed.is_empty() {
            return NodeId(draw.below(u64::from(self.nodes)) as u32);
        }
        let fell_on = draw.unit() * self.sum;
        let node = self.summed.partition_point(|&sum| sum <= fell_on) as u32;
        NodeId(node.min(self.nodes - 1))
    }

    /// A gap between two requests at this node; `None` if it never asks.
    #[inline]
    pub fn stretch(&self, node: NodeId, gap_ns: u64) -> Option<u64> {
        if self.given.is_empty() {
            return Some(gap_ns);
        }
        let mean = self.sum / f64::from(self.nodes);
        let weight = self.of(node);
        (weight > 0.0).then(|| (gap_ns as f64 * mean / weight) as u64)
    }

    /// Deals a total to the nodes as closely to their weights as whole numbers allow: the largest
    /// remainders get what is left, the lower node first.
    pub fn deal(&self, total: u64) -> Vec<u64> {
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
    use crate::workload::{Purpose, draw};

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
