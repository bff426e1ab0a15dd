//! Claims of papers against what was measured: expectations, and the verdicts they lead to.
//!
//! ```text
//!   runs ──► Evidence ──► Expectation::judge ──► Outcome of each test ──► Verdict of the claim
//! ```
//!
//! A number is *reproduced* when its whole 99 % interval lies within the tolerance, *not reproduced*
//! when the whole interval lies outside, and else undecided, with the repetitions that would
//! decide it. Orderings compare runs of the same seed, corrected after Holm; shares of runs have
//! Clopper and Pearson's interval. A statement about all runs or all schedules is *refuted* by one.

mod agreement;
mod evidence;
mod expectation;
mod ordering;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use agreement::disagreement;
pub use evidence::{Evidence, Row, Selection};
pub use expectation::{Expectation, Relation, Side, Tolerance};

/// How sure an interval is to cover.
const LEVEL: f64 = 0.99;

/// What one test says about the claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What the test says, in a word.
    pub answer: Answer,
    /// What was seen, in a sentence.
    pub seen: String,
    /// The cell and repetition of a run that refutes it, or shows what was to be shown.
    pub example: Option<(usize, u64)>,
}

/// What a test says about a claim, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is as claimed.
    Yes,
    /// It is not as claimed.
    No,
    /// One run or schedule shows that it is not always so.
    CounterExample,
    /// More repetitions are needed, about so many, if that can be told.
    Undecided(Option<u64>),
}

/// What is said of a claim in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every test says yes.
    Reproduced,
    /// No test says yes.
    NotReproduced,
    /// A run or a schedule contradicts it, and nothing speaks for it.
    Refuted,
    /// It holds in some cases and not in others.
    Conditional,
    /// It cannot be tested here.
    NotTestable,
    /// The repetitions do not suffice to say.
    Undecided,
}

impl Verdict {
    /// What the answers of all tests of a claim come to; they are never none.
    pub fn of(answers: &[Answer]) -> Self {
        let any = |answer: fn(&Answer) -> bool| answers.iter().any(answer);
        let yes = any(|answer| *answer == Answer::Yes);
        if any(|answer| matches!(answer, Answer::Undecided(_))) || answers.is_empty() {
            Self::Undecided
        } else if yes && answers.iter().all(|answer| *answer == Answer::Yes) {
            Self::Reproduced
        } else if yes {
            Self::Conditional
        } else if any(|answer| *answer == Answer::CounterExample) {
            Self::Refuted
        } else {
            Self::NotReproduced
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reproduced => "reproduced",
            Self::NotReproduced => "not reproduced",
            Self::Refuted => "refuted",
            Self::Conditional => "conditional",
            Self::NotTestable => "not testable",
            Self::Undecided => "undecided",
        })
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yes => f.write_str("yes"),
            Self::No => f.write_str("no"),
            Self::CounterExample => f.write_str("refuted"),
            Self::Undecided(None) => f.write_str("undecided"),
            Self::Undecided(Some(needed)) => {
                write!(f, "undecided, would take about {needed} repetitions")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_to_a_verdict() {
        use Answer::{CounterExample, No, Undecided, Yes};
        for (answers, verdict) in [
            (vec![Yes, Yes], Verdict::Reproduced),
            (vec![No, No], Verdict::NotReproduced),
            (vec![No, CounterExample], Verdict::Refuted),
            (vec![Yes, No], Verdict::Conditional),
            (vec![CounterExample, Yes], Verdict::Conditional),
            (vec![Yes, Undecided(Some(7))], Verdict::Undecided),
            (vec![], Verdict::Undecided),
        ] {
            assert_eq!(Verdict::of(&answers), verdict, "{answers:?}");
        }
    }
}
