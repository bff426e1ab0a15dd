//! Every local state of a program that an exhaustive search meets, each asked for once.
//!
//! There is one process for each node. A step puts it into the state, lets the event happen and has it say
//! what it knows then; the answer is remembered.

use std::hash::Hash;

use algorithms::erased::{Atlas, Broken, Input, MessageId, Numbered, StateId, Step};
use algorithms::external::External;
use algorithms::view::View;
use algorithms::{Effect, NodeId, Setting};
use rustc_hash::FxHashMap;

use crate::member::{Member, Message, canonical, told};
use crate::process::{self, ProgramError, Start};
use crate::protocol;

/// More than this may not be remembered of what programs said.
const MOST_BYTES: usize = 1 << 30;

/// The states, messages and steps of a small world of programs.
pub(crate) struct Asked {
    of: External,
    start: Start,
    setting: Setting,
    members: Vec<Option<Seat>>,
    /// The state of each program before its first event, where it was asked.
    initial: Vec<Option<StateId>>,
    states: Known<Box<str>>,
    messages: Known<Message>,
    steps: FxHashMap<(NodeId, StateId, Input), Step>,
}

/// Values by number, and how much they take.
struct Known<T> {
    values: Numbered<T>,
    many: u32,
    bytes: usize,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self {
            values: Numbered::default(),
            many: 0,
            bytes: 0,
        }
    }
}

impl<T: Clone + Eq + Hash> Known<T> {
    fn number(&mut self, value: T, bytes: usize) -> u32 {
        let number = self.values.number(value);
        if number == self.many {
            self.many += 1;
            self.bytes += bytes;
        }
        number
    }

    fn value(&self, number: u32) -> &T {
        self.values.value(number)
    }
}

struct Seat {
    member: Member,
    /// The state that the program is in, where that is known.
    now: Option<StateId>,
}

impl Asked {
    pub(crate) fn new(of: External, start: Start, setting: Setting) -> Self {
        Self {
            of,
            start,
            members: (0..setting.nodes()).map(|_| None).collect(),
            initial: vec![None; setting.nodes() as usize],
            setting,
            states: Known::default(),
            messages: Known::default(),
            steps: FxHashMap::default(),
        }
    }

    /// The program of a node, started if need be.
    fn seat(&mut self, node: NodeId) -> Result<&mut Seat, String> {
        let place = &mut self.members[node.index()];
        if place.is_none() {
            let member = Member::start(self.of, &self.start, &self.setting, node)
                .map_err(|error| told(self.of, node, 0, &error))?;
            *place = Some(Seat { member, now: None });
        }
        Ok(place.as_mut().expect("it was just started"))
    }

    fn work_out(&mut self, node: NodeId, state: StateId, event: Input) -> Result<Step, String> {
        let text = self.states.value(state.0).clone();
        let received = match event {
            Input::Receive { message, .. } => Some(self.messages.value(message.0).clone()),
            _ => None,
        };
        let seat = self.seat(node)?;
        let mut made = Vec::new();
        let happened = seat.step(state, &text, event, received.as_ref(), &mut made);
        let next = match happened {
            Ok(next) => next,
            Err(error) => {
                let why = seat.member.told(&error);
                // A program that failed may be in any state: another is started when it is needed.
                self.members[node.index()] = None;
                return Err(why);
            }
        };
        let next = self.state(next);
        let effects = made.into_iter().map(|effect| {
            effect.map_message(|message| {
                let text = canonical(&message.text);
                let bytes = text.len();
                MessageId(self.messages.number(Message { text, ..message }, bytes))
            })
        });
        let effects = effects.collect();
        if self.states.bytes + self.messages.bytes > MOST_BYTES {
            let mib = MOST_BYTES >> 20;
            let why = "states and messages of programs take more than";
            return Err(format!("{why} {mib} MiB; the last is one of member {node}"));
        }
        if let Some(seat) = &mut self.members[node.index()] {
            seat.now = Some(next);
        }
        Ok(Step { next, effects })
    }

    fn state(&mut self, text: Box<str>) -> StateId {
        let bytes = text.len();
        StateId(self.states.number(text, bytes))
    }

    fn first(&mut self, node: NodeId) -> Result<Box<str>, String> {
        let seat = self.seat(node)?;
        let saved = seat.member.save();
        saved.map_err(|error| seat.member.told(&error))
    }
}

impl Seat {
    fn step(
        &mut self,
        state: StateId,
        text: &str,
        event: Input,
        received: Option<&Message>,
        effects: &mut Vec<Effect<Message>>,
    ) -> Result<Box<str>, ProgramError> {
        if self.now != Some(state) {
            self.member.load(text)?;
        }
        self.now = None;
        self.member.happen(event, received, effects)?;
        self.member.save()
    }
}

impl Atlas for Asked {
    fn initial(&mut self, node: NodeId) -> StateId {
        if let Some(state) = self.initial[node.index()] {
            return state;
        }
        // A program that fails here fails again at its first event, which can say so.
        let state = self.first(node).unwrap_or_else(|_| "null".into());
        let state = self.state(state);
        if let Some(seat) = &mut self.members[node.index()] {
            seat.now = Some(state);
        }
        self.initial[node.index()] = Some(state);
        state
    }

    fn step(&mut self, node: NodeId, state: StateId, event: Input) -> &Step {
        let key = (node, state, event);
        if !self.steps.contains_key(&key) {
            let step = self.work_out(node, state, event);
            let step = step.unwrap_or_else(|why| Step {
                next: state,
                effects: vec![Effect::Fail { why }],
            });
            self.steps.insert(key, step);
        }
        &self.steps[&key]
    }

    fn has_invariants(&self) -> bool {
        false
    }

    fn check(
        &self,
        _: &[Option<StateId>],
        _: &[(NodeId, NodeId, MessageId)],
    ) -> Result<(), Broken> {
        Ok(())
    }

    fn has_growing(&mut self) -> bool {
        false
    }

    fn renumber(&mut self, _: &mut [Option<StateId>], _: &mut [MessageId]) -> bool {
        false
    }

    fn kind(&self, message: MessageId) -> usize {
        self.messages.value(message.0).kind
    }

    fn origin(&self, _: MessageId) -> Option<NodeId> {
        None
    }

    fn describe(&self, message: MessageId) -> String {
        protocol::traced(&self.messages.value(message.0).text)
    }

    fn encode(&self, message: MessageId, bytes: &mut Vec<u8>) {
        let text = &self.messages.value(message.0).text;
        bytes.extend_from_slice(text.as_bytes());
    }

    fn describe_state(&self, state: StateId) -> String {
        protocol::traced(self.states.value(state.0))
    }

    fn view(&self, _: StateId) -> View {
        View::default()
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let seats = self.members.drain(..).flatten();
        process::end_all(seats.map(|seat| seat.member.into_process()).collect());
    }
}
