//! Who asks for the critical section, when, and how long they stay inside.

use std::fmt;
use std::str::FromStr;

use algorithms::NodeId;
use chaos::Draw;
use chaos::span::{LONGEST_NS, SpanError, parse_ns, show_ns};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

/// What the clients of all members do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// When clients ask.
    pub arrivals: Arrivals,
    /// How long a client stays inside.
    pub hold: PerNode<Span>,
    /// How much there is to do.
    pub quota: Quota,
    /// How urgent requests are; larger is more urgent.
    pub priority: PerNode<Urgency>,
    /// How often each node asks, relative to the others; empty if all alike.
    pub weights: Vec<f64>,
    /// How many clients share one member; they wait in a queue of its own.
    pub clients: u32,
}

/// When clients ask.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Each client asks, enters, leaves, thinks, and asks again.
    Closed {
        /// How long it thinks.
        think: PerNode<Span>,
    },
    /// Requests come to each node as a Poisson process, whether or not earlier ones are served.
    Open {
        /// The mean time between two requests at one node, in nanoseconds.
        mean_gap_ns: u64,
    },
    /// Given requests at given moments.
    Batch {
        /// Who asks, in this order.
        asks: Vec<Ask>,
        /// Whether the next one asks only when nothing is under way; the first to enter then stays
        /// inside until all have asked.
        settled: bool,
    },
    /// One request at a time, by a node drawn at random; the next when nothing is under way.
    OneAtATime,
    /// So many different nodes, drawn at random, each once, within a window from time 0.
    Window {
        /// How many.
        nodes: u32,
        /// How long the window is, in nanoseconds.
        within_ns: u64,
    },
}

/// One request of a batch or of a trace file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Who.
    pub node: NodeId,
    /// When, in nanoseconds from the start.
    pub at_ns: u64,
    /// How urgent, if not as the workload says for that node.
    pub priority: Option<u32>,
    /// How long it stays inside, if not as the workload says for that node.
    pub hold_ns: Option<u64>,
}

impl Ask {
    /// As urgent, and for as long, as the workload says for that node.
    pub fn at(at_ns: u64, node: NodeId) -> Self {
        Self {
            node,
            at_ns,
            priority: None,
            hold_ns: None,
        }
    }
}

/// How much there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quota {
    /// So many entries of each node.
    PerNode(u64),
    /// So many entries in all, dealt to the nodes in advance by their weights.
    Total(u64),
    /// New requests until this moment, in nanoseconds from the start; then the run drains.
    Until(u64),
}

/// One value for all nodes, or one for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PerNode<T> {
    /// The same for all.
    All(T),
    /// By node number; beyond its end it begins again.
    Each(Vec<T>),
}

impl<T: Copy> PerNode<T> {
    /// The value of one node.
    ///
    /// # Panics
    /// If the list is empty; scenarios with an empty list are refused.
    pub fn of(&self, node: NodeId) -> T {
        match self {
            PerNode::All(value) => *value,
            PerNode::Each(values) => values[node.index() % values.len()],
        }
    }
}

/// A length of time, or how it is drawn: `10ms`, `exp:10ms`, `uniform:1ms..5ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Span {
    /// Always the same, in nanoseconds.
    Constant(u64),
    /// Between the two, in nanoseconds.
    Uniform(u64, u64),
    /// With this mean, in nanoseconds.
    Exponential(u64),
}

impl Span {
    /// One such length of time, in nanoseconds; no longer than a text can say.
    pub fn draw_ns(self, draw: &mut Draw) -> u64 {
        let ns = match self {
            Span::Constant(ns) => ns,
            Span::Uniform(least_ns, most_ns) => least_ns + draw.below(most_ns - least_ns + 1),
            Span::Exponential(mean_ns) => (-(1.0 - draw.unit()).ln() * mean_ns as f64) as u64,
        };
        ns.min(LONGEST_NS)
    }
}

/// Why a text is no [`Span`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpanTextError {
    /// One of its times is none.
    #[error(transparent)]
    Time(#[from] SpanError),
    /// The words do not make one.
    #[error("'{0}' is neither TIME, exp:MEAN nor uniform:LEAST..MOST")]
    Form(String),
    /// The range is upside down.
    #[error("'{0}' begins after its end")]
    UpsideDown(String),
}

impl FromStr for Span {
    type Err = SpanTextError;

