//! The files of a run: written so that a half-written result never appears, read so that nothing
//! wrong passes unnoticed.
//!
//! | file | one row is | columns |
//! |---|---|---|
//! | `run.json` | the run | where it came from, how it ended, the verdict |
//! | `entries.csv` | a request | node, incarnation, priority, request_ns, asked_ns, enter_ns, exit_ns, outcome, fence, witness_slot, messages, registered, witness_refused, overtaken, index |
//! | `messages.csv` | (from, to, kind) | sent, received, lost, bytes |
//! | `counters.csv` | (node, name) | count, sum, min, max |
//! | `transport.csv` | a node | datagrams_sent, datagrams_received, acks, retransmissions, duplicates, rejected, bytes |
//! | `nodes.csv` | a node | cpu_ms, max_rss_kib, involuntary_switches, private_kib |
//! | `faults.csv` | a fault | time_ns, fault, target, until_ns, acted, remark, step |
//! | `latency.hlog` | an interval | HdrHistogram log, tags wait, sync, turnaround, rtt, in nanoseconds |
//! | `summary.csv` | the run | see [`Summary`](crate::Summary) |
//! | `clocks.csv` | a host, where there are several | host, offset_before_ns, offset_after_ns, bound_ns, drift_ppm |
//! | `events.jsonl` | an event, where the run is traced | see [`Event`](model::event::Event) |
//!
//! Columns are never renamed, only added; an empty field is an unknown value.

mod draft;
mod error;
mod events;
mod faults;
mod hlog;
mod recheck;
mod record;
mod table;
mod tables;

pub use draft::{Draft, numbered, orphans, reserve};
pub use error::FilesError;
pub use events::{Events, compare_events, read_events};
pub use recheck::{Recheck, recheck};
pub use record::{Provenance, State, utc};
pub use tables::ENTRY_COLUMNS;

use std::path::Path;

use algorithms::Topology;
use model::plan::Plan;
use model::run::{Engine, Run};

use crate::{Judgement, Verdict};
use record::RunFile;

/// The files of a run: `run.json`, what follows from the run, and where it is traced its events. A run on
/// several hosts has `clocks.csv` as well.
pub const FILES: [&str; 10] = [
    record::NAME,
    "entries.csv",
    "messages.csv",
    "counters.csv",
    "transport.csv",
    "nodes.csv",
    "faults.csv",
    "latency.hlog",
    "summary.csv",
    events::NAME,
];

/// Writes every file of a run into a directory that is there.
pub fn write_into(
    dir: &Path,
    plan: &Plan,
    run: &Run,
    judgement: &Judgement,
    provenance: &Provenance,
) -> Result<(), FilesError> {
    tables::write_entries(dir, run)?;
    tables::write_messages(dir, run)?;
    tables::write_counters(dir, run)?;
    tables::write_transport(dir, run)?;
    tables::write_nodes(dir, run)?;
    tables::write_clocks(dir, plan, run)?;
    faults::write(dir, plan, run)?;
    tables::write_summary(dir, &judgement.summary.stamped(provenance))?;
    hlog::write(dir, plan, run, provenance)?;
    RunFile::new(plan, run, judgement, provenance).write(dir)
}

/// Writes only what says which run this is and how far it came: before it begins, when it counts as
/// abandoned unless more follows, and where nothing else can be written.
pub fn write_record(
    dir: &Path,
    plan: &Plan,
    topology: &Topology,
    run: &Run,
    provenance: &Provenance,
) -> Result<(), FilesError> {
    let judgement = crate::judge(plan, topology, run);
    RunFile::new(plan, run, &judgement, provenance).write(dir)
}

/// Removes the tables of a run, whole or not, and leaves what they were made from.
pub fn remove_tables(dir: &Path) {
    let tables = FILES.iter().filter(|name| **name != record::NAME);
    for name in tables.chain([&events::FRESH, &tables::CLOCKS_NAME]) {
        // Not every one need be there.
        let _ = std::fs::remove_file(dir.join(name));
    }
}

/// What `run.json` says of a run, whatever else is there.
#[derive(Clone, Debug)]
pub struct Head {
    /// The plan of the run.
    pub plan: Plan,
    /// The links of the plan, built.
    pub topology: Topology,
    /// The engine that ran it.
    pub engine: Engine,
    /// Where the run came from.
    pub provenance: Provenance,
    /// How far the run came.
    pub state: State,
    /// The verdict on the run.
    pub verdict: Verdict,
}

/// Reads only `run.json`.
pub fn head(dir: &Path) -> Result<Head, FilesError> {
    let (record, topology) = RunFile::read(dir)?;
    let (engine, state, verdict) = (record.engine(), record.state(), record.verdict.verdict);
    let (plan, provenance) = record.into_plan();
    Ok(Head {
        plan,
        topology,
        engine,
        provenance,
        state,
        verdict,
    })
}

/// What the directory of a run holds.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The plan of the run.
    pub plan: Plan,
    /// The links of the plan, built.
    pub topology: Topology,
    /// What happened in it, as its tables say.
    pub run: Run,
    /// Where the run came from.
    pub provenance: Provenance,
}

/// Reads the files of a run back, and refuses what no run could have written.
pub fn read(dir: &Path) -> Result<Contents, FilesError> {
    let (record, topology) = RunFile::read(dir)?;
    let run = read_run(dir, &record)?;
    let (plan, provenance) = record.into_plan();
    Ok(Contents {
        plan,
        topology,
        run,
        provenance,
    })
}

fn read_run(dir: &Path, record: &RunFile) -> Result<Run, FilesError> {
    let mut run = record.run();
    let plan = record.plan();
    run.requests = tables::read_entries(dir, plan, &run)?;
    run.messages = tables::read_messages(dir, plan)?;
    run.notes = tables::read_counters(dir, plan)?;
    run.transport = tables::read_transport(dir, plan)?;
    run.usage = tables::read_nodes(dir, plan)?;
    run.clocks = tables::read_clocks(dir, plan)?;
    run.faults = faults::read(dir, plan)?;
    hlog::check_there(dir)?;
    events::count_entries(dir, plan, &mut run)?;
    Ok(run)
}
