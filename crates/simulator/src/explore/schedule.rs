//! Schedules as text: `req 1; 1>0:REQUEST; 0>1:REPLY; exit 1`.
//!
//! | step | what happens |
//! |---|---|
//! | `req 1` | the client of 1 asks |
//! | `exit 1` | the client of 1, inside, leaves |
//! | `1>0:REQUEST` | a REQUEST from 1 arrives at 0; `1>0` alone: whatever is next on that link |
//! | `1>0:REQUEST#2` | the second oldest REQUEST on that link, where links do not keep order |
//! | `timer 0:wait` | the timer of that name goes off at 0; `timer 0:wait#3` the one with tag 3 |
//! | `tick` | time goes on, where it counts |
//! | `lose 1>0:REQUEST` | the message is lost |
//! | `dup 1>0:REQUEST` | a second one like it is on its way |
//! | `crash 2` | 2 crashes, and all mail from it survives; `crash 2 losing 2>0:REPLY, 2>1:REPLY` |
//! | `down 2@1` | 1 is told that 2 has crashed |
//! | `cut 1-2` | the session of that link ends: what is on its way is lost; `heal 1-2`: a new one |
//! | `link-down 2@1` | 1 is told that its link to 2 ended its session; `link-up 2@1`: has a new one |
//!
//! A schedule may begin with the world it is about: `on edges:2>1,1>0` names the links, and
//! `priorities 1,2,4` how urgent the requests of nodes 0, 1 and 2 are.
//!
//! Steps are separated by `;` or line ends; what stands in parentheses is a remark.

use std::fmt;
use std::str::FromStr;

use algorithms::NodeId;
use algorithms::topology::Shape;
use serde::{Serialize, Serializer};
use thiserror::Error;

/// The steps of a small world, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The links of the world; by default those of the world in which the schedule is played.
    pub on: Option<Shape>,
    /// How urgent each node's requests are; by default as the world says.
    pub priorities: Vec<u32>,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// One step of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `req 1`: a client asks.
    Request(NodeId),
    /// `exit 1`: a client leaves.
    Release(NodeId),
    /// `1>0:REQUEST`: a message arrives.
    Deliver(MessageName),
    /// `lose 1>0:REQUEST`: a message is lost.
    Lose(MessageName),
    /// `dup 1>0:REQUEST`: a message will arrive once more.
    Duplicate(MessageName),
    /// `timer 0:wait#3`: a timer goes off.
    Timer {
        /// The node whose timer goes off.
        node: NodeId,
        /// The name of the timer.
        name: String,
        /// The tag of the timer; by default that of the only timer of that name.
        tag: Option<u64>,
    },
    /// `tick`: time goes on.
    Tick,
    /// `crash 2 losing 2>0:REPLY`: a node dies.
    Crash {
        /// The node that crashes.
        victim: NodeId,
        /// The mail from the node that is lost with it.
        lost: Vec<MessageName>,
    },
    /// `down 2@1`: a node is told that another has crashed.
    Down {
        /// The node that crashed.
        victim: NodeId,
        /// The node that is told.
        told: NodeId,
    },
    /// `cut 1-2`: a link's session ends.
    Cut(NodeId, NodeId),
    /// `heal 1-2`: a link has a new session.
    Heal(NodeId, NodeId),
    /// `link-down 2@1`: one end is told of the end of a session.
    LinkDown {
        /// The node at the other end of the link.
        neighbour: NodeId,
        /// The node that is told.
        told: NodeId,
    },
    /// `link-up 2@1`: one end is told of a new session.
    LinkUp {
        /// The node at the other end of the link.
        neighbour: NodeId,
        /// The node that is told.
        told: NodeId,
    },
}

/// A message under way, named by its link, its kind and its place among those.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageName {
    /// The node that sent the message.
    pub from: NodeId,
    /// The node that the message goes to.
    pub to: NodeId,
    /// The kind of the message; any by default.
    pub kind: Option<String>,
    /// The place among messages of that kind on that link, the oldest being 1; the oldest by
    /// default.
    pub nth: Option<u32>,
}

/// The error of a step that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("step {step}, '{text}': {why}")]
pub struct ParseError {
    /// The place of the step in the schedule, counted from 1.
    pub step: usize,
    /// The text of the step.
    pub text: String,
    /// What is wrong with the text, and what would be right.
    pub why: String,
}

impl Schedule {
    /// A schedule of these steps, about no world in particular.
    pub fn of(steps: Vec<Step>) -> Self {
        Self {
            steps,
            ..Self::default()
        }
    }

