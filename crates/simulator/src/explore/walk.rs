//! One way through a world, told step by step.
//!
//! A state does not know which of two messages on an unordered link is the older one; somebody who
//! walks along remembers it. So a step has the same name for the explorer that found a schedule and
//! for the reader who replays it, and a message the number that its sender gave it.

use std::collections::BTreeSet;

use algorithms::erased::MessageId;
use algorithms::{NodeId, Timer};

use super::ending::{Ending, Waiting, changes};
use super::schedule::{MessageName, Schedule, Step};
use super::sites::{SiteId, SiteStep};
use super::world::{Act, Successors, Transition, World};
use super::{Kind, TakenStep};

/// A state of a world, with the memory of the steps that led there.
pub(super) struct Walk<'w> {
    pub(super) world: &'w mut World,
    pub(super) state: Vec<u32>,
    /// The messages under way, oldest first, by link: from, then to. Copies stand side by side.
    pub(super) mail: Vec<Vec<UnderWay>>,
    /// How many messages each node has made.
    pub(super) made: Vec<u64>,
    /// How many steps were taken.
    pub(super) taken: u64,
    kinds: &'static [&'static str],
}

/// A message under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnderWay {
    /// The place among the messages that its sender made, from 1; copies share it.
    pub(super) number: u64,
    pub(super) message: MessageId,
}

/// Something that can happen next as others are told of it: the step, the state after it, and what is wrong
/// with it.
pub(super) type Next = (Step, Vec<u32>, Option<(Kind, String)>);

/// Something that can happen next, and the state that it leads to.
struct Successor {
    transition: Transition,
    next: Vec<u32>,
}

