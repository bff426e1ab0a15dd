//! When: `at 2s`, `every 2s`, `for 100ms`, `until 3s`, `when enter 3`.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::cursor::{Cursor, Token};
use super::error::FaultError;
use super::scope::{Part, Print, Printer, display_as_printed};
use super::spec::Action;
use super::triggers::Trigger;
use crate::span::show_ns;

/// When a fault happens, and how long it lasts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// When it begins.
    pub start: Start,
    /// How long it lasts each time, if that is given.
    pub for_ns: Option<u64>,
    /// When it is over for good.
    pub until_ns: Option<u64>,
}

/// When a fault begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// It begins at this moment, in nanoseconds from the start of the run.
    At(u64),
    /// It begins again and again.
    Every {
        /// When it begins for the first time.
        first_ns: u64,
        /// The time from each beginning to the next.
        period_ns: u64,
    },
    /// It begins once, when this happens.
    When(Trigger),
}

/// The clauses of a schedule while a text is read: what each means, and where it stands.
#[derive(Debug, Default)]
pub(super) struct Clauses {
    at: Option<(u64, Range<usize>)>,
    every: Option<(u64, Range<usize>)>,
    for_: Option<(u64, Range<usize>)>,
    until: Option<(u64, Range<usize>)>,
    when: Option<(Trigger, Range<usize>)>,
}

impl Clauses {
    /// At 0, which stands nowhere in the text.
    pub(super) fn from_the_beginning() -> Self {
        Self {
            at: Some((0, 0..0)),
            ..Self::default()
        }
    }

    /// Takes the clauses that come next, if any do.
    pub(super) fn take(&mut self, cursor: &mut Cursor<'_>) -> Result<(), FaultError> {
        loop {
            let start = cursor.place().start;
            let Token::Word(word @ ("at" | "every" | "for" | "until" | "when")) = cursor.peek()
            else {
                return Ok(());
            };
            if word == "when" {
                cursor.fit(Part::When, cursor.place())?;
            }
            cursor.take();
            let twice = match word {
                "at" => put(&mut self.at, cursor.time_ns()?, cursor.since(start)),
                "every" => put(&mut self.every, cursor.lasting_ns()?, cursor.since(start)),
                "for" => put(&mut self.for_, cursor.lasting_ns()?, cursor.since(start)),
                "until" => put(&mut self.until, cursor.time_ns()?, cursor.since(start)),
                _ => put(&mut self.when, cursor.trigger()?, cursor.since(start)),
            };
            if twice {
                let wrong = format!("'{word}' is written twice");
                return Err(cursor.error(cursor.since(start), wrong, "write it once"));
            }
        }
    }

    /// The schedule that the clauses make, if they fit each other and the action.
    pub(super) fn schedule(
        self,
        cursor: &Cursor<'_>,
        action: &Action,
    ) -> Result<Schedule, FaultError> {
        let error = |place: &Range<usize>, wrong: String, right: &str| {
            Err(cursor.error(place.clone(), wrong, right))
        };
        let verb = action.verb();
        if action.is_timeless() {
            let places = [&self.at, &self.every, &self.for_, &self.until];
            let first = places.into_iter().flatten().map(|(_, place)| place);
            let first = first.chain(self.when.iter().map(|(_, place)| place)).next();
            if let Some(place) = first {
                let wrong = format!("'{verb}' has no time: its message is found by its number");
                return error(
                    place,
                    wrong,
                    "leave the time out, and write #n after the message",
                );
            }
        }
        if let (Some((_, place)), Some(_)) = (&self.when, self.at.as_ref().or(self.every.as_ref()))
        {
            let wrong = "'when' already says when, and fires once".to_owned();
            return error(place, wrong, "write either when, or at and every");
        }
        if let (Some((_, place)), false) = (&self.for_, action.lasts()) {
            let wrong = format!("'{verb}' happens at once and does not last");
            return error(place, wrong, "leave 'for' out");
        }
        if let (Some((_, place)), None, false) = (&self.until, &self.every, action.lasts()) {
            let wrong = format!("'{verb}' happens at once and does not last");
            return error(place, wrong, "leave 'until' out");
        }
        if let (Some((_, place)), Some(_), None) = (&self.until, &self.for_, &self.every) {
            let wrong = "'for' already says how long".to_owned();
            return error(place, wrong, "write either for or until");
        }
        if let (Some((_, place)), Action::Churn { .. }) = (&self.every, action) {
            let wrong = "churn already comes again and again".to_owned();
            return error(place, wrong, "leave 'every' out");
        }
        if let (Some((period_ns, place)), true) = (&self.every, action.lasts()) {
            match &self.for_ {
                None => {
                    let wrong = format!("how long does '{verb}' last each time?");
                    return error(
                        place,
                        wrong,
                        "write for and a time shorter than that of every",
                    );
                }
                Some((for_ns, place)) if for_ns >= period_ns => {
                    let wrong = "it would begin again before it is over".to_owned();
                    return error(place, wrong, "make it shorter than the time of 'every'");
                }
                Some(_) => {}
            }
        }
        if let Some((period_ns, place)) = &self.every {
            let least_ns = match action {
                // Nobody has to do anything: a packet finds out for itself.
                Action::Links { .. } => 1_000,
                _ => 1_000_000,
            };
            if *period_ns < least_ns {
                let wrong = format!("'{verb}' cannot come that often");
                let right = format!("write at least every {}", show_ns(least_ns));
                return error(place, wrong, &right);
            }
        }
        let start = match (self.when, self.every, self.at) {
            (Some((trigger, _)), _, _) => Start::When(trigger),
            (None, Some((period_ns, _)), at) => Start::Every {
                first_ns: at.map_or(period_ns, |(at_ns, _)| at_ns),
                period_ns,
            },
            (None, None, at) => Start::At(at.map_or(0, |(at_ns, _)| at_ns)),
        };
        if let Some((until_ns, place)) = &self.until {
            let begins_ns = match start {
                Start::At(at_ns) => at_ns,
                Start::Every { first_ns, .. } => first_ns,
                Start::When(_) => 0,
            };
            if *until_ns <= begins_ns {
                let wrong = format!(
                    "it would be over before it begins, at {}",
                    show_ns(begins_ns)
                );
                return error(place, wrong, "write a later time");
            }
        }
        Ok(Schedule {
            start,
            for_ns: self.for_.map(|(for_ns, _)| for_ns),
            until_ns: self.until.map(|(until_ns, _)| until_ns),
        })
    }
}

/// Fills the slot, and says whether it was full.
fn put<T>(slot: &mut Option<(T, Range<usize>)>, value: T, place: Range<usize>) -> bool {
    slot.replace((value, place)).is_some()
}

impl Print for Start {
    fn print(&self, out: &mut dyn Printer) -> fmt::Result {
        match self {
            Start::At(0) => Ok(()),
            Start::At(at_ns) => write!(out, "at {} ", show_ns(*at_ns)),
            Start::Every {
                first_ns,
                period_ns,
            } => {
                if first_ns != period_ns {
                    write!(out, "at {} ", show_ns(*first_ns))?;
                }
                write!(out, "every {} ", show_ns(*period_ns))
            }
            Start::When(trigger) => {
                out.part(Part::When)?;
                out.write_str(" ")?;
                trigger.print(out)?;
                out.write_str(" ")
            }
        }
    }
}

display_as_printed!(Start);
