//! What a structure costs, before anything has run.
//!
//! ```text
//!     low_i = |I_i \ {i}| + 2 |R_i \ {i}|            low_i ≤ NM_i ≤ low_i + DM_i
//!     DM_i  = Σ over j ∈ R_i of r_j                  j ≠ i: 1 if S_j ⊆ {i,j}, else 4
//!                                                    j = i: 0 if S_i = {i}, else 3
//!     D_ij  = the most of [k≠i] + [k≠j] over k ∈ R_i ∩ I_j;  0 if i = j
//! ```
//!
//! The paper's DM also counts j = i, and a FAIL to oneself is no message; its D_ij is 2 wherever I_i
//! and I_j meet, which contradicts its own figures. `explain sanders` tells both (sanders-P1, P2).

use super::structure::Structure;
use crate::contract::NodeId;

/// The fewest messages of an entry of `i`, and exactly those where nobody competes.
pub fn least_messages(structure: &Structure, i: NodeId) -> u32 {
    let others = || structure.ids().filter(|&k| k != i);
    let informs = others().filter(|&k| structure.informs(i, k)).count();
    let asks = others().filter(|&k| structure.asks(i, k)).count();
    (informs + 2 * asks) as u32
}

/// DM: the most messages that conflicts add to an entry of `i`.
pub fn most_extra_messages(structure: &Structure, i: NodeId) -> u32 {
    let asked = structure.ids().filter(|&j| structure.asks(i, j));
    let extra = asked.map(|j| {
        let mut kept = structure.status_set(j);
        kept.remove(&j);
        if j == i {
            if kept.is_empty() { 0 } else { 3 }
        } else {
            kept.remove(&i);
            if kept.is_empty() { 1 } else { 4 }
        }
    });
    extra.sum()
}

/// D_ij: the most messages, one after the other, from an exit of `j` to the entry of `i` that waited
/// for it, when everything else has settled.
pub fn delay(structure: &Structure, i: NodeId, j: NodeId) -> u32 {
    if i == j {
        return 0;
    }
    let between = structure
        .ids()
        .filter(|&k| structure.asks(i, k) && structure.informs(j, k));
    let hops = between.map(|k| u32::from(k != i) + u32::from(k != j));
    hops.max().unwrap_or(0)
}

/// D_ij as the paper prints it.
pub fn printed_delay(structure: &Structure, i: NodeId, j: NodeId) -> u32 {
    let meet = || {
        structure
            .ids()
            .any(|k| structure.informs(i, k) && structure.informs(j, k))
    };
    match i == j {
        true => 0,
        false if meet() => 2,
        false => 1,
    }
}

/// D: the mean over all pairs of different nodes.
pub fn mean_delay(structure: &Structure, delay: fn(&Structure, NodeId, NodeId) -> u32) -> f64 {
    let nodes = f64::from(structure.nodes());
    let pairs = structure
        .ids()
        .flat_map(|i| structure.ids().map(move |j| (i, j)));
    let sum: u32 = pairs.map(|(i, j)| delay(structure, i, j)).sum();
    match structure.nodes() {
        1 => 0.0,
        _ => f64::from(sum) / (nodes * (nodes - 1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::sanders::structure::tests::named;

    /// Low, DM, and D as printed and exact, of each structure.
    #[test]
    fn known_structures() {
        type Row<'a> = (&'a str, u32, &'a [u32], &'a [u32], f64, f64);
        let rows: &[Row<'_>] = &[
            (
                "centralised",
                5,
                &[0, 3, 3, 3, 3],
                &[3, 4, 4, 4, 4],
                2.0,
                1.6,
            ),
            ("complete", 5, &[8; 5], &[4; 5], 1.0, 1.0),
            ("two-hot", 4, &[2, 2, 6, 6], &[7, 7, 8, 8], 11.0 / 6.0, 1.5),
            ("fig4", 3, &[2, 2, 6], &[7, 7, 2], 5.0 / 3.0, 4.0 / 3.0),
            ("plane", 7, &[6; 7], &[11; 7], 2.0, 4.0 / 3.0),
            ("plane", 13, &[9; 13], &[15; 13], 2.0, 1.5),
            ("grid", 9, &[12; 9], &[19; 9], 2.0, 2.0),
            ("grid", 12, &[15; 12], &[23; 12], 2.0, 2.0),
        ];
        for &(name, nodes, low, extra, printed, exact) in rows {
            let structure = named(name, nodes);
            let each = |cost: fn(&Structure, NodeId) -> u32| -> Vec<u32> {
                structure.ids().map(|i| cost(&structure, i)).collect()
            };
            assert_eq!(each(least_messages), low, "{name} {nodes}");
            assert_eq!(each(most_extra_messages), extra, "{name} {nodes}");
            let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
            let d = mean_delay(&structure, printed_delay);
            assert!(close(d, printed), "{name} {nodes}: printed D is {d}");
            let d = mean_delay(&structure, delay);
            assert!(close(d, exact), "{name} {nodes}: D is {d}");
        }
    }

    #[test]
    fn a_hot_node_waits_for_a_cold_one_two_messages_long() {
        let figure = named("two-hot", 4);
        let delays = |i| [0, 1, 2, 3].map(|j| delay(&figure, NodeId(i), NodeId(j)));
        assert_eq!(delays(0), [0, 1, 2, 2]);
        assert_eq!(delays(2), [1, 1, 0, 2]);
    }
}
