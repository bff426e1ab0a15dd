//! The certificate: exclusion shown by messages alone, without a clock.
//!
//! Two stays exclude each other for sure iff the exit of one happened before the entry of the other, by
//! a chain of algorithm messages. Every member keeps the largest index of an exit that it *knows* of, 0
//! at the start. An entry's index is one more; after its exit the member knows it; every message carries
//! what its sender knew when it made it, and its receiver knows that from then on.
//!
//! ```text
//!   0 ──[ 1 ]───╮                ╭──[ 3 ]──      each knew of the exit before: 1, 2, 3
//!   1 ──────────╰──[ 2 ]─────────╯
//! ```
//!
//! The entries of a run are totally ordered by exit → entry iff their indices are 1, 2, … E, each once.
//! If they are so ordered, the one after index i has seen the exit of i; if the indices are so, the one
//! with i + 1 knew of the exit of the only one that has i. So where an index repeats, the same messages
//! with other timing put two members inside at once, whether or not this run's timing did.

use std::collections::BTreeMap;

use algorithms::NodeId;
use algorithms::registry::AlgorithmInfo;
use model::event::{Event, What};
use model::plan::{Detector, Plan};
use model::run::{FaultKind, RequestRow, Run, deaths};
use model::time::exact_ns;
use serde::Serialize;

use crate::{prose, suspicion};

/// Whether the entries of a run were shown to exclude each other by messages alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Certified {
    /// Every entry knew of the exit of the one before it.
    Yes,
    /// Some entry did not.
    No,
    /// More than one may be inside, fewer than two entered, or the records do not say what each entry
    /// knew.
    #[serde(rename = "not exercised")]
    NotExercised,
}

/// What the indices of a run's entries say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Certificate {
    pub certified: Certified,
    /// The first two entries that nothing kept apart.
    first: Option<Pair>,
    /// How many entries have the index of an earlier one, and no death explains it.
    pub repeats: u64,
    /// The first two that share an index because one of them died.
    excused: Option<Pair>,
    /// The first index that no entry has though a later one has been seen.
    missing: Option<u32>,
}

/// Two entries with the same index, in order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    earlier: (NodeId, u64),
    later: (NodeId, u64),
}

impl Certificate {
    const NOT_EXERCISED: Self = Self {
        certified: Certified::NotExercised,
        first: None,
        repeats: 0,
        excused: None,
        missing: None,
    };

    /// What the indices of this run's entries say.
    pub(crate) fn of(info: &AlgorithmInfo, plan: &Plan, run: &Run) -> Self {
        let entered = |row: &RequestRow| Some((row.index, row.entered_ns?, row.node));
        let mut entries = run.requests.iter().filter_map(entered).collect::<Vec<_>>();
        let counted = entries.iter().all(|(index, ..)| index.is_some());
        if entries.len() < 2 || !counted || (info.more.admits)(&plan.params) > 1 {
            return Self::NOT_EXERCISED;
        }
        entries.sort_unstable();
        let deaths = Deaths::of(info, plan, run);
        let mut found = Self::NOT_EXERCISED;
        let mut expected = 1;
        for pair in entries.windows(2) {
            let [(before, ..), (index, ..)] = pair else {
                continue;
            };
            if before != index {
                continue;
            }
            let pair = Pair {
                earlier: (pair[0].2, pair[0].1),
                later: (pair[1].2, pair[1].1),
            };
            match deaths.excuse(&pair) {
                true => found.excused = found.excused.or(Some(pair)),
                false => {
                    found.repeats += 1;
                    let earlier = found.first.is_none_or(|first| pair.later.1 < first.later.1);
                    found.first = if earlier { Some(pair) } else { found.first };
                }
            }
        }
        for index in entries.iter().filter_map(|(index, ..)| *index) {
            if index > expected {
                found.missing = found.missing.or(Some(expected));
            }
            expected = index.saturating_add(1);
        }
        found.certified = match found.repeats == 0 && found.missing.is_none() {
            true => Certified::Yes,
            false => Certified::No,
        };
        found
    }

