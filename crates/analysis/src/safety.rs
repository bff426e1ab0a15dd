//! Safety: never more than k inside, no witness refused, and nobody whom nothing kept apart.
//!
//! **Equal timestamps.** Two events of one nanosecond have no order in the records: rows are in
//! order of arrival, not of entering and leaving. The sweep therefore takes the most favourable
//! order that lets everybody enter before leaving: first those leave who entered earlier, then
//! those who stay for no time come and go one after the other, then the others enter. An exit and
//! the next entry in the same nanosecond touch and do not overlap, as a hand-over with no delay
//! does; somebody who comes and goes strictly within another's stay does overlap it. What this
//! gives away, an engine that sees every event in order gives back: it counts by itself how many
//! were inside ([`Run::most_inside`]), and the larger of the two counts.
//!
//! What timing hides the certificate finds (see [`certificate`](crate::certificate)): a run in which
//! nobody was inside at the same time is violated all the same if nothing kept two members apart.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use algorithms::NodeId;
use model::run::Run;
use model::time::exact_ns;

use crate::clocks::Clocks;
use crate::judgement::Property;
use crate::occupancy::Stay;
use crate::{prose, suspicion};

/// How full it was inside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Crowd {
    /// The most at once.
    pub most: u32,
    /// The first moment with more than k inside, and who they were.
    pub excess: Option<(u64, Vec<NodeId>)>,
    /// How many entered when there was no room.
    pub overlaps: u64,
}

impl Crowd {
    /// Sweeps over all stays, which come in order of entering, by one clock.
    #[cfg(test)]
    pub(crate) fn of(stays: &[Stay], admitted: u32) -> Self {
        Self::by_clocks(stays, admitted, &Clocks::default())
    }

    /// Sweeps over all stays, which come in order of entering. An overlap that the clocks of two hosts
    /// may have made is none.
    pub(crate) fn by_clocks(stays: &[Stay], admitted: u32, clocks: &Clocks) -> Self {
        let mut inside = BinaryHeap::new();
        let mut crowd = Self::default();
        for (place, stay) in stays.iter().enumerate() {
            while let Some(&Reverse((exit_ns, _, _))) = inside.peek() {
                if exit_ns > stay.enter_ns {
                    break;
                }
                inside.pop();
            }
            inside.push(Reverse((stay.exit_ns, stay.node, place)));
            let sure = |other: &&Reverse<(u64, NodeId, usize)>| {
                clocks.surely_overlap(&stays[other.0.2], stay)
            };
            let now = inside.iter().filter(sure).count();
            let now = u32::try_from(now).expect("fewer than 2^32 are inside");
            crowd.most = crowd.most.max(now);
            crowd.overlaps += u64::from(now > admitted);
            if now > admitted && crowd.excess.is_none() {
                let mut who = inside.iter().map(|stay| stay.0.1).collect::<Vec<_>>();
                who.sort_unstable();
                crowd.excess = Some((stay.enter_ns, who));
            }
        }
        crowd
    }
}

