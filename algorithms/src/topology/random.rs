//! Topologies made by chance.
//!
//! This is the only place in the crate where chance appears. It may: a topology is drawn from the
//! run's seed before there is a node, every node is told the same one, and the same seed draws it
//! again. No algorithm ever meets the generator.
#![expect(
    clippy::disallowed_types,
    reason = "chance makes the topology, before there is an algorithm"
)]

use std::collections::BTreeSet;

use rand::seq::{SliceRandom, index};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::NodeId;

/// The edges of a tree drawn uniformly from all trees with so many numbered nodes.
///
/// Trees with N ≥ 2 numbered nodes and sequences of N - 2 numbers below N correspond one to one
/// (H. Prüfer, 1918), so a sequence drawn uniformly is a tree drawn uniformly. A number's place in
/// the sequence says where the smallest remaining leaf hangs; decoding takes time linear in N, as a
/// leaf below the pointer can only be the one that has just become one.
pub(super) fn tree(nodes: u32, seed: u64) -> Vec<(NodeId, NodeId)> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let length = nodes.saturating_sub(2) as usize;
    let sequence = (0..length).map(|_| generator.random_range(0..nodes));
    from_pruefer(nodes, &sequence.collect::<Vec<_>>())
}

fn from_pruefer(nodes: u32, sequence: &[u32]) -> Vec<(NodeId, NodeId)> {
    if nodes < 2 {
        return Vec::new();
    }
    let mut degrees = vec![1_u32; nodes as usize];
    for &node in sequence {
        degrees[node as usize] += 1;
    }
    let mut pointer = 0;
    let mut next_leaf = |degrees: &[u32]| {
        while degrees[pointer as usize] != 1 {
            pointer += 1;
        }
        pointer += 1;
        pointer - 1
    };
    let mut leaf = next_leaf(&degrees);
    let mut passed = leaf;
    let mut edges = Vec::with_capacity(nodes as usize - 1);
    for &node in sequence {
        edges.push((NodeId(leaf), NodeId(node)));
        degrees[node as usize] -= 1;
        if degrees[node as usize] == 1 && node < passed {
            leaf = node;
        } else {
            leaf = next_leaf(&degrees);
            passed = leaf;
        }
    }
    // The two that remain: this leaf, and the largest number, which is never removed.
    edges.push((NodeId(leaf), NodeId(nodes - 1)));
    edges
}

/// The edges of a random tree in which no node has more than `most` children: each that joins hangs at
/// a node drawn uniformly from those that have room. Who joins when is drawn, too, so every node may
/// be anywhere in it.
pub(super) fn narrow_tree(nodes: u32, most: u32, seed: u64) -> Vec<(NodeId, NodeId)> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut joining: Vec<u32> = (0..nodes).collect();
    joining.shuffle(&mut generator);
    let (root, others) = joining.split_first().expect("a topology has a node");
    // Those with room, and how many children they have.
    let mut roomy = vec![(*root, 0)];
    let mut edges = Vec::with_capacity(others.len());
    for &child in others {
        let place = generator.random_range(0..roomy.len());
        let (parent, children) = &mut roomy[place];
        edges.push((NodeId(*parent), NodeId(child)));
        *children += 1;
        if *children == most {
            roomy.swap_remove(place);
        }
        roomy.push((child, 0));
    }
    edges
}

