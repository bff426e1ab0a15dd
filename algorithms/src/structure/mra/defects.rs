//! What is wrong in sections 3.1 and 3.2 of the book.

use super::machine::{CROSSED_IS_IGNORED, IDLE_HOLDER_SERVES};
use super::printed::{NEXT_HOPS, ONLY_ORIGINATORS};
use crate::printed::{Defect, Fails, Shows, World};

/// The defects of both algorithms, and those of one.
macro_rules! and_both {
    ($($own:expr),* $(,)?) => {
        &[IDLE_HOLDER, NO_WAY, PATHLESS, FIRST_PATH, PATHS, RETURN, TWO_MESSAGES, CROSSED, REMOVED_FIRST, $($own),*]
    };
}

pub(super) const MRA: &[Defect] = and_both![Defect::told(
    "kanrar-M10",
    "Table 3.1: LDQ8 is {1,3,8}, the text has {3,8}; RQ of P3 in step 5 shows LDQ3; LDQ1 \
     is empty in step 5 though {3,1} is needed in step 6; rows for 2 and 5 are missing",
    "misprints",
),];

pub(super) const MRA_P: &[Defect] = and_both![
    Defect::told(
        "kanrar-P1",
        "the box says that RQ is first in, first out; every example sorts it by priority",
        "a contradiction; here it is sorted, and stable",
    ),
    Defect::told(
        "kanrar-P2",
        "PQ is ascending in the description and descending in the pseudo-code",
        "a contradiction; PQ repeats what RQ says and is left out",
    ),
    Defect::told(
        "kanrar-P3",
        "\"RQ's head is always LDQ's head\" is false once the token has moved",
        "see kanrar-M5",
    ),
    Defect::told(
        "kanrar-P4",
        "Step 4 tests LDQ_j, which does not exist there; Step 5 removes from RQ twice",
        "misprints",
    ),
    Defect::told(
        "kanrar-P5",
        "Table 3.2: RQ of P1 in step 3 reads 11,8,3 (for 6); LDQ11 has no way back; P3's rows \
         are labelled PQ1 and LDQ1",
        "misprints",
    ),
    Defect::told(
        "kanrar-P6",
        "a low priority may starve (admitted in sections 2.1 and 3.3)",
        "starvation by design, with --param aging=off; aging=step bounds it",
    ),
];

const IDLE_HOLDER: Defect = Defect {
    id: "kanrar-M1",
    what: "only leaving hands the token on: an idle holder just queues who asks, itself too",
    rules: &[IDLE_HOLDER_SERVES],
    shows: Shows::World(World::of(&[0, 1], Fails::Deadlock).on("path")),
    schedule: "req 1; 1>0:REQUEST",
    result: "deadlock: 0 has the token and no use for it, 1 waits",
    ..Defect::BLANK
};

const PATHS: Defect = Defect {
    id: "kanrar-M5",
    what: "lists of paths, the way back filed at the front: a site's own entry, or one that RQ does \
           not mean, is taken for the way to RQ's first",
    rules: &[NEXT_HOPS],
    shows: Shows::World(World::of(&[1, 1, 1], Fails::ProtocolError).on("path")),
    schedule: "req 1; req 2; 1>0:REQUEST; req 0; 2>1:REQUEST; 0>1:TOKEN; exit 1; 0>1:REQUEST; \
               1>2:TOKEN",
    result: "the token, meant for 0, is at 2, which knows no way on: a protocol error",
    ..Defect::BLANK
};

const RETURN: Defect = Defect {
    id: "kanrar-M6",
    what: "the request for the token's return is an ordinary one (Step 3): its sender gets into RQ",
    rules: &[ONLY_ORIGINATORS],
    needs_printed: &["kanrar-M5"],
    shows: Shows::World(World::of(&[0, 0, 1, 1], Fails::Uninvited).on("edges:0-1,1-2,1-3")),
    schedule: "on edges:0-1,1-2,1-3; req 2; req 3; 2>1:REQUEST; 3>1:REQUEST; 1>0:REQUEST; \
               0>1:TOKEN; 1>2:TOKEN; exit 2; 2>1:TOKEN",
    result: "1 enters and did not ask",
    ..Defect::BLANK
};

const CROSSED: Defect = Defect {
    id: "kanrar-M8",
    what: "a request that crosses the token on an edge is accepted by the old holder and sent back",
    rules: &[CROSSED_IS_IGNORED],
    needs_repaired: &["kanrar-M5"],
    shows: Shows::World(World::of(&[0, 1, 1], Fails::ProtocolError).on("path")),
    schedule: "req 2; 2>1:REQUEST; 1>0:REQUEST; req 1; 1>0:REQUEST; 0>1:TOKEN; 0>1:REQUEST",
    result: "1 is asked to pass on its own request: a protocol error",
    ..Defect::BLANK
};

const NO_WAY: Defect = Defect::told(
    "kanrar-M2",
    "when the token has moved, the new holder's LDQ leads only back to the sender; Step 4 \
     looks for a way to RQ's first there and finds none (Table 3.1 itself, after 8 leaves)",
    "undefined; the printed machine follows the first path instead, as the worked \
     example does",
);

const PATHLESS: Defect = Defect::told(
    "kanrar-M3",
    "a request that is passed on without its path is filed as {i, j} by line 8 (i is no \
     neighbour) and as {3, 1} by Table 3.1 (then 6 cannot be found)",
    "undefined; the printed machine files sender and receiver, as the table does",
);

const FIRST_PATH: Defect = Defect::told(
    "kanrar-M4",
    "the walk-through follows LDQ's first path, whatever RQ says; with the way back filed \
     at the end (Step 4) Table 3.1's own run sends the token to 6 instead of 11",
    "no way on from 6; the printed machine files the way back at the front",
);

const TWO_MESSAGES: Defect = Defect::told(
    "kanrar-M7",
    "token and request for its return are two messages; there is no rule for a holder \
     that leaves before the second arrives",
    "undefined; in the printed machine they are one message",
);

const REMOVED_FIRST: Defect = Defect::told(
    "kanrar-M9",
    "Step 5 removes RQ's first id and then asks whether it is its own; LPQ for LDQ, j for y",
    "misprints",
);
