//! The tables of a run, column by column.

use std::collections::BTreeMap;
use std::path::Path;

use algorithms::NodeId;
use model::plan::Plan;
use model::run::{Engine, HostClock, MessageRow, NoteRow, RequestRow, Run, TransportRow, UsageRow};
use safe_io::input;
use transport::frame::Rejected;

use super::FilesError;
use super::table::{Field, Row, Table, known, maybe, written};
use crate::{Summary, order};

/// The columns of `entries.csv`.
pub const ENTRY_COLUMNS: &[&str] = &[
    "node",
    "incarnation",
    "priority",
    "request_ns",
    "asked_ns",
    "enter_ns",
    "exit_ns",
    "outcome",
    "fence",
    "witness_slot",
    "messages",
    "registered",
    "witness_refused",
    "overtaken",
    "index",
];

const ENTRIES: Table = Table {
    name: "entries.csv",
    columns: ENTRY_COLUMNS,
};

const MESSAGES: Table = Table {
    name: "messages.csv",
    columns: &["from", "to", "kind", "sent", "received", "lost", "bytes"],
};

const COUNTERS: Table = Table {
    name: "counters.csv",
    columns: &["node", "name", "count", "sum", "min", "max"],
};

const TRANSPORT: Table = Table {
    name: "transport.csv",
    columns: &[
        "node",
        "datagrams_sent",
        "datagrams_received",
        "acks",
        "retransmissions",
        "duplicates",
        "rejected",
        "bytes",
        "unsent",
        "overflowed",
        "rejected_too_short",
        "rejected_wrong_version",
        "rejected_other_run",
        "rejected_other_algorithm",
        "rejected_not_for_us",
        "rejected_unknown_source",
        "rejected_bad_mac",
        "rejected_malformed",
        "rejected_stale_source",
        "rejected_stale_destination",
        "rejected_duplicate",
        "rejected_replayed",
        "rejected_other_session",
    ],
};

/// The columns of `transport.csv` that say why datagrams were rejected, in the order of
/// [`Rejected::ALL`].
fn rejection_columns() -> impl Iterator<Item = &'static str> {
    let reasons = TRANSPORT.columns.iter().copied();
    reasons.filter(|column| column.starts_with("rejected_"))
}

const NODES: Table = Table {
    name: "nodes.csv",
    columns: &[
        "node",
        "cpu_ms",
        "max_rss_kib",
        "involuntary_switches",
        "private_kib",
    ],
};

pub(super) const CLOCKS_NAME: &str = "clocks.csv";

const CLOCKS: Table = Table {
    name: CLOCKS_NAME,
    columns: &[
        "host",
        "offset_before_ns",
        "offset_after_ns",
        "bound_ns",
        "drift_ppm",
    ],
};

pub(super) const SUMMARY: &str = "summary.csv";

/// Writes what the clocks of the hosts showed, where there were several.
pub(super) fn write_clocks(dir: &Path, plan: &Plan, run: &Run) -> Result<(), FilesError> {
    if plan.placement.is_none() {
        return Ok(());
    }
    let row = |clock: &HostClock| {
        [
            known(&clock.name),
            known(&clock.offset_before_ns),
            maybe(clock.offset_after_ns),
            known(&clock.bound_ns),
            maybe(clock.drift_ppm.map(|ppm| format!("{ppm:.3}"))),
        ]
    };
    CLOCKS.write(dir, run.clocks.iter().map(row))
}

pub(super) fn read_clocks(dir: &Path, plan: &Plan) -> Result<Vec<HostClock>, FilesError> {
    let Some(placement) = &plan.placement else {
        return Ok(Vec::new());
    };
    let clocks = CLOCKS.read(dir, |row| {
        Ok(HostClock {
            name: row.text("host").to_owned(),
            offset_before_ns: row.number("offset_before_ns")?,
            offset_after_ns: row.optional("offset_after_ns")?,
            bound_ns: row.number("bound_ns")?,
            drift_ppm: row.optional("drift_ppm")?,
        })
    })?;
    let hosts = clocks.iter().map(|clock| &clock.name);
    match hosts.eq(&placement.hosts) {
        true => Ok(clocks),
        // A run that failed before the clocks were read has none.
        false if clocks.is_empty() => Ok(clocks),
        false => Err(FilesError::Line {
            path: dir.join(CLOCKS.name),
            line: 1,
            why: format!(
                "its hosts are not those of run.json: {}",
                placement.hosts.join(", ")
            ),
        }),
    }
}