/// The edges of a directed ring through all nodes in random order, and of chords, each in a direction:
/// every node has 2 to `most` links, in and out together, each number equally likely as far as
/// partners are found.
pub(super) fn ring_with_chords(nodes: u32, most: u32, seed: u64) -> Vec<(NodeId, NodeId)> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut ring: Vec<u32> = (0..nodes).collect();
    ring.shuffle(&mut generator);
    let successors = ring.iter().cycle().skip(1);
    let around = ring.iter().zip(successors).filter(|(from, to)| from != to);
    let mut edges: Vec<_> = around.map(|(&from, &to)| (from, to)).collect();
    let mut linked: BTreeSet<_> = edges.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
    // An end for each chord that somebody wants; two that meet and have no link yet get one.
    let mut ends = Vec::new();
    for &node in &ring {
        let chords = generator.random_range(2..=most) - 2;
        ends.extend((0..chords).map(|_| node));
    }
    ends.shuffle(&mut generator);
    for pair in ends.chunks_exact(2) {
        let (a, b) = (pair[0], pair[1]);
        if a != b && linked.insert((a.min(b), a.max(b))) {
            edges.push((a, b));
        }
    }
    let ids = edges
        .into_iter()
        .map(|(from, to)| (NodeId(from), NodeId(to)));
    ids.collect()
}

/// The edges of a random directed graph in which every node reaches every other and has between
/// `least` and `most` links out, each number equally likely. There is no bound on links in.
///
/// A ring through all nodes in random order gives everyone a path to everyone and one link out; the
/// others lead to distinct nodes drawn uniformly.
pub(super) fn digraph(nodes: u32, least: u32, most: u32, seed: u64) -> Vec<(NodeId, NodeId)> {
    if nodes < 2 {
        return Vec::new();
    }
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut ring: Vec<u32> = (0..nodes).collect();
    ring.shuffle(&mut generator);
    let mut edges = Vec::new();
    for (place, &from) in ring.iter().enumerate() {
        let successor = ring[(place + 1) % ring.len()];
        edges.push((NodeId(from), NodeId(successor)));
        let further = generator.random_range(least..=most) - 1;
        for target in distinct_others(nodes, from, successor, further, &mut generator) {
            edges.push((NodeId(from), NodeId(target)));
        }
    }
    edges
}

/// So many nodes that are neither of the two.
fn distinct_others(
    nodes: u32,
    one: u32,
    other: u32,
    amount: u32,
    generator: &mut ChaCha8Rng,
) -> impl Iterator<Item = u32> + use<> {
    let (low, high) = (one.min(other), one.max(other));
    let places = index::sample(generator, nodes as usize - 2, amount as usize);
    places.into_iter().map(move |place| {
        let skip_low = place as u32 + u32::from(place as u32 >= low);
        skip_low + u32::from(skip_low >= high)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn pruefers_own_example_decodes() {
        // The sequence 3 3 3 4 of the numbers 0 to 5: three leaves at 3, then 3 at 4, then 4 at 5.
        let edges = from_pruefer(6, &[3, 3, 3, 4]);
        let plain: Vec<_> = edges.iter().map(|(a, b)| (a.0, b.0)).collect();
        assert_eq!(plain, [(0, 3), (1, 3), (2, 3), (3, 4), (4, 5)]);
    }

    #[test]
    fn every_sequence_gives_another_tree() {
        let mut trees = BTreeMap::new();
        for sequence in (0..125).map(|n| [n / 25, n / 5 % 5, n % 5]) {
            let mut edges = from_pruefer(5, &sequence);
            for edge in &mut edges {
                *edge = (edge.0.min(edge.1), edge.0.max(edge.1));
            }
            edges.sort_unstable();
            assert!(
                crate::Topology::undirected(5, &edges).is_tree(),
                "{sequence:?}"
            );
            assert_eq!(trees.insert(edges, sequence), None, "{sequence:?}");
        }
        assert_eq!(
            trees.len(),
            125,
            "Cayley: there are 5^3 trees with 5 numbered nodes"
        );
    }

    #[test]
    fn targets_are_distinct_and_neither_of_the_two() {
        let mut generator = ChaCha8Rng::seed_from_u64(1);
        for (one, other) in [(0, 1), (4, 0), (2, 3), (3, 4)] {
            let mut all: Vec<_> = distinct_others(5, one, other, 3, &mut generator).collect();
            all.extend([one, other]);
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2, 3, 4]);
        }
    }
}
