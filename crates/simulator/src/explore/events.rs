//! A schedule as events, such as a traced run writes.
//!
//! A step is told by what happens (a client asks, a message arrives or is lost, a node is killed) and by
//! what the node does about it. So whatever shows or replays a traced run can do so with a schedule.
//! A schedule knows no time but its order: every step takes a millisecond.

use std::borrow::Cow;

use algorithms::erased::{Input, MessageId};
use algorithms::{Effect, NodeId};
use chaos::Reach;
use member::trace;
use model::event::{ALREADY_INSIDE, Body, Event, FaultName, Letter, What};

use super::TakenStep;
use super::schedule::Step;
use super::site::Phase;
use super::sites::SiteId;
use super::walk::{UnderWay, Walk};

/// How long a step takes.
const STEP_NS: u64 = 1_000_000;

impl Walk<'_> {
    /// What happens in a step that is written in full, before anybody does anything about it. Nothing
    /// happens in a tick.
    pub(super) fn happens(&self, step: &Step) -> Vec<Event> {
        let found = |named| {
            self.find(named)
                .expect("a step in full names what is there")
        };
        let at = |node: NodeId, what| self.event(Some(node), what);
        match step {
            Step::Request(node) => {
                let priority = self.world.sites.priority(*node);
                let arrive = at(*node, What::Arrive { priority });
                vec![arrive, at(*node, What::Request { priority })]
            }
            Step::Release(node) => vec![at(*node, What::Release)],
            Step::Deliver(named) => {
                let receive = What::Receive {
                    from: named.from,
                    letter: Box::new(self.letter(found(named))),
                    delay_ns: 0,
                };
                vec![at(named.to, receive)]
            }
            Step::Lose(named) => {
                let lost = self.lost(named.from, named.to, found(named));
                vec![at(named.from, tampered("lose message")), lost]
            }
            Step::Duplicate(named) => {
                let (from, to) = (named.from, named.to);
                let copy = self.sent(from, to, found(named), None);
                vec![at(from, tampered("duplicate message")), copy]
            }
            Step::Timer { node, name, tag } => {
                let (timer, tag) = (Cow::Owned(name.clone()), tag.unwrap_or(0));
                vec![at(*node, What::Timer { timer, tag })]
            }
            Step::Tick => Vec::new(),
            Step::Crash { victim, lost } => {
                let mut events = vec![at(*victim, begins("kill", victim.to_string()))];
                let lost = lost.iter();
                events.extend(lost.map(|named| self.lost(named.from, named.to, found(named))));
                let to_the_dead = self.nodes().flat_map(|from| self.all_lost(from, *victim));
                events.extend(to_the_dead);
                events
            }
            Step::Down { victim, told } => vec![at(*told, What::PeerDown { peer: *victim })],
            Step::Cut(a, b) => {
                let cut = self.event(None, begins("cut", link_name(*a, *b)));
                let lost = self.all_lost(*a, *b).into_iter();
                let lost = lost.chain(self.all_lost(*b, *a));
                std::iter::once(cut).chain(lost).collect()
            }
            Step::Heal(a, b) => {
                let name = fault_name("cut", link_name(*a, *b));
                vec![self.event(None, What::FaultOver { name })]
            }
            Step::LinkDown { neighbour, told } => {
                let neighbour = *neighbour;
                vec![at(*told, What::LinkDown { neighbour })]
            }
            Step::LinkUp { neighbour, told } => {
                let neighbour = *neighbour;
                vec![at(*told, What::LinkUp { neighbour })]
            }
        }
    }

    /// Takes off the way what arrives or is lost, and puts copies there.
    pub(super) fn carry(&mut self, events: &[Event]) {
        for event in events {
            let Some(node) = event.node else {
                continue;
            };
            let (from, to, number, copied) = match &event.what {
                What::Receive { from, letter, .. } => (*from, node, letter.number, false),
                What::Lose { to, number, .. } => (node, *to, *number, false),
                What::Send { to, letter, .. } => (node, *to, letter.number, true),
                What::Post { letter } => (node, node, letter.number, true),
                _ => continue,
            };
            let link = self.link(from, to);
            let mail = &mut self.mail[link];
            let place = mail.iter().position(|one| one.number == number);
            let place = place.expect("what happens to a message happens while it is under way");
            match copied {
                true => mail.insert(place, mail[place]),
                false => {
                    mail.remove(place);
                }
            }
        }
    }

    /// What a node does about a move; its mail is put on the way.
    pub(super) fn reaction(&mut self, node: NodeId, number: u32, next: &[u32]) -> Vec<Event> {
        let sites = &mut self.world.sites;
        let site = sites.get(SiteId(self.state[node.index()])).clone();
        let what = sites.a_move(number).step;
        let input = sites.event(&site, what).expect("a move is an event");
        let state = site.state.expect("nothing happens to a crashed node");
        let effects = sites.atlas.step(node, state, input).effects.clone();
        let mut phase = match input {
            Input::Request(_) => Phase::Waiting,
            Input::Release => Phase::Outside,
            _ => site.client.phase,
        };
        let mut events = Vec::new();
        for effect in effects {
            let what = match effect {
                Effect::Send {
                    to,
                    message,
                    charge,
                } => {
                    let made = self.made(node, message);
                    events.push(self.sent(node, to, made, charge));
                    let site = self.world.sites.get(SiteId(next[to.index()]));
                    match site.state.is_some() && !site.is_cut_off_from(node) {
                        true => self.put(node, to, made),
                        false => events.push(self.lost(node, to, made)),
                    }
                    continue;
                }
                Effect::Post { message } => {
                    let made = self.made(node, message);
                    events.push(self.sent(node, node, made, None));
                    self.put(node, node, made);
                    continue;
                }
                Effect::Enter { .. } if phase == Phase::Inside => What::ProtocolError {
                    why: ALREADY_INSIDE.to_owned(),
                },
                Effect::Enter { fence } => {
                    let invited = phase == Phase::Waiting;
                    phase = Phase::Inside;
                    What::Enter {
                        fence,
                        invited,
                        witness: None,
                        index: None,
                    }
                }
                // When it goes off is open; from now on it may.
                Effect::SetTimer { timer, .. } => trace::timer_set(timer, self.now_ns()),
                Effect::CancelTimer { timer } => trace::timer_cancelled(timer),
                Effect::Note {
                    name,
                    value,
                    charge,
                } => What::Note {
                    name: Cow::Borrowed(name),
                    value,
                    charge,
                },
                Effect::ProtocolError { why } | Effect::Fail { why } => What::ProtocolError { why },
            };
            events.push(self.event(Some(node), what));
        }
        events
    }

    /// A node has made a message, which gets the next number.
    fn made(&mut self, node: NodeId, message: MessageId) -> UnderWay {
        let made = &mut self.made[node.index()];
        *made += 1;
        UnderWay {
            number: *made,
            message,
        }
    }

    fn put(&mut self, from: NodeId, to: NodeId, made: UnderWay) {
        let link = self.link(from, to);
        self.mail[link].push(made);
    }

    fn now_ns(&self) -> u64 {
        self.taken * STEP_NS
    }

    fn event(&self, node: Option<NodeId>, what: What) -> Event {
        Event {
            time_ns: self.now_ns(),
            node,
            what,
        }
    }

    fn letter(&self, one: UnderWay) -> Letter {
        let atlas = &self.world.sites.atlas;
        let mut body = Vec::new();
        atlas.encode(one.message, &mut body);
        Letter {
            number: one.number,
            kind: Cow::Borrowed(self.kind(one.message)),
            origin: atlas.origin(one.message),
            body: Body(body),
            text: None,
        }
    }

    /// The event of a message that leaves, also one to oneself.
    fn sent(&self, from: NodeId, to: NodeId, one: UnderWay, charge: Option<NodeId>) -> Event {
        let mut letter = self.letter(one);
        letter.text = Some(self.world.sites.atlas.describe(one.message));
        let bytes = u32::try_from(letter.body.0.len()).unwrap_or(u32::MAX);
        let letter = Box::new(letter);
        let what = match from == to {
            true => What::Post { letter },
            false => What::Send {
                to,
                letter,
                charge,
                bytes,
            },
        };
        self.event(Some(from), what)
    }

    fn lost(&self, from: NodeId, to: NodeId, one: UnderWay) -> Event {
        let lose = What::Lose {
            to,
            number: one.number,
            kind: Cow::Borrowed(self.kind(one.message)),
        };
        self.event(Some(from), lose)
    }

    /// Everything on a link is lost.
    fn all_lost(&self, from: NodeId, to: NodeId) -> Vec<Event> {
        let mail = self.mail[self.link(from, to)].iter();
        mail.map(|&one| self.lost(from, to, one)).collect()
    }
}

