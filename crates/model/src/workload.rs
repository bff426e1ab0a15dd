//! Who asks for the critical section, when, and how long they stay inside.

mod conductor;
mod draws;
mod keys;
mod weights;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use algorithms::NodeId;
use algorithms::registry::Load;
use chaos::Draw;
use chaos::span::{LONGEST_NS, SpanError, parse_ns, show_ns};
use serde::de::{self, EnumAccess, IntoDeserializer, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;
use toml::Table;

use crate::plan::Plan;
pub use batch::Ask;
pub use conductor::{Conduct, Cue, Settled};
pub use draws::{Purpose, draw};
use keys::written;
pub use keys::{Group, KeyError, Keys, node_of};
pub use weights::Weights;

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

/// One way for requests to arrive: a word of `--workload`.
pub trait Arrive: Sized + Into<Arrivals> {
    /// The word that a scenario and a plan write.
    const WORD: &'static str;
    /// What the help of `--workload` says of it.
    const HELP: &'static str;
    /// The keys of a scenario that this workload alone takes.
    const KEYS: &'static [&'static str];
    /// The keys that it takes as other workloads do: `entries`, `total`, `duration`, `weights`.
    const SHARED_KEYS: &'static [&'static str] = &[];

    /// Reads and checks its own keys, with a default for each that is missing.
    fn read(keys: &Keys, group: &Group<'_>) -> Result<Self, KeyError>;

    /// Its own keys, none left out, so that reading them gives the same workload again.
    fn write(&self) -> Table;

    /// How much there is to do by default.
    fn quota(&self, nodes: u32) -> Quota {
        // Enough to look at, and soon over in large groups too.
        Quota::PerNode(u64::from((10_000 / nodes).clamp(1, 50)))
    }

    /// The moment of the last request in nanoseconds from the start, where it follows from the keys.
    fn last_request_ns(&self) -> Option<u64> {
        None
    }

    /// What makes clients ask.
    fn rhythm(&self) -> Rhythm;

    /// The requests that are known before the run begins: all requests of a scripted workload.
    fn asks(&self, _: &Plan) -> Cow<'_, [Ask]> {
        Cow::Borrowed(&[])
    }

    /// The conductor of this workload, if its rhythm needs one.
    fn conductor(&self, _: &Plan) -> Option<Box<dyn Conduct>> {
        None
    }

    /// What closed forms may assume of it, if all nodes have the same weight.
    fn load(&self) -> Load {
        Load::Other
    }
}

/// What makes clients ask: the few ways that the members know.
#[derive(Clone, Debug, PartialEq)]
pub enum Rhythm {
    /// Each client asks again when it has left and then thought.
    AfterLeaving {
        /// How long a client thinks.
        think: PerNode<Span>,
    },
    /// The next request of a node comes by chance, whether or not those before it are served.
    AfterArriving {
        /// The mean time between two requests at one node, in nanoseconds.
        mean_gap_ns: u64,
    },
    /// The requests of [`Arrive::asks`] come at their moments.
    Scripted,
    /// The conductor says who asks, whenever nothing is under way.
    Conducted,
}

/// A word of `--workload`, as far as a scenario is concerned.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The word itself.
    pub word: &'static str,
    /// What the help says of it.
    pub help: &'static str,
    /// The keys of a scenario that this workload alone takes.
    pub keys: &'static [&'static str],
    /// The keys that it takes as other workloads do.
    pub shared_keys: &'static [&'static str],
    /// Reads and checks its own keys.
    pub read: fn(&Keys, &Group<'_>) -> Result<Arrivals, KeyError>,
}

impl Kind {
    const fn of<A: Arrive>() -> Self {
        Self {
            word: A::WORD,
            help: A::HELP,
            keys: A::KEYS,
            shared_keys: A::SHARED_KEYS,
            read: |keys, group| A::read(keys, group).map(Into::into),
        }
    }

    /// Whether a scenario of this workload says how much there is to do.
    pub fn takes_quota(&self) -> bool {
        self.shared_keys.contains(&"total")
    }
}

