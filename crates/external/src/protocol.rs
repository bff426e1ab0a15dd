//! The lines that a program reads and writes.
//!
//! Version 1. A field that the program does not know may be added to a question; a field that we do not
//! know in an answer is refused, since it is most often a slip of the pen.

use std::borrow::Cow;
use std::collections::BTreeMap;

use algorithms::external::Declaration;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::json::{effects, maybe_object, maybe_whole, object, whole};
use crate::process::ProgramError;

/// The version of the protocol, which a program finds in `init`.
pub const VERSION: u32 = 1;

/// What a program is asked: each is one line, and each is answered by one line.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Question<'a> {
    /// The member before its first event.
    Init(&'a Init),
    /// The local client wants in.
    Request {
        /// How urgent it is; larger is more urgent.
        priority: u32,
    },
    /// The local client leaves.
    Release {},
    /// A message arrives.
    Receive {
        /// The member that sent it.
        from: u32,
        /// The message as it was sent.
        message: &'a RawValue,
    },
    /// A timer that was set goes off.
    Timer {
        /// The name of the timer.
        name: &'a str,
        /// Which one of that name.
        tag: u64,
    },
    /// Another member died or is back.
    Peer {
        /// The other member.
        node: u32,
        /// What became of it.
        change: Change,
    },
    /// The link to a neighbour went down or came up.
    Link {
        /// The member at the other end.
        node: u32,
        /// What became of the link.
        change: Change,
    },
    /// Say what you know, so that you can be put back to here.
    Save {},
    /// Take on the state that you saved as this.
    Load {
        /// What the program answered to `save`.
        state: &'a RawValue,
    },
}

/// What became of a peer or a link.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// The peer died, or the link went down.
    Down,
    /// The peer is back, or the link came up.
    Up,
}

impl From<algorithms::Change> for Change {
    fn from(change: algorithms::Change) -> Self {
        match change {
            algorithms::Change::Down => Change::Down,
            algorithms::Change::Up => Change::Up,
        }
    }
}

/// What a program is told before anything else.
#[derive(Clone, Debug, Serialize)]
pub struct Init {
    /// The version of the protocol.
    pub protocol: u32,
    /// The number of the member that the program is.
    pub me: u32,
    /// How many members there are.
    pub nodes: u32,
    /// The members to which it has a link.
    pub neighbours: Vec<u32>,
    /// The member that has the token, or is the controller, at the start.
    pub holder: u32,
    /// On a tree, the neighbour towards the holder; the holder itself for the holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub towards_holder: Option<u32>,
    /// The bound on the delay of messages that it may assume, in milliseconds.
    pub bound_ms: f64,
    /// The values of the parameters that the program declares.
    pub params: BTreeMap<String, Parameter>,
}

/// The value of a parameter: a number where it is one.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Parameter {
    /// A whole number.
    Number(u64),
    /// Any other text.
    Text(String),
}

impl From<&str> for Parameter {
    fn from(text: &str) -> Self {
        match text.parse() {
            Ok(number) => Parameter::Number(number),
            Err(_) => Parameter::Text(text.to_owned()),
        }
    }
}

impl Question<'_> {
    /// The question as a line, with its end.
    pub fn line(&self) -> Vec<u8> {
        let mut line = Vec::new();
        self.write(&mut line);
        line
    }

    /// Appends the question as a line, with its end.
    pub fn write(&self, line: &mut Vec<u8>) {
        serde_json::to_writer(&mut *line, self).expect("a question is plain data");
        line.push(b'\n');
    }
}

/// The answer to an event, to `init` and to `load`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer<'a> {
    /// What the program wants done, in this order.
    #[serde(rename = "do", borrow, deserialize_with = "effects")]
    pub effects: Vec<Wish<'a>>,
    /// Its state, for people to look at.
    #[serde(default, borrow)]
    pub state: Option<&'a RawValue>,
    /// What it says of itself, in the answer to `init`.
    #[serde(default, deserialize_with = "maybe_object")]
    pub declares: Option<Declaration>,
}

