//! A topology as a person writes it.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{EdgeList, Figure, NodeId, Topology, TopologyError, orient, random};
use crate::registry::Graph;

/// What a person writes; with a number of nodes and a seed it becomes a [`Topology`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Shape {
    /// `complete`: a link between any two nodes.
    Complete,
    /// `ring`: each node is linked to the next, the last to the first.
    Ring,
    /// `star`: every node is linked to node 0.
    Star,
    /// `path`: each node is linked to the next.
    Path,
    /// `tree:M`: a balanced tree in which every node has up to M children.
    Tree {
        /// The number M of children of a node, at most.
        arity: NonZeroU32,
    },
    /// `random-tree`: a tree drawn from the seed.
    RandomTree,
    /// `random-tree:M`: a tree drawn from the seed in which nodes have at most M children.
    NarrowTree {
        /// The number M of children of a node, at most.
        most: NonZeroU32,
    },
    /// `digraph:MIN-MAX`: a directed graph drawn from the seed, with MIN to MAX links from each node.
    Digraph {
        /// The smallest number MIN of links from a node, at least 1.
        least: u32,
        /// The largest number MAX of links from a node, at least MIN.
        most: u32,
    },
    /// `ring-chords:M`: a directed ring in random order, with directed chords.
    RingWithChords {
        /// The number M of links of a node, at most; at least 2.
        most: u32,
    },
    /// `oriented:M` or `oriented:M@NODE`: a ring with chords, its links directed towards one node.
    Oriented {
        /// The number M of links of a node, at most; at least 2.
        most: u32,
        /// The node NODE that the links lead to.
        towards: NodeId,
    },
    /// `tree-of:SHAPE`: a breadth-first tree of the links of another shape.
    TreeOf(Box<Shape>),
    /// `edges:0-1,1-2` or `edges:0>1,1>2`: the links as they are listed.
    Edges(EdgeList),
    /// `kanrar:3.8`: a graph from a paper.
    Figure(&'static Figure),
}

