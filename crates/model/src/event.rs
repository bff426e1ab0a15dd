//! Everything that happens in a run, one event after another.
//!
//! The core emits events, the recorder of a process and the trace write them, the ledger folds them into
//! the run, and the explorer tells a schedule in them. A run that is not traced has fewer kinds of them,
//! and its messages are told by kind alone.
//!
//! An event is a line of JSON in `events.jsonl`. What a member's algorithm is given (a request, a
//! release, a message, a timer, news of a peer or a link) comes before what it does about that, and
//! messages are there with their bytes: each member's inputs can be given to the same machine again,
//! and what comes out compared with what came out then.
//!
//! ```text
//! {"time_ns":7000,"node":2,"what":"request","priority":0}
//! {"time_ns":7000,"node":2,"what":"send","to":1,"number":1,"kind":"REQUEST","body":"00","text":"Request"}
//! {"time_ns":8000,"node":1,"what":"receive","from":2,"number":1,"kind":"REQUEST","body":"00"}
//! ```
//!
//! A member numbers its messages from 1, in the order its algorithm makes them. Copies that a fault
//! makes have the number of their original.

use std::borrow::Cow;

use algorithms::NodeId;
use chaos::Timeline;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::run::{FaultOutcome, FaultTarget};

/// Something that happened, when, and to whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When, in nanoseconds from the start.
    pub time_ns: u64,
    /// To which member; none where it is not about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

/// What is recorded where an algorithm lets a client in that is inside.
pub const ALREADY_INSIDE: &str = "the algorithm lets a client in that is inside";

