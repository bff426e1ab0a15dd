//! What one member must know of a timeline: the events that others wait for, and what is to happen
//! to its messages.

use crate::fate::Member;
use crate::language::{By, Event, MessageFault, Selector};
use crate::timeline::{Begin, Deed, Timeline};

/// The part of a timeline that concerns one member, with what it has counted so far.
///
/// Numbers count at each member alone: `message TOKEN #5` is the fifth that *this* member sends.
#[derive(Clone, Debug)]
pub struct Watch {
    me: Member,
    /// By step: the event waited for, and how often it must still happen.
    awaited: Vec<(usize, Event, u32)>,
    /// By step: what is to happen to which message, and the how-manieth from now it is.
    meddling: Vec<(usize, Meddling, Selector, u32)>,
    /// By step: whose end is hidden.
    hidden: Vec<(usize, Member)>,
}

/// Something that happens at a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening<'a> {
    /// It enters.
    Enter,
    /// It leaves.
    Exit,
    /// It asks.
    Request,
    /// It sends a message.
    Send {
        /// Of this kind.
        kind: &'a str,
        /// To this member.
        to: Member,
        /// About this member's request.
        origin: Option<Member>,
    },
}

/// What is to happen to a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meddling {
    /// It never arrives.
    Lose,
    /// It arrives later.
    Delay(By),
    /// It arrives twice.
    Duplicate,
}

impl Watch {
    /// What this member must know.
    pub fn new(timeline: &Timeline, me: Member) -> Self {
        let mut watch = Self {
            me,
            awaited: Vec::new(),
            meddling: Vec::new(),
            hidden: Vec::new(),
        };
        for (number, step) in timeline.steps.iter().enumerate() {
            match &step.begin {
                Begin::When { event, .. } if event.at().is_none_or(|at| at == me) => {
                    watch
                        .awaited
                        .push((number, event.clone(), event.nth().get()));
                }
                Begin::When { .. } | Begin::At(_) => {}
            }
            let (meddling, selector) = match &step.deed {
                Deed::Message(MessageFault::Lose(selector)) => (Meddling::Lose, selector),
                Deed::Message(MessageFault::Delay(selector, by)) => {
                    (Meddling::Delay(*by), selector)
                }
                Deed::Message(MessageFault::Duplicate(selector)) => (Meddling::Duplicate, selector),
                Deed::Message(MessageFault::HideDown { of, from }) => {
                    if *from == me {
                        watch.hidden.push((number, *of));
                    }
                    continue;
                }
                Deed::Links(_)
                | Deed::Isolate(..)
                | Deed::Heal(_)
                | Deed::Kill(_)
                | Deed::Pause(_)
                | Deed::Resume(_)
                | Deed::Restart(..) => continue,
            };
            if selector.from.is_none_or(|from| from == me) {
                let left = selector.nth.get();
                watch
                    .meddling
                    .push((number, meddling, selector.clone(), left));
            }
        }
        watch
    }

    /// Whether there is nothing to watch for.
    pub fn is_idle(&self) -> bool {
        self.awaited.is_empty() && self.meddling.is_empty() && self.hidden.is_empty()
    }

    /// The steps that waited for this. Each is told once, and then no longer watched for.
    pub fn sees(&mut self, happening: Happening<'_>) -> Vec<usize> {
        let me = self.me;
        let mut fired = Vec::new();
        self.awaited.retain_mut(|(step, event, left)| {
            if is(event, me, happening) {
                *left -= 1;
            }
            if *left == 0 {
                fired.push(*step);
            }
            *left > 0
        });
        fired
    }

    /// What is to happen to a message that the member sends now, and by which steps.
    pub fn meddles(
        &mut self,
        kind: &str,
        to: Member,
        origin: Option<Member>,
    ) -> Vec<(usize, Meddling)> {
        let me = self.me;
        let mut meddling = Vec::new();
        self.meddling.retain_mut(|(step, what, selector, left)| {
            if selector.matches(kind, me, to, origin) {
                *left -= 1;
            }
            if *left == 0 {
                meddling.push((*step, *what));
            }
            *left > 0
        });
        meddling
    }

    /// The step that hides from the member that this one is down, if one does.
    pub fn hides(&self, down: Member) -> Option<usize> {
        let hidden = self.hidden.iter().find(|(_, of)| *of == down);
        hidden.map(|(step, _)| *step)
    }
}

fn is(event: &Event, me: Member, happening: Happening<'_>) -> bool {
    match (event, happening) {
        (Event::Enter(member, _), Happening::Enter)
        | (Event::Exit(member, _), Happening::Exit)
        | (Event::Request(member, _), Happening::Request) => *member == me,
        (Event::Message(selector), Happening::Send { kind, to, origin }) => {
            selector.matches(kind, me, to, origin)
        }
        (
            Event::Enter(..) | Event::Exit(..) | Event::Request(..) | Event::Message(_),
            Happening::Enter | Happening::Exit | Happening::Request | Happening::Send { .. },
        ) => false,
    }
}
