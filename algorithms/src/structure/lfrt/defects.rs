//! What is wrong in chapter 4 of the book.
//!
//! The print is another machine ([`super::printed`]): requests that find no way on are *bounced* and
//! counted, and dummy requests bring the token back. Some of its faults can be shown in the repaired
//! machine, too, by leaving a rule out; misprints are told.

use super::machine::{
    IDLE_HOLDER_SERVES, MERGED_ON_ARRIVAL, SERVED_IS_KNOWN, WIDE_GOES_EVERYWHERE,
};
use super::printed::{COUNTED_ANEW, DUMMIES_OUTWARD, PASSED_ON, ROUTED_BY_ORQ};
use crate::printed::{Defect, Fails, Shows, World};

/// The defects of both algorithms, and those of one.
macro_rules! and_both {
    ($($own:expr),* $(,)?) => {
        &[IDLE_HOLDER, ASTRAY, SERVED, MERGED, COUNTED, DUMMIES, TO_AND_FRO, NEVER_BACK, NOT_RECEIVED, STEP_SEVEN, $($own),*]
    };
}

pub(super) const LFRT: &[Defect] = and_both![];

pub(super) const LFRT_P: &[Defect] = and_both![
    Defect {
        id: "kanrar-Q1",
        what: "a request is passed on only where it becomes the most urgent; the description passes it on \
               if it is the first, or a higher, request from that neighbour, and loses others",
        rules: &[PASSED_ON],
        needs_printed: &["kanrar-L2"],
        shows: Shows::World(
            World::of(&[0, 1, 1], Fails::Deadlock)
                .on("edges:2>1,1>0")
                .priorities(&[1, 2, 3]),
        ),
        schedule: "on edges:2>1,1>0; priorities 1,2,3; req 1; req 2; 1>0:REQUEST; 2>1:REQUEST; \
                   0>1:TOKEN; exit 1",
        result: "deadlock: 1, which aged to 3, kept 2's request back, and ORQ is empty",
        ..Defect::BLANK
    },
    Defect::told(
        "kanrar-Q2",
        "Step 2 of the pseudo-code lacks the test whether a request is known, which the text \
         requires",
        "requests multiply in cycles; here as in the text",
    ),
    Defect::told(
        "kanrar-Q3",
        "count_sent counts edges that lead here, too, and Step 4 deletes from the wrong queue",
        "misprints",
    ),
    Defect::told(
        "kanrar-Q4",
        "rebuilding ORQ puts the id 0 of dummies into it and forgets who is known by a dummy",
        "lost requests; here ORQ is never rebuilt",
    ),
    Defect::told(
        "kanrar-Q5",
        "Step 6 sends to the next entry after having removed the current one",
        "a misprint",
    ),
    Defect::told(
        "kanrar-Q6",
        "in the example <A,A,A,1> should read <A,A,E,1>, C should be F, and RQ_F RQ_E",
        "misprints",
    ),
    Defect::told(
        "kanrar-Q7",
        "Lemma 4.2 (nobody enters while a higher priority waits) contradicts the aging",
        "a request of priority r never overtakes one of priority r-1",
    ),
];

const IDLE_HOLDER: Defect = Defect {
    id: "kanrar-L1",
    what: "only leaving hands the token on: an idle holder just queues who asks, itself too",
    rules: &[IDLE_HOLDER_SERVES],
    shows: Shows::World(World::of(&[0, 1, 0], Fails::Deadlock).on("edges:0>1,1>2,2>0")),
    schedule: "on edges:0>1,1>2,2>0; req 1; 1>2:REQUEST; 2>0:REQUEST",
    result: "deadlock: 0 has the token and no use for it, 1 waits",
    ..Defect::BLANK
};

const ASTRAY: Defect = Defect {
    id: "kanrar-L2",
    what: "requests bounce, dummies bring the token back, and Step 6 follows LRQ's first entry, which \
           need not belong to ORQ's first",
    rules: &[ROUTED_BY_ORQ],
    shows: Shows::World(World::of(&[1, 1, 1], Fails::ProtocolError).on("edges:2>1,1>0")),
    schedule: "on edges:2>1,1>0; req 1; req 2; 1>0:REQUEST; req 0; 2>1:REQUEST; 0>1:TOKEN; exit 1; \
               0>1:REQUEST; 1>2:TOKEN",
    result: "the token, meant for 0, is at 2, which takes out its own entry: a protocol error",
    ..Defect::BLANK
};

