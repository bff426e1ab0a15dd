//! Judging a run again, from its files alone.

use std::path::Path;

use model::plan::Plan;
use model::run::Run;

use super::record::{RunFile, Sentence, State};
use super::{FilesError, Provenance, compare_events, hlog, read_run, tables};
use crate::{Judgement, judge};

/// A run judged again.
#[derive(Clone, Debug, PartialEq)]
pub struct Recheck {
    /// What the run is judged to be from its files.
    pub judgement: Judgement,
    /// The run's plan.
    pub plan: Plan,
    /// Where it came from.
    pub provenance: Provenance,
    /// How far the run came.
    pub state: State,
    /// Where `run.json`, `summary.csv` and `events.jsonl` say otherwise, one sentence each.
    pub differences: Vec<String>,
}

/// Judges the run in this directory from its records, and compares that with what was written.
pub fn recheck(dir: &Path) -> Result<Recheck, FilesError> {
    let (record, topology) = RunFile::read(dir)?;
    let run = read_run(dir, &record)?;
    let judgement = judge(record.plan(), &topology, &run);
    let mut differences =
        tables::compare_summary(dir, &judgement.summary.stamped(record.provenance()))?;
    differences.splice(0..0, compare(&record.verdict, &Sentence::of(&judgement)));
    differences.extend(compare_window(record.plan(), &run));
    differences.extend(hlog::compare(dir, record.plan(), &run)?);
    differences.extend(compare_events(dir, record.plan(), &run)?);
    let state = record.state();
    let (plan, provenance) = record.into_plan();
    Ok(Recheck {
        judgement,
        plan,
        provenance,
        state,
        differences,
    })
}

fn compare(written: &Sentence, found: &Sentence) -> Vec<String> {
    let words = |sentence: &Sentence| {
        [
            ("the verdict", sentence.verdict.to_string()),
            ("safety", sentence.safety.to_string()),
            ("liveness", sentence.liveness.to_string()),
            ("well-formedness", sentence.well_formedness.to_string()),
            ("the reasons", sentence.reasons.join("; ")),
        ]
    };
    let pairs = words(written).into_iter().zip(words(found));
    pairs
        .filter(|(written, found)| written != found)
        .map(|((what, written), (_, found))| {
            format!("run.json: {what} was '{written}', the records say '{found}'")
        })
        .collect()
}

/// Where the window of `run.json` says something else than the tables. With a warm-up nobody else
/// knows when it began; then the summary is made of it, and shows what was altered.
fn compare_window(plan: &Plan, run: &Run) -> Vec<String> {
    if plan.warm_up_entries > 0 {
        return Vec::new();
    }
    let exits = run.requests.iter().filter(|row| row.left_ns.is_some());
    let sent = run.messages.values().map(|row| row.sent);
    let sent = sent.fold(0_u64, u64::saturating_add);
    [
        ("entries", run.window.entries, exits.count() as u64),
        ("messages", run.window.messages, sent),
        ("from_ns", run.window.from_ns, 0),
        ("until_ns", run.window.until_ns, run.ended_ns),
    ]
    .into_iter()
    .filter(|(_, written, found)| written != found)
    .map(|(what, written, found)| {
        format!("run.json: run.window.{what} was {written}, the records say {found}")
    })
    .collect()
}
