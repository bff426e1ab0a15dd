//! `events.jsonl`: everything that happened, one event after another, where a run is traced.
//!
//! It is written while the run goes on, so however long that is it takes no memory. What the faults
//! did is known only at the end; then their lines are put in between.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use algorithms::NodeId;
use model::event::{Event, What};
use model::plan::Plan;
use model::run::Run;
use safe_io::input;

use super::FilesError;
use crate::certificate::EntryCounter;

/// What the file is called.
pub(super) const NAME: &str = "events.jsonl";

/// What it is called while faults are put in between.
pub(super) const FRESH: &str = "events.jsonl.fresh";

/// The file while the run goes on.
#[derive(Debug)]
pub struct Events {
    path: PathBuf,
    file: BufWriter<File>,
    failed: Option<io::Error>,
    lines: u64,
}

impl Events {
    /// Begins the file in this directory.
    pub fn begin(dir: &Path) -> Result<Self, FilesError> {
        let path = dir.join(NAME);
        let file = File::create(&path).map_err(|source| FilesError::io("write", &path, source))?;
        Ok(Self {
            path,
            file: BufWriter::new(file),
            failed: None,
            lines: 0,
        })
    }

    /// Adds an event. They come in the order of time.
    pub fn add(&mut self, event: &Event) {
        self.add_line(&event.line());
    }

    /// Adds an event as its line.
    pub fn add_line(&mut self, line: &str) {
        if self.failed.is_none() {
            self.failed = writeln!(self.file, "{line}").err();
            self.lines += 1;
        }
    }

    /// Whether something could not be written; [`finish`](Self::finish) says what.
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// The run is over: puts what its faults did in between, completes the file, and lets the run know
    /// how many events there are.
    pub fn finish(mut self, plan: &Plan, run: &mut Run) -> Result<(), FilesError> {
        let faults = run.faults.iter();
        let faults = faults.flat_map(|fault| Event::of_fault(fault, &plan.faults));
        let mut faults = faults.collect::<Vec<_>>();
        faults.sort_by_key(|event| event.time_ns);
        run.events = Some(self.lines + faults.len() as u64);
        let write = || {
            if let Some(failed) = self.failed.take() {
                return Err(failed);
            }
            self.file.flush()?;
            match faults[..] {
                [] => Ok(()),
                _ => put_between(&self.path, faults),
            }
        };
        write().map_err(|source| FilesError::io("write", &self.path, source))
    }
}

/// Puts these events before the first of the file that is later.
fn put_between(path: &Path, events: Vec<Event>) -> io::Result<()> {
    let fresh = path.with_file_name(FRESH);
    let mut writer = BufWriter::new(File::create(&fresh)?);
    let mut events = events.into_iter().peekable();
    for line in BufReader::new(File::open(path)?).lines() {
        let line = line?;
        let time_ns = time_ns(&line);
        while let Some(event) = events.next_if(|event| time_ns.is_some_and(|at| event.time_ns < at))
        {
            writeln!(writer, "{}", event.line())?;
        }
        writeln!(writer, "{line}")?;
    }
    for event in events {
        writeln!(writer, "{}", event.line())?;
    }
    writer.flush()?;
    fs::rename(fresh, path)
}

/// The time that a line begins with; every event does.
fn time_ns(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("{\"time_ns\":")?;
    rest.split(',').next()?.parse().ok()
}

/// Reads the events of a run, one after another, and refuses what no run could have written.
pub fn read_events(
    dir: &Path,
    plan: &Plan,
    mut each: impl FnMut(u64, Event) -> Result<(), String>,
) -> Result<(), FilesError> {
    let path = dir.join(NAME);
    let unreadable = |source| FilesError::io("read", &path, source);
    let file = input::open(&path, input::LOG_BYTES).map_err(unreadable)?;
    let mut last_ns = 0;
    for (number, line) in (1..).zip(BufReader::new(file).lines()) {
        let line = line.map_err(unreadable)?;
        let event = sound(&line, plan, last_ns);
        let event = event.and_then(|event| {
            last_ns = event.time_ns;
            each(number, event)
        });
        event.map_err(|why| FilesError::Line {
            path: path.clone(),
            line: number,
            why,
        })?;
    }
    Ok(())
}

/// The event of a line, if it can be one of this run.
fn sound(line: &str, plan: &Plan, last_ns: u64) -> Result<Event, String> {
    let event: Event =
        serde_json::from_str(line).map_err(|error| format!("this is no event: {error}"))?;
    if event.time_ns < last_ns {
        let time_ns = event.time_ns;
        return Err(format!(
            "time_ns: found {time_ns}, expected at least {last_ns} as above"
        ));
    }
    let other = match event.what {
        What::Send { to, .. } | What::Hold { to, .. } | What::Lose { to, .. } => Some(to),
        What::Receive { from, .. } => Some(from),
        What::PeerDown { peer } | What::PeerUp { peer } | What::Suspect { peer } => Some(peer),
        What::LinkDown { neighbour } | What::LinkUp { neighbour } => Some(neighbour),
        _ => None,
    };
    match event
        .node
        .into_iter()
        .chain(other)
        .find(|node| node.0 >= plan.nodes)
    {
        None => Ok(event),
        Some(stranger) => {
            let last = plan.nodes.saturating_sub(1);
            Err(format!(
                "found node {stranger}, expected one from 0 to {last}"
            ))
        }
    }
}