impl<'w> Walk<'w> {
    /// A walk that stands at the beginning.
    pub(super) fn new(world: &'w mut World, kinds: &'static [&'static str]) -> Self {
        let state = world.initial();
        let nodes = world.nodes;
        Self {
            world,
            state,
            mail: vec![Vec::new(); nodes * nodes],
            made: vec![0; nodes],
            taken: 0,
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
        let can_be = |step: Step| {
            let mut successors = successors.iter();
            let successor = successors.find(|successor| self.step(successor) == step);
            successor.ok_or_else(|| "it cannot happen here".to_owned())
        };
        match self.in_full(step).and_then(can_be) {
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
        let steps = successors.iter().map(|successor| self.step(successor));
        steps.collect()
    }

    /// Everything that could happen next, with what comes of it.
    pub(super) fn possible_next(&mut self) -> Vec<Next> {
        let successors = self.successors().into_iter();
        let told = successors.map(|successor| {
            let wrong = successor.transition.wrong;
            let wrong = wrong.map(|number| self.world.wrong(number));
            (self.step(&successor), successor.next, wrong)
        });
        told.collect()
    }

    /// The state one has come to, by these steps.
    pub(super) fn ending(&self, told: &[TakenStep]) -> Ending {
        let links = self.nodes();
        let links = links.flat_map(|from| self.nodes().map(move |to| (from, to)));
        let mail = links.flat_map(|(from, to)| {
            let places = 0..self.mail[self.link(from, to)].len();
            places.map(move |place| Step::Deliver(self.name_at(from, to, place)))
        });
        let timers = self.nodes().flat_map(|node| {
            let set = &self
                .world
                .sites
                .get(SiteId(self.state[node.index()]))
                .timers;
            set.iter().map(move |alarm| timer(node, alarm.timer))
        });
        let waiting = self.world.waiting(&self.state).into_iter();
        Ending {
            states: self
                .nodes()
                .map(|node| self.state_of(node, &self.state))
                .collect(),
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
            transition,
            next: next.to_vec(),
        });
        successors.collect()
    }

    /// The step in which it happens, written in full.
    fn step(&self, Successor { transition, next }: &Successor) -> Step {
        let site = |node: NodeId| self.world.sites.get(SiteId(self.state[node.index()]));
        match transition.act {
            Act::Move { node, number } | Act::Fault { node, number } => {
                let site = site(node);
                let named = |from: NodeId, place: u32| {
                    let mail = site.inbox[from.index()][place as usize];
                    self.message_name(from, node, mail.message)
                };
                match self.world.sites.a_move(number).step {
                    SiteStep::Request => Step::Request(node),
                    SiteStep::Release => Step::Release(node),
                    SiteStep::Deliver { from, place } => Step::Deliver(named(from, place)),
                    SiteStep::Lose { from, place } => Step::Lose(named(from, place)),
                    SiteStep::Duplicate { from, place } => Step::Duplicate(named(from, place)),
                    SiteStep::Timer(place) => timer(node, site.timers[place as usize].timer),
                    SiteStep::Down(victim) => Step::Down { victim, told: node },
                    SiteStep::LinkDown(neighbour) => Step::LinkDown {
                        neighbour,
                        told: node,
                    },
                    SiteStep::LinkUp(neighbour) => Step::LinkUp {
                        neighbour,
                        told: node,
                    },
                }
            }
            Act::Tick => Step::Tick,
            Act::Cut { ends: (a, b) } => Step::Cut(a, b),
            Act::Heal { ends: (a, b) } => Step::Heal(a, b),
            Act::Crash { victim } => {
                let mut lost = Vec::new();
                for to in self.nodes() {
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
                self.crash(victim, lost)
            }
        }
    }

    /// A step as somebody wrote it, in full: who writes `1>0` means the oldest message there.
    fn in_full(&self, step: &Step) -> Result<Step, String> {
        let in_full = |named: &MessageName| {
            let message = self.find(named)?.message;
            Ok::<_, String>(self.message_name(named.from, named.to, message))
        };
        Ok(match step {
            Step::Request(node) => Step::Request(self.known(*node)?),
            Step::Release(node) => Step::Release(self.known(*node)?),
            Step::Deliver(named) => Step::Deliver(in_full(named)?),
            Step::Lose(named) => Step::Lose(in_full(named)?),
            Step::Duplicate(named) => Step::Duplicate(in_full(named)?),
            Step::Timer { node, name, tag } => {
                let site = SiteId(self.state[self.known(*node)?.index()]);
                let set = &self.world.sites.get(site).timers;
                let set = set.iter().map(|alarm| &alarm.timer);
                let named =
                    |timer: &&Timer| timer.name == name && tag.is_none_or(|tag| timer.tag == tag);
                match set.filter(named).collect::<Vec<_>>().as_slice() {
                    [] => return Err(format!("{node} has no such timer set")),
                    [only] => timer(*node, **only),
                    several => {
                        let count = several.len();
                        return Err(format!(
                            "{node} has {count} timers of that name; add its tag, {name}#{}",
                            several[0].tag
                        ));
                    }
                }
            }
            Step::Tick => Step::Tick,
            Step::Crash { victim, lost } => {
                let mut found = Vec::new();
                for named in lost {
                    if named.from != *victim {
                        return Err(format!("{named} is not mail from {victim}"));
                    }
                    found.push((named.to, self.find(named)?.message));
                }
                self.crash(self.known(*victim)?, found)
            }
            Step::Down { victim, told } => Step::Down {
                victim: self.known(*victim)?,
                told: self.known(*told)?,
            },
            Step::Cut(a, b) => Step::Cut(self.known(*a)?.min(*b), self.known(*b)?.max(*a)),
            Step::Heal(a, b) => Step::Heal(self.known(*a)?.min(*b), self.known(*b)?.max(*a)),
            Step::LinkDown { neighbour, told } => Step::LinkDown {
                neighbour: self.known(*neighbour)?,
                told: self.known(*told)?,
            },
            Step::LinkUp { neighbour, told } => Step::LinkUp {
                neighbour: self.known(*neighbour)?,
                told: self.known(*told)?,
            },
        })
    }

    /// The step in which a node crashes and these messages are lost with it: of equal ones the
    /// youngest, since a prefix survives.
    fn crash(&self, victim: NodeId, mut lost: Vec<(NodeId, MessageId)>) -> Step {
        lost.sort_unstable();
        let mut gone = BTreeSet::new();
        let mut names = Vec::new();
        for &(to, message) in lost.iter().rev() {
            let mail = self.mail[self.link(victim, to)].iter().enumerate();
            let mut youngest_first = mail.rev();
            let (place, _) = youngest_first
                .find(|(place, other)| other.message == message && !gone.contains(&(to, *place)))
                .expect("only mail that is under way is lost");
            gone.insert((to, place));
            names.push(self.name_at(victim, to, place));
        }
        names.reverse();
        Step::Crash {
            victim,
            lost: names,
        }
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
    pub(super) fn find(&self, named: &MessageName) -> Result<UnderWay, String> {
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
        let fits = |one: &&UnderWay| kind.is_none_or(|kind| atlas.kind(one.message) == kind);
        let nth = named.nth.unwrap_or(1) as usize;
        match link.iter().filter(fits).nth(nth - 1) {
            Some(&one) => Ok(one),
            None => {
                let what = named.kind.as_deref().unwrap_or("message");
                Err(match link.iter().filter(fits).count() {
                    0 => format!("no {what} is on its way from {from} to {to}"),
                    there => format!("only {there} {what} on the way from {from} to {to}"),
                })
            }
        }
    }

    /// The name of the oldest message of this value.
    fn message_name(&self, from: NodeId, to: NodeId, message: MessageId) -> MessageName {
        let mut mail = self.mail[self.link(from, to)].iter();
        let place = mail.position(|other| other.message == message);
        let place = place.expect("what can happen to a message happens while it is under way");
        self.name_at(from, to, place)
    }

    fn name_at(&self, from: NodeId, to: NodeId, place: usize) -> MessageName {
        let link = &self.mail[self.link(from, to)];
        let kind = self.kind(link[place].message);
        let older = link[..place].iter();
        let like = older.filter(|other| self.kind(other.message) == kind);
        let nth = like.count() as u32 + 1;
        MessageName {
            from,
            to,
            kind: Some(kind.to_owned()),
            nth: (nth > 1).then_some(nth),
        }
    }

    fn take(&mut self, successor: &Successor) -> TakenStep {
        self.taken += 1;
        let step = self.step(successor);
        let mut events = self.happens(&step);
        self.carry(&events);
        let changed = match successor.transition.act {
            Act::Move { node, number } => {
                events.extend(self.reaction(node, number, &successor.next));
                let states = [&self.state, &successor.next].map(|state| self.state_of(node, state));
                match states {
                    [Some(before), Some(after)] => changes(&before, &after),
                    _ => Vec::new(),
                }
            }
            Act::Fault { .. }
            | Act::Tick
            | Act::Crash { .. }
            | Act::Cut { .. }
            | Act::Heal { .. } => Vec::new(),
        };
        self.state.clone_from(&successor.next);
        TakenStep {
            step,
            events,
            changed,
            wrong: successor
                .transition
                .wrong
                .map(|number| self.world.wrong(number)),
        }
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.world.nodes as u32).map(NodeId)
    }

    pub(super) fn kind(&self, message: MessageId) -> &'static str {
        self.kinds[self.world.sites.atlas.kind(message)]
    }

    pub(super) fn link(&self, from: NodeId, to: NodeId) -> usize {
        from.index() * self.world.nodes + to.index()
    }
}

/// The step in which a timer goes off.
fn timer(node: NodeId, Timer { name, tag }: Timer) -> Step {
    Step::Timer {
        node,
        name: name.to_owned(),
        tag: (tag != 0).then_some(tag),
    }
}
