//! One cell against another, run by run of the same seed.

use super::expectation::{needed, unmeasured};
use super::{Answer, Evidence, LEVEL, Outcome, Relation, Selection};
use crate::expression::Expression;
use crate::prose::significant;
use crate::statistics::{Difference, Moments, holm};

/// Two cells that are compared.
type Pair = (usize, usize);

/// Each cell of one selection with the cell of the other that has the same values under all keys
/// that neither names.
pub(super) fn pairs(
    evidence: &Evidence,
    among: &[usize],
    of: &Selection,
    to: &Selection,
) -> Vec<Pair> {
    let of_cells = evidence.selected(of);
    let to_cells = evidence.selected(to);
    let same = |a: usize, b: usize| {
        let others = evidence
            .keys
            .iter()
            .filter(|key| !of.contains_key(*key) && !to.contains_key(*key));
        let mut others = others.map(|key| evidence.word(a, key) == evidence.word(b, key));
        others.all(|same| same)
    };
    let taken = |cell: &usize| among.contains(cell);
    let of_cells = of_cells.into_iter().filter(taken);
    let pairs = of_cells.flat_map(|a| {
        let partners = to_cells.iter().copied().filter(taken);
        partners
            .filter(move |&b| a != b && same(a, b))
            .map(move |b| (a, b))
            .collect::<Vec<_>>()
    });
    pairs.collect()
}

/// Each cell with the one before it along a key, all other keys being equal: the later one first.
pub(super) fn steps(evidence: &Evidence, among: &[usize], along: &str) -> Vec<Pair> {
    let others = |cell: usize| {
        let keys = evidence.keys.iter().zip(&evidence.cells[cell]);
        let others = keys.filter(|(key, _)| *key != along);
        others.map(|(_, value)| value).collect::<Vec<_>>()
    };
    let mut cells = among.to_vec();
    let place = |cell: usize| evidence.number(cell, along).unwrap_or(f64::NAN);
    cells.sort_by(|&a, &b| {
        let groups = others(a).cmp(&others(b));
        groups.then(place(a).total_cmp(&place(b)))
    });
    let neighbours = cells.array_windows();
    let steps = neighbours.filter(|[a, b]| others(*a) == others(*b));
    steps.map(|&[before, after]| (after, before)).collect()
}

/// Whether the first of every pair stands in this relation to the second.
pub(super) fn judge(
    evidence: &Evidence,
    pairs: &[Pair],
    value: &Expression,
    relation: Relation,
    margin: f64,
) -> Outcome {
    let mut compared = Vec::new();
    for &pair in pairs {
        match Compared::of(evidence, pair, value) {
            Some(one) => compared.push(one),
            None => return unmeasured(value),
        }
    }
    weigh(&compared, value, relation, margin)
}

/// Whether it rises or falls with something that was measured too: the runs of each cell in groups
/// by that, from each group of at least two to the next.
pub(super) fn judge_groups(
    evidence: &Evidence,
    cells: &[usize],
    value: &Expression,
    along: &str,
    relation: Relation,
    margin: f64,
) -> Outcome {
    let mut compared = Vec::new();
    for &cell in cells {
        let rows = evidence.rows(cell).filter_map(|row| {
            let place = row.values.get(along)?;
            Some((*place, evidence.value(row, value)?))
        });
        let mut rows = rows.collect::<Vec<_>>();
        if rows.is_empty() {
            return unmeasured(value);
        }
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let groups = rows.chunk_by(|a, b| a.0 == b.0);
        let groups = groups.map(|group| (group[0].0, Moments::of(group.iter().map(|row| row.1))));
        let groups = groups.filter(|(_, moments)| moments.n >= 2);
        let groups = groups.collect::<Vec<_>>();
        for [(before, low), (after, high)] in groups.array_windows() {
            let label = |place: &f64, moments: &Moments| {
                let cell = evidence.label(cell);
                let gap = if cell.is_empty() { "" } else { " " };
                let (place, runs) = (significant(*place), moments.n);
                format!("{along}={place}{gap}{cell}, {runs} runs")
            };
            compared.push(Compared {
                labels: (label(after, high), label(before, low)),
                means: (high.mean, low.mean),
                difference: Difference::between(*high, *low).expect("two runs in each"),
            });
        }
    }
    weigh(&compared, value, relation, margin)
}