/// Gives the entries of a run their indices from its events, where an earlier version wrote its tables and
/// the run is traced.
pub(super) fn count_entries(dir: &Path, plan: &Plan, run: &mut Run) -> Result<(), FilesError> {
    let known = run.requests.iter().any(|row| row.index.is_some());
    if !plan.trace || known || !plan.counts_entries() || !dir.join(NAME).is_file() {
        return Ok(());
    }
    let mut counter = EntryCounter::new(plan.nodes);
    let mut indices = BTreeMap::new();
    read_events(dir, plan, |_, event| {
        if let (Some(index), Some(node)) = (counter.take(&event), event.node) {
            indices.insert((node, event.time_ns), index);
        }
        Ok(())
    })?;
    for row in &mut run.requests {
        let entered = row.entered_ns.map(|at_ns| (row.node, at_ns));
        row.index = entered.and_then(|entry| indices.get(&entry).copied());
    }
    Ok(())
}

/// Where the events say something else than the tables, one sentence each. Without a trace there is
/// nothing to compare.
pub fn compare_events(dir: &Path, plan: &Plan, run: &Run) -> Result<Vec<String>, FilesError> {
    if !plan.trace {
        return Ok(Vec::new());
    }
    let mut counted = Counted::new(plan);
    let mut lines = 0;
    read_events(dir, plan, |_, event| {
        counted.count(&event);
        lines += 1;
        Ok(())
    })?;
    let mut differences = counted.compare_messages(run);
    differences.extend(counted.compare_entries(run));
    // Some events leave no trace in any table.
    if let Some(events) = run.events.filter(|&events| events != lines) {
        differences.push(format!(
            "{NAME}: it has {lines} events, run.json says {events}"
        ));
    }
    Ok(differences)
}

/// What the events say that tables say too.
struct Counted {
    /// Messages by sender, receiver and kind.
    messages: BTreeMap<(NodeId, NodeId, String), Fates>,
    /// Each entry: the member and when it entered, with its index where entries have one.
    entries: BTreeMap<(NodeId, u64), Option<u32>>,
    counter: Option<EntryCounter>,
}

/// What became of messages, in numbers.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Fates {
    sent: u64,
    received: u64,
    lost: u64,
}

impl Counted {
    fn new(plan: &Plan) -> Self {
        Self {
            messages: BTreeMap::new(),
            entries: BTreeMap::new(),
            counter: plan.counts_entries().then(|| EntryCounter::new(plan.nodes)),
        }
    }

    fn count(&mut self, event: &Event) {
        let Some(node) = event.node else {
            return;
        };
        let counter = self.counter.as_mut();
        let index = counter.and_then(|counter| counter.take(event));
        match &event.what {
            What::Send { to, letter, .. } => self.link(node, *to, &letter.kind).sent += 1,
            // What a member posts to itself is in no table.
            What::Receive { from, .. } if *from == node => {}
            What::Receive { from, letter, .. } => {
                self.link(*from, node, &letter.kind).received += 1;
            }
            What::Lose { to, .. } if *to == node => {}
            What::Lose { to, kind, .. } => self.link(node, *to, kind).lost += 1,
            What::Enter { .. } => {
                self.entries.insert((node, event.time_ns), index);
            }
            _ => {}
        }
    }

    fn link(&mut self, from: NodeId, to: NodeId, kind: &str) -> &mut Fates {
        self.messages
            .entry((from, to, kind.to_owned()))
            .or_default()
    }

    fn compare_messages(&self, run: &Run) -> Vec<String> {
        let rows = run.messages.iter().map(|((from, to, kind), row)| {
            let fates = Fates {
                sent: row.sent,
                received: row.received,
                lost: row.lost,
            };
            ((*from, to.unwrap_or_default(), (*kind).to_owned()), fates)
        });
        let rows: BTreeMap<_, _> = rows.collect();
        let links: BTreeSet<_> = self.messages.keys().chain(rows.keys()).collect();
        let difference = |link: &(NodeId, NodeId, String)| {
            let of = |counts: &BTreeMap<_, Fates>| counts.get(link).copied().unwrap_or_default();
            let (here, there) = (of(&self.messages), of(&rows));
            let (from, to, kind) = link;
            let link = format!("{kind} from {from} to {to}");
            (here != there).then(|| format!("{NAME}: {link}: {here}; messages.csv says {there}"))
        };
        links.into_iter().filter_map(difference).collect()
    }