/// Judges safety. `unordered` says which two entries nothing kept apart, if that is a violation; `wanting` is the largest number of members that wanted in at the same time:
/// without more than k of them nothing could have gone wrong.
pub(crate) fn check(
    run: &Run,
    crowd: &Crowd,
    admitted: u32,
    wanting: u32,
    unordered: Option<String>,
) -> Property {
    if let Some((at_ns, who)) = &crowd.excess {
        let more = match crowd.overlaps {
            0 | 1 => String::new(),
            all => format!("; the first of {all} overlaps"),
        };
        return Property::violated(format!(
            "{} were inside at the same time, at {}; at most {admitted} may be{more}{}",
            prose::nodes(who),
            exact_ns(*at_ns),
            suspicion::before(run, *at_ns),
        ));
    }
    if let Some(most) = run.most_inside.filter(|&most| most > admitted) {
        return Property::violated(format!(
            "{most} were inside at the same time, within one nanosecond; at most {admitted} may be{}",
            suspicion::before(run, run.ended_ns),
        ));
    }
    if let Some(row) = run.requests.iter().find(|row| row.witness_refused) {
        let at_ns = row.entered_ns.unwrap_or(row.arrived_ns);
        return Property::violated(format!(
            "the witness refused node {}, which entered at {}: as many others were inside as may be{}",
            row.node,
            exact_ns(at_ns),
            suspicion::before(run, at_ns),
        ));
    }
    if let Some(why) = unordered {
        return Property::violated(why);
    }
    if wanting <= admitted {
        return Property::not_exercised(match wanting {
            0 => "nobody wanted in".to_owned(),
            1 => "never did two members want in at the same time".to_owned(),
            _ => format!(
                "never did more than {wanting} members want in at the same time, and \
                 {admitted} may be inside"
            ),
        });
    }
    Property::Holds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{entry, run, served};
    use crate::occupancy::stays;

    fn crowd(requests: &[(u32, u64, u64)], admitted: u32) -> Crowd {
        let rows = requests
            .iter()
            .map(|&(node, enter_ns, exit_ns)| entry(node, 0, enter_ns, exit_ns));
        Crowd::of(&stays(&run(rows.collect())), admitted)
    }

    #[test]
    fn an_overlap_is_found_and_named() {
        let crowd = crowd(&[(0, 1, 10), (1, 11, 20), (2, 19, 25)], 1);
        assert_eq!(crowd.most, 2);
        assert_eq!(crowd.excess, Some((19, vec![NodeId(1), NodeId(2)])));
        assert_eq!(crowd.overlaps, 1);
    }

    #[test]
    fn all_overlaps_are_counted() {
        let stays = [(0, 1, 10), (1, 2, 10), (2, 3, 4), (3, 9, 12), (4, 20, 21)];
        let crowd = crowd(&stays, 1);
        assert_eq!((crowd.most, crowd.overlaps), (3, 3));
        let why = check(&run(vec![]), &crowd, 1, 5, None);
        let why = why.why().expect("it is violated").to_owned();
        assert!(
            why.ends_with("at most 1 may be; the first of 3 overlaps"),
            "{why}"
        );
    }

    #[test]
    fn touching_is_not_overlapping() {
        assert_eq!(
            crowd(&[(0, 1, 10), (1, 10, 20), (2, 20, 20), (3, 20, 30)], 1).most,
            1
        );
    }

    #[test]
    fn stays_of_no_length_in_one_nanosecond_come_one_after_the_other() {
        assert_eq!(crowd(&[(0, 7, 7), (1, 7, 7), (2, 7, 9)], 1).most, 1);
    }

    #[test]
    fn a_stay_of_no_length_within_another_overlaps_it() {
        assert_eq!(crowd(&[(0, 5, 10), (1, 7, 7)], 1).most, 2);
        assert_eq!(
            crowd(&[(0, 5, 10), (1, 5, 5)], 1).most,
            1,
            "it may have been first"
        );
        assert_eq!(
            crowd(&[(0, 5, 10), (1, 10, 10)], 1).most,
            1,
            "it may have been last"
        );
    }

    #[test]
    fn k_may_be_inside() {
        let stays = [(0, 1, 10), (1, 2, 10), (2, 3, 10)];
        assert_eq!(crowd(&stays, 3).excess, None);
        assert_eq!(crowd(&stays, 2).excess.unwrap().0, 3);
    }

    #[test]
    fn what_the_engine_saw_within_a_nanosecond_counts() {
        let mut run = served([(0, 0, 1, 5), (1, 0, 5, 9)]);
        let crowd = Crowd::of(&stays(&run), 1);
        assert_eq!(check(&run, &crowd, 1, 2, None), Property::Holds);
        run.most_inside = Some(2);
        assert!(check(&run, &crowd, 1, 2, None).is_violated());
    }

    #[test]
    fn a_refused_witness_is_a_violation_even_if_the_clocks_see_none() {
        let mut run = served([(0, 0, 1, 5), (1, 0, 6, 9)]);
        run.requests[1].witness_refused = true;
        let crowd = Crowd::of(&stays(&run), 1);
        assert!(check(&run, &crowd, 1, 2, None).is_violated());
    }

    #[test]
    fn two_whom_nothing_kept_apart_are_a_violation_unless_one_was_seen() {
        let mut run = served([(0, 0, 1, 5), (1, 0, 6, 9)]);
        let unordered = || Some("nothing kept them apart".to_owned());
        let why = |run: &Run| {
            let crowd = Crowd::of(&stays(run), 1);
            let property = check(run, &crowd, 1, 1, unordered());
            property.why().expect("it is violated").to_owned()
        };
        assert_eq!(why(&run), "nothing kept them apart");
        run.requests[1].entered_ns = Some(4);
        let seen = why(&run);
        assert!(seen.contains("were inside at the same time"), "{seen}");
    }

    #[test]
    fn without_competition_nothing_was_shown() {
        let run = served([(0, 0, 1, 5), (1, 10, 16, 19)]);
        let crowd = Crowd::of(&stays(&run), 1);
        let property = check(&run, &crowd, 1, 1, None);
        assert!(matches!(property, Property::NotExercised { .. }));
    }
}
