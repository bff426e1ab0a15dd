//! What a node is told before its first event.

use std::time::Duration;

use crate::contract::NodeId;
use crate::params::Params;
use crate::printed::Printed;
use crate::topology::Topology;

/// What all nodes of a run are told alike.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The links there are. It also says how many nodes.
    pub topology: Topology,
    /// The node that has the token, or is the controller, at the start.
    pub holder: NodeId,
    /// The algorithm's own parameters, complete and checked.
    pub params: Params,
    /// The rules left out, where the printed text is to be run unrepaired.
    pub printed: Printed,
    /// The bound on a message's delay that the algorithm may assume: its T.
    pub bound: Duration,
    /// For each node of a tree the neighbour towards `holder`; empty for other graphs.
    towards_holder: Vec<NodeId>,
    /// The links without their direction, where they have one.
    undirected: Option<Topology>,
}

impl Setting {
    /// The setting of a run; works out the directions of a tree once for all nodes.
    pub fn new(
        topology: Topology,
        holder: NodeId,
        params: Params,
        printed: Printed,
        bound: Duration,
    ) -> Self {
        let towards_holder = topology.towards(holder).unwrap_or_default();
        let undirected = topology.is_directed().then(|| topology.without_direction());
        Self {
            topology,
            holder,
            params,
            printed,
            bound,
            towards_holder,
            undirected,
        }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        self.topology.nodes()
    }
}

/// What one node is told: who it is, and what all are told.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The node that is told this.
    pub me: NodeId,
    /// What all nodes of the run are told alike.
    pub setting: &'a Setting,
}

impl<'a> Setup<'a> {
    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        self.setting.nodes()
    }

    /// Whether this node has the token, or is the controller, at the start.
    pub fn is_holder(&self) -> bool {
        self.me == self.setting.holder
    }

    /// The nodes this one has a link to; where links have a direction, those they lead to.
    pub fn neighbours(&self) -> impl Iterator<Item = NodeId> + 'a {
        self.setting.topology.neighbours(self.me)
    }

    /// The nodes this one shares a link with, whatever its direction.
    pub fn linked(&self) -> impl Iterator<Item = NodeId> + 'a {
        let topology = self.setting.undirected.as_ref();
        topology
            .unwrap_or(&self.setting.topology)
            .neighbours(self.me)
    }

    /// The neighbour towards the first holder, or this node if it is the one.
    ///
    /// # Panics
    /// If the topology is not a tree; the registry refuses that before a node is made.
    pub fn towards_holder(&self) -> NodeId {
        self.setting.towards_holder[self.me.index()]
    }

    /// Whether the named rule, a repair of the printed text, is to be left out.
    pub fn without(&self, rule: &str) -> bool {
        self.setting.printed.leaves_out(rule)
    }
}
