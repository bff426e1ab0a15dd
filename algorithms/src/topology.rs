//! Who has a link to whom.

use crate::contract::NodeId;

/// The links of a group. `complete` is never stored as edges: a hundred thousand nodes are ordinary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    nodes: u32,
    links: Links,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Links {
    /// Everyone with everyone.
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
    pub fn undirected(nodes: u32, edges: &[(NodeId, NodeId)]) -> Self {
        let both = edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
        Self::sparse(nodes, false, both.collect())
    }

    /// A directed graph with these edges.
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

    /// Whether everyone has a link to everyone, by construction.
    pub fn is_complete(&self) -> bool {
        matches!(self.links, Links::Complete)
    }

    /// Whether links have a direction.
    pub fn is_directed(&self) -> bool {
        matches!(self.links, Links::Sparse { directed: true, .. })
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
        let Links::Sparse {
            directed: false,
            targets,
            ..
        } = &self.links
        else {
            return None;
        };
        if targets.len() != 2 * (self.nodes as usize).saturating_sub(1) {
            return None;
        }
        let mut towards = vec![None; self.nodes as usize];
        *towards.get_mut(root.index())? = Some(root);
        let mut reached = vec![root];
        while let Some(node) = reached.pop() {
            for neighbour in self.neighbours(node) {
                if towards[neighbour.index()].is_none() {
                    towards[neighbour.index()] = Some(node);
                    reached.push(neighbour);
                }
            }
        }
        towards.into_iter().collect()
    }
}
