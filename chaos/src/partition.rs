//! Partitions that have a name, and edges chosen by chance.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::draw::Draw;
use crate::fate::Member;
use crate::reach::{Members, Pair, Reach};

/// A partition by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Named {
    /// The first half of the members against the second; of an odd number the second is larger.
    Halves,
    /// One member, drawn by chance, against all others.
    One,
    /// A smallest majority, drawn by chance, against the rest.
    Majority,
    /// Everyone sees a majority, and no two see the same one. The members stand in a ring and see
    /// those up to a certain distance.
    Ring,
    /// Two halves that do not see each other, and one in the middle that sees everybody.
    Bridge,
}

/// All of them, by the names they have.
pub const NAMED: [(&str, Named); 5] = [
    ("halves", Named::Halves),
    ("one", Named::One),
    ("majority", Named::Majority),
    ("ring", Named::Ring),
    ("bridge", Named::Bridge),
];

impl Named {
    /// The fewest members that can be parted like this.
    pub fn least_nodes(self) -> u32 {
        match self {
            Named::Halves | Named::One => 2,
            // With two members the smallest majority is both of them.
            Named::Majority | Named::Ring | Named::Bridge => 3,
        }
    }

    /// The links it cuts in a group of this size.
    ///
    /// # Panics
    /// With fewer than [`least_nodes`](Self::least_nodes).
    pub fn reach(self, nodes: u32, mut draw: Draw) -> Reach {
        assert!(
            nodes >= self.least_nodes(),
            "{nodes} members cannot be parted"
        );
        let range = |from: u32, to: u32| Members::these(from..to);
        match self {
            Named::Halves => Reach::Across(vec![range(0, nodes / 2), range(nodes / 2, nodes)]),
            Named::One => {
                let one = draw.below(u64::from(nodes)) as u32;
                against_the_rest(&BTreeSet::from([one]), nodes)
            }
            Named::Majority => {
                let majority = choose(u64::from(nodes / 2 + 1), u64::from(nodes), &mut draw);
                let majority = majority.into_iter().map(|number| number as u32).collect();
                against_the_rest(&majority, nodes)
            }
            // Of three nobody is farther than one away; without 0-2 each sees two or three.
            Named::Ring if nodes == 3 => Reach::edge(0, 2),
            // 2·sight + 1 members are at least a majority, nodes / 2 + 1 of them.
            Named::Ring => Reach::Apart {
                nodes,
                sight: (nodes / 2).div_ceil(2),
            },
            Named::Bridge => Reach::Across(vec![range(0, nodes / 2), range(nodes / 2 + 1, nodes)]),
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, _) = NAMED
            .iter()
            .find(|(_, named)| named == self)
            .expect("every named partition is in the table");
        f.write_str(name)
    }
}

/// The links between one member and all others. One that is alone has no links, which no list of members
/// says: then it is all there are.
pub fn isolate(member: Member, nodes: u32) -> Reach {
    match nodes {
        1 => Reach::All,
        _ => against_the_rest(&BTreeSet::from([member]), nodes),
    }
}

/// The edges of a group: which members have a link to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edges {
    /// There is an edge between any two members.
    Complete {
        /// How many members there are.
        nodes: u32,
    },
    /// There are edges between these pairs, each listed once.
    Listed(Vec<(Member, Member)>),
}

impl Edges {
    /// How many edges there are.
    pub fn count(&self) -> u64 {
        match self {
            Edges::Complete { nodes } => u64::from(*nodes) * u64::from(nodes.saturating_sub(1)) / 2,
            Edges::Listed(edges) => edges.len() as u64,
        }
    }

    /// The links along all of them, both ways.
    pub fn reach(&self) -> Reach {
        match self {
            Edges::Complete { .. } => Reach::All,
            Edges::Listed(edges) => {
                Reach::Between(edges.iter().map(|(a, b)| Pair::edge(*a, *b)).collect())
            }
        }
    }

    /// The links, both ways, along the wanted number of edges, which are drawn by chance.
    ///
    /// # Panics
    /// If there are fewer edges than are wanted.
    pub fn some(&self, wanted: u64, mut draw: Draw) -> Reach {
        assert!(
            wanted <= self.count(),
            "there are only {} edges",
            self.count()
        );
        let chosen = choose(wanted, self.count(), &mut draw);
        let edge = |number: u64| match self {
            Edges::Complete { nodes } => edge_of_complete(number, *nodes),
            Edges::Listed(edges) => edges[number as usize],
        };
        let pairs = chosen.into_iter().map(edge);
        Reach::Between(pairs.map(|(a, b)| Pair::edge(a, b)).collect())
    }
}