impl Shape {
    /// How each is written, and what it is.
    pub const ALL: &'static [(&'static str, &'static str)] = &[
        ("complete", "a link between every two nodes"),
        (
            "ring",
            "each node has a link to the next, the last to node 0",
        ),
        ("star", "node 0 in the middle, a link to every other"),
        ("path", "each node has a link to the next"),
        (
            "tree:M",
            "a balanced tree with M children each: node i hangs at node (i-1)/M",
        ),
        (
            "random-tree",
            "drawn uniformly from all trees on the numbered nodes",
        ),
        (
            "random-tree:M",
            "a random tree with at most M children each: who joins hangs at any that has room",
        ),
        (
            "digraph:MIN-MAX",
            "a random directed graph: every node reaches every other and has MIN to MAX links out",
        ),
        (
            "ring-chords:M",
            "a directed ring in random order and directed chords: 2 to M links each, in and out",
        ),
        (
            "oriented:M",
            "the graph of ring-chords:M, directed so that all reach node 0; oriented:M@5: node 5, \
             which is then the holder by default",
        ),
        (
            "tree-of:SHAPE",
            "a breadth-first tree of that shape's links; links that fail are drawn from all of them",
        ),
        (
            "edges:0-1,1-2",
            "these links, and as many nodes as they name; edges:0>1,1>2 with a direction",
        ),
        (
            "kanrar:FIGURE",
            "a graph from Kanrar's book and its number of nodes: 3.1 (5), 3.8 (15; also 3.3 and 3.5) \
             or 4.2 (6, directed; by default 4 is the holder)",
        ),
    ];

    /// The shape of an edge list in a file: one edge per line, `#` begins a comment.
    pub fn from_edge_list(text: &str) -> Result<Self, TopologyError> {
        EdgeList::parse_lines(text).map(Self::Edges)
    }

    /// The usual shape for an algorithm that needs such a graph; it fits every number of nodes.
    pub fn default_for(graph: Graph, nodes: u32) -> Self {
        match graph {
            Graph::Complete => Shape::Complete,
            Graph::Tree => Shape::Tree {
                arity: NonZeroU32::MIN.saturating_add(1),
            },
            Graph::Digraph => Shape::Digraph {
                least: 1,
                most: nodes.saturating_sub(1).clamp(1, 2),
            },
        }
    }

    /// The links of so many nodes; the seed decides where chance does.
    ///
    /// What comes out is connected (directions aside), and one node alone has no links, whatever
    /// the shape.
    pub fn build(&self, nodes: u32, seed: u64) -> Result<Topology, TopologyError> {
        if nodes == 0 {
            return Err(TopologyError::NoNodes);
        }
        let edge = |(a, b): (u32, u32)| (NodeId(a), NodeId(b));
        let undirected = |edges: &mut dyn Iterator<Item = (u32, u32)>| {
            Topology::undirected(nodes, &edges.map(edge).collect::<Vec<_>>())
        };
        Ok(match self {
            Shape::Complete => Topology::complete(nodes),
            Shape::Ring => {
                let closing = (nodes > 2).then_some((nodes - 1, 0));
                undirected(&mut (1..nodes).map(|i| (i - 1, i)).chain(closing))
            }
            Shape::Star => undirected(&mut (1..nodes).map(|i| (0, i))),
            Shape::Path => undirected(&mut (1..nodes).map(|i| (i - 1, i))),
            &Shape::Tree { arity } => undirected(&mut (1..nodes).map(|i| ((i - 1) / arity, i))),
            Shape::RandomTree => Topology::undirected(nodes, &random::tree(nodes, seed)),
            Shape::NarrowTree { most } => {
                Topology::undirected(nodes, &random::narrow_tree(nodes, most.get(), seed))
            }
            &Shape::Digraph { least, most } => {
                check_degrees(nodes, least, most)?;
                Topology::directed(nodes, &random::digraph(nodes, least, most, seed))
            }
            &Shape::RingWithChords { most } => {
                check_chords("ring-chords", nodes, most)?;
                Topology::directed(nodes, &random::ring_with_chords(nodes, most, seed))
            }
            &Shape::Oriented { most, towards } => {
                check_chords("oriented", nodes, most)?;
                if towards.0 >= nodes {
                    return Err(TopologyError::NoTarget { towards, nodes });
                }
                let links = random::ring_with_chords(nodes, most, seed);
                Topology::directed(nodes, &orient::oriented(nodes, &links, towards))
            }
            Shape::TreeOf(shape) => {
                let topology = shape.build(nodes, seed)?;
                let links = topology.edge_count();
                if links > MOST_LINKS {
                    let most = MOST_LINKS;
                    return Err(TopologyError::TooMany { links, most });
                }
                let links: Vec<_> = topology.edges().collect();
                let tree = orient::breadth_first_tree(nodes, &links, shape.root());
                Topology::undirected(nodes, &tree)
            }
            Shape::Edges(list) => list.build(nodes)?,
            Shape::Figure(figure) => figure.build(nodes)?,
        })
    }

    /// How many nodes it has, where that is its own and not anybody's choice.
    pub fn size(&self) -> Option<u32> {
        match self {
            Shape::Edges(list) => Some(list.nodes()),
            Shape::Figure(figure) => Some(figure.nodes),
            Shape::TreeOf(shape) => shape.size(),
            Shape::Complete
            | Shape::Ring
            | Shape::Star
            | Shape::Path
            | Shape::Tree { .. }
            | Shape::RandomTree
            | Shape::NarrowTree { .. }
            | Shape::Digraph { .. }
            | Shape::RingWithChords { .. }
            | Shape::Oriented { .. } => None,
        }
    }

    /// Where a token begins, unless somebody says otherwise: the node that its links lead to.
    pub fn holder(&self) -> NodeId {
        match self {
            Shape::Figure(figure) => figure.holder,
            shape => shape.root(),
        }
    }

    /// The shape with all links that there are, also those that a tree in them leaves out.
    pub fn whole(&self) -> &Self {
        match self {
            Shape::TreeOf(shape) => shape.whole(),
            shape => shape,
        }
    }

    /// Where a tree in it begins.
    fn root(&self) -> NodeId {
        match self {
            Shape::Oriented { towards, .. } => *towards,
            Shape::TreeOf(shape) => shape.root(),
            // No other shape has links that lead to a node of its own choice.
            _ => NodeId(0),
        }
    }
}

/// The most links that are stored: about a gibibyte while they are sorted.
const MOST_LINKS: u64 = 1 << 27;

fn check_degrees(nodes: u32, least: u32, most: u32) -> Result<(), TopologyError> {
    // One node alone has nobody to link to, and none to be unreachable from.
    if nodes > 1 && most > nodes - 1 {
        return Err(TopologyError::Degrees { least, most, nodes });
    }
    check_links(nodes, most)
}

/// On a ring with chords no two nodes have more than one link.
fn check_chords(shape: &'static str, nodes: u32, most: u32) -> Result<(), TopologyError> {
    if nodes > 1 && most > (nodes - 1).max(FEW_CHORDS) {
        return Err(TopologyError::Chords { shape, most, nodes });
    }
    check_links(nodes, most)
}

/// A few may be asked of however small a group: a chord that finds no partner is left out.
const FEW_CHORDS: u32 = 10;

/// Refuses what would take too much room.
fn check_links(nodes: u32, most: u32) -> Result<(), TopologyError> {
    let links = u64::from(nodes) * u64::from(most);
    if links > MOST_LINKS {
        let most = MOST_LINKS;
        return Err(TopologyError::TooMany { links, most });
    }
    Ok(())
}

