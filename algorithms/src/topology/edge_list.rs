//! Edges as a person writes them.

use std::collections::BTreeSet;
use std::fmt;

use super::error::{Place, TopologyError, WrongEdge};
use super::{NodeId, Topology};

/// Edges that were written down, all with a direction or all without; none twice, none from a node
/// to itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeList {
    directed: bool,
    edges: Vec<(NodeId, NodeId)>,
}

impl EdgeList {
    /// Reads `0-1,1-2` or `0>1,1>2`.
    pub fn parse(text: &str) -> Result<Self, TopologyError> {
        let items = text.split(',').enumerate();
        Self::read(items.map(|(number, item)| (Place::Edge(number + 1), item)))
    }

    /// Reads one edge per line; `#` begins a comment.
    pub fn parse_lines(text: &str) -> Result<Self, TopologyError> {
        let lines = text.lines().enumerate();
        let bare = lines.map(|(number, line)| {
            let before_comment = line.split('#').next().unwrap_or_default();
            (Place::Line(number + 1), before_comment)
        });
        Self::read(bare.filter(|(_, line)| !line.trim().is_empty()))
    }

    /// As many nodes as it takes to have all that are named.
    pub(super) fn nodes(&self) -> u32 {
        let ends = self.edges.iter().flat_map(|&(from, to)| [from.0, to.0]);
        ends.max().map_or(0, |last| last.saturating_add(1))
    }

    /// The graph of these edges; refused if it names nodes that are not there, or leaves one out.
    pub(super) fn build(&self, nodes: u32) -> Result<Topology, TopologyError> {
        for &(from, to) in &self.edges {
            if let Some(&node) = [from, to].iter().find(|node| node.0 >= nodes) {
                return Err(TopologyError::OutOfRange {
                    edge: Edge(from, self.directed, to).to_string(),
                    node,
                    nodes,
                });
            }
        }
        let topology = match self.directed {
            true => Topology::directed(nodes, &self.edges),
            false => Topology::undirected(nodes, &self.edges),
        };
        match topology.without_direction().unreached_from(NodeId(0)) {
            Some(node) => Err(TopologyError::NotConnected { node }),
            None => Ok(topology),
        }
    }

    fn read<'a>(items: impl Iterator<Item = (Place, &'a str)>) -> Result<Self, TopologyError> {
        let mut list = Self {
            directed: false,
            edges: Vec::new(),
        };
        let mut known = BTreeSet::new();
        for (place, text) in items {
            if text.trim().is_empty() && list.edges.is_empty() {
                return Err(TopologyError::NoEdges);
            }
            let wrong = |wrong| TopologyError::Edge { place, wrong };
            let Some(edge) = Edge::parse(text) else {
                return Err(wrong(WrongEdge::Unreadable(text.trim().to_owned())));
            };
            let Edge(from, directed, to) = edge;
            match list.edges.first() {
                None => list.directed = directed,
                Some(&(a, b)) if list.directed != directed => {
                    return Err(wrong(WrongEdge::Mixed {
                        given: edge.to_string(),
                        before: Edge(a, list.directed, b).to_string(),
                    }));
                }
                Some(_) => {}
            }
            if from == to {
                return Err(wrong(WrongEdge::SelfLoop(edge.to_string())));
            }
            let same = match directed {
                true => (from, to),
                false => (from.min(to), from.max(to)),
            };
            if !known.insert(same) {
                return Err(wrong(WrongEdge::Duplicate(edge.to_string())));
            }
            list.edges.push((from, to));
        }
        match list.edges.is_empty() {
            true => Err(TopologyError::NoEdges),
            false => Ok(list),
        }
    }
}

impl fmt::Display for EdgeList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, &(from, to)) in self.edges.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{}", Edge(from, self.directed, to))?;
        }
        Ok(())
    }
}

/// One edge, and whether it has a direction.
struct Edge(NodeId, bool, NodeId);

impl Edge {
    fn parse(text: &str) -> Option<Self> {
        let (from, directed, to) = match text.split_once('>') {
            Some((from, to)) => (from, true, to),
            None => {
                let (from, to) = text.split_once('-')?;
                (from, false, to)
            }
        };
        let node = |text: &str| text.trim().parse().ok().map(NodeId);
        Some(Self(node(from)?, directed, node(to)?))
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Edge(from, directed, to) = self;
        let between = if *directed { '>' } else { '-' };
        write!(f, "{from}{between}{to}")
    }
}
