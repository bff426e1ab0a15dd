//! Information structures: whom each node asks, and whom it tells.

use std::collections::BTreeSet;
use std::fmt;

use crate::contract::NodeId;
use crate::permission::quorums::Quorums;

/// A set of nodes.
pub type Set = BTreeSet<NodeId>;

/// An information structure: an inform set I and a request set R for each node.
///
/// It can be written out, node by node as `I/R`, separated by `;`:
/// `0/0,1;1/0,1;0,1,2/0,1,2` says I0={0}, R0={0,1}, I1={1}, and so on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Structure {
    nodes: u32,
    sets: Sets,
}

/// What says which sets there are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Sets {
    /// Everybody asks and tells one coordinator.
    Centralised(NodeId),
    /// Everybody asks everybody and tells itself.
    Complete,
    /// Everybody asks and tells its quorum.
    Quorums(Quorums),
    /// 0 and 1 ask each other, the others ask and tell both.
    TwoHot,
    /// I and R of each node.
    Listed(Vec<(Set, Set)>),
}

/// The structures that have a name, each with what it is.
pub const NAMES: &[(&str, &str)] = &[
    (
        "centralised",
        "Figure 1a: everybody asks and tells the holder, which coordinates",
    ),
    (
        "complete",
        "Figure 1b: everybody asks everybody and tells itself, as Ricart and Agrawala do",
    ),
    (
        "plane",
        "Figure 1c: the lines of a finite projective plane, as Maekawa's; 3, 7, 13, 21, 31, 57, 73 or 91 nodes",
    ),
    (
        "grid",
        "row and column of a square, Maekawa's simpler quorums",
    ),
    (
        "cyclic",
        "one difference cover, shifted: never larger than the grid's sets",
    ),
    (
        "tree",
        "a path from the root of a binary tree through the node to a leaf (Agrawal and El Abbadi)",
    ),
    (
        "two-hot",
        "Figure 2 with 4 nodes: 0 and 1 ask each other only, the others ask both",
    ),
    (
        "fig3a",
        "Figure 3a, which is unsafe: 1 learns of 0 through 2 only",
    ),
    (
        "fig3b",
        "Figure 3b, which is unsafe: 0 and 1 learn of each other through 2 and 3 only",
    ),
    ("fig4", "Figure 4, which deadlocks under the basic rules"),
    (
        "mq",
        "three nodes whose quorums show what a missing FAIL does",
    ),
];

/// Those of one size, written out.
const FIGURES: &[(&str, &str)] = &[
    ("fig3a", "0,2/0,1,2;1/1,2;2/1,2"),
    ("fig3b", "0,2/0,2,3;1,3/1,2,3;2,3/2,3;2,3/2,3"),
    ("fig4", "0/0,1;1/0,1;0,1,2/0,1,2"),
    ("mq", "0,1,2/0,1,2;1,2/1,2;1,2/1,2"),
];

impl Structure {
    /// The structure of that name, or written out, for so many nodes.
    pub fn read(word: &str, nodes: u32, coordinator: NodeId) -> Result<Self, String> {
        let of_any_size = |sets| Ok(Self { nodes, sets });
        match word {
            "centralised" => of_any_size(Sets::Centralised(coordinator)),
            "complete" => of_any_size(Sets::Complete),
            "plane" => of_any_size(Sets::Quorums(Quorums::plane(nodes)?)),
            "grid" => of_any_size(Sets::Quorums(Quorums::grid(nodes))),
            "cyclic" => of_any_size(Sets::Quorums(Quorums::cyclic(nodes))),
            "tree" => of_any_size(Sets::Quorums(Quorums::tree(nodes))),
            "two-hot" if nodes < 2 => Err("two-hot needs at least 2 nodes".to_owned()),
            "two-hot" => of_any_size(Sets::TwoHot),
            _ => match Self::of_one_size(word) {
                None => Err(unknown(word)),
                Some(Err(why)) => Err(why),
                Some(Ok(structure)) if structure.nodes != nodes => Err(format!(
                    "'{word}' is a structure of {} nodes, not of {nodes}",
                    structure.nodes
                )),
                Some(Ok(structure)) => Ok(structure),
            },
        }
    }

