//! Topologies: which nodes have a link to each other.
//!
//! A [`Shape`] is what a person writes (`tree:2`, `edges:0-1,1-2`); a [`Topology`] is what comes of
//! it for so many nodes. Everything about it that takes more than a look at one node's links costs
//! one walk over the graph, so a million nodes are cheap.

mod edge_list;
mod error;
mod figures;
mod orient;
mod random;
mod shape;

use crate::contract::NodeId;
use crate::registry::Graph;

pub use edge_list::EdgeList;
pub use error::TopologyError;
pub use figures::Figure;
pub use shape::Shape;

/// The links of a group. `complete` is never stored as edges: a hundred thousand nodes are ordinary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    nodes: u32,
    links: Links,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Links {
    /// There is a link between any two nodes.
    Complete,
    /// The neighbours of node i are `targets[offsets[i]..offsets[i + 1]]`, ascending.
    Sparse {
        directed: bool,
        offsets: Vec<u32>,
        targets: Vec<NodeId>,
    },
}

impl Topology {
    /// Everyone has a link to everyone.
    pub fn complete(nodes: u32) -> Self {
        Self {
            nodes,
            links: Links::Complete,
        }
    }

    /// An undirected graph with these edges.
    ///
    /// # Panics
    /// If an edge names a node that is not there; [`Shape::build`] says so politely.
    pub fn undirected(nodes: u32, edges: &[(NodeId, NodeId)]) -> Self {
        let both = edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
        Self::sparse(nodes, false, both.collect())
    }

    /// A directed graph with these edges.
    ///
    /// # Panics
    /// If an edge names a node that is not there; [`Shape::build`] says so politely.
    pub fn directed(nodes: u32, edges: &[(NodeId, NodeId)]) -> Self {
        Self::sparse(nodes, true, edges.to_vec())
    }

