//! Numbers and lists as a reader wants them in a sentence.

use algorithms::NodeId;

/// `node 3`, `nodes 3 and 5`, `nodes 3, 5 and 7`; beyond a handful, how many more.
pub(crate) fn nodes(nodes: &[NodeId]) -> String {
    const NAMED: usize = 5;
    match nodes {
        [] => "nobody".to_owned(),
        [one] => format!("node {one}"),
        [first @ .., last] if nodes.len() <= NAMED => format!("nodes {} and {last}", list(first)),
        _ => format!(
            "nodes {} and {} more",
            list(&nodes[..NAMED]),
            nodes.len() - NAMED
        ),
    }
}

/// A measured number to four digits that mean something: `12.35`.
pub(crate) fn significant(number: f64) -> String {
    let size = number.abs();
    let digits = match size {
        _ if size == 0.0 || size >= 1e3 => 0,
        _ => (3 - size.log10().floor() as i32).clamp(0, 9) as usize,
    };
    format!("{number:.digits$}")
}

/// `1 entry`, `2 entries`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {many}"),
    }
}

fn list(nodes: &[NodeId]) -> String {
    nodes
        .iter()
        .map(NodeId::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_nodes_read_like_prose() {
        let all = (0..8).map(NodeId).collect::<Vec<_>>();
        assert_eq!(nodes(&all[..1]), "node 0");
        assert_eq!(nodes(&all[..3]), "nodes 0, 1 and 2");
        assert_eq!(nodes(&all), "nodes 0, 1, 2, 3, 4 and 3 more");
    }
}
