//! The page of a reproduction: verdicts first, then what was seen, then what is still open.

use std::path::{Path, PathBuf};

use analysis::claims::Verdict;
use safe_io::input;
use serde::Deserialize;

use super::table::ClaimResult;
use crate::report::page::{Cell, Page, Section, Table, Tone};
use crate::scenario::read_toml;

/// Questions that the sources leave open: `experiments/questions.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Questions {
    #[serde(default)]
    question: Vec<Question>,
}

/// An open question of a source, and what our results say about it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    /// The section of the source that asks the question.
    place: String,
    /// The question, in one sentence.
    asks: String,
    /// What our results say about it.
    answer: String,
    /// The claims on which the answer rests.
    claims: Vec<String>,
}

impl Questions {
    /// Reads the file of questions.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        read_toml(path, "questions")
    }
}

/// A picture of a source's sweep.
pub(crate) struct Picture {
    pub(crate) source: String,
    pub(crate) sweep: String,
    pub(crate) path: PathBuf,
}

/// The page with the verdict of every claim.
pub(crate) fn page(
    results: &[ClaimResult<'_>],
    pictures: &[Picture],
    questions: &Questions,
    command: &str,
) -> Page {
    let about = "What the sources claim, put to the test.";
    let mut page = Page::new("Claims", about);
    let differing = results.iter().filter(|one| !one.as_published());
    let reasons = differing
        .map(|one| match one.claim.verdict {
            Some(published) => format!(
                "{}: {} where {published} was published",
                one.claim.id, one.verdicts.verdict
            ),
            None => format!("{}: nothing was published yet", one.claim.id),
        })
        .collect::<Vec<_>>();
    let tone = match reasons.is_empty() {
        true => Tone::Good,
        false => Tone::Unsure,
    };
    page.banner(tone, &counted(results), &reasons);
    all(page.section("All claims"), results);
    let mut sources = results
        .iter()
        .map(|one| one.file.source.as_str())
        .collect::<Vec<_>>();
    sources.dedup();
    for source in sources {
        let section = page.section(&format!("Seen: {source}"));
        for one in results.iter().filter(|one| one.file.source == source) {
            seen(section, one);
        }
        for picture in pictures.iter().filter(|picture| picture.source == source) {
            // A picture that has gone since is no reason to have no page.
            if let Ok(svg) = input::read_text(&picture.path) {
                section.figure(&svg, &format!("The sweep '{}'.", picture.sweep));
            }
        }
    }
    open(
        page.section("What the sources leave open"),
        results,
        questions,
    );
    let provenance = page.provenance();
    provenance.facts([
        ("program", env!("CARGO_PKG_VERSION")),
        (
            "commit",
            option_env!("TURNSTILE_COMMIT").unwrap_or("unknown"),
        ),
    ]);
    provenance.command(command);
    page
}

/// How many claims have each verdict: `240 claims: 99 reproduced, …`.
pub(crate) fn counted(results: &[ClaimResult<'_>]) -> String {
    let mut counts = std::collections::BTreeMap::<Verdict, usize>::new();
    for one in results {
        *counts.entry(one.verdicts.verdict).or_default() += 1;
    }
    let counts = counts
        .iter()
        .map(|(verdict, number)| format!("{number} {verdict}"));
    let counts = counts.collect::<Vec<_>>().join(", ");
    format!("{} claims: {counts}", results.len())
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Reproduced => Tone::Good,
        Verdict::NotReproduced | Verdict::Refuted => Tone::Bad,
        Verdict::Conditional | Verdict::Undecided => Tone::Unsure,
        Verdict::NotTestable => Tone::Plain,
    }
}

fn all(section: &mut Section, results: &[ClaimResult<'_>]) {
    let rows = results.iter().map(|one| {
        let verdict = one.verdicts.verdict;
        vec![
            Cell::text(&one.claim.id),
            Cell::toned(verdict.to_string(), tone(verdict)),
            Cell::text(&one.claim.says),
            Cell::text(&one.claim.place),
            Cell::text(match &one.real {
                None => "",
                Some(real) if real.disagreements.is_empty() => "agree",
                Some(_) => "differ",
            }),
        ]
    });
    let headings = ["claim", "verdict", "what it says", "where", "engines"];
    section.table(&Table::new(headings).rows(rows));
    let differ = |one: &ClaimResult<'_>| {
        let real = one.real.as_ref();
        real.is_some_and(|real| !real.disagreements.is_empty())
    };
    if results.iter().any(differ) {
        section.say(
            "Where engines differ: requests that come in the same instant in virtual time do not on \
             processes, so a run opens differently, and times there contain what the machine itself \
             takes. Where simulated runs do not vary at all, a message among thousands is a \
             difference.",
        );
    }
}

fn seen(section: &mut Section, one: &ClaimResult<'_>) {
    let claim = one.claim;
    section.say(&format!(
        "{} ({}): {} — {}.",
        claim.id, claim.place, claim.says, one.verdicts.verdict
    ));
    for quote in &claim.quotes {
        section.say(&format!("“{quote}”"));
    }
    let tests = one.verdicts.tests.iter().map(|test| {
        let case = test.case.as_ref();
        let case = case.map_or_else(String::new, |case| format!("{case}: "));
        let mut line = format!("{case}{}", test.outcome.seen);
        if !test.again.is_empty() {
            line += &format!(" [{}]", test.again);
        }
        line
    });
    let mut points = tests.collect::<Vec<_>>();
    points.push(format!("A first check by hand said: {}.", claim.lab));
    points.extend(claim.differs.clone());
    if let Some(real) = &one.real {
        let verdict = real.verdict;
        points.push(match real.disagreements.as_slice() {
            [] => format!("On processes: {verdict}; the engines agree."),
            _ => format!("On processes: {verdict}; the engines differ."),
        });
        points.extend(real.disagreements.iter().map(|one| format!("{one}.")));
    }
    section.list(&points);
}

fn open(section: &mut Section, results: &[ClaimResult<'_>], questions: &Questions) {
    for question in &questions.question {
        section.say(&format!("{} ({})", question.asks, question.place));
        let mut points = vec![question.answer.clone()];
        let known = question.claims.iter().filter_map(|id| {
            let one = results.iter().find(|one| one.claim.id == *id)?;
            Some(format!(
                "{id}: {}. {}",
                one.verdicts.verdict,
                one.evidence()
            ))
        });
        points.extend(known);
        section.list(&points);
    }
}
