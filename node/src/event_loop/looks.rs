//! What a page is told that shows the run while it goes on: some of the events since it looked before, and
//! what the member is like now.
//!
//! How many events are kept is bounded by who looks, so that a member in a hurry loses little time to it;
//! of the others it only counts how many there were. A member at which nobody looks keeps nothing.

use algorithms::NodeId;
use member::members::Members;
use model::event::What;

use super::Member;
use crate::control::{FromMember, Glance, Portrait, SeenEvent};

/// What is kept for the next look.
#[derive(Debug, Default)]
pub(super) struct Looks {
    most: usize,
    events: Vec<SeenEvent>,
    left_out: u64,
    /// From which event on it is not known what the algorithm was like after it.
    open_from: usize,
}

impl Looks {
    pub(super) fn note(&mut self, at_ns: u64, what: &What) {
        if self.events.len() >= self.most {
            self.left_out += 1;
            return;
        }
        self.events.push(SeenEvent {
            at_ns,
            what: what.clone(),
            after: None,
        });
    }

    /// The event that was noted last has been handled to its end.
    fn settle(&mut self, portrait: impl FnOnce() -> Portrait) {
        let from = std::mem::replace(&mut self.open_from, self.events.len());
        let given = self.events[from..].iter_mut();
        if let Some(event) = given.rev().find(|event| event.what.is_input()) {
            event.after = Some(portrait());
        }
    }
}

impl Member {
    /// Answers a look, and keeps so many events for the next one.
    pub(super) fn seen(&mut self, most: u32) -> Option<FromMember> {
        let now_ns = self.now_ns();
        let members = self.members.as_ref()?;
        let looks = self.looks.get_or_insert_default();
        let glance = Glance {
            now_ns,
            events: std::mem::take(&mut looks.events),
            left_out: std::mem::take(&mut looks.left_out),
            inside: self.inside_since_ns.is_some(),
            waiting: members.waits(self.me),
            now: portrait(members, self.me),
        };
        looks.open_from = 0;
        looks.most = most as usize;
        Some(FromMember::Seen(Box::new(glance)))
    }

    /// An event has been handled to its end.
    pub(super) fn settle_looks(&mut self) {
        if let (Some(looks), Some(members)) = (&mut self.looks, &self.members) {
            looks.settle(|| portrait(members, self.me));
        }
    }
}

fn portrait(members: &Members, me: NodeId) -> Portrait {
    Portrait {
        state: members.group().describe_state(me),
        view: serde_json::to_value(members.group().view(me)).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_and_the_rest_is_counted() {
        let mut looks = Looks {
            most: 3,
            ..Looks::default()
        };
        let portrait = |state: &str| Portrait {
            state: state.to_owned(),
            ..Portrait::default()
        };
        looks.note(1, &What::Arrive { priority: 0 });
        looks.note(1, &What::Request { priority: 0 });
        looks.settle(|| portrait("asked"));
        looks.settle(|| unreachable!("nothing was noted since"));
        looks.note(2, &What::Retire);
        looks.settle(|| unreachable!("the algorithm was given nothing"));
        looks.note(3, &What::Release);
        looks.settle(|| unreachable!("it is not kept"));
        let states = looks.events.iter().map(|event| event.after.as_ref());
        let states: Vec<_> = states
            .map(|after| after.map(|after| &*after.state))
            .collect();
        assert_eq!(states, [None, Some("asked"), None]);
        assert_eq!(looks.left_out, 1);
    }
}