    fn sparse(nodes: u32, directed: bool, mut arcs: Vec<(NodeId, NodeId)>) -> Self {
        arcs.sort_unstable();
        arcs.dedup();
        let mut offsets = vec![0; nodes as usize + 1];
        for (from, _) in &arcs {
            offsets[from.index() + 1] += 1;
        }
        for i in 0..nodes as usize {
            offsets[i + 1] += offsets[i];
        }
        let targets = arcs.into_iter().map(|(_, to)| to).collect();
        Self {
            nodes,
            links: Links::Sparse {
                directed,
                offsets,
                targets,
            },
        }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Whether everyone has a link to everyone.
    pub fn is_complete(&self) -> bool {
        let others = u64::from(self.nodes.saturating_sub(1));
        match &self.links {
            Links::Complete => true,
            Links::Sparse { targets, .. } => targets.len() as u64 == u64::from(self.nodes) * others,
        }
    }

    /// Whether links have a direction.
    pub fn is_directed(&self) -> bool {
        matches!(self.links, Links::Sparse { directed: true, .. })
    }

    /// Whether every node has a path to every other; along the direction of links that have one.
    pub fn is_connected(&self) -> bool {
        let reaches_all = |topology: &Self| topology.unreached_from(NodeId(0)).is_none();
        self.is_complete()
            || reaches_all(self) && (!self.is_directed() || reaches_all(&self.reversed()))
    }

    /// Whether the links are undirected and there is exactly one path between any two nodes.
    pub fn is_tree(&self) -> bool {
        self.walk_tree(NodeId(0)).is_some()
    }

    /// How many edges there are, both directions of an undirected one counted once.
    pub fn edge_count(&self) -> u64 {
        let nodes = u64::from(self.nodes);
        match &self.links {
            Links::Complete => nodes * nodes.saturating_sub(1) / 2,
            Links::Sparse {
                directed: false,
                targets,
                ..
            } => targets.len() as u64 / 2,
            Links::Sparse {
                directed: true,
                targets,
                ..
            } => targets.len() as u64,
        }
    }

    /// The edges in ascending order; an undirected one once, its smaller end first.
    pub fn edges(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        let directed = self.is_directed();
        (0..self.nodes).map(NodeId).flat_map(move |from| {
            let far_ends = self.neighbours(from);
            let far_ends = far_ends.filter(move |&to| directed || from < to);
            far_ends.map(move |to| (from, to))
        })
    }

    /// The nodes that this one has a link to, ascending.
    pub fn neighbours(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let (all, some): (std::ops::Range<u32>, &[NodeId]) = match &self.links {
            Links::Complete => (0..self.nodes, &[]),
            Links::Sparse {
                offsets, targets, ..
            } => {
                let range = offsets[node.index()] as usize..offsets[node.index() + 1] as usize;
                (0..0, &targets[range])
            }
        };
        let all = all.map(NodeId).filter(move |&other| other != node);
        all.chain(some.iter().copied())
    }

    /// For each node of an undirected tree the neighbour towards `root` (`root` for itself); `None`
    /// if this is not a tree.
    pub fn towards(&self, root: NodeId) -> Option<Vec<NodeId>> {
        self.walk_tree(root)?.towards.into_iter().collect()
    }

    /// The mean number of hops between two nodes drawn independently and uniformly (they may be the
    /// same), of a tree or a complete graph; `None` of others, where it takes a search from each node.
    pub fn mean_distance(&self) -> Option<f64> {
        let nodes = f64::from(self.nodes);
        let Some(walk) = self.walk_tree(NodeId(0)) else {
            return self.is_complete().then(|| (nodes - 1.0) / nodes);
        };
        // An edge with s nodes on one side is on the way between s(N - s) pairs.
        let crossings = walk.far_sides().map(|side| {
            let side = f64::from(side);
            side * (nodes - side)
        });
        Some(2.0 * crossings.sum::<f64>() / (nodes * nodes))
    }

    /// Says why an algorithm that needs such a graph, and starts with this holder, cannot use it.
    pub fn fits(&self, graph: Graph, holder: NodeId) -> Result<(), TopologyError> {
        let unfit = |needs, why, instead| {
            Err(TopologyError::Unfit {
                needs,
                why,
                instead,
            })
        };
        match graph {
            Graph::Complete if self.is_complete() => Ok(()),
            Graph::Complete => {
                let missing = self.missing_link().expect("it is not complete");
                let why = format!("{} has no link to {}", missing.0, missing.1);
                unfit("a link between every two nodes", why, "complete")
            }
            Graph::Tree if self.is_tree() => Ok(()),
            Graph::Tree => unfit(
                "a tree",
                self.why_no_tree(),
                "tree:2, path, star or random-tree",
            ),
            Graph::Digraph => match self.reversed().unreached_from(holder) {
                None => Ok(()),
                Some(stranded) => unfit(
                    "a path from every node to the holder",
                    format!("{stranded} has none to {holder}"),
                    "digraph:1-2, ring, complete or any tree",
                ),
            },
        }
    }

    /// A node that every other has a path to, if there is one: it can be the holder.
    pub fn reached_by_all(&self) -> Option<NodeId> {
        let back = self.reversed();
        let mut reached = vec![false; self.nodes as usize];
        let mut last = NodeId(0);
        // Each walk takes up whom no earlier one found. If anybody is reached by all, the last start
        // is: a walk that finds such a node finds everybody who is left.
        for start in (0..self.nodes).map(NodeId) {
            if reached[start.index()] {
                continue;
            }
            last = start;
            let mut open = vec![start];
            while let Some(node) = open.pop() {
                if !std::mem::replace(&mut reached[node.index()], true) {
                    open.extend(back.neighbours(node));
                }
            }
        }
        back.unreached_from(last).is_none().then_some(last)
    }

    fn why_no_tree(&self) -> String {
        if self.is_directed() {
            return "its links have a direction".to_owned();
        }
        match self.unreached_from(NodeId(0)) {
            Some(stranded) => format!("there is no path from 0 to {stranded}"),
            None => format!(
                "{} nodes with {} edges have a cycle",
                self.nodes,
                self.edge_count()
            ),
        }
    }

    /// A pair without a link, if there is one.
    fn missing_link(&self) -> Option<(NodeId, NodeId)> {
        (0..self.nodes).map(NodeId).find_map(|from| {
            let mut expected = (0..self.nodes).map(NodeId).filter(|&to| to != from);
            let mut linked = self.neighbours(from);
            let missing = expected.find(|&to| linked.next() != Some(to))?;
            Some((from, missing))
        })
    }

    /// A node that has no path from `start`, the smallest, if there is one.
    fn unreached_from(&self, start: NodeId) -> Option<NodeId> {
        if matches!(self.links, Links::Complete) {
            return None;
        }
        let towards = self.walk(start).towards;
        let unreached = towards.iter().position(Option::is_none)?;
        Some(NodeId(unreached as u32))
    }

    /// The same links the other way round; of an undirected graph, the same graph.
    fn reversed(&self) -> Self {
        if !self.is_directed() {
            return self.clone();
        }
        let arcs = self.edges().map(|(from, to)| (to, from));
        Self::sparse(self.nodes, true, arcs.collect())
    }

    /// The same links without their direction.
    pub fn without_direction(&self) -> Self {
        match self.is_directed() {
            true => Self::undirected(self.nodes, &self.edges().collect::<Vec<_>>()),
            false => self.clone(),
        }
    }

    /// Walks a tree from its `root`; `None` if this is not a tree.
    fn walk_tree(&self, root: NodeId) -> Option<Walk> {
        if self.is_directed() || self.edge_count() + 1 != u64::from(self.nodes) {
            return None;
        }
        let walk = self.walk(root);
        (walk.order.len() == self.nodes as usize).then_some(walk)
    }

    /// Walks to every node that has a path from `start`.
    fn walk(&self, start: NodeId) -> Walk {
        let mut towards = vec![None; self.nodes as usize];
        let mut order = Vec::new();
        if let Some(first) = towards.get_mut(start.index()) {
            *first = Some(start);
            order.push(start);
        }
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            for neighbour in self.neighbours(node) {
                let reached = &mut towards[neighbour.index()];
                if reached.is_none() {
                    *reached = Some(node);
                    order.push(neighbour);
                }
            }
        }
        Walk { order, towards }
    }
}

/// A walk to everything that can be reached.
struct Walk {
    /// Those reached, the nearest first.
    order: Vec<NodeId>,
    /// For each node that was reached the one before it on the way; the start for itself.
    towards: Vec<Option<NodeId>>,
}

impl Walk {
    /// For each edge of a tree, how many nodes are on the side away from the start.
    fn far_sides(&self) -> impl Iterator<Item = u32> + '_ {
        let mut below = vec![1; self.towards.len()];
        // Last reached first: whatever is below a node is counted before the node itself.
        for node in self.order.iter().skip(1).rev() {
            let before = self.towards[node.index()].expect("whatever is in the order was reached");
            below[before.index()] += below[node.index()];
        }
        self.order
            .iter()
            .skip(1)
            .map(move |node| below[node.index()])
    }
}

#[cfg(test)]
mod tests;
