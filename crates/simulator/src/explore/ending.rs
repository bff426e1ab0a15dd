//! The state in which a schedule ends, and what a step changed, as data.

use std::collections::BTreeSet;

use algorithms::NodeId;
use algorithms::view::fields;
use model::event::What;
use serde::Serialize;

use super::TakenStep;
use super::schedule::Step;

/// The state in which a schedule ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ending {
    /// The algorithm's state at each node, in words; none once it has crashed.
    pub states: Vec<Option<String>>,
    /// What is still to come by itself: messages under way, and timers that are set.
    pub pending: Vec<Step>,
    /// Who waits, and whom it has asked in vain.
    pub waiting: Vec<Waiting>,
}

/// A node whose client waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// The node whose client waits.
    pub node: NodeId,
    /// Those to whom it sent something when its client asked, or when it tried again.
    pub asked: Vec<NodeId>,
    /// Those of them from whom no answer came since.
    pub unanswered: Vec<NodeId>,
}

impl Waiting {
    /// The node's questions and answers, as far as these steps, the last of the schedule, tell.
    pub(super) fn after(told: &[TakenStep], node: NodeId) -> Self {
        let (mut asked, mut unanswered) = (BTreeSet::new(), BTreeSet::new());
        let mut kinds = BTreeSet::new();
        for one in told {
            let mut asks = false;
            for event in &one.events {
                let own = event.node == Some(node);
                match &event.what {
                    What::Request { .. } if own => {
                        asked.clear();
                        unanswered.clear();
                        asks = true;
                    }
                    What::Timer { .. } if own => asks = true,
                    // Somebody else's question is no answer.
                    What::Receive { from, letter, .. } if own && !kinds.contains(&letter.kind) => {
                        unanswered.remove(from);
                    }
                    What::Send { to, letter, .. } if asks => {
                        asked.insert(*to);
                        unanswered.insert(*to);
                        kinds.insert(letter.kind.clone());
                    }
                    _ => {}
                }
            }
        }
        Self {
            node,
            asked: asked.into_iter().collect(),
            unanswered: unanswered.into_iter().collect(),
        }
    }
}

/// What differs between two states in words, field by field: `queue: [] -> [1]`.
pub(super) fn changes(before: &str, after: &str) -> Vec<String> {
    if before == after {
        return Vec::new();
    }
    match (fields(before), fields(after)) {
        (Some(old), Some(new)) if old.len() == new.len() => {
            let pairs = old.into_iter().zip(new).filter(|(old, new)| old != new);
            let change =
                |(old, new): (&str, &str)| match (old.split_once(": "), new.split_once(": ")) {
                    (Some((name, old)), Some((same, new))) if name == same => {
                        format!("{name}: {old} -> {new}")
                    }
                    _ => format!("{old} -> {new}"),
                };
            pairs.map(change).collect()
        }
        _ => vec![format!("{before} -> {after}")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_names_the_field() {
        let before = "Node { me: 1, queue: [Stamp { t: 1, id: 0 }, 2], inside: false }";
        let after = "Node { me: 1, queue: [], inside: true }";
        assert_eq!(
            changes(before, after),
            [
                "queue: [Stamp { t: 1, id: 0 }, 2] -> []",
                "inside: false -> true"
            ]
        );
        assert_eq!(changes(before, before), [] as [&str; 0]);
        assert_eq!(changes("Idle", "Busy(1)"), ["Idle -> Busy(1)"]);
    }
}
