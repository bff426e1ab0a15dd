//! A run as a page shows it: its events one after another, each with what it changed in the state of
//! its member.
//!
//! States come from replaying the events through the same machines, so what the page shows at an event
//! is what the member's algorithm knew then.
//!
//! ```text
//!   events ──► replay ──► state in words, field by field ──► what differs from before
//!                    └──► view: pointers, queues, token  ──┘
//! ```

mod untraced;
mod violation;

use algorithms::registry::AlgorithmInfo;
use algorithms::view::{View, fields};
use algorithms::{NodeId, Setting};
use model::event::{Event, What};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::replay::Replay;
pub use untraced::events_of_tables;
pub use violation::{Violation, Watch};

/// The most events that a page shows. With more it would no longer follow the hand that scrubs.
pub const MOST_EVENTS: u64 = 20_000;

/// The most links that a page is told of; above that nobody could follow a line.
const MOST_LINKS: u64 = 2_000;

/// The largest number up to which a browser tells all whole numbers apart.
const LONGEST_EXACT: u64 = (1 << 53) - 1;

/// What a page shows of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Recording {
    /// The name of the algorithm.
    pub algorithm: String,
    /// How many members there are.
    pub nodes: u32,
    /// How many may be inside at once.
    pub admits: u32,
    /// The kind of message that carries the token, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<&'static str>,
    /// Whether a link is drawn as an arrow.
    pub directed: bool,
    /// The links, unless everybody is linked with everybody, or there are too many to draw.
    pub links: Vec<(NodeId, NodeId)>,
    /// Whether the events are all there are, with messages and states, or only entries and faults.
    pub traced: bool,
    /// How many events the run has.
    pub in_all: u64,
    /// The number of the first event that is shown, counted from 1.
    pub first: u64,
    /// Every member before that event.
    pub start: Vec<MemberState>,
    /// The events that are shown.
    pub events: Vec<Moment>,
    /// What went wrong among them.
    pub violations: Vec<Violation>,
    /// Why there are no states from some event on, if so: the machines did something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diverged: Option<Violation>,
}

/// A member at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberState {
    /// What its client does, or that it is dead.
    pub phase: Phase,
    /// Its algorithm's state, field by field: name and value.
    pub state: Vec<(String, String)>,
    /// How it wants to be drawn.
    pub view: View,
}

/// What a member's client does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The client does not want in.
    #[default]
    Idle,
    /// The client waits.
    Waiting,
    /// The client is inside.
    Inside,
    /// The member was killed.
    Dead,
}

/// An event, and what it changed.
#[derive(Clone, Debug, Serialize)]
pub struct Moment {
    /// The event as `events.jsonl` has it, without the bytes of messages.
    #[serde(flatten)]
    pub event: Map<String, Value>,
    /// The fields of the member's state that have another value now: which, and what.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<(usize, String)>,
    /// How the member wants to be drawn now, if that is different.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<View>,
}

/// Makes a recording, event by event.
pub struct Recorder {
    replay: Option<Replay>,
    watch: Watch,
    members: Vec<MemberState>,
    /// The numbers of the first and the last event to show.
    window: (u64, u64),
    number: u64,
    recording: Recording,
}

impl Recorder {
    /// Begins a recording of the events with these numbers, counted from 1. `traced`: the events have
    /// messages in them, so states can be shown.
    pub fn new(info: &AlgorithmInfo, setting: &Setting, window: (u64, u64), traced: bool) -> Self {
        let machine = info.machine(&setting.params, &setting.printed);
        let replay = traced.then(|| Replay::of_machine(machine, setting));
        let admits = (info.more.admits)(&setting.params);
        let members =
            (0..setting.nodes()).map(|node| MemberState::of(replay.as_ref(), NodeId(node)));
        let topology = &setting.topology;
        let drawable = !topology.is_complete() && topology.edge_count() <= MOST_LINKS;
        let links = drawable.then(|| topology.edges().collect());
        Self {
            members: members.collect(),
            replay,
            watch: Watch::new(admits),
            window,
            number: 0,
            recording: Recording {
                algorithm: info.name.to_owned(),
                nodes: setting.nodes(),
                admits,
                token: info.token,
                links: links.unwrap_or_default(),
                directed: topology.is_directed(),
                traced,
                in_all: 0,
                first: window.0,
                start: Vec::new(),
                events: Vec::new(),
                violations: Vec::new(),
                diverged: None,
            },
        }
    }