    /// Which two entries nothing kept apart, in a sentence, where there are two.
    pub(crate) fn unordered(&self, run: &Run) -> Option<String> {
        let Pair { earlier, later } = self.first?;
        let mut who = vec![earlier.0, later.0];
        who.dedup();
        let more = match self.repeats {
            0 | 1 => String::new(),
            all => format!("; the first of {all} such entries"),
        };
        Some(format!(
            "{} entered at {} and at {}, and nothing kept them apart: no chain of messages leads from \
             the exit of one to the entry of the other, so other timing puts both inside{more}{}",
            prose::nodes(&who),
            exact_ns(earlier.1),
            exact_ns(later.1),
            suspicion::before(run, later.1),
        ))
    }

    /// What a reader should know of the certificate besides whether there is one.
    pub(crate) fn warnings(&self, info: &AlgorithmInfo, run: &Run) -> Vec<String> {
        let by_time = info.more.safe_by_time.then(|| self.unordered(run));
        let by_time = by_time.flatten().map(|pair| {
            format!(
                "{pair}.\n{} is safe by time only, so this is no violation.",
                info.name
            )
        });
        let excused = self.excused.map(|Pair { earlier, later }| {
            format!(
                "node {} died before anybody knew of the exit of its entry at {}, and node {}, which \
                 entered at {}, knew of the death and not of the exit.\n\
                 That is accepted: the dead are not inside.",
                earlier.0,
                exact_ns(earlier.1),
                later.0,
                exact_ns(later.1)
            )
        });
        let missing = self.missing.map(|index| {
            format!(
                "somebody knew of an exit with index {index}, and the records have no such entry, so \
                 they are incomplete and exclusion is not certified."
            )
        });
        [by_time, excused, missing].into_iter().flatten().collect()
    }
}

/// The deaths of a run that an algorithm was told of.
struct Deaths {
    /// When members died, where the algorithm goes on without them.
    at_ns: BTreeMap<NodeId, u64>,
    /// How long after a death somebody can know of it at the earliest.
    told_after_ns: u64,
    /// When members were first taken for dead that were not.
    suspected_ns: BTreeMap<NodeId, u64>,
}

impl Deaths {
    fn of(info: &AlgorithmInfo, plan: &Plan, run: &Run) -> Self {
        let at_ns = match info.survives(&plan.params) {
            0 => BTreeMap::new(),
            _ => deaths(&run.faults),
        };
        let mut suspected_ns = BTreeMap::new();
        for fault in &run.faults {
            if let (FaultKind::FalseSuspicion { of }, Some(at_ns)) = (&fault.kind, fault.at_ns()) {
                suspected_ns.entry(*of).or_insert(at_ns);
            }
        }
        Self {
            at_ns,
            told_after_ns: match plan.detector {
                Detector::Told => plan.detect_after_ns.0,
                Detector::Timeout(_) => 0,
            },
            suspected_ns,
        }
    }

    /// Whether the earlier of two entries is that of a member of whose death somebody could know when the
    /// later one entered. Who was taken for dead before it died has no such excuse: what others did then was not because of
    /// the death.
    fn excuse(&self, pair: &Pair) -> bool {
        let (node, _) = pair.earlier;
        let died_ns = self.at_ns.get(&node);
        died_ns.is_some_and(|&died_ns| {
            let suspected = self.suspected_ns.get(&node);
            let told_ns = died_ns.saturating_add(self.told_after_ns);
            told_ns <= pair.later.1 && suspected.is_none_or(|&at_ns| at_ns >= died_ns)
        })
    }
}

/// Counts entries from the events of a traced run, as members do while it goes on.
pub(crate) struct EntryCounter {
    members: Vec<Member>,
}

#[derive(Clone, Default)]
struct Member {
    /// The largest index of an exit that it knows of.
    known: u32,
    /// The index of its latest entry.
    index: u32,
    /// What each of its messages carries, by number.
    carried: Vec<u32>,
}

