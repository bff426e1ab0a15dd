//! Every schedule of a small world, breadth first.
//!
//! A handful of nodes, each wanting in a few times: the explorer lets everything happen that can
//! happen, in every order, and looks at every state there is. It finds the shortest way to two
//! inside, to an entry that nobody asked for, to a message that cannot arrive, to a broken
//! invariant, to a deadlock; and, when it has seen everything, the states from which some client
//! cannot be served whatever happens.
//!
//! ```text
//!     algorithms::erased::Atlas      what one node does on one event
//!         -> sites                   one node with its client and its mail: what can happen to it
//!             -> world               a row of sites: what can happen at all, what must be true
//!                 -> graph           all rows met, each once
//!                     -> search      breadth first, then backwards from "all served"
//!         walk, replay               one way through it
//!             -> schedule            as text
//!             -> events              as what happened, like a traced run
//!         map                        all states and steps of a very small world
//! ```

mod ending;
mod events;
mod graph;
mod interned;
mod mail;
mod map;
mod replay;
mod schedule;
mod search;
mod site;
mod sites;
mod walk;
mod world;

use std::fmt;
use std::str::FromStr;

use algorithms::registry::{AlgorithmInfo, LinkOrder};
use model::event::Event;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use thiserror::Error;

pub use ending::{Ending, Waiting};
pub use map::{MapSite, MapState, MapStep, WorldMap, map};
pub use replay::{Mishap, Outcome, ReplayError, replay};
pub use schedule::{MessageName, ParseError, Schedule, Step};
pub use search::explore;

/// The most nodes that are explored. Six are many already.
pub const MOST_NODES: u32 = 64;

/// How large the world is and what may happen in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many times each node's client wants in.
    pub wants: Vec<u32>,
    /// How urgent each node's requests are; empty if none is.
    pub priorities: Vec<u32>,
    /// Whether links keep the order of messages.
    pub order: LinkOrder,
    /// What has happened already, when the world begins; its requests count among what is wanted.
    pub after: Schedule,
    /// When timers go off.
    pub timers: Timers,
    /// How many messages may be lost.
    pub lose: u32,
    /// How many messages may arrive twice.
    pub duplicate: u32,
    /// How many nodes may crash.
    pub crash: u32,
    /// How often a link may be cut, where links have sessions.
    pub cut: u32,
    /// Whether a cut link may come back. Nobody who still has a way may have to wait for that.
    pub heal: bool,
    /// Whether deadlocks and trapped states are only counted.
    pub safety_only: bool,
    /// The number of states at which the search gives up.
    pub max_states: u32,
}

impl Options {
    /// One entry each, links as the algorithm needs them, no faults.
    pub fn new(info: &AlgorithmInfo, nodes: u32) -> Self {
        Self {
            wants: vec![1; nodes as usize],
            priorities: Vec::new(),
            order: info.link_order,
            after: Schedule::default(),
            timers: Timers::Free,
            lose: 0,
            duplicate: 0,
            crash: 0,
            cut: 0,
            heal: false,
            safety_only: false,
            max_states: 10_000_000,
        }
    }
}

/// When a timer that is set may go off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Timers {
    /// A timer goes off at any moment.
    #[default]
    Free,
    /// A timer goes off only when no message, and no news of a link, is under way; and a node that
    /// tries again what has failed does so only after some link was cut or came back.
    Patient,
    /// A timer goes off when its time has come; a message takes at most the bound.
    Bounded {
        /// The bound in ticks; a timer counts in ticks too, as the bound is to the algorithm.
        bound: u32,
        /// What happens first of what is due at the same tick.
        ties: Ties,
    },
}

/// What happens first when a message has to arrive at the tick at which a timer goes off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ties {
    /// The message arrives first.
    #[default]
    Messages,
    /// Either happens first: both ways are explored.
    Either,
}

/// The longest bound in ticks: each tick multiplies the states.
const LONGEST_BOUND: u32 = 1_000;

impl FromStr for Timers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "free" => Ok(Timers::Free),
            "patient" => Ok(Timers::Patient),
            _ => match text.strip_prefix("bounded:") {
                Some(rest) => bounded(rest),
                None => Err(format!(
                    "'{text}' is neither free nor patient nor bounded:T, with T in ticks"
                )),
            },
        }
    }
}

/// `2`, `2,ties=either`.
fn bounded(text: &str) -> Result<Timers, String> {
    let (bound, ties) = match text.split_once(",ties=") {
        None => (text, Ties::default()),
        Some((bound, "messages")) => (bound, Ties::Messages),
        Some((bound, "either")) => (bound, Ties::Either),
        Some((_, other)) => {
            return Err(format!("ties={other} is neither messages nor either"));
        }
    };
    match bound.parse() {
        Ok(bound) if (1..=LONGEST_BOUND).contains(&bound) => Ok(Timers::Bounded { bound, ties }),
        _ => Err(format!(
            "'{bound}' is no bound; write bounded:2 for two ticks, at most {LONGEST_BOUND}"
        )),
    }
}

