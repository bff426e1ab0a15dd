//! Sanders' theorem: which information structures are safe.
//!
//! ```text
//!     a    I_i ⊆ R_i
//!     b    for i ≠ j: I_i ∩ I_j ≠ ∅, or j ∈ R_i and i ∈ R_j          (i ∈ I_i assumed)
//!     b'   for i ≠ j: I_i ∩ I_j ≠ ∅, or i ∈ I_i, j ∈ I_j, j ∈ R_i and i ∈ R_j
//!     r    with recovery from a death: i ∈ I_i
//! ```
//!
//! The paper proves a and b sufficient and calls a necessary. It is not: what counts is J_i = I_i ∩
//! R_i, those that are asked and told. The exact condition, b' with J for I, has no exception among
//! the 32 768 structures of three nodes that have i ∈ I_i.
//!
//! r is ours. Recovery lets two that met at the dead alone ask each other instead, which is the second
//! half of b': it keeps them apart only if each is its own arbiter. Without r one death may let two in,
//! as it does with `2/2;2/2;2/2`, which a and b' call safe.

use super::structure::{Set, Structure};
use crate::contract::NodeId;

/// How a structure stands to each condition: what breaks it, empty where it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Property a: the (i, k) with k in I_i but not in R_i.
    pub a: Vec<(NodeId, NodeId)>,
    /// Property b: the pairs that do not meet and do not ask each other.
    pub b: Vec<(NodeId, NodeId)>,
    /// Property b of the footnote, which does not assume that everybody informs itself.
    pub b_footnote: Vec<(NodeId, NodeId)>,
    /// The pairs of nodes that break the exact condition.
    pub exact: Vec<(NodeId, NodeId)>,
    /// Condition r: the nodes that do not inform themselves. Recovery, costs and delays need all to.
    pub absent_minded: Vec<NodeId>,
    /// The (i, k) where i asks k although the two meet: needless, but it matters when somebody dies.
    pub redundant: Vec<(NodeId, NodeId)>,
}

impl Conditions {
    /// Checks a structure against all of them.
    pub fn of(structure: &Structure) -> Self {
        let ids = || structure.ids();
        let inform: Vec<_> = ids().map(|i| structure.inform_set(i)).collect();
        let request: Vec<_> = ids().map(|i| structure.request_set(i)).collect();
        let both: Vec<Set> = inform.iter().zip(&request).map(|(i, r)| i & r).collect();
        let mut found = Self::default();
        for i in ids() {
            let (informs, asks) = (&inform[i.index()], &request[i.index()]);
            found.a.extend((informs - asks).into_iter().map(|k| (i, k)));
            if !informs.contains(&i) {
                found.absent_minded.push(i);
            }
            let needless = ids().filter(|k| {
                let meet = !informs.is_disjoint(&inform[k.index()]);
                asks.contains(k) && !informs.contains(k) && meet
            });
            found.redundant.extend(needless.map(|k| (i, k)));
            for j in ids().filter(|&j| j > i) {
                let ask_each_other = asks.contains(&j) && request[j.index()].contains(&i);
                let knows_itself =
                    |sets: &[Set]| sets[i.index()].contains(&i) && sets[j.index()].contains(&j);
                let meet = |sets: &[Set]| !sets[i.index()].is_disjoint(&sets[j.index()]);
                if !(meet(&inform) || ask_each_other) {
                    found.b.push((i, j));
                }
                if !(meet(&inform) || ask_each_other && knows_itself(&inform)) {
                    found.b_footnote.push((i, j));
                }
                if !(meet(&both) || ask_each_other && knows_itself(&both)) {
                    found.exact.push((i, j));
                }
            }
        }
        found
    }

    /// Whether the theorem calls the structure safe: a and the footnote's b.
    pub fn hold(&self) -> bool {
        self.a.is_empty() && self.b_footnote.is_empty()
    }

    /// What makes a death unsafe though the theorem holds, and what would mend it.
    pub fn recovery_complaint(&self) -> Option<String> {
        self.absent_minded.first().map(|&i| not_its_own_arbiter(i))
    }

