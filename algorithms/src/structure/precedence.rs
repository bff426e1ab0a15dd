//! Who goes first among those who wait in one queue: the first to come, or the most urgent,
//! with or without a consolation for those who are overtaken.
//!
//! The consolation is called aging. In the book of Kanrar, Chaki and Chattopadhyay (2018) a waiting
//! entry gains one point of priority whenever something more urgent is put into its queue (`step`).
//! Lejeune et al. slow that down: only every k-th time (`slow(k)`). Either way an entry rises only
//! while it is below the newcomer, so no priority ever exceeds the largest that was asked with.
//!
//! ```text
//!     C(3)            C waits with priority 3
//!     C(4) B(4)       B comes with 4: C gains a point, and B is behind its equals
//!     C(5) B(5) D(5)  D comes with 5, and is last
//! ```

use std::cmp::Reverse;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::params::{Domain, Param, Params};
use crate::setup::Setup;

/// How far up somebody is in a queue.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Rank {
    /// What it asked with, and what it gained since; larger is more urgent.
    pub(crate) priority: u32,
    /// The more urgent newcomers since it last gained something.
    passed: u32,
}

impl Rank {
    /// The rank of somebody who asks now.
    pub(crate) fn new(priority: u32) -> Self {
        Self {
            priority,
            passed: 0,
        }
    }
}

/// Its priority, and behind it the newcomers that have passed it, if any have.
impl fmt::Debug for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.priority)?;
        match self.passed {
            0 => Ok(()),
            passed => write!(f, " passed {passed}"),
        }
    }
}

/// Something that waits in a queue.
pub(crate) trait Ranked {
    /// The rank that decides its place.
    fn rank(&self) -> Rank;

    /// The rank, to be changed as it ages.
    fn rank_mut(&mut self) -> &mut Rank;
}

/// Makes a type with a field `rank` one that precedence can order.
macro_rules! ranked {
    ($ranked:ty) => {
        impl $crate::structure::precedence::Ranked for $ranked {
            fn rank(&self) -> $crate::structure::precedence::Rank {
                self.rank
            }

            fn rank_mut(&mut self) -> &mut $crate::structure::precedence::Rank {
                &mut self.rank
            }
        }
    };
}
pub(crate) use ranked;

/// The order of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) enum Precedence {
    /// First come, first served.
    Arrival,
    /// The most urgent first; of equals, the first to come.
    Priority(Aging),
}

/// What those who are overtaken get for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) enum Aging {
    /// Priorities do not change with time.
    Off,
    /// A point for every so many newcomers that are more urgent.
    Every(u32),
}

impl Precedence {
    /// That of an algorithm with priorities and a parameter `aging`; first come, first served where
    /// there is none.
    pub(crate) fn of(setup: &Setup<'_>) -> Self {
        match setup.setting.params.get("aging") {
            None => Precedence::Arrival,
            Some(_) => Precedence::Priority(Aging::of(setup)),
        }
    }

    /// Puts a newcomer where it belongs. Those it overtakes age first, and may thereby escape it.
    pub(crate) fn insert<T: Ranked>(self, queue: &mut Vec<T>, newcomer: T) {
        let place = match self {
            Precedence::Arrival => queue.len(),
            Precedence::Priority(aging) => {
                let priority = newcomer.rank().priority;
                aging.overtake(queue, priority, |_| true);
                place(queue, priority)
            }
        };
        queue.insert(place, newcomer);
    }
}

/// Where something of that priority belongs: behind its equals.
pub(crate) fn place<T: Ranked>(queue: &[T], priority: u32) -> usize {
    let ahead = |entry: &T| entry.rank().priority >= priority;
    queue.iter().rposition(ahead).map_or(0, |last| last + 1)
}

impl Aging {
    /// What the parameter says.
    pub(crate) fn of(setup: &Setup<'_>) -> Self {
        let word = setup.setting.params.word("aging");
        Self::parse(word).expect("an entry with this parameter refuses what cannot be read")
    }