impl fmt::Display for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timers::Free => f.write_str("free"),
            Timers::Patient => f.write_str("patient"),
            Timers::Bounded { bound, ties } => {
                let ties = match ties {
                    Ties::Messages => "",
                    Ties::Either => ",ties=either",
                };
                write!(f, "bounded:{bound}{ties}")
            }
        }
    }
}

/// Options that do not fit the world.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unfit {
    /// There must be one number per node.
    #[error("{what} for {given} nodes, but there are {nodes}")]
    Count {
        /// The name of the option.
        what: &'static str,
        /// How many numbers were given.
        given: usize,
        /// How many numbers there should be.
        nodes: usize,
    },
    /// The world has too many nodes to be explored, or none.
    #[error("{nodes} nodes are no small world; there may be 1 to {MOST_NODES}")]
    Size {
        /// How many nodes the world has.
        nodes: u32,
    },
    /// There is nothing to search.
    #[error("at least 1 state must be allowed")]
    NoStates,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Different states met so far.
    pub states: u64,
    /// Of these, the ones not looked at yet.
    pub open: u64,
    /// Steps from the beginning to the states looked at now.
    pub depth: u32,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exploration {
    /// Different states of the world.
    pub states: u64,
    /// Steps between them, each as often as it can be taken.
    pub edges: u64,
    /// The most steps any state is away from the beginning.
    pub depth: u32,
    /// Whether every state was met; if not, a finding or the limit ended the search.
    pub complete: bool,
    /// States in which somebody waits and nothing can happen; the search goes past them only if
    /// they are merely counted.
    pub stuck: u64,
    /// States from which not everybody can be served, stuck ones included; known only of a complete
    /// search.
    pub trapped: Option<u64>,
    /// The first bad thing, by the fewest steps.
    pub finding: Option<Finding>,
}

/// Something bad, and how it comes about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The kind of the finding.
    pub kind: Kind,
    /// What is wrong, in words.
    pub why: String,
    /// A shortest schedule that leads there.
    pub schedule: Schedule,
    /// What happened before the schedule, where the search began later.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Event>,
    /// The steps of that schedule, with what each one does.
    pub told: Vec<TakenStep>,
    /// The state in which the schedule ends.
    pub ending: Ending,
}

impl Finding {
    /// Everything that happens until the end of the schedule, from the beginning of the world.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.before.iter().chain(events::of(&self.told))
    }
}

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// More are inside than may be.
    Exclusion,
    /// Somebody is let in who did not ask.
    Uninvited,
    /// A message arrives that the paper says cannot arrive.
    ProtocolError,
    /// An invariant of the algorithm does not hold.
    Invariant,
    /// Somebody waits and nothing can happen any more.
    Deadlock,
    /// Things happen, but whatever happens, not everybody is served.
    Trapped,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Exclusion => "too many inside",
            Kind::Uninvited => "uninvited entry",
            Kind::ProtocolError => "protocol error",
            Kind::Invariant => "broken invariant",
            Kind::Deadlock => "deadlock",
            Kind::Trapped => "trapped",
        })
    }
}

/// One step of a schedule, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenStep {
    /// The step that was taken.
    pub step: Step,
    /// What happened in that step, and what the node did about it.
    pub events: Vec<Event>,
    /// What the step changed in the node's state, field by field.
    pub changed: Vec<String>,
    /// What was wrong with the step, if anything.
    pub wrong: Option<(Kind, String)>,
}

impl TakenStep {
    /// What the node did in that step, in words.
    pub fn effects(&self) -> Vec<String> {
        let events = self.events.iter();
        let mut done = events.skip_while(|event| !event.what.is_input());
        done.next();
        done.filter_map(|event| events::in_words(&event.what))
            .collect()
    }
}

impl fmt::Display for TakenStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.step)?;
        let effects = self.effects();
        if !effects.is_empty() {
            write!(f, "  -> {}", effects.join(", "))?;
        }
        Ok(())
    }
}

impl Serialize for TakenStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("TakenStep", 5)?;
        fields.serialize_field("step", &self.step)?;
        fields.serialize_field("effects", &self.effects())?;
        fields.serialize_field("events", &self.events)?;
        fields.serialize_field("changed", &self.changed)?;
        fields.serialize_field("wrong", &self.wrong)?;
        fields.end()
    }
}
