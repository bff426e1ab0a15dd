//! One fault as it is written: when, and what.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::error::FaultError;
use super::hosts::HostFault;
use super::members::Who;
use super::schedule::Schedule;
use super::scope::{Part, Print, Printer, Scope, display_as_printed};
use super::triggers::MessageFault;
use crate::churn::Churn;
use crate::fault::{AnyFault, InFlight, PacketOrder, quoted, write_rest};
use crate::partition::Named;
use crate::percent::Percent;
use crate::process_fault::AnyProcessFault;
use crate::reach::Reach;
use crate::sample::Source;
use crate::span::show_ns;

/// One fault as it is written: when, and what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "FaultText", into = "String")]
pub struct FaultSpec {
    /// When the fault happens.
    pub schedule: Schedule,
    /// What the fault does.
    pub action: Action,
}

/// What a fault does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Links misbehave: `loss 5% on 3->4`.
    Links {
        /// What the links do to packets.
        fault: LinkFault,
        /// The links that misbehave.
        reach: Reach,
    },
    /// Links carry nothing: `cut 3-4`, `cut 4 random edges`.
    Cut {
        /// The edges or links.
        choice: Choice,
        /// What becomes of datagrams under way.
        in_flight: InFlight,
    },
    /// Groups do not reach each other: `partition 0,1|2,3`, `partition halves`.
    Partition {
        /// The groups that are parted.
        groups: PartitionGroups,
        /// What becomes of datagrams under way.
        in_flight: InFlight,
    },
    /// A member is cut off from all others: `isolate holder`.
    Isolate {
        /// The member that is cut off.
        who: Who,
        /// What becomes of datagrams under way.
        in_flight: InFlight,
    },
    /// Cuts end: `heal`, `heal 3-4`.
    Heal {
        /// The links whose cuts end.
        reach: Reach,
    },
    /// Edges fail and are repaired: `churn edges fail 5s repair 1s`.
    Churn {
        /// The edges or links.
        choice: Choice,
        /// How often the edges fail, and for how long.
        churn: Churn,
        /// What becomes of datagrams under way.
        in_flight: InFlight,
    },
    /// Something happens to a process: `kill 3`, `restart 5 after 500ms`.
    Process {
        /// What happens to it.
        fault: AnyProcessFault,
        /// The member whose process it is.
        who: Who,
    },
    /// Something happens to all members of a host: `kill host h2`.
    Host(HostFault),
    /// One message of the algorithm, above the transport: `lose message REPLY #1`.
    Message(MessageFault),
}

/// How links misbehave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkFault {
    /// A fault of the model: `loss 5%`.
    Model(AnyFault),
    /// `delay` with a distribution or delays that stand in a file.
    Delay {
        /// Where the delays stand.
        law: DelayLaw,
        /// How much a delay depends on that of the packet before.
        correlation: Percent,
        /// Whether packets may overtake each other.
        order: PacketOrder,
    },
    /// `preset 3g`: several faults that together are like such a network.
    Preset(String),
}

/// Delays that stand in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DelayLaw {
    /// The delays that were once measured: `empirical pings.csv:rtt_ms`.
    Empirical(Source),
    /// Each pair of sites has its own delay: `matrix wan.csv`.
    Matrix(String),
}

/// The edges or links that a fault is on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// All edges that the group has: `edges`.
    Edges,
    /// This number of edges, drawn at random: `4 random edges`.
    Random(u32),
    /// These links: `3-4`.
    Links(Reach),
}

/// The groups of a partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionGroups {
    /// A partition that has a name: `halves`.
    Named(Named),
    /// Groups listed member by member: `0,1|2,3`.
    Groups(Reach),
}

impl Action {
    /// The word it begins with.
    pub fn verb(&self) -> &'static str {
        match self {
            Action::Links { fault, .. } => fault.word(),
            Action::Cut { .. } => "cut",
            Action::Partition { .. } => "partition",
            Action::Isolate { .. } => "isolate",
            Action::Heal { .. } => "heal",
            Action::Churn { .. } => "churn",
            Action::Process { fault, .. } => fault.word(),
            Action::Host(fault) => fault.verb(),
            Action::Message(fault) => fault.words(),
        }
    }

    /// What it is, without where: `loss 30%`, `partition halves`.
    pub fn name(&self) -> String {
        match self {
            Action::Links { fault, .. } => fault.to_string(),
            Action::Partition {
                groups: PartitionGroups::Named(named),
                ..
            } => format!("partition {named}"),
            Action::Churn { churn, .. } => format!("churn {churn}"),
            Action::Cut { .. }
            | Action::Partition { .. }
            | Action::Isolate { .. }
            | Action::Heal { .. }
            | Action::Process { .. }
            | Action::Host(_)
            | Action::Message(_) => self.verb().to_owned(),
        }
    }

    /// Whether it goes on for some time.
    pub fn lasts(&self) -> bool {
        match self {
            Action::Links { .. }
            | Action::Cut { .. }
            | Action::Partition { .. }
            | Action::Isolate { .. }
            | Action::Churn { .. } => true,
            Action::Process { fault, .. } => fault.effect().lasts(),
            Action::Host(fault) => fault.lasts(),
            Action::Heal { .. } | Action::Message(_) => false,
        }
    }

    /// Whether a time makes no sense with it.
    pub fn is_timeless(&self) -> bool {
        matches!(self, Action::Message(_))
    }
}

