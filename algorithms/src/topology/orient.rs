//! Trees in graphs, and directions for their links.

use std::collections::VecDeque;

use super::NodeId;

type Edge = (NodeId, NodeId);

/// The edges of a breadth-first tree of a connected graph, each from a node to its parent.
pub(super) fn breadth_first_tree(nodes: u32, edges: &[Edge], root: NodeId) -> Vec<Edge> {
    let neighbours = neighbours(nodes, edges);
    let mut seen = vec![false; nodes as usize];
    seen[root.index()] = true;
    let mut queue = VecDeque::from([root]);
    let mut tree = Vec::new();
    while let Some(parent) = queue.pop_front() {
        for &child in &neighbours[parent.index()] {
            if !seen[child.index()] {
                seen[child.index()] = true;
                tree.push((child, parent));
                queue.push_back(child);
            }
        }
    }
    tree
}

/// The edges of a connected graph, each with a direction, so that every node reaches the root.
///
/// Those of a breadth-first tree lead to the root. The others lead along trails, which leave a node
/// as often as they come to it, but for their ends: so nobody has many more links out than in.
pub(super) fn oriented(nodes: u32, edges: &[Edge], root: NodeId) -> Vec<Edge> {
    let tree = breadth_first_tree(nodes, edges, root);
    let mut parents = vec![root; nodes as usize];
    for &(child, parent) in &tree {
        parents[child.index()] = parent;
    }
    let in_tree = |a: NodeId, b: NodeId| parents[a.index()] == b || parents[b.index()] == a;
    let others: Vec<_> = edges
        .iter()
        .filter(|(a, b)| !in_tree(*a, *b))
        .copied()
        .collect();
    let mut directed = tree;
    directed.extend(trails(nodes, &others));
    directed
}

/// Each edge in the direction of a trail; trails begin where they must, at nodes with an odd number of
/// edges, as long as there are such.
fn trails(nodes: u32, edges: &[Edge]) -> Vec<Edge> {
    let mut open = neighbours(nodes, edges);
    let mut starts: Vec<_> = (0..nodes).map(NodeId).collect();
    starts.sort_by_key(|node| open[node.index()].len().is_multiple_of(2));
    let mut directed = Vec::with_capacity(edges.len());
    for start in starts {
        let mut here = start;
        while let Some(next) = open[here.index()].pop() {
            open[next.index()].retain(|&node| node != here);
            directed.push((here, next));
            here = next;
        }
    }
    directed
}

/// By node, in the order of the edges.
fn neighbours(nodes: u32, edges: &[Edge]) -> Vec<Vec<NodeId>> {
    let mut neighbours = vec![Vec::new(); nodes as usize];
    for &(a, b) in edges {
        neighbours[a.index()].push(b);
        neighbours[b.index()].push(a);
    }
    neighbours
}
