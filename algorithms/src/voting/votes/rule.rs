//! Which of two candidates goes first, and which of them may ask for the other's votes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::common::stamp::Stamp;
use crate::contract::NodeId;

/// What decides between rivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) enum Rule {
    /// NHME-AMC: the older request.
    TimeStamp,
    /// NHME-AMC with priorities: the more urgent request, then the older. One that `ageing` younger ones
    /// have overtaken goes by its age alone.
    Priority { ageing: u32 },
    /// BMaV: who holds more, then the older request. A request that `ageing` younger ones have
    /// overtaken goes by its age alone, or who holds little would starve.
    Holdings { ageing: u32 },
}

/// A candidate as its rivals see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Claim {
    pub(crate) req: Stamp,
    /// How many instances of resources it holds, or how urgent it is.
    pub(crate) held: u32,
    /// It has been overtaken too often.
    pub(crate) aged: bool,
}

/// The smaller goes first: who has aged, then by holdings or priority, then by time stamp.
pub(crate) type Rank = (bool, Reverse<u32>, Stamp);

/// Whom each voter that has answered voted for, and what that one holds.
pub(crate) type Tally = BTreeMap<NodeId, (Stamp, u32)>;

impl Rule {
    pub(crate) fn rank(self, claim: Claim) -> Rank {
        match self {
            Rule::Holdings { .. } | Rule::Priority { .. } if !claim.aged => {
                (true, Reverse(claim.held), claim.req)
            }
            Rule::Holdings { .. } | Rule::Priority { .. } | Rule::TimeStamp => {
                (false, Reverse(0), claim.req)
            }
        }
    }

    /// Whether a candidate without a majority is one of those that the second phase is between
    /// (NHME-AMC: it has more than `tau` votes), or the one it elects (BMaV: it holds most of those
    /// that have more than `tau` votes, as far as it has heard).
    pub(crate) fn leads(self, req: Stamp, votes: usize, tau: i64, tally: &Tally) -> bool {
        match self {
            Rule::TimeStamp | Rule::Priority { .. } => votes as i64 > tau,
            Rule::Holdings { .. } => elected(tau, tally) == Some(req),
        }
    }

    /// The same when time has passed and tau is lower; BMaV's election is over by then.
    pub(crate) fn hopes(self, votes: usize, tau: i64) -> bool {
        match self {
            Rule::TimeStamp | Rule::Priority { .. } => votes as i64 > tau,
            Rule::Holdings { .. } => true,
        }
    }

    pub(crate) fn counts_votes_of_others(self) -> bool {
        match self {
            Rule::TimeStamp | Rule::Priority { .. } => false,
            Rule::Holdings { .. } => true,
        }
    }

    /// How many younger requests may overtake one before it goes by its age alone, where anything but
    /// age decides.
    pub(crate) fn ageing(self) -> Option<u32> {
        match self {
            Rule::TimeStamp => None,
            Rule::Priority { ageing } | Rule::Holdings { ageing } => Some(ageing),
        }
    }
}

/// BMaV's second phase: of those with more than tau votes the one that holds most, then the oldest.
/// If nobody has so many, tau is lowered until somebody has.
fn elected(tau: i64, tally: &Tally) -> Option<Stamp> {
    let mut votes = BTreeMap::<Stamp, (i64, u32)>::new();
    for &(req, held) in tally.values() {
        let (count, most) = votes.entry(req).or_default();
        *count += 1;
        *most = held.max(*most);
    }
    let most_votes = votes.values().map(|(count, _)| *count).max()?;
    let tau = tau.min(most_votes - 1);
    let candidates = votes.iter().filter(|(_, (count, _))| *count > tau);
    let best = candidates.min_by_key(|(req, (_, held))| (Reverse(*held), **req));
    best.map(|(req, _)| *req)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Stamp = stamp(2, 0);
    const D: Stamp = stamp(1, 3);
    const F: Stamp = stamp(3, 5);

    const fn stamp(t: u64, id: u32) -> Stamp {
        Stamp { t, id: NodeId(id) }
    }

    /// Six voters A to F; A and D hold two instances each, F one. D asked first, then A, then F.
    fn tally(votes: &[(Stamp, usize)]) -> Tally {
        let held = |req| if req == F { 1 } else { 2 };
        let votes = votes.iter().flat_map(|&(req, count)| vec![req; count]);
        let votes = votes.enumerate();
        votes
            .map(|(voter, req)| (NodeId(voter as u32), (req, held(req))))
            .collect()
    }

    /// Scenarios 2 to 4 of section 5.1.1; the first has a majority.
    #[test]
    fn the_books_scenarios_elect_whom_the_book_says() {
        assert_eq!(elected(1, &tally(&[(A, 4), (D, 1), (F, 1)])), Some(A));
        assert_eq!(elected(1, &tally(&[(A, 2), (F, 2), (D, 1)])), Some(A));
        assert_eq!(elected(1, &tally(&[(A, 2), (D, 2), (F, 2)])), Some(D));
        assert_eq!(elected(0, &tally(&[(A, 1), (D, 1), (F, 1)])), Some(D));
    }

    #[test]
    fn with_one_vote_each_tau_is_lowered_until_somebody_is_elected() {
        let one_each = tally(&[(A, 1), (D, 1), (F, 1)]);
        assert_eq!(elected(1, &one_each), elected(0, &one_each));
        assert_eq!(elected(1, &Tally::new()), None);
    }

    #[test]
    fn the_aged_go_first_and_then_who_holds_more() {
        let rule = Rule::Holdings { ageing: 6 };
        let claim = |req, held, aged| Claim { req, held, aged };
        let (rich, poor) = (claim(A, 2, false), claim(D, 0, false));
        assert!(rule.rank(rich) < rule.rank(poor));
        assert!(rule.rank(claim(D, 0, true)) < rule.rank(rich));
        assert!(Rule::TimeStamp.rank(poor) < Rule::TimeStamp.rank(rich));
    }
}