fn weigh(compared: &[Compared], value: &Expression, relation: Relation, margin: f64) -> Outcome {
    if compared.is_empty() {
        return Outcome {
            answer: Answer::Undecided(None),
            seen: "no two cells can be compared".to_owned(),
            number: "not measured".to_owned(),
            example: None,
        };
    }
    let p_values = compared.iter().map(|one| one.p_value(relation));
    let corrected = holm(&p_values.collect::<Vec<_>>());
    let answers = compared.iter().zip(&corrected);
    let answers = answers.map(|(one, p)| one.answer(relation, *p, margin));
    let answers = answers.collect::<Vec<_>>();
    let rank = |answer: &Answer| match answer {
        Answer::No => 2,
        Answer::Undecided(_) => 1,
        Answer::Yes => 0,
    };
    let weakest = (0..compared.len()).max_by(|&a, &b| {
        let by_rank = rank(&answers[a]).cmp(&rank(&answers[b]));
        by_rank.then(corrected[a].total_cmp(&corrected[b]))
    });
    let weakest = weakest.expect("there is at least one pair");
    let one = &compared[weakest];
    let word = match relation {
        Relation::Below => "below",
        Relation::Above => "above",
        Relation::Same => "as",
    };
    let mut seen = format!(
        "{value}: {} ({}) {word} {} ({})",
        significant(one.means.0),
        one.labels.0,
        significant(one.means.1),
        one.labels.1,
    );
    // Where runs hardly vary, p is next to nothing for a difference of next to nothing.
    let apart =
        100.0 * (one.means.0 - one.means.1).abs() / one.means.1.abs().max(f64::MIN_POSITIVE);
    seen += &format!("? {} % apart", significant(apart));
    seen += &match (relation, corrected[weakest]) {
        (Relation::Same, _) => String::new(),
        (Relation::Below | Relation::Above, p) if p < 1e-4 => ", p < 0.0001 after Holm".to_owned(),
        (Relation::Below | Relation::Above, p) => format!(", p = {p:.4} after Holm"),
    };
    if compared.len() > 1 {
        let yes = answers
            .iter()
            .filter(|answer| **answer == Answer::Yes)
            .count();
        seen += &format!(", the weakest of {}, {yes} of them so", compared.len());
    }
    let not = match answers[weakest] {
        Answer::No => "not ",
        Answer::Yes | Answer::Undecided(_) => "",
    };
    Outcome {
        answer: answers[weakest],
        seen,
        number: format!(
            "{} {not}{word} {}",
            significant(one.means.0),
            significant(one.means.1)
        ),
        example: None,
    }
}

/// What two cells, or two groups of runs, differ by.
struct Compared {
    labels: (String, String),
    means: (f64, f64),
    difference: Difference,
}

/// How likely the order may be chance.
const CHANCE: f64 = 1.0 - LEVEL;

impl Compared {
    /// Two cells, by their runs with the same seed.
    fn of(evidence: &Evidence, pair: Pair, value: &Expression) -> Option<Self> {
        let (first, second) = pair;
        let both = evidence.rows(first).filter_map(|row| {
            let other = evidence
                .rows(second)
                .find(|other| other.repetition == row.repetition)?;
            Some((evidence.value(row, value)?, evidence.value(other, value)?))
        });
        let both = both.collect::<Vec<_>>();
        (!both.is_empty()).then(|| Self {
            labels: (evidence.label(first), evidence.label(second)),
            means: (
                Moments::of(both.iter().map(|(a, _)| *a)).mean,
                Moments::of(both.iter().map(|(_, b)| *b)).mean,
            ),
            difference: Difference::of(Moments::of(both.iter().map(|(a, b)| a - b))),
        })
    }

    /// How likely so large a difference is if there is none the way it should be.
    fn p_value(&self, relation: Relation) -> f64 {
        match relation {
            Relation::Below => self.difference.p_below_zero(),
            Relation::Above => 1.0 - self.difference.p_below_zero(),
            Relation::Same => 0.0,
        }
    }