    fn from_str(text: &str) -> Result<Self, SpanTextError> {
        let form = || SpanTextError::Form(text.to_owned());
        match text.split_once(':') {
            None => Ok(Span::Constant(parse_ns(text)?)),
            Some(("exp", mean)) => Ok(Span::Exponential(parse_ns(mean)?)),
            Some(("uniform", range)) => {
                let (least, most) = range.split_once("..").ok_or_else(form)?;
                let (least, most) = (parse_ns(least)?, parse_ns(most)?);
                if least > most {
                    return Err(SpanTextError::UpsideDown(text.to_owned()));
                }
                Ok(Span::Uniform(least, most))
            }
            Some(_) => Err(form()),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Span::Constant(ns) => f.write_str(&show_ns(ns)),
            Span::Exponential(mean_ns) => write!(f, "exp:{}", show_ns(mean_ns)),
            Span::Uniform(least_ns, most_ns) => {
                write!(f, "uniform:{}..{}", show_ns(least_ns), show_ns(most_ns))
            }
        }
    }
}

impl TryFrom<String> for Span {
    type Error = SpanTextError;

    fn try_from(text: String) -> Result<Self, SpanTextError> {
        text.parse()
    }
}

impl From<Span> for String {
    fn from(span: Span) -> String {
        span.to_string()
    }
}

/// How urgent requests are, larger is more urgent, or how that is drawn: `3`, `uniform:1..10`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Always the same.
    Constant(u32),
    /// Between the two, both included, anew for each request.
    Uniform(u32, u32),
}

impl Urgency {
    /// How urgent one request is.
    pub fn draw(self, draw: &mut Draw) -> u32 {
        match self {
            Urgency::Constant(priority) => priority,
            Urgency::Uniform(least, most) => {
                let among = u64::from(most - least) + 1;
                least + u32::try_from(draw.below(among)).expect("it is below a u32 and one")
            }
        }
    }
}

impl From<u32> for Urgency {
    fn from(priority: u32) -> Self {
        Urgency::Constant(priority)
    }
}

/// Why a text is no [`Urgency`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UrgencyTextError {
    /// The words do not make one.
    #[error("'{0}' is neither a whole NUMBER nor uniform:LEAST..MOST")]
    Form(String),
    /// The range is upside down.
    #[error("'{0}' begins after its end")]
    UpsideDown(String),
}

impl FromStr for Urgency {
    type Err = UrgencyTextError;

    fn from_str(text: &str) -> Result<Self, UrgencyTextError> {
        let form = || UrgencyTextError::Form(text.to_owned());
        let number = |word: &str| word.trim().parse::<u32>().map_err(|_| form());
        let Some((kind, range)) = text.split_once(':') else {
            return number(text).map(Urgency::Constant);
        };
        let range = range.split_once("..").filter(|_| kind == "uniform");
        let (least, most) = range.ok_or_else(form)?;
        match (number(least)?, number(most)?) {
            (least, most) if least > most => Err(UrgencyTextError::UpsideDown(text.to_owned())),
            (least, most) => Ok(Urgency::Uniform(least, most)),
        }
    }
}

impl fmt::Display for Urgency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Urgency::Constant(priority) => write!(f, "{priority}"),
            Urgency::Uniform(least, most) => write!(f, "uniform:{least}..{most}"),
        }
    }
}

/// A number stays a number.
impl Serialize for Urgency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Urgency::Constant(priority) => serializer.serialize_u32(*priority),
            Urgency::Uniform(..) => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Urgency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrText;
        impl Visitor<'_> for NumberOrText {
            type Value = Urgency;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number or \"uniform:LEAST..MOST\"")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Urgency, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Urgency, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Urgency, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(NumberOrText)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_urgency_is_read_as_it_is_written() {
        for (text, json) in [("3", "3"), ("uniform:1..10", "\"uniform:1..10\"")] {
            let urgency = text.parse::<Urgency>().unwrap();
            assert_eq!(urgency.to_string(), text);
            assert_eq!(serde_json::to_string(&urgency).unwrap(), json);
            assert_eq!(serde_json::from_str::<Urgency>(json).unwrap(), urgency);
        }
        for text in ["", "-1", "1..10", "uniform:1", "uniform:5..1", "exp:3"] {
            assert!(text.parse::<Urgency>().is_err(), "{text}");
        }
    }

    #[test]
    fn drawn_urgencies_reach_both_ends_and_no_further() {
        let draws = (0..200).map(|nth| Urgency::Uniform(1, 5).draw(&mut Draw::new([nth])));
        let drawn = draws.collect::<std::collections::BTreeSet<_>>();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        let whole = Urgency::Uniform(0, u32::MAX).draw(&mut Draw::new([1]));
        assert!(whole > 0);
    }

    #[test]
    fn a_span_is_read_as_it_is_written() {
        for text in ["10ms", "exp:10ms", "uniform:1ms..5ms", "0s"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "ten",
            "exp:",
            "uniform:1ms",
            "uniform:5ms..1ms",
            "normal:1ms",
        ] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }
}
