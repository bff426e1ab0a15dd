//! A request number for each node; 0 for those that are not there.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::contract::NodeId;

/// The largest number known of each node.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Numbers {
    each: BTreeMap<NodeId, u64>,
    /// All of them together.
    sum: u64,
}

impl Numbers {
    /// Raises a node's number; says whether it was lower.
    pub(super) fn raise(&mut self, node: NodeId, number: u64) -> bool {
        let known = self.each.entry(node).or_default();
        let raised = number > *known;
        self.sum = self.sum.saturating_add(number.saturating_sub(*known));
        *known = number.max(*known);
        raised
    }

    /// Takes out all of them, in the order of the nodes.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (NodeId, u64)> + use<> {
        std::mem::take(self).each.into_iter()
    }

    /// All numbers together: how many requests there have been, where each raises a number by one.
    pub(super) fn sum(&self) -> u64 {
        self.sum
    }

    /// Whether it speaks only of nodes below this number.
    pub(super) fn fits(&self, nodes: u32) -> bool {
        self.each.keys().all(|node| node.0 < nodes)
    }
}

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.each.fmt(f)
    }
}