    fn answer(&self, relation: Relation, p: f64, margin: f64) -> Answer {
        let mean = self.difference.mean;
        let (low, high) = self.difference.interval(LEVEL);
        let small = margin * self.means.1.abs();
        let runs = self.difference.n;
        let undecided = |room: f64| Answer::Undecided(needed(runs, (high - low) / 2.0, room));
        match relation {
            Relation::Same if low >= -small && high <= small => Answer::Yes,
            Relation::Same if low > small || high < -small => Answer::No,
            Relation::Same => undecided(small - mean.abs()),
            Relation::Below if p < CHANCE && mean < 0.0 => Answer::Yes,
            Relation::Above if p < CHANCE && mean > 0.0 => Answer::Yes,
            // As good as equal, or the other way round.
            Relation::Below if low >= -small => Answer::No,
            Relation::Above if high <= small => Answer::No,
            Relation::Below | Relation::Above => undecided(mean.abs().max(small / 2.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::{Expectation, Row};
    use super::*;

    /// Cells of two algorithms and two sizes; in each run the same chance adds to all.
    fn evidence(cost: impl Fn(&str, u32) -> f64) -> Evidence {
        let mut evidence = Evidence {
            keys: ["algorithm", "nodes"].map(str::to_owned).to_vec(),
            ..Evidence::default()
        };
        for algorithm in ["a", "b"] {
            for nodes in [5, 10] {
                let cell = evidence.cells.len();
                evidence
                    .cells
                    .push(vec![algorithm.to_owned(), nodes.to_string()]);
                for repetition in 0..8_u64 {
                    let chance = (repetition * 7 % 8) as f64 + 0.01 * (repetition * 3 % 8) as f64;
                    let own = 0.02 * ((repetition + u64::from(nodes)) * 5 % 7) as f64;
                    let value = cost(algorithm, nodes) + chance + own;
                    let values = BTreeMap::from([("cost".to_owned(), value)]);
                    evidence.rows.push(Row {
                        cell,
                        repetition,
                        values,
                    });
                }
            }
        }
        evidence
    }

    fn of(algorithm: &str) -> Selection {
        Selection::from([("algorithm".to_owned(), vec![algorithm.to_owned()])])
    }

    fn ordered(relation: Relation) -> Expectation {
        Expectation::Ordered {
            value: Expression::parse("cost").unwrap(),
            of: of("a"),
            relation,
            to: of("b"),
            margin: 0.02,
        }
    }

    fn answer(expectation: &Expectation, evidence: &Evidence) -> Answer {
        expectation.judge(evidence, &Selection::new()).answer
    }

    #[test]
    fn runs_of_one_seed_are_compared_whatever_chance_does_to_both() {
        let cheaper =
            evidence(|algorithm, nodes| f64::from(nodes) + f64::from(u8::from(algorithm == "b")));
        assert_eq!(answer(&ordered(Relation::Below), &cheaper), Answer::Yes);
        assert_eq!(answer(&ordered(Relation::Above), &cheaper), Answer::No);
        assert_eq!(answer(&ordered(Relation::Same), &cheaper), Answer::No);
        let equal = evidence(|_, nodes| f64::from(nodes));
        assert_eq!(answer(&ordered(Relation::Same), &equal), Answer::Yes);
        assert_eq!(answer(&ordered(Relation::Below), &equal), Answer::No);
    }

    #[test]
    fn an_order_must_hold_in_every_cell() {
        let crossing = evidence(|algorithm, nodes| match (algorithm, nodes) {
            ("a", 10) => 13.0,
            ("a", _) => 5.0,
            (_, nodes) => f64::from(nodes) + 1.0,
        });
        let outcome = ordered(Relation::Below).judge(&crossing, &Selection::new());
        assert_eq!(outcome.answer, Answer::No);
        assert!(outcome.seen.contains("nodes=10"), "{}", outcome.seen);
    }

    #[test]
    fn a_trend_goes_from_each_value_to_the_next() {
        let rising = evidence(|_, nodes| f64::from(nodes));
        let trend = |relation| Expectation::Trend {
            value: Expression::parse("cost").unwrap(),
            along: "nodes".to_owned(),
            relation,
            margin: 0.02,
        };
        assert_eq!(answer(&trend(Relation::Above), &rising), Answer::Yes);
        assert_eq!(answer(&trend(Relation::Below), &rising), Answer::No);
    }

    /// One cell of forty runs; each has two or three links, and one run has four.
    fn by_links(cost: impl Fn(u64) -> f64) -> Evidence {
        let rows = (0..41_u64).map(|repetition| {
            let links = if repetition == 40 {
                4
            } else {
                2 + repetition % 2
            };
            let chance = 0.3 * (repetition * 7 % 5) as f64;
            Row {
                cell: 0,
                repetition,
                values: BTreeMap::from([
                    ("links".to_owned(), links as f64),
                    ("cost".to_owned(), cost(links) + chance),
                ]),
            }
        });
        Evidence {
            keys: Vec::new(),
            cells: vec![Vec::new()],
            rows: rows.collect(),
        }
    }

    #[test]
    fn a_trend_along_what_was_measured_compares_groups_of_runs() {
        let trend = |relation| Expectation::Trend {
            value: Expression::parse("cost").unwrap(),
            along: "links".to_owned(),
            relation,
            margin: 0.02,
        };
        let falling = by_links(|links| 10.0 - links as f64);
        assert_eq!(answer(&trend(Relation::Below), &falling), Answer::Yes);
        assert_eq!(answer(&trend(Relation::Above), &falling), Answer::No);
        // The lone run with four links is no group.
        let outcome = trend(Relation::Below).judge(&falling, &Selection::new());
        assert!(outcome.seen.contains("20 runs"), "{}", outcome.seen);
        assert!(!outcome.seen.contains("weakest"), "{}", outcome.seen);
        let alike = by_links(|_| 1000.0);
        assert_eq!(answer(&trend(Relation::Below), &alike), Answer::No);
        assert_eq!(trend(Relation::Below).names(), ["cost", "links"]);
    }
}
