//! Tests that try every schedule of a small world.

use std::fmt;
use std::sync::atomic::AtomicBool;

use analysis::claims::{Answer, Outcome};
use simulator::explore::Kind;

use crate::Failure;
use crate::commands::explore::{Found, World, WorldSpec};
use crate::numbers::count;

/// A world to be explored.
pub(crate) struct WorldToSearch {
    /// The flags that mean it, as they stand after `orchestrator explore`.
    pub(crate) line: String,
    world: World,
}

impl fmt::Debug for WorldToSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

/// What a search is expected to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finds {
    /// Nothing bad in any schedule.
    Nothing,
    /// Something bad of any kind.
    Anything,
    /// Something bad of this kind.
    This(Kind),
}

const KINDS: [Kind; 6] = [
    Kind::Exclusion,
    Kind::Uninvited,
    Kind::ProtocolError,
    Kind::Invariant,
    Kind::Deadlock,
    Kind::Trapped,
];

impl Finds {
    pub(super) fn parse(word: &str) -> Result<Self, String> {
        match word {
            "nothing" => Ok(Self::Nothing),
            "anything" => Ok(Self::Anything),
            word => {
                let kind = KINDS.into_iter().find(|kind| kind.to_string() == word);
                kind.map(Self::This).ok_or_else(|| {
                    let known = KINDS.map(|kind| kind.to_string()).join(", ");
                    format!("finds: there is no '{word}'; there are nothing, anything, {known}")
                })
            }
        }
    }
}

impl WorldToSearch {
    pub(super) fn new(world: &WorldSpec) -> Result<Self, String> {
        let line = world.to_string();
        match world.world() {
            Ok(world) => Ok(Self { line, world }),
            Err(why) => Err(format!("explore '{line}': {why}")),
        }
    }
}

/// What these searches say together: all must find what is expected.
pub(super) fn judge(
    searches: &[WorldToSearch],
    finds: Finds,
    interrupted: &AtomicBool,
) -> Result<Outcome, Failure> {
    let mut states = 0;
    let mut seen = None;
    let mut number = String::new();
    for search in searches {
        let found = search.world.found(interrupted)?;
        states += found.states;
        let answer = answer(finds, &found);
        let steps = |found: &Found| {
            let bad = found.bad.as_ref();
            bad.map(|bad| format!("{} after {} steps: {}", bad.kind, bad.steps, bad.why))
        };
        let what = steps(&found).unwrap_or_else(|| match found.complete {
            true => format!("nothing in all {} states", count(found.states)),
            false => format!("nothing in {} states, cut off", count(found.states)),
        });
        let text = format!("explore {}: {what}", search.line);
        number = match &found.bad {
            Some(bad) => format!("{} after {} steps", bad.kind, bad.steps),
            None => format!("nothing in {} states", count(states)),
        };
        if answer != Answer::Yes {
            return Ok(Outcome {
                answer,
                seen: text,
                number,
                example: None,
            });
        }
        seen.get_or_insert(text);
    }
    let mut seen = seen.unwrap_or_default();
    if searches.len() > 1 {
        let (worlds, states) = (searches.len(), count(states));
        seen = match finds {
            Finds::Nothing => format!("nothing in all {states} states of {worlds} worlds"),
            Finds::Anything | Finds::This(_) => format!("in each of {worlds} worlds; {seen}"),
        };
    }
    Ok(Outcome {
        answer: Answer::Yes,
        seen,
        number,
        example: None,
    })
}

fn answer(finds: Finds, found: &Found) -> Answer {
    let Some(bad) = &found.bad else {
        // Where nothing was found, only a search that saw everything says so.
        return match (finds, found.complete) {
            (Finds::Nothing, true) => Answer::Yes,
            (Finds::Anything | Finds::This(_), true) => Answer::No,
            (_, false) => Answer::Undecided(None),
        };
    };
    let expected = match finds {
        Finds::Nothing => false,
        Finds::Anything => true,
        Finds::This(kind) => kind == bad.kind,
    };
    match expected {
        true => Answer::Yes,
        false => Answer::No,
    }
}
