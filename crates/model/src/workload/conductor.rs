//! Who asks next in a workload that needs the whole system to decide.
//!
//! The world is *settled* when nothing is under way: every message that was sent has arrived, and no
//! timer is armed, neither the algorithm's nor a client's. The engine sees the whole world (the
//! simulator itself, the orchestrator over the control channel) and asks the conductor then.

use std::fmt;

use algorithms::NodeId;
use serde::{Deserialize, Serialize};

/// Conducts a workload in which nobody asks by itself.
pub trait Conduct: fmt::Debug + Send {
    /// What to tell which member in a settled world; `None` when the workload is over, or cannot go
    /// on because somebody waits who will never be let in.
    fn next(&mut self, world: Settled) -> Option<(NodeId, Cue)>;
}

/// A world in which nothing is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The moment since when nothing is under way, in nanoseconds from the start.
    pub now_ns: u64,
    /// Whether somebody is inside.
    pub inside: bool,
    /// Whether somebody has asked and not entered.
    pub waiting: bool,
}

/// What the conductor of a workload tells a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cue {
    /// Make the next request.
    Ask {
        /// Stay inside until told to leave.
        stay: bool,
    },
    /// Leave now, if you stayed inside; if not, the next that was to stay leaves as the workload says.
    Leave,
    /// Leave now, if you stayed inside; nobody is to stay from now on.
    LetGo,
}
