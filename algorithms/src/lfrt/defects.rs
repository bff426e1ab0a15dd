//! What is wrong in chapter 4 of the book.
//!
//! The print is another machine: requests that find no way on are *bounced* and counted, and dummy
//! requests bring the token back. Three of its faults are rules that can be left out here; the
//! others are told.

use super::machine::{IDLE_HOLDER_SERVES, MERGED_ON_ARRIVAL, SERVED_IS_KNOWN};
use crate::printed::Defect;

pub(super) const LFRT: &[Defect] = &[
    IDLE_HOLDER,
    Defect {
        id: "kanrar-L2",
        what: "Step 6 removes LRQ's first entry, which need not belong to ORQ's first",
        result: "the token goes astray; here it goes where ORQ's first came from",
        ..Defect::BLANK
    },
    SERVED,
    MERGED,
    Defect {
        id: "kanrar-L5",
        what: "count_bounce is never reset, so a second request of the same node overshoots it",
        result: "live ways are deleted or dead ones kept; here nothing is counted",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-L6",
        what: "dummies for entries that the receiver knows remain after the worked example",
        result: "the next request that way is bounced as known; here ORQ replaces the dummies",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-L7",
        what: "two neighbours whose LRQs are not empty send each other token and dummy for ever",
        result: "a livelock; here there are no dummies",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-L8",
        what: "a request is never passed to its originator or back to its sender; after a failure \
               the only way may lead there",
        result: "a request that is lost; here wide copies go everywhere",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-L9",
        what: "the text bounces 6's request at P3 \"because it has received it before\"; it has not",
        result: "a misprint",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-L10",
        what: "Step 7 searches N_k for TN_k, replaces all entries by one, needs other nodes' \
               neighbours without asking, and covers only a holder that wants to send",
        result: "lost requests, lost tokens and partitions are not covered; here FIND, RELAY and \
                 wide requests do it",
        ..Defect::BLANK
    },
];

pub(super) const LFRT_P: &[Defect] = &[
    IDLE_HOLDER,
    SERVED,
    MERGED,
    Defect {
        id: "kanrar-Q1",
        what: "a request is passed on only where it becomes the most urgent",
        result: "a deadlock where a less urgent one is kept back; here each is passed on once",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-Q2",
        what: "Step 2 of the pseudo-code lacks the test whether a request is known, which the text \
               requires",
        result: "requests multiply in cycles; here as in the text",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-Q3",
        what: "count_sent counts edges that lead here, too, and Step 4 deletes from the wrong queue",
        result: "misprints",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-Q4",
        what: "rebuilding ORQ puts the id 0 of dummies into it and forgets who is known by a dummy",
        result: "lost requests; here ORQ is never rebuilt",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-Q5",
        what: "Step 6 sends to the next entry after having removed the current one",
        result: "a misprint",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-Q6",
        what: "in the example <A,A,A,1> should read <A,A,E,1>, C should be F, and RQ_F RQ_E",
        result: "misprints",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-Q7",
        what: "Lemma 4.2 (nobody enters while a higher priority waits) contradicts the aging",
        result: "a request of priority r never overtakes one of priority r-1",
        ..Defect::BLANK
    },
];

const IDLE_HOLDER: Defect = Defect {
    id: "kanrar-L1",
    what: "only leaving hands the token on: an idle holder just queues who asks, itself too",
    rules: &[IDLE_HOLDER_SERVES],
    schedule: "on edges:0>1,1>2,2>0; req 1; 1>2:REQUEST; 2>0:REQUEST",
    result: "deadlock: 0 has the token and no use for it, 1 waits",
    ..Defect::BLANK
};

const SERVED: Defect = Defect {
    id: "kanrar-L3",
    what: "a copy of a served request that travels slowly is taken for a new one",
    rules: &[SERVED_IS_KNOWN],
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
    schedule: "on edges:2>1,1>0; req 2; 2>1:REQUEST; 1>0:REQUEST; req 1; 0>1:TOKEN; 1>2:TOKEN; \
               1>0:REQUEST; exit 2",
    result: "deadlock: the token came by 1 and did not hear of its request",
    ..Defect::BLANK
};
