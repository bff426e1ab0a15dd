//! The control protocol between the orchestrator and a member: JSON lines on the member's stdin and
//! stdout. A member whose stdin ends, ends.
//!
//! ```text
//!   member                          orchestrator
//!     | ---- hello (port) ------------> |    bound, on port 0 unless told otherwise
//!     | <--- group (plan, book, key) -- |    who is who, and the key of this run
//!     | <--- start -------------------- |    who you are
//!     | ---- ready -------------------> |
//!     | <--- go (moment zero) --------- |    the same moment for all
//!     | ---- idle --------------------> |    my clients have nothing more to ask
//!     | <--- count, cue, down, ... ---- |
//!     | <--- finish ------------------- |
//!     | ---- done --------------------> |    everything is on disk; the process ends
//! ```

use std::net::SocketAddr;
use std::path::PathBuf;

use algorithms::NodeId;
use serde::{Deserialize, Serialize};

use model::event::What;
use model::plan::Plan;
use model::run::UsageRow;
use model::workload::Cue;
use transport::frame::Key;
use wire::Moment;

/// A message from the orchestrator to a member.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case")]
pub enum ToMember {
    /// The run, and the address of every member. The same bytes go to all members, so that they are
    /// made once.
    Group(Box<Group>),
    /// The member that this process is.
    Start(Start),
    /// The run begins at this moment of the monotonic clock.
    Go {
        /// Moment zero of the run.
        zero: Moment,
    },
    /// The next thing to do, where the workload has a conductor.
    Cue {
        /// The request to make, or the order to leave.
        cue: Cue,
    },
    /// A request for the member's counts, by which the orchestrator decides whether the group is
    /// settled.
    Count {
        /// The number of the round, which comes back in the answer.
        round: u64,
        /// Dead members: messages to and from them are left out, since nobody will receive them.
        dead: Vec<NodeId>,
    },
    /// News that another member is dead.
    Down {
        /// The member that is dead.
        peer: NodeId,
    },
    /// An order to stop, to say so, and to wait for `GoOn`.
    Halt,
    /// The member may go on: the fault it waited for is in force.
    GoOn {
        /// The step of the plan's faults that the member's next entry is a hit of, if any.
        catch: Option<usize>,
    },
    /// A look at the member, for a page that shows the run while it goes on: it answers `Seen`.
    Look {
        /// How many of its next events the member keeps for the next look.
        most: u32,
    },
    /// Clients stay inside, and think, so many times as long from now on as the workload says.
    Stretch {
        /// Above 1 they are slower.
        times: f64,
    },
    /// The end of the run: the member writes what is left, says `Done`, and ends.
    Finish,
}

/// Which member of the group a process is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Start {
    /// The number of the member that this process is.
    pub me: NodeId,
    /// Which life of that member this is. Only the first one runs the algorithm.
    pub incarnation: u32,
}

/// What every member must know to take part in a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Group {
    /// The plan of the run.
    pub plan: Plan,
    /// The address of each member, by its number.
    pub book: Vec<SocketAddr>,
    /// A number that tells this run's datagrams from those of any other run.
    pub run: u64,
    /// The key that seals this run's datagrams.
    pub key: Key,
    /// The run's directory, for records and witness files.
    pub dir: PathBuf,
}

/// A message from a member to the orchestrator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case")]
pub enum FromMember {
    /// The member has bound its socket.
    Hello {
        /// The port of the socket.
        port: u16,
    },
    /// The member knows the group; the run may begin.
    Ready,
    /// The member's clients have been served and will not ask again.
    Idle,
    /// The answer to `Count`.
    Counts {
        /// The number of the round that asked.
        round: u64,
        /// The member's counts since its start.
        counts: Counts,
    },
    /// An event happened that a fault waits for. Nothing of it has left, and the member waits.
    Hit {
        /// The step of the plan's faults that waits for the event.
        step: usize,
    },
    /// The member has stopped and waits for `GoOn`.
    Halted {
        /// When the client inside this member entered, if one is inside.
        inside_since_ns: Option<u64>,
        /// When the token last came to this member, if it ever did.
        token_since_ns: Option<u64>,
    },
    /// The answer to `Look`.
    Seen(Box<Glance>),
    /// All records are on disk; the process is about to end.
    Done {
        /// Encoded size of the algorithm's state.
        state_bytes: u64,
        /// The largest that it was after any event, where that was watched.
        peak_state_bytes: Option<u64>,
        /// The processor time and memory that the member took.
        usage: UsageRow,
    },
    /// The member's program cannot go on; why is among its records.
    ProgramFailed,
    /// The member cannot go on.
    Failed {
        /// The error, in words.
        why: String,
    },
}

/// What a member is like, and what happened to it since it was looked at before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Glance {
    /// The moment of the look: everything that is told happened until then.
    pub now_ns: u64,
    /// The first of what happened, as many as were to be kept.
    pub events: Vec<SeenEvent>,
    /// How many events there were besides.
    pub left_out: u64,
    /// Whether a client of the member is inside.
    pub inside: bool,
    /// Whether a client of the member waits.
    pub waiting: bool,
    /// What the member's algorithm is like now.
    pub now: Portrait,
}

/// An event as a look tells it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeenEvent {
    /// When, in nanoseconds from the start.
    pub at_ns: u64,
    /// The event of the member.
    pub what: What,
    /// What the member's algorithm was like after it, where the event was given to it.
    pub after: Option<Portrait>,
}

/// What a member's algorithm is like at a moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Portrait {
    /// Its state in words.
    pub state: String,
    /// How it wants to be drawn: an `algorithms::view::View`, as pages have it.
    pub view: serde_json::Value,
}

/// What a member has counted since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Messages of the algorithm that the member sent.
    pub sent: u64,
    /// Messages of the algorithm that the member received.
    pub received: u64,
    /// Peers that have not acknowledged all that was sent to them, and arrivals not handled yet.
    pub pending: u64,
    /// Armed timers, the algorithm's and the workload's.
    pub armed: u64,
    /// Requests that have arrived and not entered yet.
    pub waiting: u64,
    /// Clients that are inside.
    pub inside: u64,
    /// Entries since the start.
    pub entries: u64,
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Counts>>(counts: I) -> Counts {
        counts.fold(Counts::default(), |sum, one| Counts {
            sent: sum.sent + one.sent,
            received: sum.received + one.received,
            pending: sum.pending + one.pending,
            armed: sum.armed + one.armed,
            waiting: sum.waiting + one.waiting,
            inside: sum.inside + one.inside,
            entries: sum.entries + one.entries,
        })
    }
}