/// Declares the kinds of events once, and derives two forms of them: the lines of `events.jsonl`, in which
/// an event is one flat object, and the bytes of a member's record file, which are as few as possible.
macro_rules! kinds_of_event {
    ($(
        $(#[$about:meta])*
        $name:ident $({ $( $(#[$field_about:meta])* $field:ident: $type:ty, )* })?,
    )*) => {
        /// What happened. Those marked *input* the algorithm is given, those marked *output* it makes.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "what", rename_all = "kebab-case")]
        pub enum What {
            $( $(#[$about])* $name $({ $( $(#[$field_about])* $field: $type, )* })?, )*
        }

        /// An event as it is written to a record file.
        #[derive(Serialize)]
        enum Written<'a> {
            $( $name $({ $( $field: &'a $type, )* })?, )*
        }

        /// An event as it is read from a record file.
        #[derive(Deserialize)]
        enum Read {
            $( $name $({ $( $field: $type, )* })?, )*
        }

        impl<'a> From<&'a What> for Written<'a> {
            fn from(what: &'a What) -> Self {
                match what {
                    $( What::$name $({ $( $field, )* })? => Written::$name $({ $( $field, )* })?, )*
                }
            }
        }

        impl From<Read> for What {
            fn from(read: Read) -> Self {
                match read {
                    $( Read::$name $({ $( $field, )* })? => What::$name $({ $( $field, )* })?, )*
                }
            }
        }
    };
}

kinds_of_event! {
    /// A client wants in, and waits in the member's own queue.
    Arrive {
        /// How urgent the request is; larger is more urgent.
        priority: u32,
    },
    /// *Input*: the algorithm is asked for the first in the queue.
    Request {
        /// How urgent the request is; larger is more urgent.
        priority: u32,
    },
    /// *Output*: the client is let in.
    Enter {
        /// The entry's fence, where the algorithm has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fence: Option<u64>,
        /// Whether the algorithm had been asked.
        invited: bool,
        /// The lock file that the kernel granted (cluster; none if it refused).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        witness: Option<u32>,
        /// One more than the largest index of an exit that the member knew of, by messages; none
        /// where more than one may be inside.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<u32>,
    },
    /// *Input*: the client leaves.
    Release,
    /// A client will not ask again.
    Retire,
    /// *Output*, the first time a number is sent: a message leaves, or a copy that a fault made of
    /// it. One of these is one `sent` of `messages.csv`.
    Send {
        /// The member that the message goes to.
        to: NodeId,
        /// The message, with its number and kind.
        #[serde(flatten)]
        letter: Box<Letter>,
        /// The node whose latest request pays for it, if the algorithm says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        charge: Option<NodeId>,
        /// How many bytes the message has. A trace has the bytes themselves.
        #[serde(skip)]
        bytes: u32,
    },
    /// *Output*: a fault holds the message back; it is sent when that is over.
    Hold {
        /// The member that the message goes to.
        to: NodeId,
        /// The message, with its number and kind.
        #[serde(flatten)]
        letter: Box<Letter>,
        /// When the message leaves.
        until_ns: u64,
    },
    /// *Output*: a message to oneself that travels. It is in no other file.
    Post {
        /// The message, with its number and kind.
        #[serde(flatten)]
        letter: Box<Letter>,
    },
    /// *Input*: a message arrives. From another member it is one `received` of `messages.csv`.
    Receive {
        /// The sender; the member itself if it posted the message.
        from: NodeId,
        /// The message, with its number and kind.
        #[serde(flatten)]
        letter: Box<Letter>,
        /// How long it was under way. A trace has both ends of that.
        #[serde(skip)]
        delay_ns: u64,
    },
    /// A message of this member will never arrive: one `lost` of `messages.csv`. It is told when
    /// that is known for good, perhaps only at the end. What a death takes with it is not told
    /// between processes, unless links have sessions: nobody there knows what was under way.
    Lose {
        /// The member that the message would have gone to.
        to: NodeId,
        /// The number that its sender gave the message.
        number: u64,
        /// The kind of the message.
        kind: Cow<'static, str>,
    },
    /// *Output*: a timer is set, or moved.
    SetTimer {
        /// The name of the timer.
        timer: Cow<'static, str>,
        /// Tells timers of one name apart.
        tag: u64,
        /// When it goes off.
        at_ns: u64,
    },
    /// *Output*: a timer is forgotten, if it was set.
    CancelTimer {
        /// The name of the timer.
        timer: Cow<'static, str>,
        /// Tells timers of one name apart.
        tag: u64,
    },
    /// *Input*: a timer goes off.
    Timer {
        /// The name of the timer.
        timer: Cow<'static, str>,
        /// Tells timers of one name apart.
        tag: u64,
    },
    /// *Input*: another member died, or is taken for dead.
    PeerDown {
        /// The member that died.
        peer: NodeId,
    },
    /// *Input*: another member is there again.
    PeerUp {
        /// The member that is back.
        peer: NodeId,
    },
    /// *Input*: the session with a neighbour ended.
    LinkDown {
        /// The member at the other end.
        neighbour: NodeId,
    },
    /// *Input*: there is a new session.
    LinkUp {
        /// The member at the other end.
        neighbour: NodeId,
    },
    /// *Output*: a number that a claim is about.
    Note {
        /// What was counted or measured.
        name: Cow<'static, str>,
        /// The number that is noted.
        value: u64,
        /// The node whose latest request it belongs to, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        charge: Option<NodeId>,
    },
    /// *Output*: something that the paper says cannot happen.
    ProtocolError {
        /// What was wrong, in words.
        why: String,
    },
    /// A fault acted on what comes next: lost, doubled or held back a message, or hid a death.
    Tamper {
        /// The fault, as `faults.csv` names it.
        fault: String,
        /// The step of the plan's faults that it is.
        #[serde(default)]
        step: u32,
    },
    /// The member takes another for dead because it is silent.
    Suspect {
        /// The member that is silent.
        peer: NodeId,
    },
    /// The member waited for a fault to come into force (cluster).
    Stall {
        /// How long it waited.
        ns: u64,
    },
    /// A fault comes into force: a row of `faults.csv` that acted.
    Fault {
        /// The fault, and whom or what it hits.
        #[serde(flatten)]
        name: Box<FaultName>,
        /// What else is known of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remark: Option<String>,
    },
    /// A fault is over.
    FaultOver {
        /// The fault, and whom or what it hit.
        #[serde(flatten)]
        name: Box<FaultName>,
    },
}

impl What {
    /// Whether it is something that the algorithm is given.
    pub fn is_input(&self) -> bool {
        matches!(
            self,
            What::Request { .. }
                | What::Release
                | What::Receive { .. }
                | What::Timer { .. }
                | What::PeerDown { .. }
                | What::PeerUp { .. }
                | What::LinkDown { .. }
                | What::LinkUp { .. }
        )
    }
}

/// An event as bytes, for a field that says `#[serde(with = "model::event::binary")]`.
pub mod binary {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Read, What, Written};

    /// Writes an event in as few bytes as the format allows.
    pub fn serialize<S: Serializer>(what: &What, serializer: S) -> Result<S::Ok, S::Error> {
        Written::from(what).serialize(serializer)
    }

    /// Reads what [`serialize`] wrote.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<What, D::Error> {
        Read::deserialize(deserializer).map(What::from)
    }
}

/// A fault as events tell it. It is boxed there: members make millions of events, and few of this kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultName {
    /// What it is, as in `faults.csv`.
    pub fault: String,
    /// Whom or what it hits.
    pub target: String,
}

/// A message as events tell it. Where the run is not traced only its kind is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Letter {
    /// Its place among the messages that its sender made, from 1; 0 where the run is not traced.
    pub number: u64,
    /// The kind of the message.
    pub kind: Cow<'static, str>,
    /// Whose request it is about, if any.
    pub origin: Option<NodeId>,
    /// The message as it travels between processes (postcard), in hexadecimal.
    pub body: Body,
    /// The message in words, where it is sent.
    pub text: Option<String>,
}

impl Letter {
    /// A message of which only the kind is told.
    pub fn of_kind(kind: &'static str) -> Box<Self> {
        Box::new(Self {
            kind: Cow::Borrowed(kind),
            ..Self::default()
        })
    }
}

/// The bytes of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body(pub Vec<u8>);

impl Event {
    /// The event as a line, without its end.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("an event is plain data")
    }

    /// When a fault began and when it was over, as far as it was and acted at all.
    pub fn of_fault(outcome: &FaultOutcome, faults: &Timeline) -> Vec<Event> {
        let Some(began_ns) = outcome.at_ns() else {
            return Vec::new();
        };
        // Each time a fault acts on a message there is a `Tamper`.
        if outcome.is_idle() || outcome.target == FaultTarget::Messages {
            return Vec::new();
        }
        let node = outcome.victim();
        let name = Box::new(FaultName {
            fault: outcome.name(faults),
            target: outcome.target.to_string(),
        });
        let mut events = vec![Event {
            time_ns: began_ns,
            node,
            what: What::Fault {
                name: name.clone(),
                remark: outcome.remark.clone(),
            },
        }];
        let until_ns = outcome.until_ns().filter(|until_ns| *until_ns > began_ns);
        events.extend(until_ns.map(|time_ns| Event {
            time_ns,
            node,
            what: What::FaultOver { name },
        }));
        events
    }
}

/// A line has only what is known; bytes have a place for everything.
impl Serialize for Letter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Letter {
            number,
            kind,
            origin,
            body,
            text,
        } = self;
        if !serializer.is_human_readable() {
            return (number, kind, origin, body, text).serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("number", number)?;
        map.serialize_entry("kind", kind)?;
        if let Some(origin) = origin {
            map.serialize_entry("origin", origin)?;
        }
        map.serialize_entry("body", body)?;
        if let Some(text) = text {
            map.serialize_entry("text", text)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Letter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            number: u64,
            kind: Cow<'static, str>,
            origin: Option<NodeId>,
            body: Body,
            text: Option<String>,
        }
        let fields = match deserializer.is_human_readable() {
            true => Fields::deserialize(deserializer)?,
            false => {
                let (number, kind, origin, body, text) = Deserialize::deserialize(deserializer)?;
                Fields {
                    number,
                    kind,
                    origin,
                    body,
                    text,
                }
            }
        };
        Ok(Letter {
            number: fields.number,
            kind: fields.kind,
            origin: fields.origin,
            body: fields.body,
            text: fields.text,
        })
    }
}

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_bytes(&self.0);
        }
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        serializer.serialize_str(&digits.map(digit).collect::<String>())
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Vec::deserialize(deserializer).map(Body);
        }
        let text = Cow::<str>::deserialize(deserializer)?;
        let wrong = || de::Error::custom(format!("'{text}' is no message in hexadecimal"));
        let half = |digit: &u8| {
            let value = char::from(*digit).to_digit(16).ok_or_else(wrong)?;
            Ok(value as u8)
        };
        let byte = |pair: &[u8]| match pair {
            [high, low] => Ok(half(high)? << 4 | half(low)?),
            _ => Err(wrong()),
        };
        let bytes = text.as_bytes().chunks(2).map(byte);
        bytes.collect::<Result<_, _>>().map(Body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{FaultKind, Happened};

    fn receive() -> Event {
        Event {
            time_ns: 8_000,
            node: Some(NodeId(1)),
            what: What::Receive {
                from: NodeId(2),
                letter: Box::new(Letter {
                    number: 1,
                    kind: "TOKEN".into(),
                    origin: Some(NodeId(4)),
                    body: Body(vec![0, 0xaf, 0x10]),
                    text: None,
                }),
                delay_ns: 0,
            },
        }
    }

    #[test]
    fn a_line_gives_the_event_back() {
        let line = receive().line();
        let expected = "{\"time_ns\":8000,\"node\":1,\"what\":\"receive\",\"from\":2,\"number\":1,\
                        \"kind\":\"TOKEN\",\"origin\":4,\"body\":\"00af10\"}";
        assert_eq!(line, expected);
        let back: Event = serde_json::from_str(&line).expect("it was just written");
        assert_eq!(back, receive());
    }

    /// The simulator moves one for every step of every member.
    #[test]
    fn an_event_is_small() {
        assert!(size_of::<What>() <= 48, "{} bytes", size_of::<What>());
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for body in ["0", "0g", "ä"] {
            let line = receive().line().replace("00af10", body);
            let error = serde_json::from_str::<Event>(&line).expect_err(body);
            assert!(error.to_string().contains("hexadecimal"), "{error}");
        }
    }

    #[test]
    fn a_fault_that_strikes_once_is_not_over_again() {
        let kill = Happened::from(5, Some(5));
        let mut fault = FaultOutcome::unasked(FaultKind::Kill, NodeId(3), kill);
        let times = |fault: &FaultOutcome| {
            let events = Event::of_fault(fault, &Timeline::default()).into_iter();
            let events = events.map(|event| (event.time_ns, event.node));
            events.collect::<Vec<_>>()
        };
        assert_eq!(times(&fault), [(5, Some(NodeId(3)))]);
        fault.happened = Happened::from(5, Some(9));
        fault.target = FaultTarget::Links(chaos::Reach::edge(1, 2));
        assert_eq!(times(&fault), [(5, None), (9, None)]);
        fault.acted = 0;
        assert_eq!(times(&fault), []);
    }
}
