//! What a claim expects of its evidence.

use super::ordering;
use super::{Answer, Evidence, LEVEL, Outcome, Selection};
use crate::expression::{Bound, Expression};
use crate::prose::significant;
use crate::statistics::{Interval, Moments, clopper_pearson};

/// What a test expects. Formulas are evaluated in every run.
#[derive(Clone, Debug, PartialEq)]
pub enum Expectation {
    /// The mean of one is that of the other, in every cell.
    Equals {
        /// What is measured.
        value: Expression,
        /// What it should be.
        to: Expression,
        /// How far it may be away.
        within: Tolerance,
    },
    /// The mean of one is on one side of the other, in every cell.
    Bounded {
        /// What is measured.
        value: Expression,
        /// On which side of the bound it should be.
        side: Side,
        /// The number that it is compared with.
        bound: Expression,
    },
    /// One selection of cells stands in a relation to another, run by run of the same seed.
    Ordered {
        /// What is measured.
        value: Expression,
        /// The cells in which it is measured.
        of: Selection,
        /// How it is related to the same in the other cells.
        relation: Relation,
        /// The cells that it is compared with.
        to: Selection,
        /// The share below which a difference counts as none.
        margin: f64,
    },
    /// It rises or falls from each value of a key to the next, or with something measured too.
    Trend {
        /// What is measured.
        value: Expression,
        /// The key, whose values are numbers; or a quantity, and the runs of each cell are then put
        /// in groups by it.
        along: String,
        /// Whether it rises (`Above`) or falls (`Below`).
        relation: Relation,
        /// The share below which a difference counts as none.
        margin: f64,
    },
    /// The formula is true in every run.
    Always(Expression),
    /// The formula is true in at least one run.
    Sometimes(Expression),
    /// The formula is true in a share of the runs that lies between two bounds.
    Share {
        /// What is true in such a run.
        of: Expression,
        /// In at least this share.
        least: f64,
        /// In at most this share.
        most: f64,
    },
}

/// How far a number may be away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// At most this difference, in the unit of the number.
    Absolute(f64),
    /// At most this share of what is expected.
    Share(f64),
}

/// On which side of a bound a number lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Not above it.
    AtMost,
    /// Not below it.
    AtLeast,
}

/// How two numbers are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The first is smaller.
    Below,
    /// The first is larger.
    Above,
    /// There is no difference worth the name.
    Same,
}

/// Arithmetic leaves this much behind, relative to the numbers.
const ROUNDING: f64 = 1e-9;

impl Expectation {
    /// The formulas in it.
    pub fn formulas(&self) -> Vec<&Expression> {
        match self {
            Self::Equals { value, to, .. } => vec![value, to],
            Self::Bounded { value, bound, .. } => vec![value, bound],
            Self::Ordered { value, .. } | Self::Trend { value, .. } => vec![value],
            Self::Always(so) | Self::Sometimes(so) | Self::Share { of: so, .. } => vec![so],
        }
    }

    /// The names of what it needs to know of a run or of its cell.
    pub fn names(&self) -> Vec<&str> {
        let formulas = self.formulas().into_iter();
        let mut names = formulas.flat_map(Expression::names).collect::<Vec<_>>();
        if let Self::Trend { along, .. } = self {
            names.push(along);
        }
        names
    }

