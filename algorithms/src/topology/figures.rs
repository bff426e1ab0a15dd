//! Graphs that papers draw, by the number of the figure.

use super::{EdgeList, NodeId, Topology, TopologyError};

/// A graph from a paper. The papers count from 1 or use letters; here nodes are numbered from 0.
#[derive(Debug, PartialEq, Eq)]
pub struct Figure {
    /// How it is written.
    pub name: &'static str,
    /// How many nodes it has.
    pub nodes: u32,
    /// Where its token begins.
    pub holder: NodeId,
    edges: &'static str,
}

impl Figure {
    /// All figures that can be named.
    pub const ALL: &'static [Figure] = &[
        // A is the root, C and B hang at A, E at C, D at B. The book does not say where D and B hang.
        Figure {
            name: "kanrar:3.1",
            nodes: 5,
            holder: NodeId(0),
            edges: "0-2,0-1,2-4,1-3",
        },
        // The tree of Figures 3.3, 3.5 and 3.8 and of Tables 3.1, 3.2 and 3.4: process P_i is node
        // i - 1. The book does not say where 9, 10, 12, 14 and 15 hang;
        // they never ask.
        Figure {
            name: "kanrar:3.8",
            nodes: 15,
            holder: NodeId(0),
            edges: "0-1,0-2,1-3,1-4,2-5,2-6,2-7,4-10,6-12,3-8,3-9,5-11,6-13,7-14",
        },
        // The digraph of Figures 4.2 to 4.14: node P_i, or the i-th letter, is node i - 1. E
        // (4) holds the token; B, C, E and F reach each other, and nobody reaches the rest.
        Figure {
            name: "kanrar:4.2",
            nodes: 6,
            holder: NodeId(4),
            edges: "3>5,3>2,2>5,5>1,5>4,1>2,0>4,4>2",
        },
    ];

    /// The figure of that name; one graph may be drawn in several.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        let name = match name {
            "kanrar:3.3" | "kanrar:3.5" => "kanrar:3.8",
            name => name,
        };
        Self::ALL.iter().find(|figure| figure.name == name)
    }

    pub(super) fn build(&self, nodes: u32) -> Result<Topology, TopologyError> {
        if nodes != self.nodes {
            return Err(TopologyError::FigureSize {
                figure: self.name,
                has: self.nodes,
                nodes,
            });
        }
        EdgeList::parse(self.edges)?.build(nodes)
    }
}
