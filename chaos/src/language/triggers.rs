//! Events that faults wait for, and messages that faults are about.

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::cursor::{Cursor, Token};
use super::error::FaultError;
use super::scope::{Part, Print, Printer, display_as_printed};
use crate::fate::Member;
use crate::span::{LONGEST_NS, show_ns};

/// Something that happens at a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// The member enters for the n-th time.
    Enter(Member, NonZeroU32),
    /// The member leaves for the n-th time.
    Exit(Member, NonZeroU32),
    /// The member makes its n-th request.
    Request(Member, NonZeroU32),
    /// A member sends such a message.
    Message(Selector),
}

/// One message among all that a member sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selector {
    /// Its kind, as the algorithm calls it.
    pub kind: String,
    /// The member that sends it.
    pub from: Option<Member>,
    /// The member that it is sent to.
    pub to: Option<Member>,
    /// The member whose request it is about.
    pub origin: Option<Member>,
    /// It is the n-th such message of its sender: the n. So without `from` it may be one of each.
    pub nth: NonZeroU32,
    /// Whether every such message is meant, whatever its number.
    #[serde(default)]
    pub all: bool,
}

/// What is done to an algorithm's message, above the transport that would repair it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageFault {
    /// The message never arrives.
    Lose(Selector),
    /// The message arrives later.
    Delay(Selector, By),
    /// The message arrives twice.
    Duplicate(Selector),
    /// A member is never told that another is down.
    HideDown {
        /// The member that is down.
        of: Member,
        /// The member that is not told.
        from: Member,
    },
}

/// How much later a message arrives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// This long, in nanoseconds.
    Ns(u64),
    /// This many times the bound on delays that the members are told, their T.
    Bounds(f64),
}

impl Trigger {
    /// The member at which it happens, if only one can see it.
    pub fn at(&self) -> Option<Member> {
        match self {
            Trigger::Enter(member, _) | Trigger::Exit(member, _) | Trigger::Request(member, _) => {
                Some(*member)
            }
            Trigger::Message(selector) => selector.from,
        }
    }

    /// It must happen for the n-th time: the n.
    pub fn nth(&self) -> NonZeroU32 {
        match self {
            Trigger::Enter(_, nth) | Trigger::Exit(_, nth) | Trigger::Request(_, nth) => *nth,
            Trigger::Message(selector) => selector.nth,
        }
    }
}

impl Selector {
    /// Whether a message is of this sort, whatever its number.
    pub fn matches(&self, kind: &str, from: Member, to: Member, origin: Option<Member>) -> bool {
        self.kind == kind
            && self.from.is_none_or(|wanted| wanted == from)
            && self.to.is_none_or(|wanted| wanted == to)
            && self.origin.is_none_or(|wanted| origin == Some(wanted))
    }
}

impl MessageFault {
    /// The words it begins with.
    pub fn words(&self) -> &'static str {
        match self {
            MessageFault::Lose(_) => "lose message",
            MessageFault::Delay(..) => "delay message",
            MessageFault::Duplicate(_) => "duplicate message",
            MessageFault::HideDown { .. } => "hide",
        }
    }
}

impl By {
    /// In nanoseconds, for members that are told this bound.
    pub fn ns(&self, bound_ns: u64) -> u64 {
        match *self {
            By::Ns(ns) => ns,
            By::Bounds(bounds) => ((bounds * bound_ns as f64) as u64).min(LONGEST_NS),
        }
    }
}

const ONCE: NonZeroU32 = NonZeroU32::MIN;