    /// The structure of that name if it has one size only, or as it is written out; `None` for any
    /// other name.
    pub fn of_one_size(word: &str) -> Option<Result<Self, String>> {
        let figure = FIGURES.iter().find(|(name, _)| *name == word);
        match figure {
            Some((_, written)) => Some(written_out(written)),
            None => word.contains('/').then(|| written_out(word)),
        }
    }

    /// From I and R of each node, which may name only nodes that there are.
    pub fn listed(sets: Vec<(Set, Set)>) -> Result<Self, String> {
        let nodes = sets.len() as u32;
        for (i, (inform, request)) in (0..).map(NodeId).zip(&sets) {
            for (name, set) in [("I", inform), ("R", request)] {
                if let Some(stranger) = set.iter().find(|node| node.0 >= nodes) {
                    return Err(format!(
                        "{name}{i} names node {stranger}; the {nodes} nodes are numbered from 0"
                    ));
                }
            }
        }
        let sets = Sets::Listed(sets);
        Ok(Self { nodes, sets })
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// All nodes, in order.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes).map(NodeId)
    }

    /// Whether `i` tells `k` when it leaves: k ∈ I_i.
    pub fn informs(&self, i: NodeId, k: NodeId) -> bool {
        match &self.sets {
            Sets::Centralised(coordinator) => k == i || k == *coordinator,
            Sets::Complete => k == i,
            Sets::Quorums(quorums) => quorums.has(i, k),
            Sets::TwoHot => k == i || (i.0 > 1 && k.0 < 2),
            Sets::Listed(sets) => sets[i.index()].0.contains(&k),
        }
    }

    /// Whether `i` asks `k` before it enters: k ∈ R_i.
    pub fn asks(&self, i: NodeId, k: NodeId) -> bool {
        match &self.sets {
            Sets::Centralised(coordinator) => k == i || k == *coordinator,
            Sets::Complete => true,
            Sets::Quorums(quorums) => quorums.has(i, k),
            Sets::TwoHot => k == i || k.0 < 2,
            Sets::Listed(sets) => sets[i.index()].1.contains(&k),
        }
    }

    /// I_i: whom `i` tells that it has left.
    pub fn inform_set(&self, i: NodeId) -> Set {
        self.ids().filter(|&k| self.informs(i, k)).collect()
    }

    /// R_i: whom `i` asks.
    pub fn request_set(&self, i: NodeId) -> Set {
        self.ids().filter(|&k| self.asks(i, k)).collect()
    }

    /// S_i: who tells `i`, so that `i` keeps their status.
    pub fn status_set(&self, i: NodeId) -> Set {
        self.ids().filter(|&j| self.informs(j, i)).collect()
    }

    /// Whether every node asks nobody but itself and one node, the same for all.
    pub fn has_one_arbiter(&self) -> bool {
        self.ids().any(|c| {
            let others = |i: NodeId| self.ids().filter(move |&k| k != i && k != c);
            self.ids().all(|i| others(i).all(|k| !self.asks(i, k)))
        })
    }

    /// Whether every node tells nobody but itself.
    pub fn informs_only_itself(&self) -> bool {
        let only_itself = |i: NodeId| self.ids().all(|k| self.informs(i, k) == (i == k));
        self.sets == Sets::Complete || self.ids().all(only_itself)
    }
}

/// The sets written out, as the parameter `structure` takes them.
impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for i in self.ids() {
            let between = if i == NodeId(0) { "" } else { ";" };
            let (inform, request) = (self.inform_set(i), self.request_set(i));
            write!(f, "{between}{}/{}", numbers(&inform), numbers(&request))?;
        }
        Ok(())
    }
}

/// The numbers of some nodes, as they are written.
pub fn numbers(set: &Set) -> String {
    let numbers: Vec<_> = set.iter().map(NodeId::to_string).collect();
    numbers.join(",")
}