    /// Why no evidence could speak against it, if none could.
    pub fn cannot_fail(&self) -> Option<&'static str> {
        let constant = |formula: &Expression| formula.names().is_empty();
        match self {
            Self::Equals { value, to, within } => {
                let wide = matches!(within, Tolerance::Share(share) if *share >= 1.0);
                if wide {
                    return Some("a tolerance of all of it admits anything");
                }
                let same = value.to_string() == to.to_string();
                (same || constant(value))
                    .then_some("both sides are the same, or nothing is measured")
            }
            Self::Bounded { value, bound, .. } => {
                let same = value.to_string() == bound.to_string();
                (same || constant(value))
                    .then_some("both sides are the same, or nothing is measured")
            }
            Self::Ordered { value, .. } | Self::Trend { value, .. } => {
                constant(value).then_some("nothing is measured")
            }
            Self::Always(so) | Self::Sometimes(so) => constant(so).then_some("nothing is measured"),
            Self::Share { of, least, most } => {
                let all = *least <= 0.0 && *most >= 1.0;
                (all || constant(of)).then_some("every share lies between 0 and 1")
            }
        }
    }

    /// Whether at least one of the runs has what is looked at.
    pub fn is_measured(&self, evidence: &Evidence, among: &Selection) -> bool {
        let cells = evidence.selected(among);
        let has = |formula: &Expression| {
            let mut cells = cells.iter();
            cells.any(|&cell| evidence.values(cell, formula).next().is_some())
        };
        self.formulas().first().is_some_and(|formula| has(formula))
    }

    /// What the evidence says, looking at these cells only.
    pub fn judge(&self, evidence: &Evidence, among: &Selection) -> Outcome {
        let cells = evidence.selected(among);
        match self {
            Self::Equals { value, to, within } => {
                let reach = |expected: f64| match within {
                    Tolerance::Absolute(reach) => (-reach, *reach),
                    Tolerance::Share(share) => {
                        let reach = share * expected.abs();
                        (-reach, reach)
                    }
                };
                let shown = ("=", Shown::FarthestOff);
                differences(evidence, &cells, value, to, &reach, shown)
            }
            Self::Bounded { value, side, bound } => {
                let (open, sign) = match side {
                    Side::AtMost => ((f64::NEG_INFINITY, 0.0), "≤"),
                    Side::AtLeast => ((0.0, f64::INFINITY), "≥"),
                };
                let shown = (sign, Shown::Tightest);
                differences(evidence, &cells, value, bound, &|_| open, shown)
            }
            Self::Ordered {
                value,
                of,
                relation,
                to,
                margin,
            } => {
                let pairs = ordering::pairs(evidence, &cells, of, to);
                ordering::judge(evidence, &pairs, value, *relation, *margin)
            }
            Self::Trend {
                value,
                along,
                relation,
                margin,
            } => {
                if !evidence.keys.contains(along) {
                    let (relation, margin) = (*relation, *margin);
                    return ordering::judge_groups(
                        evidence, &cells, value, along, relation, margin,
                    );
                }
                let pairs = ordering::steps(evidence, &cells, along);
                ordering::judge(evidence, &pairs, value, *relation, *margin)
            }
            Self::Always(so) => every_run(evidence, &cells, so, true),
            Self::Sometimes(so) => every_run(evidence, &cells, so, false),
            Self::Share { of, least, most } => share(evidence, &cells, of, (*least, *most)),
        }
    }
}

/// Nothing was measured, so nothing is known.
pub(super) fn unmeasured(formula: &Expression) -> Outcome {
    Outcome {
        answer: Answer::Undecided(None),
        seen: format!("{formula} was measured in no run"),
        number: "not measured".to_owned(),
        example: None,
    }
}

/// Which cell is shown of those that are as expected. Of a bound the cell that comes nearest to it
/// says how much the bound is worth.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    FarthestOff,
    Tightest,
}

