//! What goes wrong in a run, event by event: too many inside, entries that nobody asked for, messages
//! that cannot arrive.

use std::collections::BTreeSet;

use algorithms::NodeId;
use model::event::{Event, FaultName, What};
use serde::Serialize;

/// Something that went wrong, and the event with which it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The number of the event, counted from 1.
    pub event: u64,
    /// What went wrong, in words.
    pub text: String,
}

/// Watches the events of a run for violations.
#[derive(Clone, Debug)]
pub struct Watch {
    admits: u32,
    inside: BTreeSet<NodeId>,
}

impl Watch {
    /// Nobody is inside yet, and so many may be.
    pub fn new(admits: u32) -> Self {
        Self {
            admits,
            inside: BTreeSet::new(),
        }
    }

    /// The next event: says what is wrong with it.
    pub fn take(&mut self, number: u64, event: &Event) -> Option<Violation> {
        let node = event.node?;
        let text = match &event.what {
            What::Enter { invited, .. } => {
                self.inside.insert(node);
                if self.inside.len() > self.admits as usize {
                    let inside: Vec<_> = self.inside.iter().map(NodeId::to_string).collect();
                    let (inside, admits) = (inside.join(", "), self.admits);
                    format!("{inside} are inside at the same time; at most {admits} may be")
                } else if *invited {
                    return None;
                } else {
                    format!("{node} enters though it did not ask")
                }
            }
            What::Release => {
                self.inside.remove(&node);
                return None;
            }
            What::Fault { name, .. } if ends_member(name) => {
                self.inside.remove(&node);
                return None;
            }
            What::ProtocolError { why } => format!("{node} says that this cannot be: {why}"),
            _ => return None,
        };
        let event = number;
        Some(Violation { event, text })
    }
}

/// Whether the fault ends the member that it strikes. A member that is started in its place takes no
/// part in the run.
pub(super) fn ends_member(name: &FaultName) -> bool {
    let word = name.fault.split(' ').next();
    matches!(word, Some("kill" | "restart"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(events: &[(u32, What)]) -> Vec<(u64, String)> {
        let mut watch = Watch::new(1);
        let told = (1..).zip(events).filter_map(|(number, (node, what))| {
            let event = Event {
                time_ns: number,
                node: Some(NodeId(*node)),
                what: what.clone(),
            };
            watch.take(number, &event)
        });
        told.map(|violation| (violation.event, violation.text))
            .collect()
    }

    fn enter(invited: bool) -> What {
        What::Enter {
            fence: None,
            invited,
            witness: None,
            index: None,
        }
    }

    fn fault(fault: &str) -> What {
        What::Fault {
            name: Box::new(FaultName {
                fault: fault.to_owned(),
                target: "0".to_owned(),
            }),
            remark: None,
        }
    }

    #[test]
    fn more_inside_than_may_be_is_a_violation_at_the_entry() {
        let found = violations(&[(0, enter(true)), (2, enter(true)), (0, What::Release)]);
        let text = "0, 2 are inside at the same time; at most 1 may be";
        assert_eq!(found, [(2, text.to_owned())]);
        assert_eq!(
            violations(&[(0, enter(true)), (0, What::Release), (2, enter(true))]),
            []
        );
    }

    #[test]
    fn the_dead_are_not_inside() {
        for (word, found) in [("kill", 0), ("restart after 5ms", 0), ("pause", 1)] {
            let events = [(0, enter(true)), (0, fault(word)), (1, enter(true))];
            assert_eq!(violations(&events).len(), found, "{word}");
        }
    }

    #[test]
    fn an_entry_that_nobody_asked_for_is_a_violation() {
        let found = violations(&[(3, enter(false))]);
        assert_eq!(found, [(1, "3 enters though it did not ask".to_owned())]);
    }
}