/// Makes of the list of all workloads their modules, [`Arrivals`], which is one of them, and
/// [`KINDS`]. `also` has words that a scenario may say for another workload of the list.
macro_rules! workloads {
    ($($module:ident::$Workload:ident),+; also $($word:ident),+) => {
        $(
            mod $module;
            pub use $module::$Workload;
        )+
        $(mod $word;)+

        /// When clients ask.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Arrivals {
            $(
                #[doc = concat!("See [`", stringify!($Workload), "`].")]
                $Workload($Workload),
            )+
        }

        /// All words of `--workload`; the first is the default.
        pub const KINDS: &[Kind] = &[$(Kind::of::<$Workload>(),)+ $($word::KIND),+];

        /// The words of [`KINDS`].
        pub const WORDS: &[&str] = &[$($Workload::WORD,)+ $($word::KIND.word),+];

        impl Arrivals {
            /// The word of this workload, and what a scenario says with it.
            pub fn kind(&self) -> Kind {
                match self {
                    $(Arrivals::$Workload(_) => Kind::of::<$Workload>(),)+
                }
            }

            /// See [`Arrive::write`].
            pub fn write(&self) -> Table {
                match self {
                    $(Arrivals::$Workload(workload) => workload.write(),)+
                }
            }

            /// See [`Arrive::quota`].
            pub fn quota(&self, nodes: u32) -> Quota {
                match self {
                    $(Arrivals::$Workload(workload) => workload.quota(nodes),)+
                }
            }

            /// See [`Arrive::last_request_ns`].
            pub fn last_request_ns(&self) -> Option<u64> {
                match self {
                    $(Arrivals::$Workload(workload) => workload.last_request_ns(),)+
                }
            }

            /// See [`Arrive::rhythm`].
            pub fn rhythm(&self) -> Rhythm {
                match self {
                    $(Arrivals::$Workload(workload) => workload.rhythm(),)+
                }
            }

            /// See [`Arrive::asks`].
            pub fn asks(&self, plan: &Plan) -> Cow<'_, [Ask]> {
                match self {
                    $(Arrivals::$Workload(workload) => workload.asks(plan),)+
                }
            }

            /// See [`Arrive::conductor`].
            pub fn conductor(&self, plan: &Plan) -> Option<Box<dyn Conduct>> {
                match self {
                    $(Arrivals::$Workload(workload) => workload.conductor(plan),)+
                }
            }

            /// See [`Arrive::load`].
            pub fn load(&self) -> Load {
                match self {
                    $(Arrivals::$Workload(workload) => workload.load(),)+
                }
            }
        }

        $(
            impl From<$Workload> for Arrivals {
                fn from(workload: $Workload) -> Self {
                    Arrivals::$Workload(workload)
                }
            }
        )+

        /// The word and what belongs to it, `{"closed": {"think": "10ms"}}`; the word alone where
        /// nothing does.
        impl Serialize for Arrivals {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(
                        Arrivals::$Workload(_) if size_of::<$Workload>() == 0 => {
                            serializer.serialize_str($Workload::WORD)
                        }
                        Arrivals::$Workload(workload) => {
                            serializer.collect_map([($Workload::WORD, workload)])
                        }
                    )+
                }
            }
        }

        impl<'de> Deserialize<'de> for Arrivals {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct ByWord;
                impl<'de> Visitor<'de> for ByWord {
                    type Value = Arrivals;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("a workload")
                    }

                    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Arrivals, A::Error> {
                        match data.variant::<String>()? {
                            $(
                                (word, value) if word == $Workload::WORD => {
                                    belongings::<$Workload, _>(value).map(Into::into)
                                }
                            )+
                            (word, _) => Err(de::Error::unknown_variant(&word, WORDS)),
                        }
                    }
                }
                deserializer.deserialize_enum("Arrivals", WORDS, ByWord)
            }
        }
    };
}

/// What belongs to the word of a workload.
fn belongings<'de, T: Deserialize<'de>, A: VariantAccess<'de>>(value: A) -> Result<T, A::Error> {
    match size_of::<T>() {
        0 => {
            value.unit_variant()?;
            T::deserialize(().into_deserializer())
        }
        _ => value.newtype_variant(),
    }
}

workloads! {
    closed::Closed,
    open::Open,
    batch::Batch,
    one_at_a_time::OneAtATime,
    window::Window;
    also manual, trace
}

/// How much there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quota {
    /// This many entries of each node.
    PerNode(u64),
    /// This many entries in all, dealt to the nodes in advance by their weights.
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
    #[inline]
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
    /// One of its times cannot be read.
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

algorithms::written_as_text!(Span: SpanTextError);

/// How urgent requests are, larger is more urgent, or how that is drawn: `3`, `uniform:1..10`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Always the same.
    Constant(u32),
    /// Between the two, both included, drawn again for each request.
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

impl From<u32> for Urgency {
    fn from(priority: u32) -> Self {
        Urgency::Constant(priority)
    }
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
    use algorithms::registry;

    /// The usual plan of an ordinary algorithm.
    pub(super) fn plan() -> Plan {
        let info = registry::find("naimi-trehel").expect("a registered algorithm");
        Plan::usual(info, 5, 1)
    }

    pub(super) fn settled(now_ns: u64, inside: bool, waiting: bool) -> Settled {
        Settled {
            now_ns,
            inside,
            waiting,
        }
    }

    #[test]
    fn every_workload_is_read_as_it_is_written() {
        let requests = vec![Ask::at(7, NodeId(2))];
        let plan = plan();
        let group = Group {
            info: plan.info(),
            params: &plan.params,
            nodes: plan.nodes,
            weights: &[],
            requests_of_file: &|| Ok(requests.clone()),
        };
        for kind in KINDS {
            // One is no workload of a scenario: a person makes it one, at the page.
            let Ok(usual) = (kind.read)(&Keys(Table::new()), &group) else {
                assert_eq!(kind.word, "manual");
                continue;
            };
            let keys = usual.write();
            let own = usual.kind().keys;
            assert!(keys.keys().all(|key| own.contains(&key.as_str())), "{keys}");
            let again = (usual.kind().read)(&Keys(keys), &group).unwrap();
            assert_eq!(again, usual);
            let json = serde_json::to_string(&usual).unwrap();
            assert_eq!(serde_json::from_str::<Arrivals>(&json).unwrap(), usual);
        }
    }

    #[test]
    fn a_plan_says_the_word_and_what_belongs_to_it() {
        let json = |arrivals: Arrivals| serde_json::to_string(&arrivals).unwrap();
        assert_eq!(json(OneAtATime.into()), r#""one-at-a-time""#);
        let open = Open { mean_gap_ns: 5 };
        assert_eq!(json(open.into()), r#"{"open":{"mean_gap_ns":5}}"#);
        let unknown = serde_json::from_str::<Arrivals>(r#""bursty""#).unwrap_err();
        assert!(unknown.to_string().contains("`window`"), "{unknown}");
    }

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
