//! Faults that need a member's help: events that a fault waits for, and messages of the algorithm
//! that get lost, late or doubled above the transport, which would repair it.
//!
//! `MessageFaults` looks at what a member wants done and changes it before anybody does it. Both
//! engines get the result with the effects of an event, so a fault means the same in both.

use std::collections::BTreeMap;

use algorithms::NodeId;
use algorithms::erased::MessageId;
use algorithms::registry::LinkOrder;
use chaos::language::{MessageFault, Selector, Trigger as Awaited};
use chaos::timeline::{Begin, FaultAction};

use crate::mail::Mail;
use crate::members::{Alarm, Effect};
use model::event::What;
use model::plan::Plan;

/// A message that is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HeldId(u32);

/// Changes what some members want done, as the plan's faults say.
#[derive(Debug)]
pub(crate) struct MessageFaults {
    links: LinkOrder,
    bound_ns: u64,
    watches: Vec<Watch>,
    tampers: Vec<Tamper>,
    /// Who shall not hear of whose death, and the step that says so.
    hidden: Vec<(NodeId, NodeId, usize)>,
    /// The name of each step of the timeline.
    names: Vec<String>,
    held: BTreeMap<u32, Held>,
    held_ever: u32,
    /// When the last message that is held back on a link leaves.
    held_until: BTreeMap<(NodeId, NodeId), u64>,
}

/// An event that a step of the timeline waits for.
#[derive(Debug)]
struct Watch {
    step: usize,
    event: Awaited,
    /// How often it has happened, by member.
    seen: BTreeMap<NodeId, u32>,
}

/// What a step of the timeline does to a message.
#[derive(Debug)]
struct Tamper {
    step: usize,
    fault: MessageFault,
    /// How many such messages each member has sent.
    seen: BTreeMap<NodeId, u32>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    from: NodeId,
    to: NodeId,
    message: MessageId,
    charge: Option<NodeId>,
    /// When the member sent it.
    sent_ns: u64,
}

/// What becomes of one message.
enum Turn {
    Pass,
    Lose,
    Double,
    Late(u64),
}

impl MessageFaults {
    /// The message faults of the planned run, if it has any.
    pub(crate) fn new(plan: &Plan) -> Option<Self> {
        let mut message_faults = Self {
            links: plan.links,
            bound_ns: plan.bound_ns,
            watches: Vec::new(),
            tampers: Vec::new(),
            hidden: Vec::new(),
            names: Vec::from_iter(plan.faults.steps.iter().map(|step| step.name.clone())),
            held: BTreeMap::new(),
            held_ever: 0,
            held_until: BTreeMap::new(),
        };
        for (step, fault) in plan.faults.steps.iter().enumerate() {
            if let Begin::When { event, .. } = &fault.begin {
                let (event, seen) = (event.clone(), BTreeMap::new());
                message_faults.watches.push(Watch { step, event, seen });
            }
            match &fault.action {
                FaultAction::Message(MessageFault::HideDown { of, from }) => {
                    message_faults
                        .hidden
                        .push((NodeId(*from), NodeId(*of), step));
                }
                FaultAction::Message(fault) => {
                    let (fault, seen) = (fault.clone(), BTreeMap::new());
                    message_faults.tampers.push(Tamper { step, fault, seen });
                }
                FaultAction::Links(_)
                | FaultAction::Isolate(..)
                | FaultAction::Heal(_)
                | FaultAction::Process(..) => {}
            }
        }
        let idle = message_faults.watches.is_empty()
            && message_faults.tampers.is_empty()
            && message_faults.hidden.is_empty();
        (!idle).then_some(message_faults)
    }

    /// Looks through what a member wants done, from `first` on, and changes it.
    pub(crate) fn apply(
        &mut self,
        now_ns: u64,
        node: NodeId,
        first: usize,
        effects: &mut Vec<Effect>,
        mail: &mut Mail,
    ) {
        for effect in effects.split_off(first) {
            match effect {
                Effect::Send {
                    to,
                    message,
                    charge,
                    held_ns: _,
                } => {
                    let held = Held {
                        from: node,
                        to,
                        message,
                        charge,
                        sent_ns: now_ns,
                    };
                    self.send(now_ns, held, effects, mail);
                }
                Effect::Tell(what) => {
                    let hits = self.happened(node, &what);
                    effects.push(Effect::Tell(what));
                    effects.extend(hits.into_iter().map(|step| Effect::Hit { step }));
                }
                Effect::Post { .. }
                | Effect::Arm { .. }
                | Effect::Hit { .. }
                | Effect::Lose { .. }
                | Effect::Fail => effects.push(effect),
            }
        }
    }

    /// The message that was held back and leaves now.
    pub(crate) fn release(&mut self, now_ns: u64, id: HeldId) -> Effect {
        let Held {
            to,
            message,
            charge,
            sent_ns,
            ..
        } = self.held.remove(&id.0).expect("a message is released once");
        Effect::Send {
            to,
            message,
            charge,
            held_ns: now_ns - sent_ns,
        }
    }

    /// A message that was held back and, its sender being dead, never leaves.
    pub(crate) fn forget(&mut self, id: HeldId) -> MessageId {
        let held = self.held.remove(&id.0);
        held.expect("a message is forgotten once").message
    }

