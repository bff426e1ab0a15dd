//! Families of sets of nodes, one for each node, of which every two meet.
//!
//! | family | the set of node i | size |
//! |---|---|---|
//! | plane | line i of a finite projective plane | about √N, the least there is |
//! | grid | row and column of i | about 2√N |
//! | cyclic | i shifted by a difference cover | about √(2N), less where a smaller cover is known |
//! | tree | a path from the root through i to a leaf | about log N |

use crate::contract::NodeId;

/// Lines of planes as difference sets: every non-zero difference modulo N occurs exactly once.
const PLANES: &[(u32, &[u32])] = &[
    (3, &[0, 1]),
    (7, &[0, 1, 3]),
    (13, &[0, 1, 3, 9]),
    (21, &[0, 1, 4, 14, 16]),
    (31, &[0, 1, 3, 8, 12, 18]),
    (57, &[0, 1, 3, 13, 32, 36, 43, 52]),
    (73, &[0, 1, 3, 7, 15, 31, 36, 54, 63]),
    (91, &[0, 1, 3, 9, 27, 49, 56, 61, 77, 81]),
];

/// Smallest difference covers: every difference modulo N occurs at least once.
const COVERS: &[(u32, &[u32])] = &[
    (4, &[0, 1, 2]),
    (5, &[0, 1, 2]),
    (6, &[0, 1, 3]),
    (8, &[0, 1, 2, 4]),
    (9, &[0, 1, 2, 4]),
    (10, &[0, 1, 2, 5]),
    (11, &[0, 1, 2, 5]),
    (12, &[0, 1, 3, 7]),
    (14, &[0, 1, 2, 3, 7]),
    (15, &[0, 1, 2, 3, 7]),
    (16, &[0, 1, 2, 5, 8]),
    (20, &[0, 1, 2, 3, 6, 10]),
    (24, &[0, 1, 2, 3, 7, 15]),
    (25, &[0, 1, 2, 3, 8, 12]),
];

/// One family for a group of some size.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Quorums {
    /// The set of i is i plus each of these, modulo the number of nodes.
    Shifted { nodes: u32, by: Vec<u32> },
    /// Row-major with so many columns; the last row may be ragged.
    Grid { columns: u32 },
    /// Node i hangs at (i-1)/2 and its path goes on to its first child, and so on.
    Tree { nodes: u32 },
}

impl Quorums {
    /// The lines of a plane, if one of that size is known.
    pub(crate) fn plane(nodes: u32) -> Result<Self, String> {
        match PLANES.iter().find(|(size, _)| *size == nodes) {
            Some((_, by)) => Ok(Quorums::Shifted {
                nodes,
                by: by.to_vec(),
            }),
            None => {
                let sizes: Vec<_> = PLANES.iter().map(|(size, _)| size.to_string()).collect();
                let sizes = sizes.join(", ");
                Err(format!(
                    "there is no plane of {nodes} nodes here; there are planes of {sizes}"
                ))
            }
        }
    }

    /// A node's row and column of a square.
    pub(crate) fn grid(nodes: u32) -> Self {
        let root = nodes.isqrt();
        let columns = if root * root == nodes { root } else { root + 1 };
        Quorums::Grid { columns }
    }

    /// A difference cover, the smallest where it is known.
    pub(crate) fn cyclic(nodes: u32) -> Self {
        let known = PLANES.iter().chain(COVERS).find(|(size, _)| *size == nodes);
        let by = match known {
            Some((_, by)) => by.to_vec(),
            None => steps_and_strides(nodes),
        };
        Quorums::Shifted { nodes, by }
    }

    /// Paths from the root of a binary tree to a leaf.
    pub(crate) fn tree(nodes: u32) -> Self {
        Quorums::Tree { nodes }
    }

