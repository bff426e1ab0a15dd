//! What can be wrong with a topology.

use thiserror::Error;

use crate::contract::NodeId;

/// Why there is no such topology, or why it does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// Not a word we know.
    #[error("'{given}' is no topology; there are {known}")]
    Unknown {
        /// The text that was written.
        given: String,
        /// What could have been.
        known: String,
    },
    /// A known word with something wrong behind it.
    #[error("'{given}': {why}")]
    Malformed {
        /// The text that was written.
        given: String,
        /// What is wrong, and what would be right.
        why: &'static str,
    },
    /// Something is wrong in a list of edges.
    #[error("{place}: {wrong}")]
    Edge {
        /// Which edge or line.
        place: Place,
        /// What is wrong with it.
        wrong: WrongEdge,
    },
    /// A list without an edge.
    #[error("there is no edge; write edges:0-1,1-2, or one edge per line in a file")]
    NoEdges,
    /// A group of nobody.
    #[error("a topology needs at least one node")]
    NoNodes,
    /// An edge to a node that is not there.
    #[error("edge {edge} names node {node}, but {nodes} nodes are numbered 0 to {}", .nodes - 1)]
    OutOfRange {
        /// The edge as written.
        edge: String,
        /// The node that is not there.
        node: NodeId,
        /// The number of nodes that there are.
        nodes: u32,
    },
    /// A graph from a paper has the size it has.
    #[error("{figure} has {has} nodes, not {nodes}; write -n {has}")]
    FigureSize {
        /// The name of the figure.
        figure: &'static str,
        /// How many nodes it has.
        has: u32,
        /// How many were asked for.
        nodes: u32,
    },
    /// Links cannot lead to a node that is not there.
    #[error("links cannot lead to node {towards}: {nodes} nodes are numbered 0 to {}", .nodes - 1)]
    NoTarget {
        /// The node that is not there.
        towards: NodeId,
        /// The number of nodes that there are.
        nodes: u32,
    },
    /// A node that is cut off from the rest.
    #[error("the edges leave node {node} without a path to node 0")]
    NotConnected {
        /// The node that is cut off.
        node: NodeId,
    },
    /// Degree bounds that this many nodes cannot have.
    #[error("digraph:{least}-{most} does not fit {nodes} nodes: each has only {} others", .nodes - 1)]
    Degrees {
        /// The smallest number of links of a node.
        least: u32,
        /// The largest number of links of a node.
        most: u32,
        /// The number of nodes.
        nodes: u32,
    },
    /// More links at each node than there are others.
    #[error("{shape}:{most} does not fit {nodes} nodes: each has only {} others", .nodes - 1)]
    Chords {
        /// The name of the shape.
        shape: &'static str,
        /// The number of links of a node, at most.
        most: u32,
        /// The number of nodes.
        nodes: u32,
    },
    /// More links than we are prepared to store.
    #[error("{links} links are too many to store (at most {most}); 'complete' stores none")]
    TooMany {
        /// The number of links that there might be.
        links: u64,
        /// The largest number of links that is stored.
        most: u64,
    },
    /// It is not the graph that the algorithm needs.
    #[error("needs {needs}, but {why}; use {instead}")]
    Unfit {
        /// The graph that the algorithm needs.
        needs: &'static str,
        /// What is there instead.
        why: String,
        /// What would be right.
        instead: &'static str,
    },
}

/// Where in a list of edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The n-th edge of `edges:`, from 1.
    Edge(usize),
    /// The n-th line of a file, from 1.
    Line(usize),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Edge(number) => write!(f, "edge {number}"),
            Place::Line(number) => write!(f, "line {number}"),
        }
    }
}

/// What is wrong with one edge of a list.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WrongEdge {
    /// It cannot be read.
    #[error("'{0}' is no edge; write 0-1, or 0>1 for one direction")]
    Unreadable(String),
    /// From a node to itself.
    #[error("{0} leads from a node to itself")]
    SelfLoop(String),
    /// It was there before.
    #[error("{0} is there already")]
    Duplicate(String),
    /// Some have a direction and some have none.
    #[error("{given} among edges like {before}; all have a direction, or none")]
    Mixed {
        /// The edge that was written.
        given: String,
        /// The edge that was written before it.
        before: String,
    },
}
