//! One account of a run from the files its members left.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::fs::File;
use std::io::Take;
use std::path::{Path, PathBuf};

use algorithms::NodeId;
use algorithms::registry::LinkContract;
use member::faults::processes::TokenTrail;
use member::ledger::Ledger;
use member::tally::LINKS_COUNTED_UP_TO;
use model::event::{Event, What};
use model::plan::Plan;
use model::run::{End, Engine, FaultOutcome, MessageRow, Run, deaths, sort_by_time};
use node::record::{self, Record, RecordReader};
use safe_io::input;

use super::hosts::{Time, corrected_ns};
use super::supervisor::Played;
use model::engine::{EngineError, Observer};

/// Reads every member's records in order of time, and tells them to the ledger; what is traced goes
/// to the events.
pub(crate) fn merge(
    plan: &Plan,
    members: &Path,
    played: Played,
    observer: &mut dyn Observer,
) -> Result<Run, EngineError> {
    let mut files = Vec::new();
    let mut next = BinaryHeap::new();
    for node in (0..plan.nodes).map(NodeId) {
        let mut file = Records::open(members, node)?;
        file.time = played.time_of(plan, node);
        next.extend(file.read()?.map(|at_ns| Reverse((at_ns, node))));
        files.push(file);
    }
    let mut account = Account::new(plan, observer);
    // Receipts that have the time of a send which is not told yet.
    let mut early = VecDeque::new();
    // Clocks of several hosts agree up to their bounds: what was received before it was sent waits
    // until it has been, and time does not go back.
    let one_clock = plan.placement.is_none();
    let mut told_ns = 0;
    while let Some(Reverse((at_ns, node))) = next.pop() {
        let file = &mut files[node.index()];
        let others_tie = next
            .peek()
            .is_some_and(|Reverse((next_ns, _))| *next_ns == at_ns || !one_clock);
        if others_tie
            && file
                .record
                .as_ref()
                .is_some_and(|record| account.is_early(node, record))
        {
            early.push_back(Reverse((at_ns, node)));
            continue;
        }
        if !one_clock {
            told_ns = at_ns.max(told_ns);
        }
        if let Some(record) = file.record.take() {
            account.tell(at_ns.max(told_ns), node, record);
        }
        next.extend(file.read()?.map(|at_ns| Reverse((at_ns, node))));
        next.extend(early.drain(..));
    }
    Ok(account.close(played))
}

/// What a member has recorded, as far as it has been read.
struct Records {
    path: PathBuf,
    reader: RecordReader<Take<File>>,
    /// The next record of the file.
    record: Option<Record>,
    /// What its times have to be corrected by.
    time: Option<Time>,
}

impl Records {
    /// Only a member's first life runs the algorithm; later ones have nothing to tell.
    fn open(members: &Path, node: NodeId) -> Result<Self, EngineError> {
        let path = members.join(format!("{node}.0.rec"));
        let file = input::open(&path, input::LOG_BYTES);
        let reader = file.and_then(|file| record::read_file(file.into_file()));
        let reader = reader.map_err(|error| {
            EngineError::Testbed(format!("cannot read {}: {error}", path.display()))
        })?;
        Ok(Self {
            path,
            reader,
            record: None,
            time: None,
        })
    }

    /// Reads the next record; says when that was.
    fn read(&mut self) -> Result<Option<u64>, EngineError> {
        let next = self.reader.read();
        let next = next
            .map_err(|error| EngineError::Testbed(format!("{}: {error}", self.path.display())))?;
        let (at_ns, record) = next.unzip();
        self.record = record;
        Ok(at_ns.map(|at_ns| corrected_ns(self.time.as_ref(), at_ns)))
    }
}

/// The sender, the addressee where links are counted, and the kind of messages.
type Link = (NodeId, Option<NodeId>, &'static str);

struct Account<'a> {
    plan: &'a Plan,
    kinds: &'static [&'static str],
    ledger: Ledger,
    token: TokenTrail,
    /// When a member took another one for dead: the moment, the one, the other.
    suspicions: Vec<(u64, NodeId, NodeId)>,
    /// What the ledger does not keep.
    rest: Run,
    /// When the last thing happened that the files tell.
    last_ns: u64,
    /// Told of what is traced.
    observer: &'a mut dyn Observer,
    /// Messages that may have been lost with their sessions, where that is traced.
    unreceived: Unreceived,
}

