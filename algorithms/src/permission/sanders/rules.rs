//! Which of Sanders' rules a node follows.

use std::fmt;

use serde::Serialize;

use super::conditions;
use super::structure::Structure;
use crate::params::Params;
use crate::printed::{Printed, rules};

/// What becomes of a request that finds its arbiter taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) enum Version {
    /// It waits in the queue (section 3).
    Basic,
    /// A grant to a larger stamp is asked back (section 5).
    DeadlockFree,
    /// The same without FAIL: a node that is asked gives back. For I_i = {i} only.
    NoFail,
}

/// Who goes first of those that wait at an arbiter (section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) enum Policy {
    /// The smallest time stamp: every arbiter resolves a conflict the same way.
    Stamp,
    /// Who came first. For one arbiter, which resolves all conflicts alone.
    Arrival,
}

/// The rules of a run: the version, and the repairs of the printed text that are in place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Rules {
    pub(super) version: Version,
    pub(super) policy: Policy,
    /// A node grants itself only when everybody else has.
    pub(super) late: bool,
    /// Deaths are recovered from.
    pub(super) recovery: bool,
    pub(super) repairs: Repairs,
}

rules! {
    /// What the printed text lacks, or gets wrong; each is true unless it is asked for as printed.
    pub(super) struct Repairs {
        own_request_is_at_once: "own-request-is-at-once",
        release_is_the_holders: "release-is-the-holders",
        inquiries_are_remembered: "inquiries-are-remembered",
        all_but_the_head_are_told: "all-but-the-head-are-told",
        only_held_grants_are_yielded: "only-held-grants-are-yielded",
        fails_expire: "fails-expire",
        deaths_travel: "deaths-travel",
        old_grants_are_void: "old-grants-are-void",
        additions_are_always_asked: "additions-are-always-asked",
        the_dead_are_forgotten: "the-dead-are-forgotten",
        mail_of_the_dead_is_dropped: "mail-of-the-dead-is-dropped",
    }
}

impl Rules {
    /// The rules that the parameters choose for a structure.
    pub(super) fn of(params: &Params, printed: &Printed, structure: &Structure) -> Self {
        let recovery = params.word("recovery") == "on";
        let (version, late) = match params.word("rules") {
            "basic" => (Version::Basic, params.word("self") == "late"),
            "deadlock-free" => (Version::DeadlockFree, false),
            "no-fail" => (Version::NoFail, false),
            // sanders-L4: after a death the survivors ask each other, and that deadlocks under the
            // basic rules, whatever the structure was.
            _auto if recovery && !printed.leaves_out("recovery-is-deadlock-free") => {
                (Version::DeadlockFree, false)
            }
            _auto if structure.has_one_arbiter() => (Version::Basic, false),
            // sanders-S2: a node that asks itself first defers all others; so it asks itself last.
            _auto if structure.informs_only_itself() => match params.word("self") {
                _ if printed.leaves_out("late-self-grant") => (Version::Basic, false),
                // A node that asks itself first has to be able to give its own grant back.
                "atomic" => (Version::DeadlockFree, false),
                _auto_or_late => (Version::Basic, true),
            },
            _auto => (Version::DeadlockFree, false),
        };
        Self {
            version,
            policy: match params.word("policy") {
                "fcfs" => Policy::Arrival,
                _ => Policy::Stamp,
            },
            late,
            recovery,
            repairs: Repairs::of(printed),
        }
    }

    /// Why the parameters do not go together, where they do not.
    pub(super) fn refusal(params: &Params, structure: &Structure) -> Option<String> {
        let (rules, own) = (params.word("rules"), params.word("self"));
        if own == "late" && !matches!(rules, "basic" | "auto") {
            return Some(format!(
                "self=late is for rules=basic; {rules} rules grant at once and ask back"
            ));
        }
        if own == "late" && rules == "auto" && !structure.informs_only_itself() {
            return Some(
                "self=late is chosen by rules=auto only where everybody informs itself alone; \
                 write rules=basic"
                    .to_owned(),
            );
        }
        if params.word("policy") == "fcfs" && params.word("unsafe") == "no" {
            if !structure.has_one_arbiter() {
                return Some(
                    "policy=fcfs is for structures in which one node resolves all conflicts, such as \
                     centralised: two arbiters may see two requests arrive in different orders, and \
                     then each grants to another. To watch it fail, add unsafe=yes"
                        .to_owned(),
                );
            }
            if !matches!(rules, "auto" | "basic") || params.word("recovery") == "on" {
                return Some(
                    "policy=fcfs goes with rules=basic and without recovery: grants are asked back, and \
                     survivors ask each other, by time stamps"
                        .to_owned(),
                );
            }
        }
        if rules == "no-fail" && !structure.informs_only_itself() {
            return Some(
                "rules=no-fail is for structures in which everybody informs itself alone, such as \
                 complete; use deadlock-free"
                    .to_owned(),
            );
        }
        if params.word("recovery") == "off" || params.word("unsafe") == "yes" {
            return None;
        }
        if !matches!(rules, "auto" | "deadlock-free") {
            return Some(format!(
                "recovery=on needs rules=deadlock-free: with {rules} rules the survivors may \
                 deadlock (sanders-L4); leave rules out, or add unsafe=yes to watch"
            ));
        }
        let (word, complaint) = (
            params.word("structure"),
            conditions::recovery_complaint(structure)?,
        );
        Some(format!(
            "structure '{word}' is not safe with recovery=on. {complaint}: after a death those \
             who met at the dead ask each other, so each must be its own arbiter. To watch it fail, \
             add unsafe=yes"
        ))
    }
}

/// The choice, and what is left unrepaired.
impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.version)?;
        if self.policy == Policy::Arrival {
            f.write_str(", first come first served")?;
        }
        if self.late {
            f.write_str(", late")?;
        }
        if self.recovery {
            f.write_str(", recovery")?;
        }
        Ok(())
    }
}