    /// Lets those below a newcomer's priority, of whom `concerned` is true, gain what they are due.
    pub(crate) fn overtake<T: Ranked>(
        self,
        queue: &mut [T],
        priority: u32,
        concerned: impl Fn(&T) -> bool,
    ) {
        let Aging::Every(newcomers) = self else {
            return;
        };
        for entry in queue.iter_mut().filter(|entry| concerned(entry)) {
            let rank = entry.rank_mut();
            if rank.priority >= priority {
                continue;
            }
            rank.passed += 1;
            if rank.passed >= newcomers {
                *rank = Rank::new(rank.priority + 1);
            }
        }
        // Where only some were concerned they may have overtaken the others.
        queue.sort_by_key(|entry| Reverse(entry.rank().priority));
    }

    fn parse(word: &str) -> Option<Self> {
        match word {
            "off" => Some(Aging::Off),
            "step" => Some(Aging::Every(1)),
            _ => {
                let newcomers = word.strip_prefix("slow(")?.strip_suffix(')')?;
                let newcomers = newcomers.parse().ok().filter(|&newcomers| newcomers > 0)?;
                Some(Aging::Every(newcomers))
            }
        }
    }
}

/// The registry's entry of an algorithm with priorities, which is another one but for what is named.
macro_rules! with_priorities {
    (
        $INFO:ident, name: $name:expr, title: $title:expr, paper: $paper:expr,
        aging: $aging:literal, defects: $defects:expr, explanation: $explanation:expr,
    ) => {
        $crate::registry::AlgorithmInfo {
            name: $name,
            title: $title,
            paper: $paper,
            explanation: $explanation,
            more: $crate::registry::More {
                params: &[$crate::structure::precedence::aging($aging)],
                refuses: $crate::structure::precedence::refuses,
                defects: $defects,
                ..$INFO.more
            },
            ..$INFO
        }
    };
}
pub(crate) use with_priorities;

/// The parameter of an algorithm with priorities.
pub(crate) const fn aging(default: &'static str) -> Param {
    Param {
        name: "aging",
        domain: Domain::Text { default },
        help: "what those who are overtaken gain: off, step (a point each time) or slow(K) (a \
               point every K-th time)",
        examples: &["off", "step", "slow(1)", "slow(2)", "slow(5)"],
    }
}