impl LinkFault {
    /// The word it begins with.
    pub fn word(&self) -> &'static str {
        match self {
            LinkFault::Model(fault) => fault.word(),
            LinkFault::Delay { .. } => "delay",
            LinkFault::Preset(_) => "preset",
        }
    }
}

impl FromStr for FaultSpec {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        FaultSpec::parse(text, &Scope::default())
    }
}

impl Print for FaultSpec {
    fn print(&self, out: &mut dyn Printer) -> fmt::Result {
        self.schedule.start.print(out)?;
        self.action.print(out)?;
        if let Some(for_ns) = self.schedule.for_ns {
            write!(out, " for {}", show_ns(for_ns))?;
        }
        match self.schedule.until_ns {
            Some(until_ns) => write!(out, " until {}", show_ns(until_ns)),
            None => Ok(()),
        }
    }
}

impl Print for Action {
    fn print(&self, out: &mut dyn Printer) -> fmt::Result {
        match self {
            Action::Links { fault, reach } => {
                write!(out, "{fault} on ")?;
                reach.print(out)
            }
            Action::Cut { choice, in_flight } => {
                out.write_str("cut ")?;
                choice.print(out)?;
                write!(out, "{}", Under(*in_flight))
            }
            Action::Partition { groups, in_flight } => {
                out.write_str("partition ")?;
                groups.print(out)?;
                write!(out, "{}", Under(*in_flight))
            }
            Action::Isolate { who, in_flight } => {
                out.write_str("isolate ")?;
                who.print(out)?;
                write!(out, "{}", Under(*in_flight))
            }
            Action::Heal { reach } => {
                out.write_str("heal ")?;
                reach.print(out)
            }
            Action::Churn {
                choice,
                churn,
                in_flight,
            } => {
                out.write_str("churn ")?;
                choice.print(out)?;
                write!(out, " {churn}{}", Under(*in_flight))
            }
            Action::Process { fault, who } => {
                out.part(Part::Process(fault.word()))?;
                out.write_str(" ")?;
                who.print(out)?;
                fault.print_rest(out)
            }
            Action::Host(fault) => fault.print(out),
            Action::Message(fault) => fault.print(out),
        }
    }
}

/// What becomes of datagrams under way, if it is not the ordinary.
pub(super) struct Under(pub(super) InFlight);

impl fmt::Display for Under {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            InFlight::Drop => Ok(()),
            InFlight::Hold | InFlight::Deliver => write!(f, " {}", self.0),
        }
    }
}

impl fmt::Display for LinkFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkFault::Model(fault) => fault.fmt(f),
            LinkFault::Delay {
                law,
                correlation,
                order,
            } => {
                match law {
                    DelayLaw::Empirical(source) => write!(f, "delay empirical {source}")?,
                    DelayLaw::Matrix(file) => write!(f, "delay matrix {}", quoted(file))?,
                }
                write_rest(f, *correlation, *order)
            }
            LinkFault::Preset(name) => write!(f, "preset {name}"),
        }
    }
}

impl Print for Choice {
    fn print(&self, out: &mut dyn Printer) -> fmt::Result {
        match self {
            Choice::Edges => out.write_str("edges"),
            Choice::Random(edges) => {
                out.part(Part::RandomEdges(*edges))?;
                out.write_str(match edges {
                    1 => " random edge",
                    _ => " random edges",
                })
            }
            Choice::Links(reach) => reach.print(out),
        }
    }
}

impl Print for PartitionGroups {
    fn print(&self, out: &mut dyn Printer) -> fmt::Result {
        match self {
            PartitionGroups::Named(named) => out.part(Part::Partition(*named)),
            PartitionGroups::Groups(reach) => reach.print(out),
        }
    }
}

display_as_printed!(FaultSpec, Action, Choice, PartitionGroups);

/// A fault as it stands in a file, as one text or in parts, not read yet.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Written")]
pub struct FaultText(pub String);

/// A fault in a scenario file: its text, or its parts.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a fault is a text, or a table with fault and at, every, for, until or when"
)]
enum Written {
    Text(String),
    Parts(Parts),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    fault: String,
    at: Option<String>,
    every: Option<String>,
    when: Option<String>,
    #[serde(rename = "for")]
    for_: Option<String>,
    until: Option<String>,
}

impl TryFrom<FaultText> for FaultSpec {
    type Error = FaultError;

    fn try_from(FaultText(text): FaultText) -> Result<Self, FaultError> {
        text.parse()
    }
}

impl From<Written> for FaultText {
    fn from(written: Written) -> Self {
        FaultText(match written {
            Written::Text(text) => text,
            Written::Parts(parts) => {
                let clauses = [
                    ("at ", parts.at),
                    ("every ", parts.every),
                    ("when ", parts.when),
                    ("", Some(parts.fault)),
                    ("for ", parts.for_),
                    ("until ", parts.until),
                ];
                let given = clauses
                    .into_iter()
                    .filter_map(|(word, text)| Some((word, text?)));
                let texts = given.map(|(word, text)| format!("{word}{text}"));
                texts.collect::<Vec<_>>().join(" ")
            }
        })
    }
}

impl From<FaultSpec> for String {
    fn from(spec: FaultSpec) -> String {
        spec.to_string()
    }
}