    /// How many nodes there must be, at least.
    pub fn nodes(&self) -> u32 {
        let largest = self.steps.iter().map(Step::largest_node).max();
        let named = largest.map_or(0, |node| node.0.saturating_add(1));
        named.max(self.priorities.len() as u32)
    }
}

impl Step {
    /// The node that the step happens to, if it is one.
    pub fn node(&self) -> Option<NodeId> {
        match self {
            Step::Request(node) | Step::Release(node) | Step::Timer { node, .. } => Some(*node),
            Step::Deliver(named) => Some(named.to),
            Step::Lose(named) | Step::Duplicate(named) => Some(named.from),
            Step::Crash { victim, .. } => Some(*victim),
            Step::Down { told, .. } | Step::LinkDown { told, .. } | Step::LinkUp { told, .. } => {
                Some(*told)
            }
            Step::Tick | Step::Cut(..) | Step::Heal(..) => None,
        }
    }

    /// Who does what, in words: `1 receives REQUEST from 2`.
    pub fn in_words(&self) -> String {
        let what =
            |named: &MessageName| named.kind.clone().unwrap_or_else(|| "a message".to_owned());
        match self {
            Step::Request(node) => format!("{node} asks"),
            Step::Release(node) => format!("{node} leaves"),
            Step::Deliver(named) if named.from == named.to => {
                format!("{} receives {} from itself", named.to, what(named))
            }
            Step::Deliver(named) => {
                format!("{} receives {} from {}", named.to, what(named), named.from)
            }
            Step::Lose(named) => {
                format!(
                    "{} from {} to {} is lost",
                    what(named),
                    named.from,
                    named.to
                )
            }
            Step::Duplicate(named) => {
                format!(
                    "{} from {} to {} is doubled",
                    what(named),
                    named.from,
                    named.to
                )
            }
            Step::Timer { node, name, .. } => format!("{name} goes off at {node}"),
            Step::Tick => "time goes on".to_owned(),
            Step::Crash { victim, lost } if lost.is_empty() => format!("{victim} crashes"),
            Step::Crash { victim, lost } => {
                let lost: Vec<_> = lost.iter().map(MessageName::to_string).collect();
                format!("{victim} crashes, and {} with it", lost.join(", "))
            }
            Step::Down { victim, told } => format!("{told} hears that {victim} has crashed"),
            Step::Cut(a, b) => format!("the link of {a} and {b} is cut"),
            Step::Heal(a, b) => format!("the link of {a} and {b} is back"),
            Step::LinkDown { neighbour, told } => {
                format!("{told} hears that its link to {neighbour} is cut")
            }
            Step::LinkUp { neighbour, told } => {
                format!("{told} hears that its link to {neighbour} is back")
            }
        }
    }

    fn largest_node(&self) -> NodeId {
        match self {
            Step::Request(node) | Step::Release(node) | Step::Timer { node, .. } => *node,
            Step::Deliver(named) | Step::Lose(named) | Step::Duplicate(named) => {
                named.from.max(named.to)
            }
            Step::Tick => NodeId(0),
            Step::Crash { victim, lost } => {
                let addressees = lost.iter().map(|named| named.to);
                addressees.fold(*victim, NodeId::max)
            }
            Step::Down { victim, told } => *victim.max(told),
            Step::Cut(a, b) | Step::Heal(a, b) => *a.max(b),
            Step::LinkDown { neighbour, told } | Step::LinkUp { neighbour, told } => {
                *neighbour.max(told)
            }
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on = self.on.iter().map(|shape| format!("on {shape}"));
        let each: Vec<_> = self.priorities.iter().map(u32::to_string).collect();
        let priorities = (!each.is_empty()).then(|| format!("priorities {}", each.join(",")));
        let steps = self.steps.iter().map(Step::to_string);
        let parts: Vec<_> = on.chain(priorities).chain(steps).collect();
        f.write_str(&parts.join("; "))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Request(node) => write!(f, "req {node}"),
            Step::Release(node) => write!(f, "exit {node}"),
            Step::Deliver(named) => write!(f, "{named}"),
            Step::Lose(named) => write!(f, "lose {named}"),
            Step::Duplicate(named) => write!(f, "dup {named}"),
            Step::Timer { node, name, tag } => {
                write!(f, "timer {node}:{name}")?;
                tag.map_or(Ok(()), |tag| write!(f, "#{tag}"))
            }
            Step::Tick => f.write_str("tick"),
            Step::Crash { victim, lost } => {
                write!(f, "crash {victim}")?;
                for (number, named) in lost.iter().enumerate() {
                    let between = if number == 0 { " losing" } else { "," };
                    write!(f, "{between} {named}")?;
                }
                Ok(())
            }
            Step::Down { victim, told } => write!(f, "down {victim}@{told}"),
            Step::Cut(a, b) => write!(f, "cut {a}-{b}"),
            Step::Heal(a, b) => write!(f, "heal {a}-{b}"),
            Step::LinkDown { neighbour, told } => write!(f, "link-down {neighbour}@{told}"),
            Step::LinkUp { neighbour, told } => write!(f, "link-up {neighbour}@{told}"),
        }
    }
}