    /// Who holds it back.
    pub(crate) fn holder(&self, id: HeldId) -> NodeId {
        self.held[&id.0].from
    }

    /// How many messages are held back.
    pub(crate) fn holds(&self) -> usize {
        self.held.len()
    }

    /// What there is to tell where a fault keeps the news of a death from a member.
    pub(crate) fn hides(&self, node: NodeId, peer: NodeId) -> Option<What> {
        let hidden = self
            .hidden
            .iter()
            .find(|(from, of, _)| (*from, *of) == (node, peer));
        hidden.map(|(_, _, step)| tampered(*step, &self.names[*step]))
    }

    fn happened(&mut self, node: NodeId, what: &What) -> Vec<usize> {
        let awaited = |event: &Awaited| match (event, what) {
            (Awaited::Enter(member, nth), What::Enter { .. })
            | (Awaited::Exit(member, nth), What::Release)
            | (Awaited::Request(member, nth), What::Request { .. }) => {
                (*member == node.0).then_some(nth.get())
            }
            _ => None,
        };
        let hit = |watch: &mut Watch| {
            let nth = awaited(&watch.event)?;
            (count(&mut watch.seen, node) == nth).then_some(watch.step)
        };
        self.watches.iter_mut().filter_map(hit).collect()
    }

    fn send(&mut self, now_ns: u64, letter: Held, effects: &mut Vec<Effect>, mail: &mut Mail) {
        let Held {
            from, to, message, ..
        } = letter;
        let kind = mail.kind(message);
        let origin = mail.group.origin(message).map(|origin| origin.0);
        let is_nth = |selector: &Selector, seen: &mut BTreeMap<NodeId, u32>| {
            selector.matches(kind, from.0, to.0, origin)
                && (count(seen, from) == selector.nth.get() || selector.all)
        };
        for watch in &mut self.watches {
            if let Awaited::Message(selector) = &watch.event
                && is_nth(selector, &mut watch.seen)
            {
                effects.push(Effect::Hit { step: watch.step });
            }
        }
        let mut turn = Turn::Pass;
        for Tamper { step, fault, seen } in &mut self.tampers {
            let meant = match fault {
                MessageFault::Lose(selector) if is_nth(selector, seen) => Turn::Lose,
                MessageFault::Duplicate(selector) if is_nth(selector, seen) => Turn::Double,
                MessageFault::Delay(selector, by) if is_nth(selector, seen) => {
                    Turn::Late(now_ns.saturating_add(by.ns(self.bound_ns)))
                }
                MessageFault::Lose(_)
                | MessageFault::Duplicate(_)
                | MessageFault::Delay(..)
                | MessageFault::HideDown { .. } => continue,
            };
            turn = meant;
            let name = &self.names[*step];
            effects.push(Effect::Tell(tampered(*step, name)));
        }
        match turn {
            Turn::Lose => effects.push(Effect::Lose { to, message }),
            Turn::Double => {
                let again = mail.duplicate(message);
                self.pass(now_ns, letter, effects, mail);
                self.pass(
                    now_ns,
                    Held {
                        message: again,
                        ..letter
                    },
                    effects,
                    mail,
                );
            }
            Turn::Late(until_ns) => self.hold(until_ns, letter, effects, mail),
            Turn::Pass => self.pass(now_ns, letter, effects, mail),
        }
    }

    /// Lets a message go, unless its link keeps the order and an earlier one is held back.
    fn pass(&mut self, now_ns: u64, letter: Held, effects: &mut Vec<Effect>, mail: &Mail) {
        let until_ns = self.held_until.get(&(letter.from, letter.to)).copied();
        match until_ns {
            Some(until_ns) if self.links == LinkOrder::Fifo && until_ns > now_ns => {
                self.hold(until_ns, letter, effects, mail);
            }
            _ => {
                let Held {
                    to,
                    message,
                    charge,
                    ..
                } = letter;
                effects.push(Effect::Send {
                    to,
                    message,
                    charge,
                    held_ns: 0,
                });
            }
        }
    }

    fn hold(&mut self, until_ns: u64, letter: Held, effects: &mut Vec<Effect>, mail: &Mail) {
        let last_ns = self.held_until.entry((letter.from, letter.to)).or_default();
        let at_ns = match self.links {
            LinkOrder::Fifo => until_ns.max(*last_ns),
            LinkOrder::Any => until_ns,
        };
        *last_ns = at_ns.max(*last_ns);
        let id = self.held_ever;
        self.held_ever += 1;
        self.held.insert(id, letter);
        if mail.is_traced() {
            effects.push(Effect::Tell(What::Hold {
                to: letter.to,
                letter: Box::new(mail.letter(letter.message)),
                until_ns: at_ns,
            }));
        }
        effects.push(Effect::Arm {
            at_ns,
            alarm: Alarm::Held(HeldId(id)),
        });
    }
}

/// A fault acts on a message, or on a piece of news.
fn tampered(step: usize, name: &str) -> What {
    What::Tamper {
        fault: name.to_owned(),
        step: u32::try_from(step).expect("a plan has fewer than 2^32 faults"),
    }
}

/// Counts one more for the member, and says how many that makes.
fn count(seen: &mut BTreeMap<NodeId, u32>, node: NodeId) -> u32 {
    let seen = seen.entry(node).or_default();
    *seen += 1;
    *seen
}