/// The events of these steps, one after another.
pub(super) fn of(told: &[TakenStep]) -> impl Iterator<Item = &Event> {
    told.iter().flat_map(|one| &one.events)
}

/// What a node does, in words; none for what is done to it.
pub(super) fn in_words(what: &What) -> Option<String> {
    let text = |letter: &Letter| letter.text.clone().unwrap_or_default();
    Some(match what {
        What::Send { to, letter, .. } => format!("sends {} to {to}", text(letter)),
        What::Post { letter } => format!("posts {} to itself", text(letter)),
        What::Enter { fence: None, .. } => "enters".to_owned(),
        What::Enter {
            fence: Some(fence), ..
        } => format!("enters as {fence}"),
        What::SetTimer { timer, .. } => format!("sets timer {timer}"),
        What::CancelTimer { timer, .. } => format!("cancels timer {timer}"),
        What::Note { name, value, .. } => format!("notes {name} = {value}"),
        What::ProtocolError { why } if why == ALREADY_INSIDE => "enters".to_owned(),
        What::ProtocolError { why } => format!("protocol error: {why}"),
        _ => return None,
    })
}

/// A fault acts on the message that comes next. No plan asked for it.
fn tampered(fault: &str) -> What {
    What::Tamper {
        fault: fault.to_owned(),
        step: 0,
    }
}

fn begins(fault: &str, target: String) -> What {
    What::Fault {
        name: fault_name(fault, target),
        remark: None,
    }
}

fn fault_name(fault: &str, target: String) -> Box<FaultName> {
    let fault = fault.to_owned();
    Box::new(FaultName { fault, target })
}

fn link_name(a: NodeId, b: NodeId) -> String {
    Reach::edge(a.0, b.0).to_string()
}