    /// Whether the set of `owner` has this member.
    pub(crate) fn has(&self, owner: NodeId, member: NodeId) -> bool {
        let (owner, member) = (owner.0, member.0);
        match self {
            Quorums::Shifted { nodes, by } => by.contains(&((member + nodes - owner) % nodes)),
            Quorums::Grid { columns } => {
                owner / columns == member / columns || owner % columns == member % columns
            }
            Quorums::Tree { nodes } => {
                let up =
                    std::iter::successors(Some(owner), |&at| at.checked_sub(1).map(|at| at / 2));
                let first_child = |&at: &u32| Some(2 * at + 1).filter(|child| child < nodes);
                let down = std::iter::successors(Some(owner), first_child);
                up.chain(down).any(|at| at == member)
            }
        }
    }
}

/// Any difference up to N/2 is a stride minus a step: {0, 1, … c-1} and {c, 2c, … ≥ N/2}.
fn steps_and_strides(nodes: u32) -> Vec<u32> {
    let stride = (nodes / 2).isqrt().max(1);
    let strides = (nodes / 2).div_ceil(stride);
    let steps = 0..stride;
    let strides = (1..=strides).map(|count| count * stride);
    let mut by: Vec<_> = steps.chain(strides).map(|far| far % nodes).collect();
    by.sort_unstable();
    by.dedup();
    by
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(quorums: &Quorums, nodes: u32, owner: u32) -> Vec<u32> {
        let all = (0..nodes).filter(|&member| quorums.has(NodeId(owner), NodeId(member)));
        all.collect()
    }

    /// Every set has its owner, every two meet; says the largest set and the most two share.
    fn check(quorums: &Quorums, nodes: u32) -> (usize, usize) {
        let sets: Vec<_> = (0..nodes).map(|i| members(quorums, nodes, i)).collect();
        let mut most_shared = 0;
        for (i, set) in sets.iter().enumerate() {
            assert!(
                set.contains(&(i as u32)),
                "{quorums:?}: {i} is not in {set:?}"
            );
            for (j, other) in sets.iter().enumerate().skip(i + 1) {
                let shared = set.iter().filter(|member| other.contains(member)).count();
                assert!(
                    shared > 0,
                    "{quorums:?}, {nodes} nodes: {i} and {j} do not meet"
                );
                most_shared = most_shared.max(shared);
            }
        }
        (sets.iter().map(Vec::len).max().unwrap_or(0), most_shared)
    }

    #[test]
    fn lines_of_a_plane_meet_in_exactly_one_node() {
        for &(nodes, line) in PLANES {
            let plane = Quorums::plane(nodes).expect("it is in the table");
            assert_eq!(check(&plane, nodes), (line.len(), 1), "{nodes} nodes");
            let q = line.len() as u32 - 1;
            assert_eq!(q * q + q + 1, nodes);
        }
        let why = Quorums::plane(10).unwrap_err();
        assert!(
            why.contains("no plane of 10 nodes") && why.contains("7, 13"),
            "{why}"
        );
    }

    #[test]
    fn every_two_sets_meet_in_any_group() {
        for nodes in 1..=70 {
            let (grid, _) = check(&Quorums::grid(nodes), nodes);
            let (cyclic, _) = check(&Quorums::cyclic(nodes), nodes);
            let (tree, _) = check(&Quorums::tree(nodes), nodes);
            assert!(
                cyclic <= grid || nodes == 3,
                "{nodes}: {cyclic} against {grid}"
            );
            assert!(tree as u32 <= nodes.ilog2() + 1, "{nodes}: {tree}");
        }
    }

    #[test]
    fn the_sets_are_the_ones_meant() {
        assert_eq!(members(&Quorums::cyclic(7), 7, 6), [0, 2, 6]);
        // 0 1 2
        // 3 4
        assert_eq!(members(&Quorums::grid(5), 5, 4), [1, 3, 4]);
        assert_eq!(members(&Quorums::grid(5), 5, 2), [0, 1, 2]);
        assert_eq!(members(&Quorums::tree(7), 7, 0), [0, 1, 3]);
        assert_eq!(members(&Quorums::tree(7), 7, 6), [0, 2, 6]);
    }
}
