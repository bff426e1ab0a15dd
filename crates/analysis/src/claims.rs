//! Claims of papers against what was measured: expectations, and the verdicts they lead to.
//!
//! ```text
//!   runs ──► Evidence ──► Expectation::judge ──► Outcome of each test ──► Verdict of the claim
//! ```
//!
//! A test says yes when the whole 99 % interval of a number lies within the tolerance, no when the whole
//! interval lies outside, and else it is undecided, with the repetitions that would decide it.
//! Orderings compare runs of the same seed, corrected after Holm; shares of runs have Clopper and
//! Pearson's interval. What the answers come to depends on the kind of statement: one counter-example
//! refutes *always*, one example is enough for *can*.

mod agreement;
mod evidence;
mod expectation;
mod ordering;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use agreement::{Disagreement, disagreement};
pub use evidence::{Evidence, Row, Selection};
pub use expectation::{Expectation, Relation, Side, Tolerance};

/// How sure an interval is to cover.
const LEVEL: f64 = 0.99;

/// What one test says about the claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What the test says, in a word.
    pub answer: Answer,
    /// What was seen, in a sentence.
    pub seen: String,
    /// The number that it comes down to, in a few words.
    pub number: String,
    /// The cell and repetition of a run that refutes it, or shows what was to be shown.
    pub example: Option<(usize, u64)>,
}

/// What a test says about a claim, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It is as claimed.
    Yes,
    /// It is not as claimed.
    No,
    /// More repetitions are needed, about so many, if that can be told.
    Undecided(Option<u64>),
}

/// What kind of statement the source makes. It decides what the answers of the tests come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statement {
    /// It is so in every case: one counter-example refutes it.
    Always,
    /// It is so in no case: one counter-example refutes it.
    Never,
    /// It is so in some case: one example reproduces it.
    Can,
    /// Something has this value, or is this formula.
    Value,
    /// Something is never above this bound.
    AtMost,
    /// Something is never below this bound.
    AtLeast,
    /// One thing is more than another.
    Order,
    /// Something rises, falls or grows in a stated way.
    Growth,
    /// Nothing is better than this.
    Optimal,
}

impl Statement {
    /// Whether a single case in which it is not so contradicts it.
    fn is_about_all(self) -> bool {
        matches!(
            self,
            Self::Always | Self::Never | Self::AtMost | Self::AtLeast | Self::Optimal
        )
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Always => "always",
            Self::Never => "never",
            Self::Can => "can",
            Self::Value => "value",
            Self::AtMost => "at most",
            Self::AtLeast => "at least",
            Self::Order => "order",
            Self::Growth => "growth",
            Self::Optimal => "optimal",
        })
    }
}

/// What decides whether a claim holds that holds in some cases only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// It holds once what is printed is repaired.
    Repair,
    /// It holds under some loads.
    Load,
    /// It holds if messages are counted in one way.
    Counting,
    /// It holds for some of the sizes, graphs or algorithms that it speaks of.
    Scope,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Repair => "repair",
            Self::Load => "load",
            Self::Counting => "counting",
            Self::Scope => "scope",
        })
    }
}

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every test says yes; of a statement that something can happen, one test does.
    Reproduced,
    /// No test says yes.
    NotReproduced,
    /// No test says yes, and the statement is about all cases: what was seen contradicts it.
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
    pub fn of(statement: Statement, answers: &[Answer]) -> Self {
        let yes = answers.contains(&Answer::Yes);
        let undecided = |answer: &Answer| matches!(answer, Answer::Undecided(_));
        if yes && statement == Statement::Can {
            Self::Reproduced
        } else if answers.is_empty() || answers.iter().any(undecided) {
            Self::Undecided
        } else if !answers.contains(&Answer::No) {
            Self::Reproduced
        } else if yes {
            Self::Conditional
        } else if statement.is_about_all() {
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
    fn the_kind_of_statement_decides_what_answers_come_to() {
        use Answer::{No, Undecided, Yes};
        use Statement::{Always, AtMost, Can, Growth, Optimal, Value};
        for (statement, answers, verdict) in [
            (Value, vec![Yes, Yes], Verdict::Reproduced),
            (Value, vec![No, No], Verdict::NotReproduced),
            (Growth, vec![No], Verdict::NotReproduced),
            (Always, vec![No, No], Verdict::Refuted),
            (AtMost, vec![No], Verdict::Refuted),
            (Optimal, vec![No], Verdict::Refuted),
            (Always, vec![Yes, No], Verdict::Conditional),
            (Value, vec![No, Yes], Verdict::Conditional),
            (Can, vec![No, Yes], Verdict::Reproduced),
            (Can, vec![No, No], Verdict::NotReproduced),
            (Can, vec![Undecided(None), Yes], Verdict::Reproduced),
            (Value, vec![Yes, Undecided(Some(7))], Verdict::Undecided),
            (Always, vec![No, Undecided(None)], Verdict::Undecided),
            (Always, vec![], Verdict::Undecided),
        ] {
            let found = Verdict::of(statement, &answers);
            assert_eq!(found, verdict, "{statement}: {answers:?}");
        }
    }
}
