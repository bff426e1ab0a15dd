//! Nodes counted from the first controller, for the rows in which some nodes have a fixed part.

use serde::Serialize;

use crate::contract::NodeId;
use crate::setup::Setup;

/// How many nodes have that part, unless the parameters say.
pub(super) const USUAL_GROUPS: u32 = 3;

/// The nodes in a ring that begins with the first controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Ranks {
    nodes: u32,
    holder: NodeId,
}

impl Ranks {
    pub(super) fn of(setup: &Setup<'_>) -> Self {
        Self {
            nodes: setup.nodes(),
            holder: setup.setting.holder,
        }
    }

    /// How far behind the first controller the node is.
    pub(super) fn rank(self, node: NodeId) -> u32 {
        (node.0 + self.nodes - self.holder.0) % self.nodes
    }

    /// The node that is so far behind the first controller.
    pub(super) fn node(self, rank: u32) -> NodeId {
        NodeId((self.holder.0 + rank) % self.nodes)
    }

    /// The first so many.
    pub(super) fn first(self, count: u32) -> impl Iterator<Item = NodeId> {
        (0..count).map(move |rank| self.node(rank))
    }

    /// The one of the first so many that a node belongs to.
    pub(super) fn head(self, node: NodeId, groups: u32) -> NodeId {
        self.node(self.rank(node) % groups)
    }
}
