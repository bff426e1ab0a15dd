//! What is known about the group that a fault is for, and whether the fault fits it.

use std::fmt::{self, Write};
use std::ops::Range;

use super::error::FaultError;
use super::links::first_words;
use super::spec::FaultSpec;
use crate::fate::Member;
use crate::partition::Named;
use crate::process_fault;

/// What is known about the group when a fault is read or checked. What is known is checked; by
/// default nothing is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope<'a> {
    /// How many members there are.
    pub nodes: Option<u32>,
    /// What they are called besides their numbers, in order.
    pub names: &'a [String],
    /// The kinds of messages they send.
    pub kinds: Option<&'a [&'a str]>,
    /// How many edges there are between them.
    pub edges: Option<u64>,
    /// Whether the members pass a token around.
    pub token: Option<bool>,
    /// Only faults of links are allowed: a proxy that stands alone neither watches members nor
    /// controls their processes.
    pub links_only: bool,
}

/// A part of a fault that is right in one group and wrong in another. It prints itself as it is
/// written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    /// A member, by its number.
    Member(Member),
    /// The member that is inside: `holder`.
    Holder,
    /// The member that has the token: `token`.
    Token,
    /// A host, by what it is called.
    Host(&'a str),
    /// The kind of a message.
    Kind(&'a str),
    /// How many edges are drawn by chance.
    RandomEdges(u32),
    /// A partition that has a name.
    Partition(Named),
    /// The word that begins a fault of a process.
    Process(&'a str),
    /// The words that begin a fault of a message.
    Message(&'a str),
    /// The word before a trigger.
    When,
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Member(member) => member.fmt(f),
            Part::Holder => f.write_str("holder"),
            Part::Token => f.write_str("token"),
            Part::RandomEdges(edges) => edges.fmt(f),
            Part::Partition(named) => named.fmt(f),
            Part::Host(words) | Part::Kind(words) | Part::Process(words) | Part::Message(words) => {
                f.write_str(words)
            }
            Part::When => f.write_str("when"),
        }
    }
}

/// What is wrong with a part, and what would be right.
pub(super) type Mismatch = (String, String);

impl Scope<'_> {
    /// What is wrong with the part in this group, and what would be right; nothing if it fits.
    pub(super) fn mismatch(&self, part: Part<'_>) -> Option<Mismatch> {
        match part {
            Part::Member(member) => {
                let nodes = self.nodes.filter(|nodes| member >= *nodes)?;
                let right = match nodes {
                    0 => "the group has no members".to_owned(),
                    1 => "the only member is 0".to_owned(),
                    _ => format!("the members are 0 to {}", nodes - 1),
                };
                Some((format!("there is no member {member}"), right))
            }
            Part::Holder | Part::Token if self.links_only => {
                let right = format!("write {} or random", self.one_member());
                needs_orchestrator(part, "a proxy does not know who is inside", right)
            }
            Part::Holder => None,
            Part::Token => (self.token == Some(false)).then(|| {
                let wrong = "no token is passed around in this algorithm";
                let right = "write a member's number, holder or random";
                (wrong.to_owned(), right.to_owned())
            }),
            // A group knows its members only; whoever knows the hosts has them written out before.
            Part::Host(host) => self.nodes.map(|_| {
                let right = "name the hosts by --hosts, or write the members' numbers";
                (format!("there is no host {host}"), right.to_owned())
            }),
            Part::Kind(kind) => {
                let kinds = self.kinds.filter(|kinds| !kinds.contains(&kind))?;
                let right = format!("write one of {}", kinds.join(", "));
                Some((format!("no message is called {kind}"), right))
            }
            Part::RandomEdges(wanted) => {
                let edges = self.edges.filter(|edges| u64::from(wanted) > *edges)?;
                let wrong = format!("there are only {edges} edges");
                Some((wrong, "write a smaller number".to_owned()))
            }
            Part::Partition(named) => {
                let nodes = self.nodes.filter(|nodes| *nodes < named.least_nodes())?;
                let wrong = format!("{nodes} members cannot be parted like this");
                let right = format!("have at least {} members", named.least_nodes());
                Some((wrong, right))
            }
            Part::Process(_) | Part::Message(_) | Part::When if !self.links_only => None,
            Part::Process(_) => {
                let why = "a proxy has no hold on processes";
                needs_orchestrator(part, why, self.all_actions())
            }
            Part::Message(_) => {
                let why = "a proxy does not look into datagrams";
                needs_orchestrator(part, why, self.all_actions())
            }
            Part::When => {
                let why = "a proxy sees datagrams, not what members do";
                needs_orchestrator(part, why, "write at or every and a time".to_owned())
            }
        }
    }

    /// What a fault may begin with.
    pub(super) fn all_actions(&self) -> String {
        const CUTS: [&str; 5] = ["cut", "partition", "isolate", "heal", "churn"];
        const MESSAGES: [&str; 2] = ["lose", "hide"];
        let mut words = first_words();
        words.extend(CUTS);
        let what = match self.links_only {
            true => "what happens to links",
            false => {
                words.extend(process_fault::WORDS.iter().map(|word| word.word));
                words.extend(MESSAGES);
                "what happens"
            }
        };
        let (last, words) = words.split_last().expect("there are words");
        format!("write {what}: {} or {last}", words.join(", "))
    }

    /// What one member is written as.
    pub(super) fn one_member(&self) -> String {
        /// How many names are listed before the rest is left out.
        const SHOWN_NAMES: usize = 8;
        if self.names.is_empty() {
            return "a member's number".to_owned();
        }
        let shown = &self.names[..self.names.len().min(SHOWN_NAMES)];
        let more = match shown.len() < self.names.len() {
            true => ", …",
            false => "",
        };
        format!("a member's name ({}{more})", shown.join(", "))
    }
}