/// The answer to `save`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saved<'a> {
    /// All that the program knows.
    #[serde(borrow)]
    pub state: &'a RawValue,
}

/// Something that a program wants done.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Wish<'a> {
    /// Send a message.
    #[serde(borrow, deserialize_with = "object")]
    Send(Send<'a>),
    /// Let the local client in.
    #[serde(deserialize_with = "object")]
    Enter(Enter),
    /// Wake the program up later.
    #[serde(borrow, deserialize_with = "object")]
    SetTimer(SetTimer<'a>),
    /// Forget a timer.
    #[serde(borrow, deserialize_with = "object")]
    CancelTimer(CancelTimer<'a>),
    /// Remember a number.
    #[serde(borrow, deserialize_with = "object")]
    Note(Note<'a>),
    /// Something arrived that cannot arrive.
    #[serde(deserialize_with = "object")]
    Error(Mistake),
}

/// `send`: a message to another member, or to oneself, which is delivered at once and not counted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Send<'a> {
    /// The member that the message is for.
    #[serde(deserialize_with = "whole")]
    pub to: u32,
    /// Any JSON value; an object's `kind` is its kind.
    #[serde(borrow)]
    pub message: &'a RawValue,
    /// The member whose request pays for it.
    #[serde(default, rename = "for", deserialize_with = "maybe_whole")]
    pub charge: Option<u32>,
}

/// `enter`: the local client may go in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enter {
    /// A number that rises with every entry.
    #[serde(default, deserialize_with = "maybe_whole")]
    pub fence: Option<u64>,
}

/// `set_timer`: setting a timer that is set moves it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetTimer<'a> {
    /// What it is for.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Which one of that name.
    #[serde(default, deserialize_with = "whole")]
    pub tag: u64,
    /// When it goes off, in milliseconds from now.
    pub after_ms: f64,
}

/// `cancel_timer`: harmless if it is not set.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CancelTimer<'a> {
    /// What it is for.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Which one of that name.
    #[serde(default, deserialize_with = "whole")]
    pub tag: u64,
}

/// `note`: a number that ends in `counters.csv`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note<'a> {
    /// What was counted or measured.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// The number that is remembered.
    #[serde(deserialize_with = "whole")]
    pub value: u64,
    /// The member whose request it belongs to.
    #[serde(default, rename = "for", deserialize_with = "maybe_whole")]
    pub charge: Option<u32>,
}

/// `error`: a protocol error, which is recorded; the program carries on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mistake {
    /// What is wrong, in words.
    pub why: String,
}

/// The kind of a message, if it says one.
#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(default, borrow)]
    kind: Option<Cow<'a, str>>,
}

/// The kind that a message names.
pub(crate) fn kind_of(message: &RawValue) -> Option<Cow<'_, str>> {
    let mut message = serde_json::Deserializer::from_str(message.get());
    let kind: Kind<'_> = object(&mut message).ok()?;
    kind.kind
}

/// Reads an answer, or says what is wrong with it.
pub(crate) fn read<'a, T: Deserialize<'a>>(
    question: &[u8],
    line: &'a [u8],
) -> Result<T, ProgramError> {
    let mut json = serde_json::Deserializer::from_slice(line);
    let answer = object(&mut json).and_then(|answer| json.end().map(|()| answer));
    answer.map_err(|error| ProgramError::NoAnswer {
        asked: shown(question),
        line: shown(line),
        why: error.to_string(),
    })
}

/// A line for an error message: not all of it where it is long.
pub(crate) fn shown(line: &[u8]) -> String {
    const LONGEST: usize = 200;
    let text = String::from_utf8_lossy(line);
    safe_io::visible(&cut(text.trim_end_matches('\n'), LONGEST)).into_owned()
}

/// What a program sent or knows as a trace and a page have it: not all of it where it is very long, since a trace has
/// it once for every message.
pub(crate) fn traced(text: &str) -> String {
    const LONGEST: usize = 4_000;
    cut(text, LONGEST)
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