fn written_out(text: &str) -> Result<Structure, String> {
    let mut sets = Vec::new();
    for (i, node) in text.split(';').enumerate() {
        let (inform, request) = node.split_once('/').ok_or_else(|| {
            format!("node {i} of the structure, '{node}', is not written I/R, such as 0/0,1")
        })?;
        let set = |text: &str| -> Result<Set, String> {
            let members = text
                .split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty());
            let number = |word: &str| {
                word.parse().map(NodeId).map_err(|_| {
                    format!("node {i} of the structure, '{node}': '{word}' is no node")
                })
            };
            members.map(number).collect()
        };
        sets.push((set(inform)?, set(request)?));
    }
    Structure::listed(sets)
}

fn unknown(word: &str) -> String {
    let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
    format!(
        "there is no structure '{word}'; there are {}, a file.toml, or sets written out such as \
         0/0,1;1/0,1",
        names.join(", ")
    )
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::permission::sanders) fn named(name: &str, nodes: u32) -> Structure {
        Structure::read(name, nodes, NodeId(0)).expect(name)
    }

    #[test]
    fn the_named_structures_are_the_papers() {
        assert_eq!(named("centralised", 3).to_string(), "0/0;0,1/0,1;0,2/0,2");
        assert_eq!(named("complete", 3).to_string(), "0/0,1,2;1/0,1,2;2/0,1,2");
        let two_hot = "0/0,1;1/0,1;0,1,2/0,1,2;0,1,3/0,1,3";
        assert_eq!(named("two-hot", 4).to_string(), two_hot);
        assert_eq!(
            named("two-hot", 3).to_string(),
            named("fig4", 3).to_string()
        );
        let plane = named("plane", 7);
        assert_eq!(numbers(&plane.inform_set(NodeId(5))), "1,5,6");
        assert_eq!(numbers(&plane.status_set(NodeId(5))), "2,4,5");
        assert_eq!(plane.inform_set(NodeId(3)), plane.request_set(NodeId(3)));
    }

    #[test]
    fn what_is_written_out_reads_back() {
        for (name, written) in FIGURES {
            let structure = Structure::of_one_size(name).expect(name).expect(name);
            assert_eq!(structure.to_string(), *written);
        }
        let spaced = Structure::read("0/ 0, 1; 1 /0,1", 2, NodeId(0)).unwrap();
        assert_eq!(spaced.to_string(), "0/0,1;1/0,1");
        let empty = Structure::read("/0;0/", 2, NodeId(0)).unwrap();
        assert_eq!(empty.to_string(), "/0;0/");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let why = |word: &str, nodes| Structure::read(word, nodes, NodeId(0)).unwrap_err();
        assert!(why("gird", 4).contains("there is no structure 'gird'; there are centralised"));
        assert_eq!(why("fig4", 5), "'fig4' is a structure of 3 nodes, not of 5");
        assert!(why("0/0;1", 2).contains("node 1 of the structure, '1', is not written I/R"));
        assert!(why("0/x", 1).contains("'x' is no node"));
        assert!(why("0/0,1", 1).contains("R0 names node 1; the 1 nodes are numbered from 0"));
        assert!(why("plane", 8).contains("no plane of 8 nodes"));
    }

    #[test]
    fn one_arbiter_is_recognised_however_it_is_written() {
        for centralised in [
            "0/0;0,1/0,1;0,2/0,2",
            "0,2/0,2;1,2/1,2;2/2",
            "0,1/0,1;1/1;1,2/1,2",
        ] {
            assert!(named(centralised, 3).has_one_arbiter(), "{centralised}");
        }
        for other in ["fig4", "mq", "complete", "grid", "plane", "tree"] {
            assert!(!named(other, 3).has_one_arbiter(), "{other}");
        }
        assert!(named("complete", 3).informs_only_itself());
        assert!(!named("fig4", 3).informs_only_itself());
    }
}
