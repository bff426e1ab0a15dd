//! Every local state an exhaustive search meets, each kept once.
//!
//! A small world has millions of global states but only thousands of local ones: what a node does
//! on an event depends on its own state alone. So local states and messages are kept once and
//! numbered, a step is worked out once and remembered, and the search itself moves small numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::numbered::Numbered;
use super::{Input, MessageId, happen};
use crate::contract::{Algorithm, Effect, Message, NodeId, Outbox, Snapshot, Visit};
use crate::setup::{Setting, Setup};
use crate::view::View;

/// A local state, kept once: equal states of any nodes have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub u32);

/// What one event does at one node.
#[derive(Clone, Debug)]
pub struct Step {
    /// The state after it.
    pub next: StateId,
    /// What the node wants done.
    pub effects: Vec<Effect<MessageId>>,
}

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The name of the invariant.
    pub invariant: &'static str,
    /// How it is broken.
    pub why: String,
}

/// The local states and messages of a small world, and the steps between them.
pub trait Atlas: Send {
    /// The node before its first event.
    fn initial(&mut self, node: NodeId) -> StateId;

    /// What the event does at this node in this state; worked out once, then remembered.
    fn step(&mut self, node: NodeId, state: StateId, input: Input) -> &Step;

    /// Whether the algorithm has any invariants to check.
    fn has_invariants(&self) -> bool;

    /// Checks every invariant in a global state: the nodes (none where crashed) and the messages
    /// under way, those of one link in the order they were sent.
    fn check(
        &self,
        nodes: &[Option<StateId>],
        flight: &[(NodeId, NodeId, MessageId)],
    ) -> Result<(), Broken>;

    /// Whether the algorithm has numbers that grow for ever.
    fn has_growing(&mut self) -> bool;

    /// Numbers every growing series of a global state again, from 0 and without gaps; false if it
    /// is so already. What can happen then is the same as before.
    fn renumber(&mut self, nodes: &mut [Option<StateId>], flight: &mut [MessageId]) -> bool;

    /// Which kind of message this is.
    fn kind(&self, message: MessageId) -> usize;

    /// Whose request the message is about, if any.
    fn origin(&self, message: MessageId) -> Option<NodeId>;

    /// The message in words.
    fn describe(&self, message: MessageId) -> String;

    /// Appends the message as bytes.
    fn encode(&self, message: MessageId, bytes: &mut Vec<u8>);

    /// The state in words.
    fn describe_state(&self, state: StateId) -> String;

    /// How the node in that state wants to be drawn.
    fn view(&self, state: StateId) -> View;
}

/// The atlas of one algorithm type.
pub(super) struct Interned<A: Algorithm> {
    setting: Setting,
    states: Numbered<A>,
    messages: Numbered<A::Message>,
    steps: FxHashMap<(NodeId, StateId, Input), Step>,
    out: Outbox<A::Message>,
}

impl<A: Algorithm> Interned<A> {
    pub(super) fn new(setting: Setting) -> Self {
        Self {
            setting,
            states: Numbered::default(),
            messages: Numbered::default(),
            steps: FxHashMap::default(),
            out: Outbox::new(NodeId(0)),
        }
    }

    fn work_out(&mut self, node: NodeId, state: StateId, input: Input) -> Step {
        let mut local = self.states.value(state.0).clone();
        let messages = &mut self.messages;
        happen(&mut local, node, input, &mut self.out, |message, _| {
            messages.value(message.0).clone()
        });
        let mut effects = Vec::new();
        self.out.pour_into(&mut effects);
        for effect in &mut effects {
            match effect {
                // From the one message under way to all of that value.
                Effect::Send { message, .. } | Effect::Post { message } => {
                    let value = self.out.under_way.take(*message);
                    *message = MessageId(messages.number(value));
                }
                Effect::Enter { .. }
                | Effect::SetTimer { .. }
                | Effect::CancelTimer { .. }
                | Effect::Note { .. }
                | Effect::ProtocolError { .. }
                | Effect::Fail { .. } => {}
            }
        }
        Step {
            next: StateId(self.states.number(local)),
            effects,
        }
    }
}