impl<'a> Account<'a> {
    fn new(plan: &'a Plan, observer: &'a mut dyn Observer) -> Self {
        let machine = plan.info().machine(&plan.params, &plan.printed);
        Self {
            plan,
            kinds: machine.kinds(),
            ledger: Ledger::new(plan),
            token: TokenTrail::new(plan, machine.kinds()),
            suspicions: Vec::new(),
            rest: Run::default(),
            last_ns: 0,
            observer,
            unreceived: Unreceived::default(),
        }
    }

    fn close(mut self, played: Played) -> Run {
        let token = self.token;
        // Until they heard that it is over, members went on.
        let ended_ns = played.ended_ns.max(self.last_ns);
        if played.end == End::Finished && self.plan.info().link_contract == LinkContract::Sessions {
            // Nothing is under way any more: what did not arrive was lost with its session.
            for row in self.rest.messages.values_mut() {
                row.lost = row.sent.saturating_sub(row.received);
            }
            let lost = self.unreceived.lost(ended_ns);
            lost.for_each(|event| self.observer.event(&event));
        }
        for (node, row) in &mut self.rest.transport {
            row.overflowed = played.overflowed.get(node).copied();
        }
        let deaths = deaths(&played.faults);
        let died =
            |who: NodeId, at_ns: u64| deaths.get(&who).is_some_and(|&died_ns| died_ns <= at_ns);
        let suspicions = self.suspicions.into_iter();
        let untrue = suspicions.filter(|&(at_ns, _, of)| !died(of, at_ns));
        let untrue = untrue.map(|(at_ns, by, of)| FaultOutcome::false_suspicion(at_ns, by, of));
        let untrue = untrue.collect::<Vec<_>>();
        let mut run = self.ledger.close(played.end, ended_ns);
        run.faults
            .extend(played.faults.into_iter().map(|fault| token.explain(fault)));
        let on_links = played.on_links.into_iter();
        run.faults
            .extend(on_links.map(|did| FaultOutcome::on_links(did, &played.timeline, ended_ns)));
        run.faults.extend(untrue);
        sort_by_time(&mut run.faults);
        Run {
            engine: Engine::Cluster,
            messages: self.rest.messages,
            transport: self.rest.transport,
            proxy: played.proxy,
            round_trips: self.rest.round_trips,
            link_delay_sum_ns: self.rest.link_delay_sum_ns,
            link_delay_count: self.rest.link_delay_count,
            bound_broken: self.rest.bound_broken,
            most_inside: None,
            usage: played.usage,
            state_bytes: played.state_bytes,
            failure: played.failure,
            clocks: played.clocks,
            ..run
        }
    }

    fn tell(&mut self, at_ns: u64, node: NodeId, record: Record) {
        match record {
            Record::Event(what) => self.happened(at_ns, node, what),
            Record::Counters(row) => {
                self.rest.transport.insert(node, row);
            }
            Record::RoundTrip { ns } => self.rest.round_trips.add(at_ns, ns),
        }
    }

    fn happened(&mut self, at_ns: u64, node: NodeId, what: What) {
        self.last_ns = at_ns;
        self.ledger.record(at_ns, node, &what);
        match &what {
            What::Enter { witness, .. } => self.ledger.witnessed(node, *witness),
            What::Send {
                to, letter, bytes, ..
            } => {
                let kind = self.kind(&letter.kind);
                self.ledger.sent(None);
                self.token.sent(at_ns, kind, node, *to);
                let row = self.link(node, *to, kind);
                row.sent += 1;
                row.bytes += u64::from(*bytes);
            }
            What::Lose { to, kind, .. } => {
                let kind = self.kind(kind);
                self.link(node, *to, kind).lost += 1;
            }
            // What a member posts to itself is not counted.
            What::Receive { from, .. } if *from == node => {}
            What::Receive {
                from,
                letter,
                delay_ns,
            } => {
                let kind = self.kind(&letter.kind);
                self.token.received(at_ns, kind, node);
                self.link(*from, node, kind).received += 1;
                let sum_ns = &mut self.rest.link_delay_sum_ns;
                *sum_ns = sum_ns.saturating_add(*delay_ns);
                self.rest.link_delay_count += 1;
                self.rest.bound_broken += u64::from(*delay_ns > self.plan.bound_ns);
            }
            What::Suspect { peer } => self.suspicions.push((at_ns, node, *peer)),
            _ => {}
        }
        if self.plan.trace {
            if self.plan.info().link_contract == LinkContract::Sessions {
                self.unreceived.note(node, &what);
            }
            self.observer.event(&Event {
                time_ns: at_ns,
                node: Some(node),
                what,
            });
        }
    }