pub(super) fn write_entries(dir: &Path, run: &Run) -> Result<(), FilesError> {
    let witnessed = run.engine == Engine::Cluster;
    let row = |(row, overtaken): (&RequestRow, Option<u64>)| {
        [
            known(&row.node),
            known(&row.incarnation),
            known(&row.priority),
            known(&row.arrived_ns),
            maybe(row.asked_ns),
            maybe(row.entered_ns),
            maybe(row.left_ns),
            known(&outcome(row)),
            maybe(row.fence),
            maybe(row.witness_slot),
            maybe(row.messages),
            maybe(row.registered),
            maybe((witnessed && row.entered_ns.is_some()).then(|| u8::from(row.witness_refused))),
            maybe(overtaken),
            maybe(row.index),
        ]
    };
    let overtaken = order::overtaken(run);
    ENTRIES.write(dir, run.requests.iter().zip(overtaken).map(row))
}

pub(super) fn read_entries(
    dir: &Path,
    plan: &Plan,
    run: &Run,
) -> Result<Vec<RequestRow>, FilesError> {
    ENTRIES.read(dir, |row| {
        let request = RequestRow {
            node: row.member("node", plan)?,
            incarnation: row.number("incarnation")?,
            priority: row.number("priority")?,
            arrived_ns: row.number("request_ns")?,
            asked_ns: row.optional("asked_ns")?,
            entered_ns: row.optional("enter_ns")?,
            left_ns: row.optional("exit_ns")?,
            fence: row.optional("fence")?,
            witness_slot: row.optional("witness_slot")?,
            witness_refused: row.optional::<u8>("witness_refused")? == Some(1),
            uninvited: row.text("outcome") == "uninvited",
            messages: row.optional("messages")?,
            registered: row.optional("registered")?,
            index: row.optional("index")?,
        };
        check_times(row, &request, run)?;
        let outcome = outcome(&request);
        if row.text("outcome") != outcome {
            return Err(row.unfit("outcome", format!("'{outcome}', as its times say")));
        }
        Ok(request)
    })
}

/// What became of a request, in a word.
fn outcome(row: &RequestRow) -> &'static str {
    if row.uninvited {
        "uninvited"
    } else if row.left_ns.is_some() {
        "served"
    } else if row.entered_ns.is_some() {
        "inside"
    } else if row.asked_ns.is_some() {
        "waiting"
    } else {
        "queued"
    }
}

/// Asking comes after arriving, entering after asking, leaving after entering, and all of it before
/// the end of the run.
fn check_times(row: &Row<'_>, request: &RequestRow, run: &Run) -> Result<(), FilesError> {
    let times = [
        ("request_ns", Some(request.arrived_ns)),
        ("asked_ns", request.asked_ns),
        ("enter_ns", request.entered_ns),
        ("exit_ns", request.left_ns),
    ];
    let mut last = ("the start", 0);
    for (column, time_ns) in times {
        let Some(time_ns) = time_ns else { continue };
        if time_ns < last.1 {
            let (before, before_ns) = last;
            return Err(row.unfit(column, format!("at least {before_ns}, its {before}")));
        }
        if time_ns > run.ended_ns {
            let end_ns = run.ended_ns;
            return Err(row.unfit(column, format!("at most {end_ns}, the end of the run")));
        }
        last = (column, time_ns);
    }
    if request.left_ns.is_some() && request.entered_ns.is_none() {
        return Err(row.unfit("enter_ns", "a whole number, since there is an exit"));
    }
    Ok(())
}