    /// The next event of the run. Returns it as the page shows it, if it is within the window.
    pub fn take(&mut self, event: &Event) -> Option<&Moment> {
        self.number += 1;
        let (first, last) = self.window;
        if self.number == first {
            self.recording.start = self.members.clone();
        }
        let violation = self.watch.take(self.number, event);
        let (set, view) = self.change(event);
        if !(first..=last).contains(&self.number) {
            return None;
        }
        self.recording.violations.extend(violation);
        let event = as_shown(event);
        self.recording.events.push(Moment { event, set, view });
        self.recording.events.last()
    }

    /// How the members are now.
    pub fn members(&self) -> &[MemberState] {
        &self.members
    }

    /// What is recorded so far.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Forgets the moments so far; for somebody who was told of each.
    pub fn forget_events(&mut self) {
        self.recording.events.clear();
    }

    /// There are no more events.
    pub fn finish(mut self) -> Recording {
        if self.recording.start.is_empty() {
            self.recording.start = self.members;
        }
        self.recording.in_all = self.number;
        self.recording
    }

    /// Lets an event happen to its member: what is different then.
    fn change(&mut self, event: &Event) -> (Vec<(usize, String)>, Option<View>) {
        let Some(node) = event.node else {
            return Default::default();
        };
        let Some(member) = self.members.get_mut(node.index()) else {
            return Default::default();
        };
        member.phase = member.phase.after(&event.what);
        let Some(replay) = &mut self.replay else {
            return Default::default();
        };
        if let Err(text) = replay.take(event) {
            let event = self.number;
            self.recording.diverged = Some(Violation { event, text });
            self.replay = None;
            return Default::default();
        }
        if !event.what.is_input() {
            return Default::default();
        }
        let state = state_of(replay, node);
        let view = replay.view(node);
        let same_fields = state.len() == member.state.len();
        let changed = state
            .iter()
            .enumerate()
            .filter(|(place, field)| !same_fields || member.state.get(*place) != Some(*field));
        let set = changed
            .map(|(place, (_, value))| (place, value.clone()))
            .collect();
        let view = (view != member.view).then_some(view);
        member.state = state;
        if let Some(view) = &view {
            member.view = view.clone();
        }
        (set, view)
    }
}

impl MemberState {
    fn of(replay: Option<&Replay>, node: NodeId) -> Self {
        Self {
            phase: Phase::Idle,
            state: replay
                .map(|replay| state_of(replay, node))
                .unwrap_or_default(),
            view: replay.map(|replay| replay.view(node)).unwrap_or_default(),
        }
    }
}

impl Phase {
    /// What a member's client does after something happened to the member.
    pub fn after(self, what: &What) -> Self {
        match what {
            What::Arrive { .. } | What::Request { .. } if self == Phase::Idle => Phase::Waiting,
            What::Enter { .. } => Phase::Inside,
            What::Release => Phase::Idle,
            What::Fault { name, .. } if violation::ends_member(name) => Phase::Dead,
            _ => self,
        }
    }
}

/// A state, field by field: name and value.
pub fn in_fields(words: &str) -> Vec<(String, String)> {
    let named = |field: &str| {
        let (name, value) = field.split_once(": ")?;
        Some((name.to_owned(), value.to_owned()))
    };
    let found = fields(words).and_then(|fields| fields.into_iter().map(named).collect());
    found.unwrap_or_else(|| vec![("state".to_owned(), words.to_owned())])
}

fn state_of(replay: &Replay, node: NodeId) -> Vec<(String, String)> {
    in_fields(&replay.state(node))
}

/// An event as the page has it. Nobody reads the bytes of a message there, and a browser would round a
/// number that has more than 53 bits, so such a number is told as text.
pub fn as_shown(event: &Event) -> Map<String, Value> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(event) else {
        unreachable!("an event is an object");
    };
    fields.remove("body");
    for (name, value) in &mut fields {
        let too_long = |number: &u64| *number > LONGEST_EXACT && name != "time_ns";
        if let Some(number) = value.as_u64().filter(too_long) {
            *value = number.to_string().into();
        }
    }
    fields
}

/// The events to show where there are more than a page can: around the first violation, or the last
/// ones where the run ended badly, or the first ones.
pub fn usual_window(in_all: u64, violation: Option<u64>, ended_badly: bool) -> (u64, u64) {
    let last_first = in_all.saturating_sub(MOST_EVENTS) + 1;
    let first = match violation {
        Some(event) => event
            .saturating_sub(MOST_EVENTS * 3 / 4)
            .clamp(1, last_first),
        None if ended_badly => last_first,
        None => 1,
    };
    (first, (first + MOST_EVENTS - 1).min(in_all))
}
