//! The messages that some members have under way, and the numbers by which a trace tells them.

use std::borrow::Cow;
use std::ops::Range;

use algorithms::NodeId;
use algorithms::erased::{Group, MessageId};

use model::event::{Body, Letter};

/// The algorithm at some members with its messages. Without a trace nothing is numbered.
pub(crate) struct Mail {
    pub(crate) group: Box<dyn Group>,
    kinds: &'static [&'static str],
    numbers: Option<Numbers>,
    /// For each message under way, by its place, the largest index of an exit that its sender knew of
    /// when it made it; none where the plan does without.
    known: Option<Vec<u32>>,
}

struct Numbers {
    first: u32,
    /// How many messages each member has made.
    made: Vec<u64>,
    /// The number of each message under way, by its place.
    of: Vec<u64>,
}

impl Mail {
    /// Nothing is under way between these members of the group.
    pub(crate) fn new(
        group: Box<dyn Group>,
        kinds: &'static [&'static str],
        members: Range<u32>,
        traced: bool,
        certified: bool,
    ) -> Self {
        let numbers = traced.then(|| Numbers {
            first: members.start,
            made: vec![0; members.len()],
            of: Vec::new(),
        });
        Self {
            group,
            kinds,
            numbers,
            known: certified.then(Vec::new),
        }
    }

    /// Whether messages are numbered.
    pub(crate) fn is_traced(&self) -> bool {
        self.numbers.is_some()
    }

    /// A member's algorithm, which knows of exits up to this index, has made this message: it gets the
    /// next number.
    pub(crate) fn made(&mut self, node: NodeId, message: MessageId, known: u32) {
        self.set_known(message, known);
        if let Some(numbers) = &mut self.numbers {
            let made = &mut numbers.made[(node.0 - numbers.first) as usize];
            *made += 1;
            let number = *made;
            set(&mut numbers.of, message, number);
        }
    }

    /// A second message of the same value and number.
    pub(crate) fn duplicate(&mut self, message: MessageId) -> MessageId {
        let copy = self.group.duplicate(message);
        self.set_number(copy, self.number(message));
        self.set_known(copy, self.known(message));
        copy
    }

    /// A message that has come from elsewhere has this number.
    pub(crate) fn set_number(&mut self, message: MessageId, number: u64) {
        if let Some(numbers) = &mut self.numbers {
            set(&mut numbers.of, message, number);
        }
    }

    /// A message was made by one who knew of exits up to this index.
    pub(crate) fn set_known(&mut self, message: MessageId, index: u32) {
        if let Some(known) = &mut self.known {
            set(known, message, index);
        }
    }

    /// The largest index of an exit that its sender knew of when it made this message.
    pub(crate) fn known(&self, message: MessageId) -> u32 {
        let known = self.known.as_ref();
        let known = known.and_then(|known| known.get(message.0 as usize));
        known.copied().unwrap_or(0)
    }

    /// The number of a message under way; 0 where nothing is numbered.
    pub(crate) fn number(&self, message: MessageId) -> u64 {
        let numbers = self.numbers.as_ref();
        numbers.map_or(0, |numbers| numbers.of[message.0 as usize])
    }

    /// What kind of message it is.
    pub(crate) fn kind(&self, message: MessageId) -> &'static str {
        self.kinds[self.group.kind(message)]
    }

    /// A message under way as events tell it: all of it where the run is traced, else only its kind.
    pub(crate) fn letter(&self, message: MessageId) -> Letter {
        let kind = Cow::Borrowed(self.kind(message));
        if !self.is_traced() {
            return Letter {
                kind,
                ..Letter::default()
            };
        }
        let mut body = Vec::new();
        self.group.encode(message, &mut body);
        Letter {
            number: self.number(message),
            kind,
            origin: self.group.origin(message),
            body: Body(body),
            text: None,
        }
    }
}

/// Puts down a number at the place of a message.
fn set<T: Clone + Default>(places: &mut Vec<T>, message: MessageId, number: T) {
    let place = message.0 as usize;
    if place >= places.len() {
        places.resize(place + 1, T::default());
    }
    places[place] = number;
}