/// Why the parameter cannot be what it is.
pub(crate) fn refuses(params: &Params, _: u32) -> Option<String> {
    let word = params.word("aging");
    match Aging::parse(word) {
        Some(_) => None,
        None => Some(format!(
            "aging={word} does not fit; aging is off, step, or slow(K) with a whole K from 1 to {}",
            u32::MAX
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Ranked for (char, Rank) {
        fn rank(&self) -> Rank {
            self.1
        }

        fn rank_mut(&mut self) -> &mut Rank {
            &mut self.1
        }
    }

    fn order(precedence: Precedence, newcomers: &[(char, u32)]) -> String {
        let mut queue = Vec::new();
        for &(name, priority) in newcomers {
            precedence.insert(&mut queue, (name, Rank::new(priority)));
        }
        let ranks = queue
            .iter()
            .map(|(name, rank)| format!("{name}{}", rank.priority));
        ranks.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_books_figure_2_2_comes_out() {
        let step = Precedence::Priority(Aging::Every(1));
        assert_eq!(order(step, &[('C', 3), ('B', 4)]), "C4 B4");
        assert_eq!(order(step, &[('C', 3), ('D', 5)]), "D5 C4");
        assert_eq!(order(step, &[('C', 3), ('B', 4), ('D', 5)]), "C5 B5 D5");
        let off = Precedence::Priority(Aging::Off);
        assert_eq!(order(off, &[('C', 3), ('B', 4), ('D', 5)]), "D5 B4 C3");
        assert_eq!(order(Precedence::Arrival, &[('C', 3), ('B', 4)]), "C3 B4");
    }

    #[test]
    fn slow_aging_takes_so_many_newcomers_for_a_point() {
        let slow = Precedence::Priority(Aging::Every(2));
        assert_eq!(order(slow, &[('C', 3), ('B', 4)]), "B4 C3");
        assert_eq!(order(slow, &[('C', 3), ('B', 5), ('D', 5)]), "B5 D5 C4");
    }

    /// A waiting entry of priority q is overtaken by at most max(0, k(Pmax - q) - 1) later ones, and
    /// the bound is attained by nothing but the most urgent.
    #[test]
    fn the_bound_on_overtaking_is_attained() {
        const MOST: u32 = 5;
        for newcomers in 1..=3 {
            for priority in 1..=MOST {
                let slow = Precedence::Priority(Aging::Every(newcomers));
                let mut queue = Vec::new();
                slow.insert(&mut queue, ('C', Rank::new(priority)));
                for _ in 0..100 {
                    slow.insert(&mut queue, ('D', Rank::new(MOST)));
                }
                let overtaken = queue.iter().position(|&(name, _)| name == 'C');
                let bound = (newcomers * (MOST - priority)).saturating_sub(1);
                assert_eq!(
                    overtaken,
                    Some(bound as usize),
                    "slow({newcomers}), {priority}"
                );
            }
        }
    }

    #[test]
    fn who_ages_alone_passes_its_equals() {
        let mut queue = [('A', Rank::new(3)), ('B', Rank::new(3))];
        Aging::Every(1).overtake(&mut queue, 5, |(name, _)| *name == 'B');
        assert_eq!(
            queue.map(|(name, rank)| (name, rank.priority)),
            [('B', 4), ('A', 3)]
        );
    }

    /// However the newcomers are mixed: all orders of so many are tried, whatever their priorities.
    #[test]
    fn no_order_of_arrivals_overtakes_more_often_than_the_bound() {
        const MOST: u32 = 5;
        const ARRIVALS: u32 = 7;
        fn worst(slow: Precedence, queue: &[(char, Rank)], left: u32) -> usize {
            let own = queue.iter().position(|&(name, _)| name == 'C');
            let highest = queue.iter().map(|(_, rank)| rank.priority).max();
            assert!(highest <= Some(MOST), "nobody asked with more");
            let later = (1..=MOST).filter(|_| left > 0).map(|priority| {
                let mut queue = queue.to_vec();
                slow.insert(&mut queue, ('D', Rank::new(priority)));
                worst(slow, &queue, left - 1)
            });
            later.chain(own).max().expect("C waits")
        }
        for newcomers in 1..=3 {
            for priority in 1..=MOST {
                let slow = Precedence::Priority(Aging::Every(newcomers));
                let overtaken = worst(slow, &[('C', Rank::new(priority))], ARRIVALS);
                let bound = (newcomers * (MOST - priority)).saturating_sub(1);
                let reached = bound.min(ARRIVALS) as usize;
                assert_eq!(overtaken, reached, "slow({newcomers}), {priority}");
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_what_could() {
        for word in ["off", "step", "slow(1)", "slow(12)"] {
            assert!(Aging::parse(word).is_some(), "{word}");
        }
        for word in [
            "slow(4294967296)",
            "",
            "slow",
            "slow()",
            "slow(0)",
            "slow(-1)",
            "slow(1",
            "fast",
        ] {
            assert_eq!(Aging::parse(word), None, "{word}");
            let given = std::collections::BTreeMap::from([("aging".to_owned(), word.to_owned())]);
            let params = Params::resolve("mra-p", &[aging("off")], &given).unwrap();
            let why = refuses(&params, 3).unwrap();
            assert!(
                why.contains("slow(K) with a whole K from 1 to 4294967295"),
                "{why}"
            );
        }
    }
}
