//! What is known of a run when it is over, whichever engine ran it.
//!
//! The engines make it, the run's files hold it, and every check and metric is a function of it.

mod faults;
mod round_trips;

use std::collections::BTreeMap;
use std::fmt;

use algorithms::NodeId;
use chaos::Totals;
use serde::{Deserialize, Serialize};

use transport::Counters;
use transport::frame::Rejected;

pub use faults::{FaultKind, FaultOutcome, FaultTarget, Happened, deaths, sort_by_time};
pub use round_trips::{Lengths, RoundTrips, SHORTEST_INTERVAL_NS};

/// Everything measured in one run. Times are nanoseconds from its start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Which engine ran it.
    pub engine: Engine,
    /// One row per request, in order of arrival.
    pub requests: Vec<RequestRow>,
    /// Messages by (from, to, kind); above 100 nodes `to` is left out.
    pub messages: BTreeMap<(NodeId, Option<NodeId>, &'static str), MessageRow>,
    /// Notes by (node, name).
    pub notes: BTreeMap<(NodeId, &'static str), NoteRow>,
    /// Messages sent inside the measured window; all of them if there is no warm-up.
    pub window: Window,
    /// Protocol errors, with when and where: at most the first hundred.
    pub protocol_errors: Vec<(u64, NodeId, String)>,
    /// The number of protocol errors, also of those beyond the first hundred.
    pub protocol_error_count: u64,
    /// Encoded size of the members' states at the end.
    pub state_bytes: StateBytes,
    /// Time from send to receipt, summed over all messages received.
    pub link_delay_sum_ns: u64,
    /// The number of messages whose delays are summed.
    pub link_delay_count: u64,
    /// Messages that took longer than the bound.
    pub bound_broken: u64,
    /// The most that were inside at once, counted event by event; `None` where no one place sees
    /// every event in order.
    pub most_inside: Option<u32>,
    /// Round trips that the transport measured. Only the log of latencies has them; a run that was
    /// read back has none.
    pub round_trips: RoundTrips,
    /// What the reliable transport did at each node; empty where messages went without it.
    pub transport: BTreeMap<NodeId, TransportRow>,
    /// What became of all datagrams at the proxy between the members, where one stood there.
    pub proxy: Option<Totals>,
    /// What each member took of the machine (cluster only).
    pub usage: BTreeMap<NodeId, UsageRow>,
    /// What became of the faults that were asked for, and what went wrong unasked, in the order it
    /// came into force; what never did comes last.
    pub faults: Vec<FaultOutcome>,
    /// How many events its trace has, where it is traced.
    pub events: Option<u64>,
    /// How the run ended.
    pub end: End,
    /// When the run ended.
    pub ended_ns: u64,
    /// What failed, where the testbed did.
    pub failure: Option<String>,
    /// The clocks of the hosts, where there were several.
    pub clocks: Vec<HostClock>,
}

/// The clock of a host, against that of the orchestrator's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostClock {
    /// The name of the host.
    pub name: String,
    /// How far it was ahead before the run; below zero if it was behind.
    pub offset_before_ns: i64,
    /// The same after the run, if the host was still there.
    pub offset_after_ns: Option<i64>,
    /// The most by which a time of this host can be wrong.
    pub bound_ns: u64,
    /// By how many parts in a million it ran faster.
    pub drift_ppm: Option<f64>,
}

/// One request, from its arrival to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestRow {
    /// The member whose client asked.
    pub node: NodeId,
    /// When the client wanted in.
    pub arrived_ns: u64,
    /// When the algorithm was asked.
    pub asked_ns: Option<u64>,
    /// When it let the client in.
    pub entered_ns: Option<u64>,
    /// When the client left.
    pub left_ns: Option<u64>,
    /// How urgent the request is; larger is more urgent.
    pub priority: u32,
    /// The life of the member; 0 is the first.
    pub incarnation: u32,
    /// The entry's fence, where the algorithm has one.
    pub fence: Option<u64>,
    /// Messages charged to it, where the algorithm says.
    pub messages: Option<u64>,
    /// Its place in the order of registration, where the algorithm notes `registered`: it rises
    /// from one registration of the run to the next.
    pub registered: Option<u64>,
    /// Which of the witness files the member locked (cluster only).
    pub witness_slot: Option<u32>,
    /// The witness refused: the kernel saw somebody else inside (cluster only).
    pub witness_refused: bool,
    /// Entered without having asked.
    pub uninvited: bool,
    /// One more than the largest index of an exit that the member knew of when it entered, by messages.
    /// Where each entry of a run has its own, from 1 on, each knew of the exit of the one before.
    pub index: Option<u32>,
}

impl RequestRow {
    /// A client wants in, and nothing has come of it yet.
    pub fn arrived(node: NodeId, priority: u32, arrived_ns: u64) -> Self {
        Self {
            node,
            arrived_ns,
            asked_ns: None,
            entered_ns: None,
            left_ns: None,
            priority,
            incarnation: 0,
            fence: None,
            messages: None,
            registered: None,
            witness_slot: None,
            witness_refused: false,
            uninvited: false,
            index: None,
        }
    }
}