const COUNTED: Defect = Defect {
    id: "kanrar-L5",
    what: "count_bounce is never reset, so a second request of the same node overshoots it",
    rules: &[COUNTED_ANEW],
    needs_printed: &["kanrar-L2"],
    shows: Shows::World(World::of(&[3, 0, 3], Fails::ProtocolError).on("edges:2>0,2>1,1>0")),
    schedule: "on edges:2>0,2>1,1>0; req 0; req 2; 2>0:REQUEST; 2>1:REQUEST; 1>0:REQUEST; \
               0>1:BOUNCE; 1>2:BOUNCE; exit 0; 0>2:TOKEN; exit 2; req 0; 0>2:REQUEST; 2>0:TOKEN; \
               req 2; 2>0:REQUEST; 2>1:REQUEST; 1>0:REQUEST; 0>1:BOUNCE; exit 0; 0>2:TOKEN; exit 2; \
               req 0; 0>2:REQUEST; 2>0:TOKEN; req 2; 2>0:REQUEST; 2>1:REQUEST; 1>2:BOUNCE; exit 0; \
               0>2:TOKEN",
    result: "1 keeps a dead way, 2 counts one bounce too many and forgets its own request, and the \
             token finds none there: a protocol error",
    ..Defect::BLANK
};

const DUMMIES: Defect = Defect {
    id: "kanrar-L6",
    what: "a dummy goes even with a token that a dummy brings back (Steps 5 and 6); the worked \
           example sends none",
    rules: &[DUMMIES_OUTWARD],
    needs_printed: &["kanrar-L2"],
    shows: Shows::World(World::of(&[2, 1, 1], Fails::Trapped).on("edges:2>1,1>0")),
    schedule: "on edges:2>1,1>0; req 0; req 1; 1>0:REQUEST; req 2; 2>1:REQUEST; 1>0:REQUEST; exit 0; \
               0>1:TOKEN; exit 1; 1>0:TOKEN; 0>1:TOKEN; 1>2:TOKEN; exit 2; req 0; 0>1:REQUEST; \
               1>2:REQUEST; 2>1:TOKEN; 1>0:TOKEN; 0>1:TOKEN; 1>2:TOKEN; 2>1:TOKEN; 1>0:TOKEN",
    result: "dummies that nobody took out send the token to and fro between 0 and 2 for ever, and 0, \
             which waits, is never let in",
    ..Defect::BLANK
};

const SERVED: Defect = Defect {
    id: "kanrar-L3",
    what: "a copy of a served request that travels slowly is taken for a new one",
    rules: &[SERVED_IS_KNOWN],
    needs_repaired: &["kanrar-L2"],
    shows: Shows::World(World::of(&[1, 0, 1], Fails::ProtocolError).on("edges:2>0,2>1,1>0")),
    schedule: "on edges:2>0,2>1,1>0; req 2; 2>0:REQUEST; 2>1:REQUEST; 0>2:TOKEN; exit 2; req 0; \
               0>2:REQUEST; 2>0:TOKEN; 1>0:REQUEST; exit 0; 0>1:TOKEN; 1>2:FIND; 2>1:FOUND; \
               1>2:TOKEN",
    result: "the token comes to 2, which did not ask again: a protocol error",
    ..Defect::BLANK
};

const MERGED: Defect = Defect {
    id: "kanrar-L4",
    what: "a request that meets the token in between is bounced on every edge and forgotten",
    rules: &[MERGED_ON_ARRIVAL],
    needs_repaired: &["kanrar-L2"],
    shows: Shows::World(World::of(&[0, 1, 1], Fails::Deadlock).on("edges:2>1,1>0")),
    schedule: "on edges:2>1,1>0; req 2; 2>1:REQUEST; 1>0:REQUEST; req 1; 0>1:TOKEN; 1>2:TOKEN; \
               1>0:REQUEST; exit 2",
    result: "deadlock: the token came by 1 and did not hear of its request",
    ..Defect::BLANK
};

const TO_AND_FRO: Defect = Defect::told(
    "kanrar-L7",
    "two neighbours whose LRQs are not empty send each other token and dummy for ever",
    "a live-lock; the schedule of kanrar-L6 ends in one",
);

const NEVER_BACK: Defect = Defect {
    id: "kanrar-L8",
    what: "a request is never passed to its originator or back to its sender; after a failure the only \
           way may lead there",
    rules: &[WIDE_GOES_EVERYWHERE],
    needs_repaired: &["kanrar-L2"],
    shows: Shows::World(
        World::of(&[1, 0, 1], Fails::Deadlock)
            .on("edges:2>0,2>1,1>0")
            .cut(1),
    ),
    schedule: "on edges:2>0,2>1,1>0; req 2; 2>1:REQUEST; 1>0:REQUEST; req 0; 0>1:TOKEN; 0>1:REQUEST; \
               cut 1-2; link-down 2@1; link-down 1@2; 1>0:RELAY; 0>2:RELAY; exit 2; 2>0:REQUEST; \
               2>0:REQUEST; 1>0:REQUEST",
    result: "deadlock: 0's request is at 1, whose only link leads back to 0, and the token is at 2",
    ..Defect::BLANK
};

const NOT_RECEIVED: Defect = Defect::told(
    "kanrar-L9",
    "the text bounces 6's request at P3 \"because it has received it before\"; it has not",
    "a misprint",
);

const STEP_SEVEN: Defect = Defect::told(
    "kanrar-L10",
    "Step 7 searches N_k for TN_k, replaces all entries by one, needs other nodes' \
     neighbours without asking, and covers only a holder that wants to send",
    "lost requests, lost tokens and partitions are not covered; here FIND, RELAY and \
     wide requests do it",
);