impl FromStr for Shape {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        let text = text.trim();
        let malformed = |why| TopologyError::Malformed {
            given: text.to_owned(),
            why,
        };
        match text.split_once(':') {
            None => match text {
                "complete" => Ok(Shape::Complete),
                "ring" => Ok(Shape::Ring),
                "star" => Ok(Shape::Star),
                "path" => Ok(Shape::Path),
                "random-tree" => Ok(Shape::RandomTree),
                "tree" => Err(malformed("how many children has each? write tree:2")),
                "digraph" => Err(malformed("how many links out? write digraph:1-3")),
                "ring-chords" => Err(malformed("how many links at most? write ring-chords:3")),
                "oriented" => Err(malformed("how many links at most? write oriented:3")),
                "tree-of" => Err(malformed("of what? write tree-of:oriented:3")),
                "edges" => Err(malformed("which? write edges:0-1,1-2")),
                _ => Err(unknown(text)),
            },
            Some(("tree", arity)) => {
                let arity = arity.parse().map_err(|_| {
                    malformed("a node has a whole number of children, at least 1; write tree:2")
                })?;
                Ok(Shape::Tree { arity })
            }
            Some(("random-tree", most)) => {
                let most = most.parse().map_err(|_| {
                    malformed(
                        "a node has a whole number of children, at least 1; write random-tree:3",
                    )
                })?;
                Ok(Shape::NarrowTree { most })
            }
            Some(("ring-chords", most)) => match most.parse() {
                Ok(most) if most >= 2 => Ok(Shape::RingWithChords { most }),
                _ => Err(malformed(
                    "on a ring a node has 2 links, and more with chords; write ring-chords:3",
                )),
            },
            Some(("oriented", bound)) => {
                let (most, towards) = bound.split_once('@').unwrap_or((bound, "0"));
                match (most.parse(), towards.parse()) {
                    (Ok(most), Ok(towards)) if most >= 2 => Ok(Shape::Oriented {
                        most,
                        towards: NodeId(towards),
                    }),
                    _ => Err(malformed(
                        "how many links, at least 2, and towards which node? write oriented:3 or \
                         oriented:3@5",
                    )),
                }
            }
            Some(("tree-of", shape)) if shape.trim_start().starts_with("tree-of") => Err(
                malformed("a tree of a tree is that tree; write tree-of:oriented:3"),
            ),
            Some(("tree-of", shape)) => Ok(Shape::TreeOf(Box::new(shape.parse()?))),
            Some(("digraph", bounds)) => {
                let wanted = "how many links out, at least and at most? write digraph:1-3";
                let (least, most) = bounds.split_once('-').ok_or_else(|| malformed(wanted))?;
                let number = |text: &str| text.parse().map_err(|_| malformed(wanted));
                let (least, most) = (number(least)?, number(most)?);
                match (least, most) {
                    (0, _) => Err(malformed(
                        "with no link out a node reaches nobody; write digraph:1-3",
                    )),
                    _ if least > most => Err(malformed(
                        "the least is more than the most; write digraph:1-3",
                    )),
                    _ => Ok(Shape::Digraph { least, most }),
                }
            }
            Some(("edges", list)) => EdgeList::parse(list).map(Shape::Edges),
            Some(("kanrar", _)) => Figure::find(text)
                .map(Shape::Figure)
                .ok_or_else(|| malformed("there are kanrar:3.1, kanrar:3.8 and kanrar:4.2")),
            Some(("complete" | "ring" | "star" | "path", _)) => {
                Err(malformed("nothing belongs behind this shape's name"))
            }
            Some(_) => Err(unknown(text)),
        }
    }
}

fn unknown(given: &str) -> TopologyError {
    let known: Vec<_> = Shape::ALL.iter().map(|(written, _)| *written).collect();
    TopologyError::Unknown {
        given: given.to_owned(),
        known: known.join(", "),
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Complete => f.write_str("complete"),
            Shape::Ring => f.write_str("ring"),
            Shape::Star => f.write_str("star"),
            Shape::Path => f.write_str("path"),
            Shape::Tree { arity } => write!(f, "tree:{arity}"),
            Shape::RandomTree => f.write_str("random-tree"),
            Shape::NarrowTree { most } => write!(f, "random-tree:{most}"),
            Shape::Digraph { least, most } => write!(f, "digraph:{least}-{most}"),
            Shape::RingWithChords { most } => write!(f, "ring-chords:{most}"),
            Shape::Oriented {
                most,
                towards: NodeId(0),
            } => write!(f, "oriented:{most}"),
            Shape::Oriented { most, towards } => write!(f, "oriented:{most}@{towards}"),
            Shape::TreeOf(shape) => write!(f, "tree-of:{shape}"),
            Shape::Edges(list) => write!(f, "edges:{list}"),
            Shape::Figure(figure) => f.write_str(figure.name),
        }
    }
}

crate::written_as_text!(Shape: TopologyError);