/// Where the whole interval lies, and the worst of all cells.
fn differences(
    evidence: &Evidence,
    cells: &[usize],
    value: &Expression,
    expected: &Expression,
    reach: &dyn Fn(f64) -> Interval,
    (sign, shown): (&str, Shown),
) -> Outcome {
    let mut worst: Option<(u8, f64, Outcome)> = None;
    for &cell in cells {
        let rows = evidence.rows(cell).filter_map(|row| {
            let is = evidence.value(row, value)?;
            Some((is, evidence.value(row, expected)?))
        });
        let rows = rows.collect::<Vec<_>>();
        if rows.is_empty() {
            return unmeasured(value);
        }
        let mean = Moments::of(rows.iter().map(|(is, _)| *is)).mean;
        let should = Moments::of(rows.iter().map(|(_, should)| *should)).mean;
        let moments = Moments::of(rows.iter().map(|(is, should)| is - should));
        let interval = moments.interval(LEVEL);
        let (low, high) = interval.unwrap_or((moments.mean, moments.mean));
        let rounding = ROUNDING * (1.0 + should.abs());
        let (least, most) = reach(should);
        let (least, most) = (least - rounding, most + rounding);
        let answer = if low >= least && high <= most {
            Answer::Yes
        } else if low > most || high < least {
            Answer::No
        } else {
            let room = (moments.mean - least).min(most - moments.mean);
            Answer::Undecided(needed(moments.n, (high - low) / 2.0, room))
        };
        let seen = format!(
            "{value}: {} (99 %: {} to {}), expected {sign} {expected}{}{}",
            significant(mean),
            significant(low + should),
            significant(high + should),
            of_constant(expected, should),
            at(evidence, cell),
        );
        let rank = match answer {
            Answer::No => 2,
            Answer::Undecided(_) => 1,
            Answer::Yes => 0,
        };
        let off = moments.mean.abs() / should.abs().max(ROUNDING);
        let off = match answer == Answer::Yes && shown == Shown::Tightest {
            true => -off,
            false => off,
        };
        if worst
            .as_ref()
            .is_none_or(|(known, further, _)| (rank, off) > (*known, *further))
        {
            let outcome = Outcome {
                answer,
                seen,
                number: format!(
                    "{}, expected {sign} {}",
                    significant(mean),
                    significant(should)
                ),
                example: None,
            };
            worst = Some((rank, off, outcome));
        }
    }
    let Some((_, _, mut outcome)) = worst else {
        return unmeasured(value);
    };
    if cells.len() > 1 {
        let worst = match outcome.answer {
            Answer::Yes if shown == Shown::Tightest => "tightest",
            Answer::Yes => "farthest off",
            Answer::No | Answer::Undecided(_) => "worst",
        };
        outcome.seen += &format!(", the {worst} of {} cells", cells.len());
    }
    outcome
}

/// ` = 8`, where the formula does not say so itself.
fn of_constant(formula: &Expression, value: f64) -> String {
    match formula.names().is_empty() && formula.to_string().parse::<f64>().is_ok() {
        true => String::new(),
        false => format!(" = {}", significant(value)),
    }
}

fn at(evidence: &Evidence, cell: usize) -> String {
    match evidence.label(cell) {
        label if label.is_empty() => label,
        label => format!(" at {label}"),
    }
}

/// How many repetitions would make the interval fit into the room there is.
pub(super) fn needed(runs: u64, half: f64, room: f64) -> Option<u64> {
    if room <= 0.0 || half <= 0.0 {
        return None;
    }
    let times = (half / room).powi(2);
    Some((runs as f64 * times * 1.1).ceil() as u64)
}

fn every_run(evidence: &Evidence, cells: &[usize], so: &Expression, always: bool) -> Outcome {
    let (mut runs, mut hits, mut example) = (0_u64, 0_u64, None);
    let mut tightest: Option<Bound> = None;
    for &cell in cells {
        for row in evidence.rows(cell) {
            let Some(value) = evidence.value(row, so) else {
                continue;
            };
            runs += 1;
            let holds = value != 0.0;
            hits += u64::from(holds);
            let bound = evidence.tightest_bound(row, so);
            tightest = tightest.into_iter().chain(bound).min_by(Bound::by_room);
            if holds != always && example.is_none() {
                example = Some((cell, row.repetition));
            }
        }
    }
    if runs == 0 {
        return unmeasured(so);
    }
    let answer = match (always, hits) {
        (true, hits) if hits == runs => Answer::Yes,
        (true, _) | (false, 0) => Answer::No,
        (false, _) => Answer::Yes,
    };
    // Of a bound that always holds, how near it was to being passed says how much it is worth.
    let tightest = tightest.filter(|_| always && answer == Answer::Yes);
    let tightest = tightest.map_or_else(String::new, |Bound { left, sign, right }| {
        let (left, right) = (significant(left), significant(right));
        format!(", tightest {left} {sign} {right}")
    });
    Outcome {
        answer,
        seen: format!("{so} in {hits} of {runs} runs"),
        number: format!("{hits} of {runs} runs{tightest}"),
        example,
    }
}

