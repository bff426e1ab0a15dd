//! The clock that all processes of a host share.

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// A moment of CLOCK_MONOTONIC, which has the same zero in every process of a host and is never set
/// back, so moments of different members may be compared.
///
/// A run counts from a moment zero of its own, in plain nanoseconds. The two cannot be mixed up: only
/// [`since`](Self::since) and [`plus_ns`](Self::plus_ns) lead from one to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment {
    ns: u64,
}

impl Moment {
    /// The first moment of the clock: the start of the host.
    pub const START: Self = Self { ns: 0 };

    /// The moment of the call.
    pub fn now() -> Self {
        let now = clock_gettime(ClockId::Monotonic);
        Self {
            ns: now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64,
        }
    }

    /// Nanoseconds from an earlier moment to this one; 0 if the other is not earlier.
    pub fn since(self, earlier: Self) -> u64 {
        self.ns.saturating_sub(earlier.ns)
    }

    /// Nanoseconds from another moment to this one, below zero if this one is earlier; of the clocks of
    /// two hosts, by how much this one is ahead.
    pub fn ahead_of(self, other: Self) -> i64 {
        self.ns.wrapping_sub(other.ns).cast_signed()
    }

    /// The same moment by a clock that is ahead by this much.
    #[must_use]
    pub fn by_clock_ahead(self, ns: i64) -> Self {
        Self {
            ns: self.ns.saturating_add_signed(ns),
        }
    }

    /// The moment that many nanoseconds later.
    pub fn plus_ns(self, ns: u64) -> Self {
        Self {
            ns: self.ns.saturating_add(ns),
        }
    }

    /// Seconds and nanoseconds since the start of the clock.
    pub(crate) fn parts(self) -> (u64, u64) {
        (self.ns / 1_000_000_000, self.ns % 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_that_is_not_earlier_is_no_time_ago_and_none_is_after_the_last() {
        let later = Moment::START.plus_ns(5);
        assert_eq!(
            (later.since(Moment::START), Moment::START.since(later)),
            (5, 0)
        );
        assert_eq!(later.plus_ns(u64::MAX).since(Moment::START), u64::MAX);
        assert!(Moment::now() > later);
    }
}