/// The part is beyond a proxy that stands alone.
fn needs_orchestrator(part: Part<'_>, why: &str, right: String) -> Option<Mismatch> {
    Some((format!("'{part}' needs an orchestrator: {why}"), right))
}

/// What a fault is printed to. Every [`Part`] passes through it by itself, so that a check sees the
/// value and its place in the text at once.
pub(crate) trait Printer: Write {
    /// Prints a part.
    fn part(&mut self, part: Part<'_>) -> fmt::Result;
}

impl Printer for fmt::Formatter<'_> {
    fn part(&mut self, part: Part<'_>) -> fmt::Result {
        write!(self, "{part}")
    }
}

/// A piece of a fault, which prints itself in the canonical way.
pub(crate) trait Print {
    /// Prints it, part by part.
    fn print(&self, out: &mut dyn Printer) -> fmt::Result;
}

/// What prints itself is also shown so.
macro_rules! display_as_printed {
    ($($type:ty),+ $(,)?) => {$(
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::language::Print::print(self, f)
            }
        }
    )+};
}
pub(crate) use display_as_printed;

/// A text that is being printed, and the first of its parts that does not fit the scope.
struct Checked<'a> {
    scope: &'a Scope<'a>,
    text: String,
    mismatch: Option<(Range<usize>, Mismatch)>,
}

impl Write for Checked<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.write_str(text)
    }
}

impl Printer for Checked<'_> {
    fn part(&mut self, part: Part<'_>) -> fmt::Result {
        let start = self.text.len();
        write!(self.text, "{part}")?;
        if self.mismatch.is_none() {
            let mismatch = self.scope.mismatch(part);
            self.mismatch = mismatch.map(|mismatch| (start..self.text.len(), mismatch));
        }
        Ok(())
    }
}

impl FaultSpec {
    /// Whether the fault fits a group. The error points at the first part that does not, in the
    /// fault's canonical text.
    pub fn check(&self, scope: &Scope<'_>) -> Result<(), FaultError> {
        let mut checked = Checked {
            scope,
            text: String::new(),
            mismatch: None,
        };
        self.print(&mut checked).expect("a string has room");
        match checked.mismatch {
            None => Ok(()),
            Some((place, (wrong, right))) => Err(FaultError {
                text: checked.text,
                place,
                wrong,
                right,
            }),
        }
    }
}