impl fmt::Display for MessageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}>{}", self.from, self.to)?;
        if let Some(kind) = &self.kind {
            write!(f, ":{kind}")?;
        }
        self.nth.map_or(Ok(()), |nth| write!(f, "#{nth}"))
    }
}

impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for Schedule {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut schedule = Self::default();
        let without_remarks = strip_remarks(text).map_err(|why| ParseError {
            step: 1,
            text: text.to_owned(),
            why,
        })?;
        let written = without_remarks.split([';', '\n']).map(str::trim);
        for (number, text) in written.filter(|text| !text.is_empty()).enumerate() {
            schedule.read(text).map_err(|why| ParseError {
                step: number + 1,
                text: text.to_owned(),
                why,
            })?;
        }
        Ok(schedule)
    }
}

impl Schedule {
    /// Reads one part: a step, or, before the first, something about the world.
    fn read(&mut self, text: &str) -> Result<(), String> {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word {
            "on" | "priorities" if !self.steps.is_empty() => {
                Err("the world comes before the first step".to_owned())
            }
            "on" => {
                let shape = rest.parse::<Shape>().map_err(|error| error.to_string())?;
                self.on = Some(shape);
                Ok(())
            }
            "priorities" => {
                let each = rest.split(',').map(|one| one.trim().parse());
                let each = each.collect::<Result<_, _>>();
                self.priorities =
                    each.map_err(|_| "write a number for each node: priorities 1,2,4")?;
                Ok(())
            }
            _ => {
                self.steps.push(text.parse()?);
                Ok(())
            }
        }
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        match word {
            "req" => Ok(Step::Request(node(rest)?)),
            "exit" => Ok(Step::Release(node(rest)?)),
            "lose" => Ok(Step::Lose(rest.parse()?)),
            "dup" => Ok(Step::Duplicate(rest.parse()?)),
            "timer" => timer(rest),
            "tick" if rest.is_empty() => Ok(Step::Tick),
            "crash" => crash(rest),
            "down" => {
                let (victim, told) = told(word, rest)?;
                Ok(Step::Down { victim, told })
            }
            "link-down" => {
                let (neighbour, told) = told(word, rest)?;
                Ok(Step::LinkDown { neighbour, told })
            }
            "link-up" => {
                let (neighbour, told) = told(word, rest)?;
                Ok(Step::LinkUp { neighbour, told })
            }
            "cut" => link(word, rest).map(|(a, b)| Step::Cut(a, b)),
            "heal" => link(word, rest).map(|(a, b)| Step::Heal(a, b)),
            _ if word.contains('>') => Ok(Step::Deliver(text.parse()?)),
            _ => Err(format!(
                "'{word}' is no step; a step is req, exit, timer, tick, lose, dup, crash, down, cut, heal, \
                 link-down, link-up or a delivery such as 1>0:REQUEST"
            )),
        }
    }
}

impl FromStr for MessageName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (from, rest) = text
            .split_once('>')
            .ok_or_else(|| format!("'{text}' is no message; write 1>0:REQUEST"))?;
        let (link, nth) = match rest.split_once('#') {
            Some((link, nth)) => (link, Some(ordinal(nth)?)),
            None => (rest, None),
        };
        let (to, kind) = match link.split_once(':') {
            Some((_, kind)) if kind.trim().is_empty() => {
                return Err("a kind of message is missing after ':'".to_owned());
            }
            Some((to, kind)) => (to, Some(kind.trim().to_owned())),
            None => (link, None),
        };
        Ok(Self {
            from: node(from)?,
            to: node(to)?,
            kind,
            nth,
        })
    }
}

/// `2@1`: about whom, and who is told.
fn told(word: &str, text: &str) -> Result<(NodeId, NodeId), String> {
    let (whom, told) = text
        .split_once('@')
        .ok_or_else(|| format!("who is told is missing; write '{word} 2@1'"))?;
    Ok((node(whom)?, node(told)?))
}

/// `1-2`: a link.
fn link(word: &str, text: &str) -> Result<(NodeId, NodeId), String> {
    let (a, b) = text
        .split_once('-')
        .ok_or_else(|| format!("a link has two ends; write '{word} 1-2'"))?;
    Ok((node(a)?, node(b)?))
}

