//! The page of one run.

use std::collections::BTreeMap;
use std::path::Path;

use algorithms::NodeId;
use analysis::files::Provenance;
use analysis::{Judgement, PriorityLine};
use model::plan::Plan;
use model::run::{Engine, Happened, NoteRow, Run, TransportRow};

use super::page::{Cell, Page, Section, Table, Tone};
use crate::numbers::{count, decimal};
use crate::pictures::{self, Picture};
use crate::trace::{Selection, Trace};
use crate::{repeat_line, result_table};

/// How many entries the second, closer picture shows.
const FIRST: usize = 40;
/// A page has no more faults than this.
const MOST_FAULTS: usize = 200;

/// Everything about one run.
/// The directory has its events, where it was traced.
pub(crate) fn page(
    directory: &Path,
    plan: &Plan,
    run: &Run,
    judgement: &Judgement,
    from: &Provenance,
) -> Page {
    let summary = &judgement.summary;
    let title = format!("{} · {}", summary.algorithm, plan.info().title);
    let mut page = Page::new(&title, result_table::headline(plan, summary).trim_end());
    let tone = Tone::of_run(&summary.verdict.to_string());
    page.banner(
        tone,
        &format!("verdict: {}", summary.verdict),
        &judgement.reasons,
    );
    numbers(page.section("Numbers"), judgement);
    waits(page.section("Waiting"), plan, run, &judgement.priorities);
    stays(page.section("Inside"), plan, run);
    if plan.trace {
        last_entries(page.section("The last two entries"), directory, plan, run);
    }
    messages(page.section("Messages"), run, summary.entries);
    if !run.faults.is_empty() {
        faults(page.section("Faults"), plan, run);
    }
    if !run.notes.is_empty() {
        notes(page.section("What the algorithm noted"), run);
    }
    if !run.transport.is_empty() {
        wire(page.section("On the wire"), run);
    }
    files(page.section("Files"), plan, run);
    provenance(page.provenance(), plan, from);
    page
}

