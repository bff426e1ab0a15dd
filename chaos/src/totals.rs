//! What became of everything that passed between the members, counted by who stands there.

use serde::{Deserialize, Serialize};

/// All datagrams that a proxy has seen, over all links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Datagrams taken in from members.
    pub received: u64,
    /// Datagrams sent on, copies included.
    pub delivered: u64,
    /// Datagrams lost to faults, at once or under way.
    pub lost: u64,
    /// Copies that faults made beyond the first.
    pub doubled: u64,
    /// Datagrams under way when this was counted.
    pub under_way: u64,
    /// Datagrams taken in from an unknown address.
    pub strays: u64,
    /// Datagrams that the kernel did not take when they were to be sent on.
    pub unsent: u64,
    /// Datagrams that the kernel dropped because a socket of the proxy was full, where that is known.
    pub overflowed: Option<u64>,
}

/// What several proxies counted together.
impl std::ops::Add for Totals {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let overflowed = self.overflowed.zip(other.overflowed);
        Self {
            received: self.received + other.received,
            delivered: self.delivered + other.delivered,
            lost: self.lost + other.lost,
            doubled: self.doubled + other.doubled,
            under_way: self.under_way + other.under_way,
            strays: self.strays + other.strays,
            unsent: self.unsent + other.unsent,
            overflowed: overflowed.map(|(one, another)| one + another),
        }
    }
}