impl EntryCounter {
    pub(crate) fn new(nodes: u32) -> Self {
        Self {
            members: vec![Member::default(); nodes as usize],
        }
    }

    /// The next event of the run; says the index of the entry, if it is one.
    pub(crate) fn take(&mut self, event: &Event) -> Option<u32> {
        let node = event.node?;
        let carried = match &event.what {
            What::Receive { from, letter, .. } => {
                let place = usize::try_from(letter.number).ok()?.checked_sub(1)?;
                self.members.get(from.index())?.carried.get(place).copied()
            }
            _ => None,
        };
        let member = self.members.get_mut(node.index())?;
        match &event.what {
            What::Receive { .. } => member.known = member.known.max(carried?),
            // Where a fault holds a message back, it was made then; copies have its number.
            What::Send { letter, .. } | What::Hold { letter, .. } | What::Post { letter }
                if letter.number == member.carried.len() as u64 + 1 =>
            {
                member.carried.push(member.known);
            }
            What::Enter { .. } => {
                member.index = member.known.saturating_add(1);
                return Some(member.index);
            }
            What::Release => member.known = member.known.max(member.index),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use algorithms::params::Params;
    use model::event::Letter;
    use model::run::{FaultOutcome, Happened};

    use super::*;
    use crate::fixtures::{plan, served, toy};

    /// A run whose entries have these nodes, times of entering and indices; each stays for 1 ns.
    fn counted<const N: usize>(entries: [(u32, u64, u32); N]) -> Run {
        let mut run = served(entries.map(|(node, at_ns, _)| (node, 0, at_ns, at_ns + 1)));
        for (row, (.., index)) in run.requests.iter_mut().zip(entries) {
            row.index = Some(index);
        }
        run
    }

    fn certificate(run: &Run) -> Certificate {
        Certificate::of(&toy(1, &[]), &plan("raymond", 3), run)
    }

    #[test]
    fn entries_with_an_index_each_are_certified() {
        let run = counted([(0, 1, 1), (2, 9, 3), (1, 5, 2)]);
        let found = certificate(&run);
        assert_eq!(found.certified, Certified::Yes);
        assert_eq!(found.unordered(&run), None);
        assert_eq!(found.warnings(&toy(1, &[]), &run), [] as [String; 0]);
    }

    #[test]
    fn a_repeated_index_is_found_with_the_two_that_nothing_kept_apart() {
        let run = counted([(0, 1, 1), (1, 5, 2), (2, 9, 2), (0, 12, 3), (1, 13, 3)]);
        let found = certificate(&run);
        assert_eq!((found.certified, found.repeats), (Certified::No, 2));
        let why = found.unordered(&run).expect("nothing kept them apart");
        let begins = "nodes 1 and 2 entered at 5 ns and at 9 ns, and nothing kept them apart: ";
        assert!(why.starts_with(begins), "{why}");
        assert!(why.ends_with("; the first of 2 such entries"), "{why}");
    }

    #[test]
    fn what_could_not_have_failed_or_was_not_recorded_is_not_exercised() {
        let alone = counted([(0, 1, 1)]);
        assert_eq!(certificate(&alone).certified, Certified::NotExercised);
        let mut old = counted([(0, 1, 1), (1, 5, 1)]);
        let two = toy(2, &[]);
        let several = Certificate::of(&two, &plan("raymond", 3), &old);
        assert_eq!(several, Certificate::NOT_EXERCISED);
        old.requests[1].index = None;
        assert_eq!(certificate(&old), Certificate::NOT_EXERCISED);
    }

    #[test]
    fn an_index_that_nobody_has_means_incomplete_records_and_no_violation() {
        let run = counted([(0, 1, 1), (1, 5, 3)]);
        let found = certificate(&run);
        assert_eq!(found.certified, Certified::No);
        assert_eq!(found.unordered(&run), None);
        let warnings = found.warnings(&toy(1, &[]), &run);
        assert!(warnings[0].contains("an exit with index 2"), "{warnings:?}");
    }

    #[test]
    fn an_algorithm_that_is_safe_by_time_gets_a_remark() {
        let run = counted([(0, 1, 1), (1, 5, 1)]);
        let mut info = toy(1, &[]);
        assert_eq!(certificate(&run).warnings(&info, &run), [] as [String; 0]);
        info.more.safe_by_time = true;
        let warnings = certificate(&run).warnings(&info, &run);
        assert!(warnings[0].contains("safe by time only"), "{warnings:?}");
    }

    fn of_survivor(crashes: u32, run: &Run) -> Certificate {
        let mut info = toy(1, &[]);
        info.more.crashes = crashes;
        let plan = Plan {
            params: Params::default(),
            detect_after_ns: (10, 20),
            ..plan("raymond", 3)
        };
        Certificate::of(&info, &plan, run)
    }

    #[test]
    fn who_dies_may_share_its_index_with_one_who_knew_of_the_death() {
        let mut run = counted([(0, 1, 1), (1, 5, 2), (2, 20, 2), (0, 30, 3)]);
        let kill = |at_ns| {
            let happened = Happened::from(at_ns, Some(at_ns));
            FaultOutcome::unasked(FaultKind::Kill, NodeId(1), happened)
        };
        run.faults = vec![kill(10)];
        let found = of_survivor(1, &run);
        assert_eq!(found.certified, Certified::Yes);
        let warnings = found.warnings(&toy(1, &[]), &run);
        assert!(
            warnings[0].starts_with("node 1 died before"),
            "{warnings:?}"
        );
        // Nobody goes on without the dead here, so no death explains it.
        assert_eq!(of_survivor(0, &run).certified, Certified::No);
        // Nobody could know of its death when the other entered.
        run.faults = vec![kill(11)];
        assert_eq!(of_survivor(1, &run).certified, Certified::No);
        // The other went on because it took it for dead, not because it was.
        run.faults = vec![
            FaultOutcome::false_suspicion(8, NodeId(2), NodeId(1)),
            kill(10),
        ];
        let found = of_survivor(1, &run);
        assert_eq!(found.certified, Certified::No);
        let why = found.unordered(&run).expect("nothing kept them apart");
        assert!(why.contains("after a false suspicion of 1"), "{why}");
    }

    fn event(node: u32, what: What) -> Event {
        Event {
            time_ns: 0,
            node: Some(NodeId(node)),
            what,
        }
    }

    fn letter(number: u64) -> Box<Letter> {
        Box::new(Letter {
            number,
            ..Letter::default()
        })
    }

    const ENTER: What = What::Enter {
        fence: None,
        invited: true,
        witness: None,
        index: None,
    };

    /// A message carries what its sender knew when it made it, not when it left.
    #[test]
    fn a_message_that_was_held_back_carries_what_was_known_when_it_was_made() {
        let held = What::Hold {
            to: NodeId(1),
            letter: letter(1),
            until_ns: 9,
        };
        let send = |number| What::Send {
            to: NodeId(1),
            letter: letter(number),
            charge: None,
            bytes: 0,
        };
        let receive = |number| What::Receive {
            from: NodeId(0),
            letter: letter(number),
            delay_ns: 0,
        };
        let mut counter = EntryCounter::new(2);
        let mut take = |node, what| counter.take(&event(node, what));
        assert_eq!(take(0, held), None);
        assert_eq!(take(0, ENTER), Some(1));
        take(0, What::Release);
        take(0, send(1));
        take(1, receive(1));
        assert_eq!(take(1, ENTER), Some(1), "it has not heard of the exit");
        take(0, send(2));
        take(1, receive(2));
        take(1, What::Release);
        assert_eq!(take(1, ENTER), Some(2), "now it has");
        // What no member sent tells nothing.
        assert_eq!(take(1, receive(77)), None);
    }
}