fn timer(text: &str) -> Result<Step, String> {
    let (owner, name) = text
        .split_once(':')
        .ok_or("the timer's name is missing; write 'timer 0:wait'")?;
    let (name, tag) = match name.split_once('#') {
        Some((name, tag)) => {
            let number = tag.trim().parse();
            let tag = number.map_err(|_| format!("'{tag}' is no tag; a tag is a whole number"))?;
            (name, Some(tag))
        }
        None => (name, None),
    };
    Ok(Step::Timer {
        node: node(owner)?,
        name: name.trim().to_owned(),
        tag,
    })
}

fn crash(text: &str) -> Result<Step, String> {
    let (victim, lost) = match text.split_once("losing") {
        Some((victim, lost)) => (
            victim,
            lost.split(',').map(|one| one.trim().parse()).collect(),
        ),
        None => (text, Ok(Vec::new())),
    };
    Ok(Step::Crash {
        victim: node(victim)?,
        lost: lost?,
    })
}

fn node(text: &str) -> Result<NodeId, String> {
    let number = text.trim().parse();
    number
        .map(NodeId)
        .map_err(|_| format!("'{}' is no node; nodes are numbered from 0", text.trim()))
}

fn ordinal(text: &str) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(nth) if nth > 0 => Ok(nth),
        _ => Err(format!("'#{text}' is no place; the oldest is #1")),
    }
}

fn strip_remarks(text: &str) -> Result<String, String> {
    let mut depth = 0_u32;
    let mut kept = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return Err("a ')' closes nothing".to_owned()),
            ')' => depth -= 1,
            _ if depth == 0 => kept.push(character),
            _ => {}
        }
    }
    match depth {
        0 => Ok(kept),
        _ => Err("a '(' is never closed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_step_reads_back_as_it_was_written() {
        let text = "req 1; 1>0:REQUEST; 0>1:REPLY#2; exit 1; timer 0:wait; timer 0:wait#3; \
                    lose 1>0:REQUEST; dup 2>1:TOKEN#3; crash 2; crash 1 losing 1>0:REPLY, \
                    1>2:REPLY#2; down 2@1; 0>0:WAKE; tick; 1>2; cut 1-2; link-down 2@1; \
                    heal 1-2; link-up 2@1";
        let schedule: Schedule = text.parse().unwrap();
        assert_eq!(schedule.steps.len(), 18);
        assert_eq!(schedule.to_string(), text);
        assert_eq!(schedule.to_string().parse(), Ok(schedule));
    }

    #[test]
    fn a_schedule_may_say_what_world_it_is_about() {
        let text = "on edges:2>1,1>0; priorities 1,2,4; req 1; 1>0:REQUEST";
        let schedule: Schedule = text.parse().unwrap();
        assert_eq!((schedule.steps.len(), schedule.nodes()), (2, 3));
        assert_eq!(schedule.priorities, [1, 2, 4]);
        assert_eq!(schedule.to_string(), text);
    }

    #[test]
    fn remarks_and_line_ends_are_no_steps() {
        let text = "req 1 (1 is far away)\n 1>0:REQ ; ; (now (at last)) 0>1:TOKEN\n";
        let schedule: Schedule = text.parse().unwrap();
        assert_eq!(schedule.to_string(), "req 1; 1>0:REQ; 0>1:TOKEN");
    }

    #[test]
    fn a_bad_step_is_named_with_what_would_be_right() {
        let cases = [
            (
                "req 1; go 2",
                "step 2, 'go 2': 'go' is no step; a step is req",
            ),
            ("req x", "step 1, 'req x': 'x' is no node"),
            ("1>z:A", "'z' is no node"),
            ("1>0:", "a kind of message is missing"),
            ("1>0:A#0", "the oldest is #1"),
            ("down 2", "write 'down 2@1'"),
            ("link-up 2", "write 'link-up 2@1'"),
            ("cut 2", "write 'cut 1-2'"),
            ("timer 0", "write 'timer 0:wait'"),
            ("timer 0:wait#x", "'x' is no tag"),
            ("lose 1", "'1' is no message"),
            ("crash 1 losing", "'' is no message"),
            ("req 1; on path", "the world comes before the first step"),
            ("on torus", "'torus' is no topology"),
            ("priorities 1,x", "write a number for each node"),
            ("req 1)", "a ')' closes nothing"),
            ("req 1 (", "a '(' is never closed"),
        ];
        for (text, expected) in cases {
            let error = text.parse::<Schedule>().unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
