//! Churn: edges that fail and are repaired, again and again.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::draw::Draw;
use crate::fate::Member;
use crate::span::show_ns;

/// How often an edge fails, and how long it takes to be repaired; both times are exponential, and an
/// edge is whole at first. Both directions of an edge fail together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Churn {
    /// The mean time from repair to failure.
    pub fail_ns: u64,
    /// The mean time from failure to repair.
    pub repair_ns: u64,
}

/// Edges do not fail more often, on average: every outage that nobody saw has to be drawn before the
/// next packet of its link passes.
pub const SHORTEST_CYCLE_NS: u64 = 1_000_000;

impl Churn {
    /// The mean time from one failure to the next.
    pub fn cycle_ns(&self) -> u64 {
        self.fail_ns.saturating_add(self.repair_ns)
    }
}

/// Times of failure and repair of one edge, one after the other, without end.
///
/// The k-th time depends only on (seed, fault, edge, k): neither on packets nor on other edges.
#[derive(Clone, Debug)]
pub struct Outages {
    churn: Churn,
    /// The stream of the edge.
    draw: Draw,
    /// How many times were drawn.
    drawn: u64,
    /// The outage that begins next, or is not yet over.
    next: Outage,
    /// When the last that has begun began.
    began_ns: Option<u64>,
}

/// A stretch of time in which an edge is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When it breaks.
    pub from_ns: u64,
    /// When it is whole again.
    pub until_ns: u64,
}

impl Outages {
    /// Those of the edge between two members, from a moment on. `fault` is the stream of (seed,
    /// fault).
    pub fn new(churn: Churn, fault: &Draw, ends: (Member, Member), from_ns: u64) -> Self {
        let (low, high) = (ends.0.min(ends.1), ends.0.max(ends.1));
        let mut outages = Self {
            churn,
            draw: fault.clone().with(link_word(low, high)),
            drawn: 0,
            next: Outage {
                from_ns,
                until_ns: from_ns,
            },
            began_ns: None,
        };
        outages.step();
        outages
    }

    /// When the outage began that the edge suffers now, if it does. Time does not run backwards.
    pub fn current(&mut self, now_ns: u64) -> Option<u64> {
        while self.next.until_ns <= now_ns {
            self.began_ns = Some(self.next.from_ns);
            self.step();
        }
        (self.next.from_ns <= now_ns).then_some(self.next.from_ns)
    }

    /// When the latest outage began that has begun by now, whether or not it is over.
    pub fn latest(&mut self, now_ns: u64) -> Option<u64> {
        self.current(now_ns).or(self.began_ns)
    }

    /// The first moment after this one at which an outage begins or ends.
    pub(crate) fn next_change_ns(&mut self, now_ns: u64) -> u64 {
        match self.current(now_ns) {
            Some(_) => self.next.until_ns,
            None => self.next.from_ns,
        }
    }

    fn step(&mut self) {
        let from_ns = self
            .next
            .until_ns
            .saturating_add(self.draw_ns(self.churn.fail_ns));
        let until_ns = from_ns.saturating_add(self.draw_ns(self.churn.repair_ns));
        self.next = Outage { from_ns, until_ns };
    }

    fn draw_ns(&mut self, mean_ns: u64) -> u64 {
        self.drawn += 1;
        let rank = self.draw.clone().with(self.drawn).unit();
        (-(-rank).ln_1p() * mean_ns as f64) as u64 + 1
    }
}

impl Iterator for Outages {
    type Item = Outage;

    fn next(&mut self) -> Option<Outage> {
        let next = self.next;
        self.step();
        Some(next)
    }
}

/// The word of a directed link among those that a draw is made from.
pub(crate) fn link_word(from: Member, to: Member) -> u64 {
    u64::from(from) << 32 | u64::from(to)
}

impl fmt::Display for Churn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "fail {} repair {}",
            show_ns(self.fail_ns),
            show_ns(self.repair_ns)
        )
    }
}
