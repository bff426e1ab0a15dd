//! What became of everything that passed between the members, counted by who stands there.

use serde::{Deserialize, Serialize};

/// All datagrams that a proxy has seen, over all links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Datagrams taken in from members.
    pub received: u64,
    /// Sent on, copies too.
    pub delivered: u64,
    /// Lost to faults, at once or under way.
    pub lost: u64,
    /// Copies that faults made beyond the first.
    pub doubled: u64,
    /// Under way when this was counted.
    pub under_way: u64,
    /// Taken in from nobody known.
    pub strays: u64,
    /// Not taken by the kernel when they were to be sent on.
    pub unsent: u64,
    /// Dropped by the kernel because a socket of the proxy was full, where that is known.
    pub overflowed: Option<u64>,
}