fn share(
    evidence: &Evidence,
    cells: &[usize],
    of: &Expression,
    (least, most): Interval,
) -> Outcome {
    let values = cells
        .iter()
        .flat_map(|&cell| evidence.rows(cell))
        .filter_map(|row| evidence.value(row, of));
    let values = values.map(|value| value != 0.0).collect::<Vec<_>>();
    let (runs, hits) = (
        values.len() as u64,
        values.iter().filter(|hit| **hit).count() as u64,
    );
    let Some((low, high)) = clopper_pearson(hits, runs, LEVEL) else {
        return unmeasured(of);
    };
    let answer = if low >= least && high <= most {
        Answer::Yes
    } else if low > most || high < least {
        Answer::No
    } else {
        let share = hits as f64 / runs as f64;
        let moments = Moments {
            n: runs,
            mean: share,
            sd: 0.0,
        };
        let room = (share - least).min(most - share);
        Answer::Undecided(needed(moments.n, (high - low) / 2.0, room))
    };
    let percent = |share: f64| format!("{} %", significant(share * 100.0));
    Outcome {
        answer,
        seen: format!(
            "{of} in {hits} of {runs} runs (99 %: {} to {}), expected {} to {}",
            percent(low),
            percent(high),
            percent(least),
            percent(most)
        ),
        number: format!("{hits} of {runs} runs"),
        example: None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::Row;
    use super::*;

    /// Two cells, of 5 and 10 nodes, with these messages per entry in their runs.
    fn evidence(five: &[f64], ten: &[f64]) -> Evidence {
        let row = |cell, (nth, value): (usize, &f64)| Row {
            cell,
            repetition: nth as u64,
            values: BTreeMap::from([("messages".to_owned(), *value)]),
        };
        let rows = five.iter().enumerate().map(|run| row(0, run));
        let more = ten.iter().enumerate().map(|run| row(1, run));
        Evidence {
            keys: vec!["nodes".to_owned()],
            cells: vec![vec!["5".to_owned()], vec!["10".to_owned()]],
            rows: rows.chain(more).collect(),
        }
    }

    fn formula(text: &str) -> Expression {
        Expression::parse(text).unwrap()
    }

    fn equals(to: &str, share: f64) -> Expectation {
        Expectation::Equals {
            value: formula("messages"),
            to: formula(to),
            within: Tolerance::Share(share),
        }
    }

    fn answer(expectation: &Expectation, evidence: &Evidence) -> Answer {
        expectation.judge(evidence, &Selection::new()).answer
    }

    #[test]
    fn ten_percent_more_in_the_formula_turns_the_answer() {
        let seen = evidence(&[8.0, 8.1, 7.9, 8.0], &[18.0, 17.9, 18.1, 18.0]);
        assert_eq!(answer(&equals("2*(nodes-1)", 0.05), &seen), Answer::Yes);
        assert_eq!(answer(&equals("2.2*(nodes-1)", 0.05), &seen), Answer::No);
        let exact = evidence(&[8.0, 8.0], &[18.0, 18.0]);
        assert_eq!(answer(&equals("2*(nodes-1)", 0.0), &exact), Answer::Yes);
        assert_eq!(answer(&equals("2.2*(nodes-1)", 0.0), &exact), Answer::No);
    }

    #[test]
    fn an_interval_across_the_edge_asks_for_more() {
        let seen = evidence(&[6.0, 10.0, 7.0, 9.0], &[18.0; 4]);
        let answer = answer(&equals("2*(nodes-1)", 0.05), &seen);
        assert!(
            matches!(answer, Answer::Undecided(Some(more)) if more > 100),
            "{answer:?}"
        );
    }

    #[test]
    fn one_cell_that_differs_is_enough() {
        let seen = evidence(&[8.0, 8.0], &[30.0, 30.0]);
        let outcome = equals("2*(nodes-1)", 0.05).judge(&seen, &Selection::new());
        assert_eq!(outcome.answer, Answer::No);
        assert!(outcome.seen.contains("nodes=10"), "{}", outcome.seen);
        let only = Selection::from([("nodes".to_owned(), vec!["5".to_owned()])]);
        let outcome = equals("2*(nodes-1)", 0.05).judge(&seen, &only);
        assert_eq!(outcome.answer, Answer::Yes);
    }

    #[test]
    fn bounds_may_be_met_and_not_passed() {
        let seen = evidence(&[8.0, 8.0], &[17.0, 17.1, 17.0, 17.1]);
        let bound = |side, bound: &str| Expectation::Bounded {
            value: formula("messages"),
            side,
            bound: formula(bound),
        };
        let at_most = |text| answer(&bound(Side::AtMost, text), &seen);
        assert_eq!(at_most("2*(nodes-1)"), Answer::Yes);
        assert_eq!(at_most("1.8*(nodes-1)"), Answer::No);
        assert_eq!(
            answer(&bound(Side::AtLeast, "2*(nodes-1)"), &seen),
            Answer::No
        );
    }

    #[test]
    fn a_statement_about_all_runs_falls_with_one() {
        let seen = evidence(&[1.0, 1.0], &[1.0, 2.0]);
        let always = |text| Expectation::Always(formula(text));
        let outcome = always("messages <= 2").judge(&seen, &Selection::new());
        assert_eq!(outcome.answer, Answer::Yes);
        assert_eq!(outcome.number, "4 of 4 runs, tightest 2.000 ≤ 2.000");
        let outcome = always("messages <= 1.8").judge(&seen, &Selection::new());
        assert_eq!(outcome.answer, Answer::No);
        assert_eq!(outcome.example, Some((1, 1)));
        let sometimes = |text| Expectation::Sometimes(formula(text));
        assert_eq!(answer(&sometimes("messages > 1.8"), &seen), Answer::Yes);
        assert_eq!(answer(&sometimes("messages > 2"), &seen), Answer::No);
    }

    #[test]
    fn a_share_needs_enough_runs() {
        let runs = (0..200).map(|run| f64::from(u8::from(run % 4 == 0)));
        let seen = evidence(&runs.collect::<Vec<_>>(), &[]);
        let share = |least, most| Expectation::Share {
            of: formula("messages > 0"),
            least,
            most,
        };
        assert_eq!(answer(&share(0.1, 0.4), &seen), Answer::Yes);
        assert_eq!(answer(&share(0.4, 0.9), &seen), Answer::No);
        assert!(matches!(
            answer(&share(0.2, 0.3), &seen),
            Answer::Undecided(Some(_))
        ));
    }

    #[test]
    fn what_was_never_measured_is_not_decided() {
        let seen = evidence(&[8.0], &[18.0]);
        let beauty = Expectation::Always(formula("beauty > 0"));
        assert_eq!(answer(&beauty, &seen), Answer::Undecided(None));
    }

    #[test]
    fn an_expectation_that_cannot_fail_is_known() {
        assert!(equals("2*(nodes-1)", 1.0).cannot_fail().is_some());
        assert!(equals("messages", 0.1).cannot_fail().is_some());
        assert!(
            Expectation::Always(formula("1 > 0"))
                .cannot_fail()
                .is_some()
        );
        let share = Expectation::Share {
            of: formula("messages > 0"),
            least: 0.0,
            most: 1.0,
        };
        assert!(share.cannot_fail().is_some());
        assert!(equals("2*(nodes-1)", 0.1).cannot_fail().is_none());
    }
}