impl Cursor<'_> {
    /// What comes after `when`.
    pub(crate) fn trigger(&mut self) -> Result<Trigger, FaultError> {
        const RIGHT: &str = "write enter, exit or request and a member, or message KIND [from A] [to B] [origin C] [#n]";
        let make = match self.peek() {
            Token::Word("enter") => Trigger::Enter,
            Token::Word("exit") => Trigger::Exit,
            Token::Word("request") => Trigger::Request,
            Token::Word("message") => {
                self.take();
                let mut selector = self.selector()?;
                selector.nth = self.nth()?;
                return Ok(Trigger::Message(selector));
            }
            _ => return Err(self.unfit(RIGHT)),
        };
        self.take();
        let member = self.member("write the number of the member whose event it is")?;
        Ok(make(member, self.nth()?))
    }

    /// What messages are meant, after the word `message`, but for their number.
    fn selector(&mut self) -> Result<Selector, FaultError> {
        let mut selector = Selector {
            kind: self.kind()?,
            from: None,
            to: None,
            origin: None,
            nth: ONCE,
            all: false,
        };
        loop {
            let place = self.place();
            let (word, slot) = match self.peek() {
                Token::Word(word @ "from") => (word, &mut selector.from),
                Token::Word(word @ "to") => (word, &mut selector.to),
                Token::Word(word @ "origin") => (word, &mut selector.origin),
                _ => break,
            };
            self.take();
            let member = self.member("write a member's number")?;
            if slot.replace(member).is_some() {
                let wrong = format!("'{word}' is written twice");
                return Err(self.error(place, wrong, "write it once"));
            }
        }
        Ok(selector)
    }

    /// What is done to a message, after the verb.
    pub(crate) fn message_fault(&mut self, verb: &str) -> Result<MessageFault, FaultError> {
        let mut selector = self.selector()?;
        (selector.nth, selector.all) = self.nth_or_all()?;
        Ok(match verb {
            "lose" => MessageFault::Lose(selector),
            "duplicate" => MessageFault::Duplicate(selector),
            _ => {
                self.expect("by", "write by and how much later: by 40ms, or by 4T")?;
                MessageFault::Delay(selector, self.by()?)
            }
        })
    }

    /// What a member is not told, after `hide`.
    pub(crate) fn hide(&mut self) -> Result<MessageFault, FaultError> {
        const RIGHT: &str = "write hide down WHO from WHOM, such as hide down 2 from 4";
        self.expect("down", RIGHT)?;
        let of = self.member(RIGHT)?;
        self.expect("from", RIGHT)?;
        let place = self.place();
        let from = self.member(RIGHT)?;
        if of == from {
            let wrong = "nobody is told of its own end";
            return Err(self.error(place, wrong, "write another member"));
        }
        Ok(MessageFault::HideDown { of, from })
    }

    fn by(&mut self) -> Result<By, FaultError> {
        let Token::Number(number, "T") = self.peek() else {
            return self.lasting_ns().map(By::Ns);
        };
        let place = self.place();
        match number.parse() {
            Ok(bounds) if bounds > 0.0 => {
                self.take();
                Ok(By::Bounds(bounds))
            }
            _ => Err(self.error(place, "no time at all", "write a time longer than 0")),
        }
    }

    fn nth_or_all(&mut self) -> Result<(NonZeroU32, bool), FaultError> {
        if !self.takes_sign("#") {
            return Ok((ONCE, false));
        }
        match self.takes("all") {
            true => Ok((ONCE, true)),
            false => Ok((self.count("all, or which occurrence it is")?, false)),
        }
    }

    fn nth(&mut self) -> Result<NonZeroU32, FaultError> {
        if self.takes_sign("#") {
            self.count("which occurrence it is")
        } else {
            Ok(ONCE)
        }
    }

    /// The name of a kind of message, which may have hyphens in it.
    fn kind(&mut self) -> Result<String, FaultError> {
        const RIGHT: &str = "write the kind of message, such as TOKEN";
        let start = self.place().start;
        loop {
            let Token::Word(_) = self.peek() else {
                return Err(self.unfit(RIGHT));
            };
            self.take();
            if !self.takes_joined("-") {
                break;
            }
        }
        let place = self.since(start);
        let kind = &self.text[place.clone()];
        self.fit(Part::Kind(kind), place)?;
        Ok(kind.to_owned())
    }
}

impl Print for Trigger {
    fn print(&self, out: &mut dyn Printer) -> fmt::Result {
        let (word, member, nth) = match self {
            Trigger::Enter(member, nth) => ("enter ", member, nth),
            Trigger::Exit(member, nth) => ("exit ", member, nth),
            Trigger::Request(member, nth) => ("request ", member, nth),
            Trigger::Message(selector) => {
                out.write_str("message ")?;
                return selector.print(out);
            }
        };
        out.write_str(word)?;
        out.part(Part::Member(*member))?;
        print_nth(out, *nth)
    }
}

impl Print for Selector {
    fn print(&self, out: &mut dyn Printer) -> fmt::Result {
        out.part(Part::Kind(&self.kind))?;
        for (word, member) in [
            ("from", self.from),
            ("to", self.to),
            ("origin", self.origin),
        ] {
            if let Some(member) = member {
                write!(out, " {word} ")?;
                out.part(Part::Member(member))?;
            }
        }
        if self.all {
            return out.write_str(" #all");
        }
        print_nth(out, self.nth)
    }
}

impl Print for MessageFault {
    fn print(&self, out: &mut dyn Printer) -> fmt::Result {
        out.part(Part::Message(self.words()))?;
        match self {
            MessageFault::Lose(selector) | MessageFault::Duplicate(selector) => {
                out.write_str(" ")?;
                selector.print(out)
            }
            MessageFault::Delay(selector, by) => {
                out.write_str(" ")?;
                selector.print(out)?;
                write!(out, " by {by}")
            }
            MessageFault::HideDown { of, from } => {
                out.write_str(" down ")?;
                out.part(Part::Member(*of))?;
                out.write_str(" from ")?;
                out.part(Part::Member(*from))
            }
        }
    }
}

display_as_printed!(Trigger, Selector, MessageFault);

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Ns(ns) => f.write_str(&show_ns(*ns)),
            By::Bounds(bounds) => write!(f, "{bounds}T"),
        }
    }
}

fn print_nth(out: &mut dyn Printer, nth: NonZeroU32) -> fmt::Result {
    match nth {
        ONCE => Ok(()),
        _ => write!(out, " #{nth}"),
    }
}
