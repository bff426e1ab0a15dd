//! One way through a world, told step by step.
//!
//! A state does not know which of two messages on an unordered link is the older one; somebody who
//! walks along remembers it. So a step has the same name for the explorer that found a schedule and
//! for the reader who replays it.

use algorithms::erased::MessageId;
use algorithms::{Effect, NodeId, Timer};

use super::TakenStep;
use super::ending::{Ending, Waiting, changes};
use super::schedule::{MessageName, Schedule, Step};
use super::sites::{SiteId, SiteStep};
use super::world::{Act, Successors, Transition, World};

/// A state of a world, with the memory of the steps that led there.
pub(super) struct Walk<'w> {
    pub(super) world: &'w mut World,
    pub(super) state: Vec<u32>,
    /// The messages under way, oldest first, by link: from, then to.
    mail: Vec<Vec<MessageId>>,
    kinds: &'static [&'static str],
}

/// One step that can be taken next, with its messages looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Choice {
    Request(NodeId),
    Release(NodeId),
    Deliver(NodeId, NodeId, MessageId),
    Lose(NodeId, NodeId, MessageId),
    Duplicate(NodeId, NodeId, MessageId),
    Timer(NodeId, Timer),
    Tick,
    Crash(NodeId, Vec<(NodeId, MessageId)>),
    Down { victim: NodeId, told: NodeId },
    Cut(NodeId, NodeId),
    Heal(NodeId, NodeId),
    LinkDown { neighbour: NodeId, told: NodeId },
    LinkUp { neighbour: NodeId, told: NodeId },
}

/// A choice, and the state that it leads to.
struct Successor {
    choice: Choice,
    transition: Transition,
    next: Vec<u32>,
}

