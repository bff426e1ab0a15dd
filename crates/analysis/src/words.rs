//! Numbers and lists as a reader wants them in a sentence.

use algorithms::NodeId;

/// A moment or a length of time, to the nanosecond: `12.5 ms`.
pub(crate) fn time(ns: u64) -> String {
    let (unit_ns, unit) = match ns {
        0..1_000 => (1, "ns"),
        1_000..1_000_000 => (1_000, "us"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    let digits = unit_ns.to_string().len() - 1;
    let (whole, rest) = (ns / unit_ns, ns % unit_ns);
    if rest == 0 {
        return format!("{whole} {unit}");
    }
    let fraction = format!("{rest:0digits$}");
    format!("{whole}.{} {unit}", fraction.trim_end_matches('0'))
}

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
    fn times_are_exact_and_in_a_readable_unit() {
        assert_eq!(time(0), "0 ns");
        assert_eq!(time(999), "999 ns");
        assert_eq!(time(1_050), "1.05 us");
        assert_eq!(time(12_500_000), "12.5 ms");
        assert_eq!(time(60_000_000_001), "60.000000001 s");
    }

    #[test]
    fn lists_of_nodes_read_like_prose() {
        let all = (0..8).map(NodeId).collect::<Vec<_>>();
        assert_eq!(nodes(&all[..1]), "node 0");
        assert_eq!(nodes(&all[..3]), "nodes 0, 1 and 2");
        assert_eq!(nodes(&all), "nodes 0, 1, 2, 3, 4 and 3 more");
    }
}
