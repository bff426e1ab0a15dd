//! What the orchestrator and a member say to each other: JSON lines on the member's stdin and
//! stdout. End of stdin ends the member.
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

use member::members::Cue;
use model::plan::Plan;
use model::run::UsageRow;
use transport::frame::Key;

/// From the orchestrator to a member.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case")]
pub enum ToMember {
    /// What this run is, and who is who. The same bytes go to everybody, so that they are made once.
    Group(Box<Group>),
    /// Who you are.
    Start(Start),
    /// The run begins at this moment of the monotonic clock.
    Go {
        /// Moment zero.
        zero_ns: u64,
    },
    /// What to do next, where the workload is conducted.
    Cue {
        /// What.
        cue: Cue,
    },
    /// Say what you have counted, for the test whether the group is settled.
    Count {
        /// Comes back in the answer.
        round: u64,
        /// Leave out what you sent to these and had from them: nobody will receive it.
        dead: Vec<NodeId>,
    },
    /// This member is dead.
    Down {
        /// Which.
        peer: NodeId,
    },
    /// Stop where you are, say so, and wait until you may go on.
    Halt,
    /// Go on: the fault you waited for is in force.
    GoOn {
        /// When you next enter, that is a hit of this step of the plan's faults.
        catch: Option<usize>,
    },
    /// The run is over: write what is left, say done, and end.
    Finish,
}

/// Which member of the group one is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Start {
    /// The number of the member that this process is.
    pub me: NodeId,
    /// Which life of that member this is. Only the first one runs the algorithm.
    pub incarnation: u32,
}

/// What every member must know to take part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Group {
    /// The run.
    pub plan: Plan,
    /// Where to send what is for member i.
    pub book: Vec<SocketAddr>,
    /// What tells this run's datagrams from any other's.
    pub run: u64,
    /// The key of this run.
    pub key: Key,
    /// The run's directory, for records and witness files.
    pub dir: PathBuf,
}

/// From a member to the orchestrator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case")]
pub enum FromMember {
    /// I have a socket.
    Hello {
        /// Its port.
        port: u16,
    },
    /// I know who is who; the run may begin.
    Ready,
    /// My clients have been served and will not ask again.
    Idle,
    /// What I have counted.
    Counts {
        /// As asked.
        round: u64,
        /// So much.
        counts: Counts,
    },
    /// Something happened that a fault waits for. Nothing of it has left, and I wait.
    Hit {
        /// Which step of the plan's faults.
        step: usize,
    },
    /// I have stopped where I am, and wait.
    Halted {
        /// Since when somebody is inside here, if anybody is.
        inside_since_ns: Option<u64>,
        /// When the token last came here, if it ever did.
        token_since_ns: Option<u64>,
    },
    /// Everything is on disk; I am about to end.
    Done {
        /// Encoded size of the algorithm's state.
        state_bytes: u64,
        /// What I took of the machine.
        usage: UsageRow,
    },
    /// I cannot go on.
    Failed {
        /// Why.
        why: String,
    },
}

/// What a member has counted since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Algorithm messages sent.
    pub sent: u64,
    /// Algorithm messages received.
    pub received: u64,
    /// Peers that have not acknowledged all that was sent to them, and arrivals not handled yet.
    pub pending: u64,
    /// Timers armed, the algorithm's and the workload's.
    pub armed: u64,
    /// Requests that have arrived and not entered.
    pub waiting: u64,
    /// Clients inside.
    pub inside: u64,
    /// Entries so far.
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