pub(super) fn write_messages(dir: &Path, run: &Run) -> Result<(), FilesError> {
    let rows = run.messages.iter().map(|((from, to, kind), row)| {
        let key = vec![known(from), maybe(*to), known(kind)];
        // No message has no bytes: they were not counted.
        let bytes = maybe((row.bytes > 0).then_some(row.bytes));
        [key, row.fields(), vec![bytes]].concat()
    });
    MESSAGES.write(dir, rows)
}

pub(super) type Messages = BTreeMap<(NodeId, Option<NodeId>, &'static str), MessageRow>;

pub(super) fn read_messages(dir: &Path, plan: &Plan) -> Result<Messages, FilesError> {
    let kinds = plan.info().machine(&plan.params, &plan.printed).kinds();
    let mut messages = BTreeMap::new();
    MESSAGES.read(dir, |row| {
        let from = row.member("from", plan)?;
        let to = match row.text("to") {
            "" => None,
            _ => Some(row.member("to", plan)?),
        };
        let kind = one_of(row, "kind", kinds.iter().copied())?;
        let counts = MessageRow {
            bytes: row.optional_count("bytes")?.unwrap_or(0),
            ..MessageRow::read(row)?
        };
        match messages.insert((from, to, kind), counts) {
            None => Ok(()),
            Some(_) => Err(row.unfit("kind", "a link and kind that no line above has")),
        }
    })?;
    Ok(messages)
}

pub(super) fn write_counters(dir: &Path, run: &Run) -> Result<(), FilesError> {
    let rows = run.notes.iter().map(|((node, name), row)| {
        let key = vec![known(node), known(name)];
        [key, row.fields()].concat()
    });
    COUNTERS.write(dir, rows)
}

pub(super) type Notes = BTreeMap<(NodeId, &'static str), NoteRow>;

pub(super) fn read_counters(dir: &Path, plan: &Plan) -> Result<Notes, FilesError> {
    let names = plan.info().more.notes.iter().map(|&(name, _)| name);
    let rows = COUNTERS.read(dir, |row| {
        let key = (
            row.member("node", plan)?,
            one_of(row, "name", names.clone())?,
        );
        Ok((key, NoteRow::read(row)?))
    })?;
    Ok(rows.into_iter().collect())
}

pub(super) fn write_transport(dir: &Path, run: &Run) -> Result<(), FilesError> {
    let rows = run.transport.iter().map(|(node, row)| {
        let added = vec![known(&row.unsent), maybe(row.overflowed)];
        let reasons = row.rejected_for.iter().map(known).collect();
        [vec![known(node)], row.fields(), added, reasons].concat()
    });
    TRANSPORT.write(dir, rows)
}

pub(super) fn read_transport(
    dir: &Path,
    plan: &Plan,
) -> Result<BTreeMap<NodeId, TransportRow>, FilesError> {
    read_by_node(&TRANSPORT, dir, plan, |row| {
        let mut rejected_for = [0; Rejected::ALL.len()];
        for (count, column) in rejected_for.iter_mut().zip(rejection_columns()) {
            *count = row.optional_count(column)?.unwrap_or_default();
        }
        Ok(TransportRow {
            unsent: row.optional_count("unsent")?.unwrap_or_default(),
            overflowed: row.optional_count("overflowed")?,
            rejected_for,
            ..TransportRow::read(row)?
        })
    })
}

pub(super) fn write_nodes(dir: &Path, run: &Run) -> Result<(), FilesError> {
    let rows = run.usage.iter();
    let rows = rows.map(|(node, row)| [vec![known(node)], row.fields()].concat());
    NODES.write(dir, rows)
}

pub(super) fn read_nodes(
    dir: &Path,
    plan: &Plan,
) -> Result<BTreeMap<NodeId, UsageRow>, FilesError> {
    read_by_node(&NODES, dir, plan, UsageRow::read)
}

/// Reads a table that has one line for each of some nodes.
fn read_by_node<T>(
    table: &Table,
    dir: &Path,
    plan: &Plan,
    read: impl Fn(&Row<'_>) -> Result<T, FilesError>,
) -> Result<BTreeMap<NodeId, T>, FilesError> {
    let rows = table.read(dir, |row| Ok((row.member("node", plan)?, read(row)?)))?;
    Ok(rows.into_iter().collect())
}

/// A row of which some columns are named after its fields.
trait ByName: Sized {
    /// Their cells, in the order of the columns.
    fn fields(&self) -> Vec<Field>;

    /// The row with these fields; the others have their defaults.
    fn read(row: &Row<'_>) -> Result<Self, FilesError>;
}

/// Says of each such column whether it is a count, which is summed over the rows, or a number.
macro_rules! by_name {
    ($($Type:ident { $($field:ident: $kind:ident),+ })+) => {
        $(impl ByName for $Type {
            fn fields(&self) -> Vec<Field> {
                vec![$(known(&self.$field)),+]
            }

            #[allow(clippy::needless_update, reason = "some rows have no other fields")]
            fn read(row: &Row<'_>) -> Result<Self, FilesError> {
                Ok(Self { $($field: row.$kind(stringify!($field))?,)+ ..Self::default() })
            }
        })+
    };
}

by_name! {
    MessageRow { sent: count, received: count, lost: count }
    NoteRow { count: count, sum: count, min: number, max: number }
    TransportRow {
        datagrams_sent: count, datagrams_received: count, acks: count, retransmissions: count,
        duplicates: count, rejected: count, bytes: count
    }
    UsageRow { cpu_ms: number, max_rss_kib: number, involuntary_switches: number, private_kib: number }
}

/// Writes the one row of `summary.csv`.
pub(super) fn write_summary(dir: &Path, summary: &Summary) -> Result<(), FilesError> {
    let path = dir.join(SUMMARY);
    let write = || {
        let mut writer = csv::Writer::from_path(&path)?;
        writer.write_record(Summary::columns().iter().map(|column| column.name))?;
        writer.write_record(summary.cells())?;
        writer.flush()?;
        Ok::<_, csv::Error>(())
    };
    write().map_err(|error| written(&path, error))
}

fn one_of(
    row: &Row<'_>,
    column: &'static str,
    words: impl Iterator<Item = &'static str> + Clone,
) -> Result<&'static str, FilesError> {
    let found = row.text(column);
    let known = words.clone().find(|word| *word == found);
    known.ok_or_else(|| {
        let words = words.collect::<Vec<_>>();
        let expected = match words[..] {
            [] => "no line at all: the algorithm has none".to_owned(),
            _ => format!("one of {}", words.join(", ")),
        };
        row.unfit(column, expected)
    })
}

/// Where `summary.csv` says something else than this summary, one sentence each.
pub(super) fn compare_summary(dir: &Path, summary: &Summary) -> Result<Vec<String>, FilesError> {
    let path = dir.join(SUMMARY);
    let file = input::open(&path, input::DOCUMENT_BYTES)
        .map_err(|source| FilesError::io("read", &path, source))?;
    let (header, written) =
        one_row(csv::Reader::from_reader(file)).map_err(|why| FilesError::Line {
            path: path.clone(),
            line: 1,
            why,
        })?;
    let mut differences = Vec::new();
    for (column, found) in Summary::columns().iter().zip(summary.cells()) {
        let column = column.name;
        let place = header.iter().position(|name| name == column);
        // A column that an earlier version did not have says nothing.
        let Some(written) = place.and_then(|place| written.get(place)) else {
            continue;
        };
        if written != found {
            differences.push(format!(
                "summary.csv: {column} was '{written}', the records say '{found}'"
            ));
        }
    }
    Ok(differences)
}

type HeaderAndRow = (csv::StringRecord, csv::StringRecord);

fn one_row<R: std::io::Read>(mut reader: csv::Reader<R>) -> Result<HeaderAndRow, String> {
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut rows = reader.records();
    let row = rows.next().ok_or("it has no row, expected one")?;
    let row = row.map_err(|error| error.to_string())?;
    match rows.next() {
        None => Ok((header, row)),
        Some(_) => Err("it has more than one row, expected one".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_to_reject_a_datagram_has_its_column() {
        let reasons = Rejected::ALL.map(|reason| format!("rejected_{reason}"));
        assert_eq!(rejection_columns().collect::<Vec<_>>(), reasons);
    }
}
