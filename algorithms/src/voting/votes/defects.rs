//! What is wrong in chapter 5 of the book, with schedules that show it.
//!
//! Leaving any of these unrepaired runs the [`published`](super::published) machine; K3 is what that
//! machine does by itself.

use crate::printed::{Costs, Defect, Fails, Run, Shows, World};

/// A defect that is told and cannot be run: missing text, or what follows from the others.
const fn told(id: &'static str, what: &'static str, result: &'static str) -> Defect {
    Defect {
        id,
        what,
        result,
        ..Defect::BLANK
    }
}

const K1: Defect = Defect {
    id: "kanrar-K1",
    what: "step 1 always votes for oneself, though a process has one vote until the RELEASE",
    rules: &["own-vote-is-a-vote"],
    needs_printed: &["kanrar-K3"],
    shows: Shows::World(World::of(&[1, 1, 0], Fails::Exclusion)),
    schedule: "req 0; 0>1:REQ; req 1; 1>0:VOTE; 1>2:REQ; 2>1:VOTE",
    result: "two inside after six steps: 1's vote counts for 0 and for 1",
    ..Defect::BLANK
};

const K2: Defect = told(
    "kanrar-K2",
    "lemma 5.3, tau is never negative, needs the double vote of K1",
    "a candidate whose own vote went to another has none, and tau falls to -1",
);

const K3: Defect = Defect {
    id: "kanrar-K3",
    what: "a winner of phase 2 has no majority, and nobody knows that somebody else has one",
    rules: &[
        "votes-are-handed-over",
        "inside-answers-busy",
        "busy-to-the-early",
    ],
    shows: Shows::World(World::of(&[1, 1, 0], Fails::Exclusion)),
    schedule: "req 0; req 1; 0>2:REQ; 2>0:VOTE; timer 1:T1; timer 1:T2",
    result: "two inside after six steps: 0 has two of three votes, 1 sees no rival",
    ..Defect::BLANK
};

/// A patch that the book does not print, to see that it would not have helped.
const K4: Defect = Defect {
    id: "kanrar-K4",
    what: "a process inside that answers BUSY does not help",
    rules: &["votes-are-handed-over", "busy-to-the-early"],
    needs_repaired: &["kanrar-K3"],
    shows: Shows::World(World::of(&[1, 1, 0], Fails::Exclusion).timers("patient")),
    schedule: "req 0; req 1; 1>0:REQ; 0>1:REQ; 1>0:NO; 0>1:NO; 0>2:REQ; 1>2:REQ; 2>1:NO; 1>0; \
               2>0:VOTE; 1>2; timer 1:T2",
    result: "the P2REQ reaches it just before its deciding VOTE: two inside though timers are right",
    ..Defect::BLANK
};

/// The same, mended once more.
const K4_AGAIN: Defect = Defect {
    id: "kanrar-K4'",
    what: "nor does one that on entering also answers those who asked before",
    rules: &["votes-are-handed-over"],
    needs_repaired: &["kanrar-K3", "kanrar-K4"],
    shows: Shows::World(World::of(&[1, 1, 0], Fails::Exclusion)),
    schedule: "req 0; req 1; 0>2:REQ; 2>0:VOTE; timer 1:T1; timer 1:T2",
    result: "as K3: a timer that is early, or a message that is late, lets two in",
    ..Defect::BLANK
};

const K5: Defect = told(
    "kanrar-K5",
    "the few votes of a winner below majority do not meet a later majority",
    "a stay longer than 3T lets two in, in most runs",
);

const K6: Defect = told(
    "kanrar-K6",
    "no RELEASE is printed for losers, and tau is lowered and never set back",
    "votes that a loser has are lost to the others until it is served",
);

const K7: Defect = told(
    "kanrar-K7",
    "tau falls until every block of a partition elects a winner of its own",
    "as many inside as there are blocks with a candidate",
);

/// The defects of both algorithms, and those of one.
macro_rules! and_both {
    ($($own:expr),* $(,)?) => {
        &[K1, K2, K3, K4, K4_AGAIN, K5, K6, K7, $($own),*]
    };
}

/// The defects of NHME-AMC.
pub(crate) const NHME: &[Defect] = and_both![
    told(
        "kanrar-N1",
        "|S| takes everybody's vote counts, and n is the size, the disconnected and the silent",
        "a candidate can only count the rivals it has heard of",
    ),
    Defect {
        id: "kanrar-N2",
        what: "n counts those who do not respond, but an older rival is silent by rule",
        rules: &["silence-is-not-absence"],
        needs_printed: &["kanrar-K3"],
        shows: Shows::World(World::of(&[1, 1], Fails::Exclusion)),
        schedule: "req 0; req 1; timer 0:T1; timer 1:T1; 0>1:P2REQ; 1>0:P2REQ; 1>0:P2V; timer 0:T2; \
                   timer 1:T2",
        result: "everybody in S wins: 0 is silent, so 1 needs nobody",
        ..Defect::BLANK
    },
    told(
        "kanrar-N3",
        "lemma 5.1 is proved for n = 0 only",
        "unequal views of who is disconnected give two winners",
    ),
    Defect {
        id: "kanrar-N4",
        what: "there is no rule for a P2REQ that comes before its receiver is in phase 2",
        rules: &["early-questions-wait"],
        needs_printed: &["kanrar-K3"],
        shows: Shows::Run(Run {
            flags: "-n 12 --workload batch --delay '1ms 1ms' --param tau=1 --time-limit 20s",
            costs: Costs::Messages,
        }),
        schedule: "req 0; req 1; timer 0:T1; 0>1:P2REQ; timer 1:T1; 1>0:P2REQ; timer 0:T2; \
                   timer 1:T2",
        result: "the oldest goes back to step 1, a younger one enters, and retries multiply",
        ..Defect::BLANK
    },
    told(
        "kanrar-N5",
        "those with more than tau votes are at most N/(tau+1), not N/tau",
        "a misprint; at tau = 0 the formula is undefined",
    ),
    told(
        "kanrar-N6",
        "aging is claimed in chapter 6 and no step ages anything",
        "missing text; by time stamps nobody starves",
    ),
];

/// The defects of BMaV.
pub(crate) const BMAV: &[Defect] = and_both![
    told(
        "kanrar-B1",
        "steps 2 to 5 compare votes and holdings of all, and no message carries either",
        "missing text; RESULT is our addition",
    ),
    Defect {
        id: "kanrar-B2",
        what: "a majority enters whatever it holds, even if what it needs is with those who wait",
        rules: &["holdings-before-majority"],
        needs_printed: &["kanrar-K3"],
        with: &[("resources", "R1:1=0;R2:2=0,1")],
        shows: Shows::World(World::of(&[1, 1, 0], Fails::ProtocolError)),
        schedule: "req 0; req 1; 0>1:REQ; 1>2:REQ; 2>1:VOTE",
        result: "1 is inside and needs R1, 0 has it and waits: a resource deadlock",
        ..Defect::BLANK
    },
    told(
        "kanrar-B3",
        "scenarios 2 and 3 elect one winner across partitions that cannot compare notes",
        "in each partition one wins",
    ),
    told(
        "kanrar-B4",
        "holdings before time stamps can starve who holds little",
        "repaired by aging",
    ),
];