/// What became of the messages of one kind on one link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRow {
    /// Messages handed to the link.
    pub sent: u64,
    /// Messages handed to the addressee.
    pub received: u64,
    /// Messages that will never arrive.
    pub lost: u64,
    /// Encoded size of the messages sent (cluster; in the simulator only with a trace).
    pub bytes: u64,
}

/// All values noted under one name by one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteRow {
    /// How many values were noted.
    pub count: u64,
    /// The sum of the values.
    pub sum: u64,
    /// The smallest value.
    pub min: u64,
    /// The largest value.
    pub max: u64,
}

impl NoteRow {
    /// Adds a value to the row.
    pub fn add(&mut self, value: u64) {
        self.min = if self.count == 0 {
            value
        } else {
            self.min.min(value)
        };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += value;
    }

    /// Adds all values of another row.
    pub fn merge(&mut self, other: &NoteRow) {
        if other.count == 0 {
            return;
        }
        self.min = match self.count {
            0 => other.min,
            _ => self.min.min(other.min),
        };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
    }
}

/// What was counted in the measured window: the whole run, or with a warm-up from the exit that ends
/// it to the last exit before the drain that leaves a multiple of N entries in between (the last
/// exit of all, if there were not that many).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// When the window began.
    pub from_ns: u64,
    /// When the window ended.
    pub until_ns: u64,
    /// Entries whose exit lies in it.
    pub entries: u64,
    /// Algorithm messages sent in it.
    pub messages: u64,
    /// Notes made in it, by name.
    pub notes: BTreeMap<String, NoteRow>,
    /// Messages sent from its beginning to every `stride`-th exit: how steady the rate was. From
    /// 64 exits on there are 64 to 127 of them.
    pub marks: Vec<u64>,
    /// Exits from one mark to the next.
    pub stride: u64,
}

/// What the reliable transport did at one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransportRow {
    /// Datagrams handed to the socket.
    pub datagrams_sent: u64,
    /// Datagrams taken from the socket.
    pub datagrams_received: u64,
    /// Datagrams sent only to acknowledge.
    pub acks: u64,
    /// Datagrams that were sent again.
    pub retransmissions: u64,
    /// Datagrams that were received again.
    pub duplicates: u64,
    /// Datagrams received and not believed.
    pub rejected: u64,
    /// Bytes handed to the socket.
    pub bytes: u64,
    /// Datagrams that the socket did not take.
    pub unsent: u64,
    /// Datagrams that the kernel dropped because the member's socket was full, where that is known.
    pub overflowed: Option<u64>,
    /// Received and not believed, for each reason of [`Rejected::ALL`]. What the network doubled is
    /// among these, and not in `rejected`.
    pub rejected_for: [u64; Rejected::ALL.len()],
}

impl From<&Counters> for TransportRow {
    fn from(counters: &Counters) -> Self {
        TransportRow {
            datagrams_sent: counters.datagrams_sent,
            datagrams_received: counters.datagrams_received,
            acks: counters.acks,
            retransmissions: counters.retransmissions,
            duplicates: counters.duplicates,
            rejected: counters.rejected(),
            bytes: counters.bytes_sent,
            unsent: 0,
            overflowed: None,
            rejected_for: counters.rejected_for,
        }
    }
}

/// What one member took of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageRow {
    /// Processor time since the run began.
    pub cpu_ms: f64,
    /// The most memory it had, in KiB.
    pub max_rss_kib: u64,
    /// Memory that is its alone at the end, in KiB.
    pub private_kib: u64,
    /// How often it had to make room for another process.
    pub involuntary_switches: u64,
}

/// Sizes of encoded states, at the end of a run unless it says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateBytes {
    /// The sum over all members.
    pub sum: u64,
    /// The size of the largest state.
    pub max: u64,
    /// The size of the largest state at any moment of the run, where that was watched.
    #[serde(default)]
    pub peak: Option<u64>,
}

/// What runs the members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// The simulator, in virtual time.
    #[default]
    Sim,
    /// Processes that speak UDP.
    Cluster,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::Sim => "sim",
            Engine::Cluster => "cluster",
        })
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Everything was done and nothing moved any more.
    #[default]
    Finished,
    /// Nothing moved any more, yet somebody waited.
    Deadlock,
    /// More than 1 000·N messages while nobody was inside, and somebody waited.
    LiveLock,
    /// The time limit came first.
    TimeLimit,
    /// A user interrupted the run.
    Interrupted,
    /// The testbed failed: a process died unexpectedly, a disk was full.
    Failed,
    /// The orchestrator was killed; what the members had recorded was found later.
    Abandoned,
    /// The program that a member runs died, was too slow, or answered what is no answer: a protocol
    /// error says which.
    ProgramFailed,
}