fn against_the_rest(some: &BTreeSet<Member>, nodes: u32) -> Reach {
    let rest = (0..nodes).filter(|member| !some.contains(member));
    Reach::Across(vec![
        Members::these(some.iter().copied()),
        Members::these(rest),
    ])
}

/// `wanted` different numbers below `bound`, every choice as likely as the others (Floyd's method).
fn choose(wanted: u64, bound: u64, draw: &mut Draw) -> BTreeSet<u64> {
    let mut chosen = BTreeSet::new();
    for last in bound - wanted..bound {
        let number = draw.below(last + 1);
        if !chosen.insert(number) {
            chosen.insert(last);
        }
    }
    chosen
}

/// The edges of a complete graph in the order 0-1, 0-2, …, 1-2, …
fn edge_of_complete(mut number: u64, nodes: u32) -> (Member, Member) {
    let mut first = 0;
    while number >= u64::from(nodes - 1 - first) {
        number -= u64::from(nodes - 1 - first);
        first += 1;
    }
    (first, first + 1 + number as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sees(reach: &Reach, nodes: u32, from: Member) -> BTreeSet<Member> {
        (0..nodes).filter(|&to| !reach.covers(from, to)).collect()
    }

    #[test]
    fn who_is_isolated_is_written_so_that_it_can_be_read() {
        for nodes in 1..4 {
            let reach = isolate(0, nodes);
            assert_eq!(
                reach.to_string().parse::<Reach>().ok().as_ref(),
                Some(&reach)
            );
        }
    }

    #[test]
    fn in_a_ring_everyone_sees_a_majority_and_no_two_the_same() {
        for nodes in 3..60 {
            let ring = Named::Ring.reach(nodes, Draw::new([nodes.into()]));
            let views = (0..nodes).map(|member| sees(&ring, nodes, member));
            let views = views.collect::<Vec<_>>();
            for view in &views {
                assert!(view.len() as u32 > nodes / 2, "{nodes} members, {view:?}");
            }
            let different = views.iter().collect::<BTreeSet<_>>();
            assert_eq!(different.len(), views.len(), "{nodes} members");
        }
    }

    #[test]
    fn a_bridge_is_the_only_one_that_sees_everybody() {
        for nodes in 3..20 {
            let bridge = Named::Bridge.reach(nodes, Draw::new([]));
            let all =
                (0..nodes).filter(|&member| sees(&bridge, nodes, member).len() as u32 == nodes);
            assert_eq!(all.collect::<Vec<_>>(), [nodes / 2], "{nodes} members");
        }
    }

    #[test]
    fn the_other_partitions_split_the_group_in_two() {
        for nodes in 3..20_u32 {
            for (named, sizes) in [
                (Named::Halves, [nodes / 2, nodes.div_ceil(2)]),
                (Named::One, [1, nodes - 1]),
                (Named::Majority, [nodes / 2 + 1, nodes - nodes / 2 - 1]),
            ] {
                let reach = named.reach(nodes, Draw::new([7, nodes.into()]));
                let views = (0..nodes).map(|member| sees(&reach, nodes, member));
                let views = views.collect::<BTreeSet<_>>();
                let mut found = views
                    .iter()
                    .map(|view| view.len() as u32)
                    .collect::<Vec<_>>();
                let mut sizes = sizes.to_vec();
                found.sort_unstable();
                sizes.sort_unstable();
                assert_eq!(found, sizes, "{named} of {nodes}");
            }
        }
    }

    #[test]
    fn random_edges_are_different_and_every_edge_is_found() {
        let edges = Edges::Complete { nodes: 5 };
        let mut seen = BTreeSet::new();
        for seed in 0..200 {
            let Reach::Between(pairs) = edges.some(3, Draw::new([seed])) else {
                unreachable!("random edges are pairs");
            };
            let texts = pairs
                .iter()
                .map(ToString::to_string)
                .collect::<BTreeSet<_>>();
            assert_eq!(texts.len(), 3);
            seen.extend(texts);
        }
        assert_eq!(seen.len(), 10);
    }
}