    /// Whether a record is the receipt of a message of which nobody has told yet that it was sent.
    fn is_early(&self, node: NodeId, record: &Record) -> bool {
        let Record::Event(What::Receive { from, letter, .. }) = record else {
            return false;
        };
        if *from == node {
            return false;
        }
        let link = self.link_of(*from, node, self.kind(&letter.kind));
        let row = self.rest.messages.get(&link);
        row.is_none_or(|row| row.sent <= row.received + row.lost)
    }

    /// The machine's own name of a kind of message; a file may say anything.
    fn kind(&self, name: &str) -> &'static str {
        let known = self.kinds.iter().find(|kind| **kind == name);
        known.copied().unwrap_or("?")
    }

    fn link(&mut self, from: NodeId, to: NodeId, kind: &'static str) -> &mut MessageRow {
        let link = self.link_of(from, to, kind);
        self.rest.messages.entry(link).or_default()
    }

    fn link_of(&self, from: NodeId, to: NodeId, kind: &'static str) -> Link {
        let by_link = self.plan.trace || self.plan.nodes <= LINKS_COUNTED_UP_TO;
        (from, by_link.then_some(to), kind)
    }
}

/// Messages that were sent and neither received nor lost to a fault: how many copies of each.
#[derive(Default)]
struct Unreceived(BTreeMap<(NodeId, u64), (u64, NodeId, Cow<'static, str>)>);

impl Unreceived {
    /// Takes note of what happened to a member.
    fn note(&mut self, node: NodeId, what: &What) {
        match what {
            What::Send { to, letter, .. } => {
                let unheard = (0, *to, letter.kind.clone());
                self.0.entry((node, letter.number)).or_insert(unheard).0 += 1;
            }
            What::Receive { from, letter, .. } => self.arrived(*from, letter.number),
            What::Lose { number, .. } => self.arrived(node, *number),
            _ => {}
        }
    }

    fn arrived(&mut self, from: NodeId, number: u64) {
        if let Entry::Occupied(mut sent) = self.0.entry((from, number)) {
            sent.get_mut().0 -= 1;
            if sent.get().0 == 0 {
                sent.remove();
            }
        }
    }

    /// The losses, now that it is over.
    fn lost(self, time_ns: u64) -> impl Iterator<Item = Event> {
        self.0
            .into_iter()
            .flat_map(move |((from, number), (times, to, kind))| {
                let event = Event {
                    time_ns,
                    node: Some(from),
                    what: What::Lose { to, number, kind },
                };
                (0..times).map(move |_| event.clone())
            })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use algorithms::registry;
    use model::event::Letter;
    use node::record::RecordWriter;

    use super::*;

    /// A message from 2 to 1 and its answer to 0, all at the same nanosecond of a coarse clock: they
    /// are told in the order in which they happened, not in that of the members.
    #[test]
    fn at_equal_times_nothing_is_received_before_it_is_sent() {
        let dir = tempfile::tempdir().expect("a directory");
        let plan = Plan {
            trace: true,
            ..Plan::usual(registry::find("raymond").expect("it is there"), 3, 1)
        };
        let sent = |to| What::Send {
            to: NodeId(to),
            letter: Letter::of_kind("REQUEST"),
            charge: None,
            bytes: 1,
        };
        let received = |from| What::Receive {
            from: NodeId(from),
            letter: Letter::of_kind("REQUEST"),
            delay_ns: 0,
        };
        let records = [vec![received(1)], vec![received(2), sent(0)], vec![sent(1)]];
        let records =
            records.map(|events| events.into_iter().map(Record::Event).collect::<Vec<_>>());
        for (node, records) in records.iter().enumerate() {
            let mut writer = RecordWriter::default();
            records.iter().for_each(|record| writer.add(5, record));
            let path = dir.path().join(format!("{node}.0.rec"));
            let head = (writer.bytes().len() as u64).to_le_bytes();
            fs::write(path, [&head, writer.bytes()].concat()).expect("a file");
        }
        let played = Played {
            end: End::Finished,
            ended_ns: 5,
            ..Played::abandoned(&plan)
        };
        let mut events = Vec::<Event>::new();
        merge(&plan, dir.path(), played, &mut events).expect("an account");
        let order = events.into_iter().map(|event| event.what);
        let expected = [sent(1), received(2), sent(0), received(1)];
        assert_eq!(order.collect::<Vec<_>>(), expected);
    }
}