impl<A: Algorithm> Atlas for Interned<A> {
    fn initial(&mut self, node: NodeId) -> StateId {
        let state = A::new(&Setup {
            me: node,
            setting: &self.setting,
        });
        StateId(self.states.number(state))
    }

    fn step(&mut self, node: NodeId, state: StateId, input: Input) -> &Step {
        let key = (node, state, input);
        if !self.steps.contains_key(&key) {
            let step = self.work_out(node, state, input);
            self.steps.insert(key, step);
        }
        &self.steps[&key]
    }

    fn has_invariants(&self) -> bool {
        !A::invariants().is_empty()
    }

    fn check(
        &self,
        nodes: &[Option<StateId>],
        flight: &[(NodeId, NodeId, MessageId)],
    ) -> Result<(), Broken> {
        let state = |id: StateId| self.states.value(id.0);
        let message = |id: MessageId| self.messages.value(id.0);
        let snapshot = Snapshot {
            nodes: nodes.iter().map(|node| node.map(state)).collect(),
            flight: flight
                .iter()
                .map(|&(from, to, id)| (from, to, message(id)))
                .collect(),
        };
        for invariant in A::invariants() {
            (invariant.check)(&snapshot).map_err(|why| Broken {
                invariant: invariant.name,
                why,
            })?;
        }
        Ok(())
    }

    fn has_growing(&mut self) -> bool {
        let mut grows = false;
        let mut first = A::new(&Setup {
            me: NodeId(0),
            setting: &self.setting,
        });
        first.growing(&mut |_, _| grows = true);
        grows
    }

    fn renumber(&mut self, nodes: &mut [Option<StateId>], flight: &mut [MessageId]) -> bool {
        let state = |id: StateId| self.states.value(id.0).clone();
        let mut states: Vec<_> = nodes.iter().map(|node| node.map(state)).collect();
        let message = |id: &MessageId| self.messages.value(id.0).clone();
        let mut messages: Vec<_> = flight.iter().map(message).collect();
        let mut visit = |each: Visit<'_>| {
            for state in states.iter_mut().flatten() {
                state.growing(each);
            }
            for message in &mut messages {
                message.growing(each);
            }
        };
        let mut series = BTreeMap::<_, BTreeSet<u64>>::new();
        visit(&mut |name, number| {
            series.entry(name).or_default().insert(*number);
        });
        let dense = |numbers: &BTreeSet<u64>| numbers.iter().copied().eq(0..numbers.len() as u64);
        if series.values().all(dense) {
            return false;
        }
        visit(&mut |name, number| *number = series[&name].range(..*number).count() as u64);
        for (id, state) in nodes.iter_mut().zip(states) {
            *id = state.map(|state| StateId(self.states.number(state)));
        }
        for (id, message) in flight.iter_mut().zip(messages) {
            *id = MessageId(self.messages.number(message));
        }
        true
    }

    fn kind(&self, message: MessageId) -> usize {
        self.messages.value(message.0).kind()
    }

    fn origin(&self, message: MessageId) -> Option<NodeId> {
        self.messages.value(message.0).origin()
    }

    fn describe(&self, message: MessageId) -> String {
        format!("{:?}", self.messages.value(message.0))
    }

    fn encode(&self, message: MessageId, bytes: &mut Vec<u8>) {
        let message = self.messages.value(message.0);
        postcard::to_io(message, bytes).expect("a message is plain data");
    }

    fn describe_state(&self, state: StateId) -> String {
        format!("{:?}", self.states.value(state.0))
    }

    fn view(&self, state: StateId) -> View {
        let mut view = View::default();
        self.states.value(state.0).draw(&mut view);
        view
    }
}
