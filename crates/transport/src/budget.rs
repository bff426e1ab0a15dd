//! How many repetitions a member may send, over all its links together.
//!
//! A link alone cannot tell a lost datagram from one that waits in a long queue, and a member may
//! have hundreds of links. If each repeated by its own clock, an overloaded network would get more
//! to carry the less it carries. So a datagram with repetitions takes a credit.
//! Credits come with answers: one for two segments that arrived, which is more than the repetitions
//! that a network needs while it loses less than a third. A few come with time, so that something is
//! tried when no answer comes at all; the pauses between those double until one does.

use crate::config::Timing;
use crate::rtt::{Estimate, Presumed};

/// A credit has this many parts, and a segment that arrived brings one of them.
const PARTS: u64 = 2;
/// The most repetitions that may leave at one moment, if everything went well before.
const MOST: u64 = 64 * PARTS;
/// How many may leave before anything is known.
const FIRST: u64 = 8 * PARTS;
/// How many more may leave after each pause.
const WITH_TIME: u64 = 4 * PARTS;

/// A member's credits, and what it knows of round trips to anybody.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    /// In parts of a credit: `PARTS` of them let a repetition leave.
    credits: u64,
    /// When credits last came with time.
    dealt_at: u64,
    /// How often in a row they came so, and no answer in between.
    unanswered: u32,
    /// Round trips to all peers.
    estimate: Estimate,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            credits: FIRST,
            dealt_at: 0,
            unanswered: 0,
            estimate: Estimate::default(),
        }
    }
}

impl Budget {
    /// Takes a credit for a repetition, if there is one.
    pub(crate) fn take(&mut self, now: u64, timing: &Timing) -> bool {
        if self.credits < MOST && now >= self.next_at(timing) {
            self.credits = (self.credits + WITH_TIME).min(MOST);
            self.dealt_at = now;
            self.unanswered += 1;
        }
        let left = self.credits.checked_sub(PARTS);
        self.credits = left.unwrap_or(self.credits);
        left.is_some()
    }

    /// This many more segments are known to have arrived.
    pub(crate) fn answered(&mut self, segments: u64) {
        if segments > 0 {
            self.credits = (self.credits + segments).min(MOST);
            self.unanswered = 0;
        }
    }

    /// A round trip to some peer was measured.
    pub(crate) fn measured(&mut self, now: u64, ns: u64) {
        self.estimate.sample(now, ns);
    }

    /// What a round trip to a peer is taken for that has hardly answered yet: it shares the machine
    /// and most of the network with those that have.
    pub(crate) fn presumed(&self, now: u64, timing: &Timing) -> Presumed {
        let least_ns = self.estimate.least_ns(1).unwrap_or(0);
        let path_ns = self.estimate.path_ns(now, timing.at_rest_ns(least_ns));
        Presumed {
            path_ns: path_ns.unwrap_or(timing.first_ns),
            least_ns,
        }
    }

    /// When the next credits come with time.
    pub(crate) fn next_at(&self, timing: &Timing) -> u64 {
        let base = self.presumed(self.dealt_at, timing).path_ns;
        let pause = base.max(timing.floor_ns) + timing.ack_delay_ns;
        let doubled = pause.saturating_mul(1 << self.unanswered.min(20));
        self.dealt_at + doubled.min(timing.cap_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const TIMING: Timing = Timing {
        first_ns: 45 * MS,
        cap_ns: 1_000 * MS,
        ..Timing::LOOPBACK
    };

    /// How many leave at that moment, of more than there can be credits.
    fn leave(budget: &mut Budget, now: u64) -> usize {
        (0..1_000).filter(|_| budget.take(now, &TIMING)).count()
    }

    #[test]
    fn without_answers_ever_fewer_repetitions_leave() {
        let mut budget = Budget::default();
        assert_eq!(leave(&mut budget, 0), 8);
        let mut moments = Vec::new();
        for now in (0..10_000 * MS).step_by(10 * MS as usize) {
            if leave(&mut budget, now) > 0 {
                moments.push(now / MS);
            }
        }
        assert_eq!(moments[..6], [50, 150, 350, 750, 1_550, 2_550]);
        assert_eq!(moments.len(), 13, "{moments:?}");
    }

    #[test]
    fn answers_let_half_as_many_leave_and_end_the_long_pauses() {
        let mut budget = Budget::default();
        leave(&mut budget, 0);
        for _ in 0..5 {
            let now = budget.next_at(&TIMING);
            assert_eq!(leave(&mut budget, now), 4);
        }
        let last = budget.dealt_at;
        budget.answered(15);
        assert_eq!(leave(&mut budget, last), 7);
        assert_eq!(budget.next_at(&TIMING), last + 50 * MS);
        budget.answered(1_000_000);
        assert_eq!(leave(&mut budget, last), 64);
    }

    #[test]
    fn pauses_follow_the_round_trips_that_were_measured() {
        let mut budget = Budget::default();
        leave(&mut budget, 0);
        budget.measured(0, 200 * MS);
        assert_eq!(budget.next_at(&TIMING), (200 + 4 * 100 + 5) * MS);
    }
}
