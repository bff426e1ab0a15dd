//! Whether anything still moves in a group of processes.
//!
//! No one sees the whole group at one moment. But if two rounds of questions get the same answers,
//! nobody did anything between its two answers; and if moreover nothing is under way and no timer is
//! armed, nothing can happen any more by itself. Then the group is *settled*.
//!
//! On patient links nothing is under way if as many messages were received as sent. A session that
//! ends takes messages with it, and only one end may ever notice; there nothing is under way if
//! everybody has an acknowledgement for all it sent, or has given it up.

use algorithms::registry::LinkContract;
use node::control::Counts;

/// The answers of one round after another.
#[derive(Debug)]
pub(crate) struct Rounds {
    links: LinkContract,
    /// The round that is being asked.
    round: u64,
    answers: Vec<Option<Counts>>,
    before: Vec<Option<Counts>>,
    missing: usize,
}

/// What a completed round says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Nobody did anything since the last round, and nobody has an alarm set.
    pub(crate) still: bool,
    /// Moreover nothing is under way: nothing moves any more.
    pub(crate) settled: bool,
    /// The sum of all answers of the round.
    pub(crate) sum: Counts,
}

impl Rounds {
    pub(crate) fn new(members: usize, links: LinkContract) -> Self {
        Self {
            links,
            round: 0,
            answers: vec![None; members],
            before: vec![None; members],
            missing: 0,
        }
    }

    /// Begins a round in which this number of members is asked, and says its number.
    pub(crate) fn begin(&mut self, asked: usize) -> u64 {
        self.before = std::mem::replace(&mut self.answers, vec![None; self.before.len()]);
        self.missing = asked;
        self.round += 1;
        self.round
    }

    /// Whether some answers are still to come.
    pub(crate) fn is_open(&self) -> bool {
        self.missing > 0
    }

    /// Somebody who was asked will not answer any more.
    pub(crate) fn abandon(&mut self) {
        self.missing = 0;
        self.answers.fill(None);
    }

    /// Takes in an answer; the last one completes the round. Answers to earlier rounds are void.
    pub(crate) fn answer(&mut self, member: usize, round: u64, counts: Counts) -> Option<Finding> {
        if round != self.round || self.missing == 0 || self.answers[member].is_some() {
            return None;
        }
        self.answers[member] = Some(counts);
        self.missing -= 1;
        if self.missing > 0 {
            return None;
        }
        let sum: Counts = self.answers.iter().flatten().copied().sum();
        let arrived = match self.links {
            LinkContract::Patient => sum.sent == sum.received,
            LinkContract::Sessions => sum.pending == 0,
        };
        let still = sum.armed == 0 && self.answers == self.before;
        Some(Finding {
            still,
            settled: still && arrived,
            sum,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(sent: u64, received: u64, armed: u64) -> Counts {
        Counts {
            sent,
            received,
            armed,
            ..Counts::default()
        }
    }

    /// Asks two members and says whether the group is settled.
    fn round(rounds: &mut Rounds, answers: [Counts; 2]) -> bool {
        let number = rounds.begin(2);
        assert_eq!(rounds.answer(0, number, answers[0]), None);
        rounds.answer(1, number, answers[1]).unwrap().settled
    }

    #[test]
    fn two_equal_quiet_rounds_settle_it() {
        let mut rounds = Rounds::new(2, LinkContract::Patient);
        let quiet = [counts(3, 2, 0), counts(0, 1, 0)];
        assert!(!round(&mut rounds, quiet));
        assert!(round(&mut rounds, quiet));
    }

    #[test]
    fn a_message_under_way_or_an_armed_timer_does_not() {
        for unquiet in [
            [counts(3, 2, 0), counts(0, 0, 0)],
            [counts(3, 2, 1), counts(0, 1, 0)],
        ] {
            let mut rounds = Rounds::new(2, LinkContract::Patient);
            assert!(!round(&mut rounds, unquiet));
            assert!(!round(&mut rounds, unquiet));
        }
    }

    /// A session ended at one end, and the other, which had nothing to say, never noticed.
    #[test]
    fn what_is_lost_with_a_session_is_not_waited_for() {
        let lost = counts(8, 3, 0);
        let given_up = [lost, counts(8, 8, 0)];
        let pending = [Counts { pending: 1, ..lost }, counts(8, 8, 0)];
        for (answers, settled) in [(given_up, true), (pending, false)] {
            let mut rounds = Rounds::new(2, LinkContract::Sessions);
            assert!(!round(&mut rounds, answers));
            assert_eq!(round(&mut rounds, answers), settled);
        }
    }

    /// What waits for a link that is cut for good moves nobody.
    #[test]
    fn a_group_may_be_still_though_something_is_under_way() {
        let mut rounds = Rounds::new(2, LinkContract::Sessions);
        let pending = Counts {
            pending: 1,
            ..counts(8, 3, 0)
        };
        for (armed, still) in [(0, false), (0, true), (1, false), (1, false)] {
            let number = rounds.begin(2);
            rounds.answer(0, number, pending);
            let finding = rounds.answer(1, number, counts(8, 8, armed)).unwrap();
            assert_eq!((finding.still, finding.settled), (still, false));
        }
    }

    #[test]
    fn equal_sums_of_different_answers_do_not() {
        // Between the rounds a message went from 0 to 1 and another one back.
        let mut rounds = Rounds::new(2, LinkContract::Patient);
        assert!(!round(&mut rounds, [counts(1, 0, 0), counts(0, 1, 0)]));
        assert!(!round(&mut rounds, [counts(2, 1, 0), counts(1, 2, 0)]));
    }

    #[test]
    fn an_abandoned_round_counts_for_nothing() {
        let mut rounds = Rounds::new(2, LinkContract::Patient);
        let quiet = [counts(1, 0, 0), counts(0, 1, 0)];
        assert!(!round(&mut rounds, quiet));
        let number = rounds.begin(2);
        rounds.answer(0, number, quiet[0]);
        rounds.abandon();
        assert_eq!(rounds.answer(1, number, quiet[1]), None);
        assert!(!round(&mut rounds, quiet));
    }
}
