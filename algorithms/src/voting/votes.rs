//! Votes that are handed over: what NHME-AMC and BMaV share once they are safe.
//!
//! S. Kanrar, N. Chaki, S. Chattopadhyay, "Concurrency control in distributed system using mutual
//! exclusion", Springer 2018, chapter 5.
//!
//! Both elect a winner in two phases. In the first every process votes for one candidate, and a
//! majority wins; if nobody has one, those with more than tau votes go on to the second, where time
//! stamps (NHME-AMC) or holdings (BMaV) decide. As printed that lets two in, because a winner of the
//! second phase holds no majority of anything; [`published`] is that machine.
//!
//! Here a vote is a token that is in one place, and a P2V message carries the loser's tokens:
//!
//! ```text
//!     phase 1   0: {0 2}      1: {1 3}           nobody has three of four
//!     phase 2   0 -- P2REQ --> 1,  1 -- P2V [1 3] --> 0
//!               0: {0 1 2 3}  enters             below a majority nobody does
//! ```
//!
//! Kept from the book: the two phases, tau, what decides between rivals, the names of messages.
//! Changed: requests stay with the voters until they are served, so losers do not vote again; a vote
//! is lent under a serial number and comes home by it; an entry has a fence that rises.

pub(crate) mod defects;
pub(crate) mod machine;
pub(crate) mod published;
pub(crate) mod resources;

mod invariants;
mod message;
mod rule;
mod voter;

use crate::erased::{Machine, Of};
use crate::params::{Param, Params, Value};
use crate::printed::Printed;
use crate::registry::{Circumstances, ClosedForm, FormKind};

/// Where it is from.
pub(crate) const PAPER: &str = "S. Kanrar, N. Chaki, S. Chattopadhyay, \"Concurrency control in \
                                distributed system using mutual exclusion\", Springer 2018, \
                                chapter 5";

/// How many votes let a candidate into the second phase.
pub(crate) const TAU: Param = Param::integer(
    "tau",
    0..=1_000,
    0,
    "more votes than this lead to phase 2; the book: 15 % or 30 % of N, lowered in vain rounds",
);

/// Whether a voter whose vote is out says so.
pub(crate) const REJECT: Param = Param::choice(
    "reject",
    &["on", "off"],
    "a voter whose vote is out says NO; off: phase 1 ends after 3T",
);

/// The numbers that both algorithms note.
pub(crate) const NOTES: &[(&str, &str)] = &[
    (
        "active",
        "1 if a candidate is in S when its phase 1 ends, 0 if not",
    ),
    ("handed_over", "votes in one P2V"),
    (
        "hops",
        "at an entry, how often the farthest of its votes was handed over",
    ),
    (
        "phase_1",
        "at an entry, 1 if every vote came straight from its voter, 0 if some were handed over",
    ),
    ("lowered", "times that tau was lowered"),
    (
        "phase_2_began",
        "a candidate asks its rivals for their votes: phase 2, repaired",
    ),
    (
        "phase_2_us",
        "at an entry, the time since then, in microseconds",
    ),
    (
        "negative_tau",
        "as printed: times that it fell below zero, which lemma 5.3 excludes",
    ),
];

/// What an entry costs.
pub(crate) const FORMS: &[ClosedForm] = &[
    ClosedForm::messages(
        FormKind::Exact,
        "3(N-1)",
        "one request at a time, constant delay, constant hold above 0",
        alone_and_steady,
    ),
    ClosedForm::messages(
        FormKind::AtLeast,
        "3(N-1)",
        "one request at a time, no warm-up",
        alone_and_whole,
    ),
    ClosedForm::messages(
        FormKind::AtMost,
        "3(N-1) + N - majority",
        "one request at a time, no warm-up: votes that come after the exit go home by themselves",
        alone_and_late,
    ),
];

fn alone(run: &Circumstances<'_>) -> Option<f64> {
    run.is_alone().then(|| 3.0 * f64::from(run.nodes - 1))
}

/// A vote that comes after the last exit before the window is in it, and one after its last is not.
fn alone_and_whole(run: &Circumstances<'_>) -> Option<f64> {
    (!run.cut).then(|| alone(run))?
}

fn alone_and_steady(run: &Circumstances<'_>) -> Option<f64> {
    run.constant_delay?;
    let stays = !run.constant_hold?.is_zero();
    stays.then(|| alone(run))?
}

fn alone_and_late(run: &Circumstances<'_>) -> Option<f64> {
    // With weights fewer voters may be a majority, and the votes of all the others be late.
    if matches!(run.params.get("votes"), Some(Value::Word(votes)) if !votes.trim().is_empty()) {
        return None;
    }
    let majority = run.nodes / 2 + 1;
    alone_and_whole(run).map(|least| least + f64::from(run.nodes - majority))
}

/// About how many bytes a process takes: a few numbers for each other.
pub(crate) fn state_bytes(nodes: u64) -> u64 {
    size_of::<machine::Process>() as u64 + 28 * nodes
}

/// The machine: the repaired one, or the published one as soon as anything is left unrepaired.
pub(crate) fn machine(_: &Params, printed: &Printed) -> &'static dyn Machine {
    match printed.is_repaired() {
        true => &Of::<machine::Process>::MACHINE,
        false => &Of::<published::Published>::MACHINE,
    }
}