fn numbers(section: &mut Section, judgement: &Judgement) {
    for block in result_table::rows(judgement) {
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

/// Shows how long requests waited, and in what order they entered.
fn waits(section: &mut Section, plan: &Plan, run: &Run, lines: &[PriorityLine]) {
    let waits = analysis::waits(plan, run);
    let all = [
        pictures::wait_percentiles(&waits),
        pictures::wait_over_time(run),
        pictures::order(run),
        pictures::wait_by_priority(lines),
        pictures::overtaking_by_priority(lines),
    ];
    if all.iter().all(Option::is_none) {
        section.say("Nobody got in.");
    }
    for picture in all.into_iter().flatten() {
        show(section, &picture);
    }
}

/// Shows who was inside: in the whole run and, where there were many entries, at its beginning.
fn stays(section: &mut Section, plan: &Plan, run: &Run) {
    show(
        section,
        &pictures::occupancy(run, plan.nodes, (0, run.ended_ns)),
    );
    let mut exits = run
        .requests
        .iter()
        .filter_map(|row| row.left_ns)
        .collect::<Vec<_>>();
    exits.sort_unstable();
    if let Some(&until_ns) = exits.get(FIRST - 1).filter(|_| exits.len() > 2 * FIRST) {
        section.say(&format!("The first {FIRST} entries, closer:"));
        show(
            section,
            &pictures::occupancy(run, plan.nodes, (0, until_ns)),
        );
    }
}

/// Shows the messages between the members that were inside last.
fn last_entries(section: &mut Section, directory: &Path, plan: &Plan, run: &Run) {
    let trace = match Trace::read(directory, plan, run) {
        Ok(trace) => trace,
        Err(failure) => return section.say(&format!("It cannot be drawn: {failure}")),
    };
    let (from_ns, until_ns) = trace.around(trace.last_entry_ns());
    let mut selection = Selection {
        from_ns,
        until_ns,
        nodes: (0..plan.nodes).map(NodeId).collect(),
    };
    selection.nodes = trace.active(&selection);
    match pictures::space_time(&trace, &selection) {
        Ok(picture) => show(section, &picture),
        Err(why) => section.say(&format!(
            "It does not fit: {why} of `orchestrator trace --format svg`."
        )),
    }
}

fn show(section: &mut Section, picture: &Picture) {
    section.figure(&picture.svg, &picture.caption);
}

/// Shows how many messages of each kind were sent.
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
    let sent = kinds.iter().map(|(kind, [sent, ..])| (*kind, *sent));
    if let Some(picture) = pictures::by_kind(&sent.collect()) {
        show(section, &picture);
    }
}

fn faults(section: &mut Section, plan: &Plan, run: &Run) {
    let seconds = |ns: u64| decimal(ns as f64 / 1e9, 3);
    let table = Table::new(["from, s", "until, s", "fault", "target", "acted", ""]);
    if run.faults.len() > MOST_FAULTS {
        section.say(&format!(
            "The first {MOST_FAULTS} faults; faults.csv has all of them."
        ));
    }
    let rows = run.faults.iter().take(MOST_FAULTS).map(|fault| {
        let (from, until) = match fault.happened {
            Happened::Never => ("never".to_owned(), String::new()),
            Happened::From { at_ns, until_ns } => {
                let until = until_ns.map_or("the end".to_owned(), seconds);
                (seconds(at_ns), until)
            }
        };
        vec![
            Cell::number(from),
            Cell::number(until),
            Cell::text(fault.name(&plan.faults)),
            Cell::text(fault.target.to_string()),
            Cell::number(count(fault.acted)),
            Cell::text(fault.remark.as_deref().unwrap_or_default()),
        ]
    });
    section.table(&table.rows(rows));
    if run
        .faults
        .iter()
        .any(|fault| pictures::lasts_throughout(fault, run))
    {
        section
            .say("One that is in force from the beginning to the end has no band in the pictures.");
    }
}

/// The numbers that the algorithm noted, over all nodes.
fn notes(section: &mut Section, run: &Run) {
    let mut names = BTreeMap::<&str, NoteRow>::new();
    for ((_, name), row) in &run.notes {
        names.entry(name).or_default().merge(row);
    }
    let table = Table::new(["name", "count", "mean", "smallest", "largest"]);
    let rows = names
        .iter()
        .filter(|(_, row)| row.count > 0)
        .map(|(name, row)| {
            let mean = decimal(row.sum as f64 / row.count as f64, 3);
            let numbers = [count(row.count), mean, count(row.min), count(row.max)];
            std::iter::once(Cell::text(*name))
                .chain(numbers.map(Cell::number))
                .collect()
        });
    section.table(&table.rows(rows));
}

/// What the reliable transport did, over all nodes.
fn wire(section: &mut Section, run: &Run) {
    let sum = |count: fn(&TransportRow) -> u64| run.transport.values().map(count).sum::<u64>();
    let rows = [
        ("datagrams_sent", sum(|row| row.datagrams_sent), ""),
        ("datagrams_received", sum(|row| row.datagrams_received), ""),
        ("acks", sum(|row| row.acks), "sent only to acknowledge"),
        (
            "retransmissions",
            sum(|row| row.retransmissions),
            "segments sent again",
        ),
        ("duplicates", sum(|row| row.duplicates), "received again"),
        (
            "rejected",
            sum(|row| row.rejected),
            "received and not believed",
        ),
        ("bytes", sum(|row| row.bytes), "sent"),
        ("unsent", sum(|row| row.unsent), "refused by the kernel"),
        (
            "overflowed",
            sum(|row| row.overflowed.unwrap_or(0)),
            "dropped by the kernel at a full socket",
        ),
    ];
    let rows = rows.map(|(name, number, meaning)| {
        vec![
            Cell::text(name),
            Cell::number(count(number)),
            Cell::text(meaning),
        ]
    });
    section.table(&Table::new(["column of transport.csv", "in all", ""]).rows(rows));
}

/// Lists the files beside the page, and what a row of each is.
const FILES: [(&str, &str); 9] = [
    (
        "run.json",
        "the run: scenario, seed, version, times, verdict",
    ),
    ("summary.csv", "the run, in one row"),
    ("entries.csv", "a request"),
    (
        "messages.csv",
        "messages of a kind from one node to another",
    ),
    ("counters.csv", "what a node noted under a name"),
    ("transport.csv", "the transport of a node"),
    ("nodes.csv", "a node's share of the machine"),
    ("faults.csv", "a fault"),
    ("latency.hlog", "an interval, for the tools of HdrHistogram"),
];

fn files(section: &mut Section, plan: &Plan, run: &Run) {
    let trace = plan.trace.then_some(("events.jsonl", "an event"));
    let members = match run.engine {
        Engine::Sim => None,
        Engine::Cluster => Some(("members", "what each process recorded and printed")),
    };
    let rows = FILES.into_iter().chain(trace).chain(members);
    let rows = rows.map(|(name, row)| vec![Cell::text(name).leading_to(name), Cell::text(row)]);
    section.table(&Table::new(["file", "a row is"]).rows(rows));
}

/// Says where the run came from, and how to repeat it.
fn provenance(section: &mut Section, plan: &Plan, from: &Provenance) {
    let commit = from.commit.as_deref().unwrap_or("unknown");
    let command = repeat_line::joined(&from.command_line);
    section.facts([
        ("started", from.started.as_str()),
        ("finished", &from.finished),
        ("host", &from.host),
        ("version", &from.version),
        ("commit", commit),
        ("command", &command),
    ]);
    section.say("The line that repeats it:");
    section.command(&repeat_line::repeat(
        from.command_line.iter().cloned(),
        plan.seed,
    ));
}
