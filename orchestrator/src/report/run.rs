//! The page of one run.

use std::collections::BTreeMap;

use analysis::Judgement;
use analysis::files::Provenance;
use node::plan::Plan;
use node::run::Run;

use super::page::{Cell, Page, Section, Table, Tone};
use crate::numbers::{count, decimal};
use crate::{again, outcome};

/// Everything about one run.
pub(crate) fn page(plan: &Plan, run: &Run, judgement: &Judgement, from: &Provenance) -> Page {
    let summary = &judgement.summary;
    let title = format!("{} · {}", summary.algorithm, plan.entry().title);
    let mut page = Page::new(&title, outcome::headline(summary).trim_end());
    let tone = Tone::of_run(&summary.verdict);
    page.banner(
        tone,
        &format!("verdict: {}", summary.verdict),
        &judgement.reasons,
    );
    numbers(page.section("Numbers"), judgement);
    messages(page.section("Messages"), run, summary.entries);
    if !run.faults.is_empty() {
        faults(page.section("Faults"), run);
    }
    provenance(page.provenance(), plan, from);
    page
}

fn numbers(section: &mut Section, judgement: &Judgement) {
    for block in outcome::rows(judgement) {
        let rows = block.iter().map(|row| {
            vec![
                Cell::text(&row.label),
                Cell::toned(&row.value, Tone::of_run(&row.value)),
                Cell::text(&row.remark),
            ]
        });
        if !block.is_empty() {
            section.table(&Table::new(["", "", ""]).rows(rows));
        }
    }
    section.list(&judgement.warnings);
}

/// What was sent, by kind.
fn messages(section: &mut Section, run: &Run, entries: u64) {
    let mut kinds = BTreeMap::<&str, [u64; 4]>::new();
    for ((_, _, kind), row) in &run.messages {
        let sums = kinds.entry(kind).or_default();
        for (sum, part) in sums
            .iter_mut()
            .zip([row.sent, row.received, row.lost, row.bytes])
        {
            *sum += part;
        }
    }
    if kinds.is_empty() {
        section.say("No message was sent.");
        return;
    }
    let table = Table::new(["kind", "sent", "per entry", "received", "lost", "bytes"]);
    let rows = kinds.iter().map(|(kind, [sent, received, lost, bytes])| {
        let per_entry = match entries {
            0 => String::new(),
            entries => decimal(*sent as f64 / entries as f64, 3),
        };
        let bytes = match bytes {
            0 => String::new(),
            bytes => count(*bytes),
        };
        vec![
            Cell::text(*kind),
            Cell::number(count(*sent)),
            Cell::number(per_entry),
            Cell::number(count(*received)),
            Cell::number(count(*lost)),
            Cell::number(bytes),
        ]
    });
    section.table(&table.rows(rows));
}

fn faults(section: &mut Section, run: &Run) {
    let seconds = |ns: u64| decimal(ns as f64 / 1e9, 3);
    let table = Table::new(["from, s", "until, s", "fault", "target", "acted"]);
    let rows = run.faults.iter().map(|fault| {
        vec![
            Cell::number(seconds(fault.time_ns)),
            Cell::number(fault.until_ns.map_or("the end".to_owned(), seconds)),
            Cell::text(&fault.fault),
            Cell::text(&fault.target),
            Cell::number(count(fault.acted)),
        ]
    });
    section.table(&table.rows(rows));
}

/// Where it came from, and how to have it again.
fn provenance(section: &mut Section, plan: &Plan, from: &Provenance) {
    let commit = from.commit.as_deref().unwrap_or("unknown");
    section.facts([
        ("started", from.started.as_str()),
        ("finished", &from.finished),
        ("host", &from.host),
        ("version", &from.version),
        ("commit", commit),
        ("command", &from.command_line.join(" ")),
    ]);
    section.say("The line that repeats it:");
    section.command(&again::repeat(from.command_line.iter().cloned(), plan.seed));
}