    /// What breaks the theorem's conditions, and what would mend it.
    pub fn complaint(&self) -> Option<String> {
        if let Some((i, k)) = self.a.first() {
            return Some(format!(
                "property a is broken: {k} is in I{i} but not in R{i}; add {k} to R{i}"
            ));
        }
        let (i, j) = self.b_footnote.first()?;
        Some(format!(
            "property b is broken by {i} and {j}: I{i} and I{j} do not meet, and they do not both \
             ask each other and inform themselves; add {j} to R{i} and {i} to R{j}, or one node to \
             both inform sets"
        ))
    }
}

/// Condition r alone, for structures too large to check all pairs of.
pub(super) fn recovery_complaint(structure: &Structure) -> Option<String> {
    let mut ids = structure.ids();
    let absent_minded = ids.find(|&i| !structure.informs(i, i));
    absent_minded.map(not_its_own_arbiter)
}

fn not_its_own_arbiter(i: NodeId) -> String {
    format!("{i} is not in its own inform set I{i}; add {i} to I{i} and R{i}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(structure: &str) -> Conditions {
        let structure = Structure::of_one_size(structure).expect("of one size");
        Conditions::of(&structure.expect("well written"))
    }

    fn pairs(pairs: &[(u32, u32)]) -> Vec<(NodeId, NodeId)> {
        pairs.iter().map(|&(i, j)| (NodeId(i), NodeId(j))).collect()
    }

    #[test]
    fn the_papers_figures() {
        assert_eq!(of("fig3a").b, pairs(&[(0, 1)]));
        assert!(of("fig3a").a.is_empty() && !of("fig3a").hold());
        assert_eq!(of("fig3b").b, pairs(&[(0, 1)]));
        assert!(of("fig4").hold() && of("mq").hold());
        let complaint = of("fig3b").complaint().expect("it is unsafe");
        assert!(
            complaint.starts_with("property b is broken by 0 and 1"),
            "{complaint}"
        );
        assert!(complaint.contains("add 1 to R0 and 0 to R1"), "{complaint}");
    }

    #[test]
    fn a_is_not_necessary_and_the_exact_condition_knows_it() {
        // 1 also tells 2, which it never asks.
        let useless_release = of("0/0;0,1,2/0,1;0,2/0,2");
        assert_eq!(useless_release.a, pairs(&[(1, 2)]));
        assert!(useless_release.b.is_empty() && useless_release.exact.is_empty());
        assert_eq!(
            useless_release.complaint().as_deref(),
            Some("property a is broken: 2 is in I1 but not in R1; add 2 to R1")
        );
        // The coordinator's clients tell themselves and never ask themselves.
        assert!(of("0/0;0,1/0;0,2/0").exact.is_empty());
    }

    #[test]
    fn without_knowing_oneself_asking_each_other_is_not_enough() {
        let forgetful = of("/0,1;1/0,1");
        assert!(forgetful.b.is_empty());
        assert_eq!(forgetful.b_footnote, pairs(&[(0, 1)]));
        assert_eq!(forgetful.exact, pairs(&[(0, 1)]));
        assert_eq!(forgetful.absent_minded, [NodeId(0)]);
    }

    #[test]
    fn recovery_needs_everybody_to_be_its_own_arbiter() {
        let forgetful = of("2/2;1,2/1,2;0,1,2/0,1,2");
        assert!(forgetful.hold(), "the theorem does not speak of deaths");
        assert_eq!(
            forgetful.recovery_complaint().as_deref(),
            Some("0 is not in its own inform set I0; add 0 to I0 and R0")
        );
        assert_eq!(of("fig4").recovery_complaint(), None);
    }

    #[test]
    fn a_needless_question_is_a_redundant_arc() {
        assert_eq!(of("0,2/0,1,2;1,2/1,2;2/2").redundant, pairs(&[(0, 1)]));
        assert_eq!(of("fig4").redundant, []);
    }

    #[test]
    fn families_are_safe() {
        for name in [
            "centralised",
            "complete",
            "grid",
            "cyclic",
            "tree",
            "two-hot",
        ] {
            for nodes in 2..=40 {
                let structure = Structure::read(name, nodes, NodeId(1)).expect(name);
                let conditions = Conditions::of(&structure);
                assert!(conditions.hold(), "{name}, {nodes} nodes");
                assert_eq!(conditions.recovery_complaint(), None, "{name}, {nodes}");
            }
        }
        let plane = Structure::read("plane", 31, NodeId(0)).expect("a plane");
        assert!(Conditions::of(&plane).hold());
    }
}
