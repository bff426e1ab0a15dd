//! Where the chance in a run comes from.

use algorithms::NodeId;
use chaos::Draw;

/// What a draw is for: each purpose has a stream of its own.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    /// How long a client thinks.
    Think = 1,
    /// How long a client stays inside.
    Hold = 2,
    /// How long after one request the next one comes.
    Gap = 3,
    /// Which node asks next. A run has one workload, so that workloads may share a purpose.
    Next = 4,
    /// Which nodes ask within a window of time, and when.
    Window = 5,
    /// When a timer goes off that may do so between two moments.
    Timer = 6,
    /// How urgent a request is.
    Priority = 7,
}

/// The stream for the n-th draw of a purpose at a node.
#[inline]
pub fn draw(seed: u64, purpose: Purpose, node: NodeId, nth: u64) -> Draw {
    Draw::new([seed, purpose as u64, u64::from(node.0), nth])
}