    fn compare_entries(&self, run: &Run) -> Vec<String> {
        let rows = run.requests.iter();
        let rows: BTreeMap<_, _> = rows
            .filter_map(|row| row.entered_ns.map(|at_ns| ((row.node, at_ns), row.index)))
            .collect();
        let either: BTreeSet<_> = self.entries.keys().chain(rows.keys()).collect();
        let word = |index: Option<u32>| index.map_or("none".to_owned(), |index| index.to_string());
        let difference = |entry: &(NodeId, u64)| {
            let (node, at_ns) = entry;
            let (says, silent) = match (self.entries.get(entry), rows.get(entry)) {
                (Some(here), Some(there)) if here == there => return None,
                (Some(here), Some(there)) => {
                    let (here, there) = (word(*here), word(*there));
                    return Some(format!(
                        "{NAME}: {node} enters at {at_ns} ns with index {here}; entries.csv says {there}"
                    ));
                }
                (Some(_), None) => (NAME, "entries.csv"),
                (None, _) => ("entries.csv", NAME),
            };
            Some(format!(
                "{says}: {node} enters at {at_ns} ns, of which {silent} knows nothing"
            ))
        };
        either.into_iter().filter_map(difference).collect()
    }
}

impl std::fmt::Display for Fates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Fates {
            sent,
            received,
            lost,
        } = self;
        write!(f, "{sent} sent, {received} received, {lost} lost")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{fault, faults, plan, served};

    fn traced() -> Plan {
        Plan {
            trace: true,
            ..plan("raymond", 2)
        }
    }

    fn enter(node: u32, time_ns: u64) -> Event {
        Event {
            time_ns,
            node: Some(NodeId(node)),
            what: What::Enter {
                fence: None,
                invited: true,
                witness: None,
                index: None,
            },
        }
    }

    #[test]
    fn what_faults_did_is_put_in_between() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut events = Events::begin(dir.path()).expect("a file");
        for at_ns in [10, 20, 20, 30] {
            events.add(&enter(0, at_ns));
        }
        let mut run = served([(0, 1, 10, 11)]);
        let mut plan = traced();
        plan.faults = faults(2, ["cut 0-1"]);
        let cut = |times| fault(&plan.faults, "cut 0-1", times, 1);
        run.faults = vec![cut((15, Some(40))), cut((5, Some(20)))];
        events.finish(&plan, &mut run).expect("it can be written");
        let mut seen = Vec::new();
        let each = |line, event: Event| {
            let begun = matches!(event.what, What::Fault { .. });
            let over = matches!(event.what, What::FaultOver { .. });
            seen.push((line, event.time_ns, begun, over));
            Ok(())
        };
        read_events(dir.path(), &traced(), each).expect("it can be read");
        let expected = [
            (1, 5, true, false),
            (2, 10, false, false),
            (3, 15, true, false),
            (4, 20, false, false),
            (5, 20, false, false),
            (6, 20, false, true),
            (7, 30, false, false),
            (8, 40, false, true),
        ];
        assert_eq!(seen, expected);
        assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 1);
    }

    #[test]
    fn what_tables_do_not_say_is_a_difference() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut events = Events::begin(dir.path()).expect("a file");
        events.add(&enter(0, 10));
        events.add(&Event {
            what: What::Lose {
                to: NodeId(1),
                number: 1,
                kind: "PRIVILEGE".into(),
            },
            ..enter(0, 11)
        });
        let mut run = served([(0, 1, 10, 11), (1, 1, 12, 13)]);
        run.requests[0].index = Some(7);
        events
            .finish(&traced(), &mut run)
            .expect("it can be written");
        let found = compare_events(dir.path(), &traced(), &run).expect("it can be read");
        let expected = [
            "events.jsonl: PRIVILEGE from 0 to 1: 0 sent, 0 received, 1 lost; messages.csv says \
             0 sent, 0 received, 0 lost",
            "events.jsonl: 0 enters at 10 ns with index 1; entries.csv says 7",
            "entries.csv: 1 enters at 12 ns, of which events.jsonl knows nothing",
        ];
        assert_eq!(found, expected);
        let untraced = compare_events(dir.path(), &plan("raymond", 2), &run);
        assert_eq!(untraced.expect("nothing is read"), [] as [String; 0]);
    }

    #[test]
    fn what_no_run_writes_is_refused_with_its_line() {
        let lines = [
            ("{\"time_ns\":1}", "no event"),
            (
                "{\"time_ns\":1,\"node\":0,\"what\":\"fly\"}",
                "unknown variant `fly`",
            ),
            (
                "{\"time_ns\":1,\"node\":0,\"what\":\"release\"}",
                "expected at least 5",
            ),
            (
                "{\"time_ns\":9,\"node\":7,\"what\":\"release\"}",
                "found node 7",
            ),
        ];
        for (line, why) in lines {
            let dir = tempfile::tempdir().expect("a directory");
            let text = format!("{}\n{line}\n", enter(0, 5).line());
            fs::write(dir.path().join(NAME), text).expect("it can be written");
            let read = read_events(dir.path(), &traced(), |_, _| Ok(()));
            let error = read.expect_err(line).to_string();
            assert!(error.contains("line 2") && error.contains(why), "{error}");
        }
    }
}