impl<'w> Walk<'w> {
    /// A walk that stands at the beginning.
    pub(super) fn new(world: &'w mut World, kinds: &'static [&'static str]) -> Self {
        let state = world.initial();
        let links = world.nodes * world.nodes;
        Self {
            world,
            state,
            mail: vec![Vec::new(); links],
            kinds,
        }
    }

    /// Goes on to a state that is one step away, through something wrong if that leads there.
    ///
    /// # Panics
    /// If it is not one step away.
    pub(super) fn go_to(&mut self, next: &[u32]) -> TakenStep {
        let successors = self.successors();
        // A walk keeps the numbers that were given; the states of a search have others.
        let there = |successor: &&Successor| {
            let mut state = successor.next.clone();
            self.world.renumber(&mut state);
            state == next
        };
        let successor = successors
            .iter()
            .filter(there)
            .max_by_key(|successor| successor.transition.wrong.is_some())
            .expect("the states of a path are one step apart");
        self.take(successor)
    }

    /// Does what a step says, if it can be done here.
    pub(super) fn perform(&mut self, step: &Step) -> Result<TakenStep, String> {
        let successors = self.successors();
        let can_be = |choice: Choice| {
            let successor = successors
                .iter()
                .find(|successor| successor.choice == choice);
            successor.ok_or_else(|| "it cannot happen here".to_owned())
        };
        match self.look_up(step).and_then(can_be) {
            Ok(successor) => Ok(self.take(successor)),
            Err(why) => {
                let steps = self.possible();
                let possible = match steps.as_slice() {
                    [] => "nothing".to_owned(),
                    _ => Schedule::of(steps).to_string(),
                };
                Err(format!("{why}; possible here: {possible}"))
            }
        }
    }

    /// Everything that could happen next.
    pub(super) fn possible(&mut self) -> Vec<Step> {
        let successors = self.successors();
        let steps = successors
            .iter()
            .map(|successor| self.name(&successor.choice));
        steps.collect()
    }

    /// The state one has come to, by these steps.
    pub(super) fn ending(&self, told: &[TakenStep]) -> Ending {
        let ids = || (0..self.world.nodes as u32).map(NodeId);
        let links = ids().flat_map(|from| ids().map(move |to| (from, to)));
        let mail = links.flat_map(|(from, to)| {
            let places = 0..self.mail[self.link(from, to)].len();
            places.map(move |place| Step::Deliver(self.name_at(from, to, place)))
        });
        let timers = ids().flat_map(|node| {
            let set = &self
                .world
                .sites
                .get(SiteId(self.state[node.index()]))
                .timers;
            set.iter()
                .map(move |alarm| self.name(&Choice::Timer(node, alarm.timer)))
        });
        let waiting = self.world.waiting(&self.state).into_iter();
        Ending {
            states: ids().map(|node| self.state_of(node, &self.state)).collect(),
            pending: mail.chain(timers).collect(),
            waiting: waiting.map(|node| Waiting::after(told, node)).collect(),
        }
    }

    /// The algorithm's state at a node, in words; none once it has crashed.
    fn state_of(&self, node: NodeId, state: &[u32]) -> Option<String> {
        let sites = &self.world.sites;
        let state = sites.get(SiteId(state[node.index()])).state?;
        Some(sites.atlas.describe_state(state))
    }

    fn successors(&mut self) -> Vec<Successor> {
        let mut successors = Successors::default();
        self.world.expand(&self.state, &mut successors);
        let successors = successors.iter().map(|(transition, next)| Successor {
            choice: self.choice(transition.act, next),
            transition,
            next: next.to_vec(),
        });
        successors.collect()
    }

    fn choice(&self, act: Act, next: &[u32]) -> Choice {
        let site = |node: NodeId| self.world.sites.get(SiteId(self.state[node.index()]));
        match act {
            Act::Move { node, number } | Act::Fault { node, number } => {
                let site = site(node);
                let message =
                    |from: NodeId, place: u32| site.inbox[from.index()][place as usize].message;
                match self.world.sites.a_move(number).step {
                    SiteStep::Request => Choice::Request(node),
                    SiteStep::Release => Choice::Release(node),
                    SiteStep::Deliver { from, place } => {
                        Choice::Deliver(from, node, message(from, place))
                    }
                    SiteStep::Lose { from, place } => {
                        Choice::Lose(from, node, message(from, place))
                    }
                    SiteStep::Duplicate { from, place } => {
                        Choice::Duplicate(from, node, message(from, place))
                    }
                    SiteStep::Timer(place) => {
                        Choice::Timer(node, site.timers[place as usize].timer)
                    }
                    SiteStep::Down(victim) => Choice::Down { victim, told: node },
                    SiteStep::LinkDown(neighbour) => Choice::LinkDown {
                        neighbour,
                        told: node,
                    },
                    SiteStep::LinkUp(neighbour) => Choice::LinkUp {
                        neighbour,
                        told: node,
                    },
                }
            }
            Act::Tick => Choice::Tick,
            Act::Cut { ends: (a, b) } => Choice::Cut(a, b),
            Act::Heal { ends: (a, b) } => Choice::Heal(a, b),
            Act::Crash { victim } => {
                let mut lost = Vec::new();
                for to in (0..self.world.nodes as u32).map(NodeId) {
                    let left = self.world.sites.get(SiteId(next[to.index()]));
                    let mut kept = left.inbox[victim.index()].clone();
                    for &mail in &site(to).inbox[victim.index()] {
                        match kept.iter().position(|&other| other == mail) {
                            Some(place) => {
                                kept.remove(place);
                            }
                            None => lost.push((to, mail.message)),
                        }
                    }
                }
                lost.retain(|&(to, _)| to != victim);
                lost.sort_unstable();
                Choice::Crash(victim, lost)
            }
        }
    }

    /// The choice that a step of a schedule stands for.
    fn look_up(&self, step: &Step) -> Result<Choice, String> {
        Ok(match step {
            Step::Request(node) => Choice::Request(self.known(*node)?),
            Step::Release(node) => Choice::Release(self.known(*node)?),
            Step::Deliver(named) => Choice::Deliver(named.from, named.to, self.find(named)?),
            Step::Lose(named) => Choice::Lose(named.from, named.to, self.find(named)?),
            Step::Duplicate(named) => Choice::Duplicate(named.from, named.to, self.find(named)?),
            Step::Timer { node, name, tag } => {
                let site = SiteId(self.state[self.known(*node)?.index()]);
                let set = &self.world.sites.get(site).timers;
                let set = set.iter().map(|alarm| &alarm.timer);
                let named =
                    |timer: &&Timer| timer.name == name && tag.is_none_or(|tag| timer.tag == tag);
                match set.filter(named).collect::<Vec<_>>().as_slice() {
                    [] => return Err(format!("{node} has no such timer set")),
                    [timer] => Choice::Timer(*node, **timer),
                    several => {
                        let count = several.len();
                        return Err(format!(
                            "{node} has {count} timers of that name; add its tag, {name}#{}",
                            several[0].tag
                        ));
                    }
                }
            }
            Step::Tick => Choice::Tick,
            Step::Crash { victim, lost } => {
                let mut found = Vec::new();
                for named in lost {
                    if named.from != *victim {
                        return Err(format!("{named} is not mail from {victim}"));
                    }
                    found.push((named.to, self.find(named)?));
                }
                found.sort_unstable();
                Choice::Crash(self.known(*victim)?, found)
            }
            Step::Down { victim, told } => Choice::Down {
                victim: self.known(*victim)?,
                told: self.known(*told)?,
            },
            Step::Cut(a, b) => Choice::Cut(self.known(*a)?.min(*b), self.known(*b)?.max(*a)),
            Step::Heal(a, b) => Choice::Heal(self.known(*a)?.min(*b), self.known(*b)?.max(*a)),
            Step::LinkDown { neighbour, told } => Choice::LinkDown {
                neighbour: self.known(*neighbour)?,
                told: self.known(*told)?,
            },
            Step::LinkUp { neighbour, told } => Choice::LinkUp {
                neighbour: self.known(*neighbour)?,
                told: self.known(*told)?,
            },
        })
    }

    fn known(&self, node: NodeId) -> Result<NodeId, String> {
        let nodes = self.world.nodes;
        if node.index() < nodes {
            return Ok(node);
        }
        Err(format!(
            "there is no node {node}; there are {nodes}, from 0"
        ))
    }

    /// The message that a schedule names.
    fn find(&self, named: &MessageName) -> Result<MessageId, String> {
        let (from, to) = (self.known(named.from)?, self.known(named.to)?);
        let link = &self.mail[self.link(from, to)];
        let atlas = &self.world.sites.atlas;
        let kind = match &named.kind {
            None => None,
            Some(name) => {
                let mut kinds = self.kinds.iter();
                let place = kinds.position(|kind| kind.eq_ignore_ascii_case(name));
                Some(place.ok_or_else(|| {
                    let kinds = self.kinds.join(", ");
                    format!("there is no message kind '{name}'; there are {kinds}")
                })?)
            }
        };
        let fits = |&&message: &&MessageId| kind.is_none_or(|kind| atlas.kind(message) == kind);
        let nth = named.nth.unwrap_or(1) as usize;
        match link.iter().filter(fits).nth(nth - 1) {
            Some(&message) => Ok(message),
            None => {
                let what = named.kind.as_deref().unwrap_or("message");
                Err(match link.iter().filter(fits).count() {
                    0 => format!("no {what} is on its way from {from} to {to}"),
                    there => format!("only {there} {what} on the way from {from} to {to}"),
                })
            }
        }
    }

    /// The step of a schedule that stands for this choice.
    fn name(&self, choice: &Choice) -> Step {
        match *choice {
            Choice::Request(node) => Step::Request(node),
            Choice::Release(node) => Step::Release(node),
            Choice::Deliver(from, to, message) => {
                Step::Deliver(self.message_name(from, to, message))
            }
            Choice::Lose(from, to, message) => Step::Lose(self.message_name(from, to, message)),
            Choice::Duplicate(from, to, message) => {
                Step::Duplicate(self.message_name(from, to, message))
            }
            Choice::Timer(node, Timer { name, tag }) => Step::Timer {
                node,
                name: name.to_owned(),
                tag: (tag != 0).then_some(tag),
            },
            Choice::Tick => Step::Tick,
            Choice::Crash(victim, ref lost) => Step::Crash {
                victim,
                lost: self.names_of_lost(victim, lost),
            },
            Choice::Down { victim, told } => Step::Down { victim, told },
            Choice::Cut(a, b) => Step::Cut(a, b),
            Choice::Heal(a, b) => Step::Heal(a, b),
            Choice::LinkDown { neighbour, told } => Step::LinkDown { neighbour, told },
            Choice::LinkUp { neighbour, told } => Step::LinkUp { neighbour, told },
        }
    }

    fn message_name(&self, from: NodeId, to: NodeId, message: MessageId) -> MessageName {
        let link = self.link(from, to);
        self.name_at(from, to, place(&self.mail[link], message))
    }

    /// The names of lost mail: of equal messages the youngest are lost, since a prefix survives.
    fn names_of_lost(&self, from: NodeId, lost: &[(NodeId, MessageId)]) -> Vec<MessageName> {
        let mut mail = self.mail.clone();
        let mut names = Vec::new();
        for &(to, message) in lost.iter().rev() {
            let link = self.link(from, to);
            let place = last_place(&mail[link], message);
            names.push(self.name_at(from, to, place));
            mail[link].remove(place);
        }
        names.reverse();
        names
    }

    fn name_at(&self, from: NodeId, to: NodeId, place: usize) -> MessageName {
        let link = &self.mail[self.link(from, to)];
        let kind = self.kind(link[place]);
        let older = link[..place].iter();
        let nth = older.filter(|&&other| self.kind(other) == kind).count() as u32 + 1;
        MessageName {
            from,
            to,
            kind: Some(kind.to_owned()),
            nth: (nth > 1).then_some(nth),
        }
    }

    fn take(&mut self, successor: &Successor) -> TakenStep {
        let step = self.name(&successor.choice);
        match successor.choice {
            Choice::Deliver(from, to, message) | Choice::Lose(from, to, message) => {
                let link = self.link(from, to);
                let place = place(&self.mail[link], message);
                self.mail[link].remove(place);
            }
            Choice::Duplicate(from, to, message) => {
                let link = self.link(from, to);
                let place = place(&self.mail[link], message);
                self.mail[link].insert(place, message);
            }
            Choice::Crash(victim, ref lost) => {
                for &(to, message) in lost {
                    let link = self.link(victim, to);
                    let place = last_place(&self.mail[link], message);
                    self.mail[link].remove(place);
                }
                for from in (0..self.world.nodes as u32).map(NodeId) {
                    let to_the_dead = self.link(from, victim);
                    self.mail[to_the_dead].clear();
                }
            }
            Choice::Cut(a, b) => {
                for (from, to) in [(a, b), (b, a)] {
                    let link = self.link(from, to);
                    self.mail[link].clear();
                }
            }
            Choice::Request(_)
            | Choice::Release(_)
            | Choice::Timer(..)
            | Choice::Tick
            | Choice::Down { .. }
            | Choice::Heal(..)
            | Choice::LinkDown { .. }
            | Choice::LinkUp { .. } => {}
        }
        let mut sent = Vec::new();
        let (effects, changed) = match successor.transition.act {
            Act::Move { node, number } => {
                let effects = self.react(node, number, &successor.next, &mut sent);
                let states = [&self.state, &successor.next].map(|state| self.state_of(node, state));
                let changed = match states {
                    [Some(before), Some(after)] => changes(&before, &after),
                    _ => Vec::new(),
                };
                (effects, changed)
            }
            Act::Fault { .. }
            | Act::Tick
            | Act::Crash { .. }
            | Act::Cut { .. }
            | Act::Heal { .. } => (Vec::new(), Vec::new()),
        };
        self.state.clone_from(&successor.next);
        TakenStep {
            step,
            effects,
            sent,
            changed,
            wrong: successor
                .transition
                .wrong
                .map(|number| self.world.wrong(number)),
        }
    }

    /// What the node does about it, in words; its mail is put on the way.
    fn react(
        &mut self,
        node: NodeId,
        number: u32,
        next: &[u32],
        sent: &mut Vec<(NodeId, &'static str)>,
    ) -> Vec<String> {
        let sites = &mut self.world.sites;
        let site = sites.get(SiteId(self.state[node.index()])).clone();
        let what = sites.a_move(number).step;
        let event = sites.event(&site, what).expect("a move is an event");
        let state = site.state.expect("nothing happens to a crashed node");
        let effects = sites.atlas.step(node, state, event).effects.clone();
        let mut words = Vec::new();
        for effect in effects {
            let describe = |message| self.world.sites.atlas.describe(message);
            match effect {
                Effect::Send { to, message, .. } => {
                    words.push(format!("sends {} to {to}", describe(message)));
                    sent.push((to, self.kind(message)));
                    let site = self.world.sites.get(SiteId(next[to.index()]));
                    if site.state.is_some() && !site.is_cut_off_from(node) {
                        let link = self.link(node, to);
                        self.mail[link].push(message);
                    }
                }
                Effect::Post { message } => {
                    words.push(format!("posts {} to itself", describe(message)));
                    let link = self.link(node, node);
                    self.mail[link].push(message);
                }
                Effect::Enter { fence: None } => words.push("enters".to_owned()),
                Effect::Enter { fence: Some(fence) } => words.push(format!("enters as {fence}")),
                Effect::SetTimer { timer, .. } => words.push(format!("sets timer {}", timer.name)),
                Effect::CancelTimer { timer } => {
                    words.push(format!("cancels timer {}", timer.name));
                }
                Effect::Note { name, value, .. } => words.push(format!("notes {name} = {value}")),
                Effect::ProtocolError { why } => words.push(format!("protocol error: {why}")),
            }
        }
        words
    }

    fn kind(&self, message: MessageId) -> &'static str {
        self.kinds[self.world.sites.atlas.kind(message)]
    }

    fn link(&self, from: NodeId, to: NodeId) -> usize {
        from.index() * self.world.nodes + to.index()
    }
}

fn place(link: &[MessageId], message: MessageId) -> usize {
    let place = link.iter().position(|&other| other == message);
    place.expect("what can happen to a message happens while it is under way")
}

fn last_place(link: &[MessageId], message: MessageId) -> usize {
    let place = link.iter().rposition(|&other| other == message);
    place.expect("only mail that is under way is lost")
}
