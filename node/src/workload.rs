//! Who asks for the critical section, when, and how long they stay inside.

use algorithms::NodeId;
use serde::{Deserialize, Serialize};

/// What the clients of all members do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// When clients ask.
    pub arrivals: Arrivals,
    /// How long a client stays inside.
    pub hold: PerNode<Span>,
    /// How much there is to do.
    pub quota: Quota,
    /// How urgent requests are; larger is more urgent.
    pub priority: PerNode<u32>,
    /// How often each node asks, relative to the others; empty if all alike.
    pub weights: Vec<f64>,
    /// How many clients share one member; they wait in a queue of its own.
    pub clients: u32,
}

/// When clients ask.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Each client asks, enters, leaves, thinks, and asks again.
    Closed {
        /// How long it thinks.
        think: PerNode<Span>,
    },
    /// Requests come to each node as a Poisson process, whether or not earlier ones are served.
    Open {
        /// The mean time between two requests at one node, in nanoseconds.
        mean_gap_ns: u64,
    },
    /// Given requests at given moments.
    Batch {
        /// Who asks, in this order.
        asks: Vec<Ask>,
        /// Whether the next one asks only when nothing is under way; the first to enter then stays
        /// inside until all have asked.
        settled: bool,
    },
    /// One request at a time, by a node drawn at random; the next when nothing is under way.
    OneAtATime,
    /// So many different nodes, drawn at random, each once, within a window from time 0.
    Window {
        /// How many.
        nodes: u32,
        /// How long the window is, in nanoseconds.
        within_ns: u64,
    },
}

/// One request of a batch or of a trace file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Who.
    pub node: NodeId,
    /// When, in nanoseconds from the start.
    pub at_ns: u64,
    /// How urgent, if not as the workload says for that node.
    pub priority: Option<u32>,
    /// How long it stays inside, if not as the workload says for that node.
    pub hold_ns: Option<u64>,
}

/// How much there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quota {
    /// So many entries of each node.
    PerNode(u64),
    /// So many entries in all, dealt to the nodes in advance by their weights.
    Total(u64),
    /// New requests until this moment, in nanoseconds from the start; then the run drains.
    Until(u64),
}

/// One value for all nodes, or one for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PerNode<T> {
    /// The same for all.
    All(T),
    /// By node number; beyond its end it begins again.
    Each(Vec<T>),
}

impl<T: Copy> PerNode<T> {
    /// The value of one node.
    ///
    /// # Panics
    /// If the list is empty; scenarios with an empty list are refused.
    pub fn of(&self, node: NodeId) -> T {
        match self {
            PerNode::All(value) => *value,
            PerNode::Each(values) => values[node.index() % values.len()],
        }
    }
}

/// A length of time, or how it is drawn: `10ms`, `exp:10ms`, `uniform:1ms..5ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Span {
    /// Always the same.
    Constant(u64),
    /// Between the two, in nanoseconds.
    Uniform(u64, u64),
    /// With this mean, in nanoseconds.
    Exponential(u64),
}
