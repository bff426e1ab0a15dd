//! What is wrong in section 3.3 of the book.

use super::machine::{
    CROSSED_IS_IGNORED, IDLE_HOLDER_SERVES, NEXT_BEFORE_SENDER, ONE_ENTRY_EACH,
    ONLY_A_RAISE_IS_TOLD, OWN_REQUEST_AGES, RETURNING_TOKEN_AGES,
};
use crate::printed::{Costs, Defect, Fails, Run, Shows, World};

pub(super) const ALL: &[Defect] = &[
    Defect {
        id: "kanrar-F1",
        what: "only leaving hands the token on: an idle holder just files who asks, itself too",
        rules: &[IDLE_HOLDER_SERVES],
        shows: Shows::World(World::of(&[0, 1], Fails::Deadlock).on("path")),
        schedule: "req 1; 1>0:REQUEST",
        result: "deadlock: 0 has the token and no use for it, 1 waits",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-F2",
        what: "only the holder replaces a neighbour's entry (Step 3); others add a second (Step 2)",
        rules: &[ONE_ENTRY_EACH],
        shows: Shows::World(
            World::of(&[0, 0, 1, 1], Fails::ProtocolError)
                .on("path")
                .priorities(&[1, 1, 2, 4]),
        ),
        schedule: "priorities 1,1,2,4; req 2; req 3; 2>1:REQUEST; 3>2:REQUEST; 2>1:REQUEST; \
                   1>0:REQUEST; 0>1:TOKEN; 1>2:TOKEN; 2>3:TOKEN; exit 3; 3>2:TOKEN; exit 2; \
                   2>1:TOKEN; 1>2:TOKEN",
        result: "the token goes back to 2 for an entry that was served: a protocol error",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-F3",
        what: "an update that crosses the token is filed by the old holder, which asks for the \
               token back on behalf of the very site that has it",
        rules: &[CROSSED_IS_IGNORED],
        shows: Shows::World(
            World::of(&[0, 1, 1], Fails::ProtocolError)
                .on("path")
                .priorities(&[1, 2, 3]),
        ),
        schedule: "priorities 1,2,3; req 1; req 2; 1>0:REQUEST; 2>1:REQUEST; 1>0:REQUEST; \
                   0>1:TOKEN; 0>1:REQUEST; exit 1; 1>2:TOKEN; exit 2; 2>1:TOKEN; 1>0:TOKEN; \
                   0>1:TOKEN",
        result: "the token comes to 1, where nobody wants it: a protocol error",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-F4",
        what: "line 9 passes every request on; its comment and the examples only a raise",
        rules: &[ONLY_A_RAISE_IS_TOLD],
        shows: Shows::Run(Run {
            flags: "--think 0 --priority 9,1,5,3,7,2,4,6,8,5 --entries 40",
            costs: Costs::Messages,
        }),
        schedule: "req 1; req 2; 2>1:REQUEST; 1>0:REQUEST; 1>0:REQUEST",
        result: "more messages, nothing worse",
        ..Defect::BLANK
    },
    Defect::told(
        "kanrar-F5",
        "Step 5 sends a dummy even when the site itself enters, to nobody",
        "a misprint",
    ),
    Defect {
        id: "kanrar-F6",
        what: "the walk-through files the sender of the token before it chooses the next; Step 5 \
               chooses first",
        rules: &[NEXT_BEFORE_SENDER],
        shows: Shows::Run(Run {
            flags: "-n 3 --topology path --holder 1 --priority 1,5,5 --think 0 --hold 2ms --delay 1ms --total 61 --weights 0=1,1=30,2=30",
            costs: Costs::Wait,
        }),
        schedule: "priorities 1,5,5; req 0; req 1; 1>0:REQUEST; exit 0; req 2; req 0; 0>1:TOKEN",
        result: "longer waits: where the sender's side aged the token goes straight back, and the side \
                 it visited has waited for nothing; with kanrar-F7, as in print, that side starves",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-F7",
        what: "dummies age nobody (Steps 4 and 5), but under load renewed demand comes back as a \
               dummy with the token; the liveness argument is false",
        rules: &[RETURNING_TOKEN_AGES],
        shows: Shows::Run(Run {
            flags: "--think 0 --priority 9,1,5,3,7,2,4,6,8,5 --entries 40",
            costs: Costs::Wait,
        }),
        schedule: "priorities 1,5,5; req 0; req 1; 1>0:REQUEST; exit 0; req 2; 0>1:TOKEN",
        result: "starvation: lower entries never age, and the longest wait grows with the run",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-F8",
        what: "Step 1 ages nobody when a site files its own request, so a site overtakes those \
               behind it for nothing",
        rules: &[OWN_REQUEST_AGES],
        shows: Shows::Run(Run {
            flags: "-n 3 --topology path --holder 1 --priority 1,5,5 --think 0 --hold 2ms --delay 1ms --total 61 --weights 0=1,1=30,2=30",
            costs: Costs::Wait,
        }),
        schedule: "priorities 1,5,1; req 2; 2>1:REQUEST; req 1",
        result: "longer waits, nothing worse as long as the returning token ages",
        ..Defect::BLANK
    },
    Defect::told(
        "kanrar-F9",
        "section 2.1 says that only the holder's list ages; Step 2 and Table 3.4 age \
         everywhere",
        "a contradiction; here every list ages",
    ),
    Defect::told(
        "kanrar-F10",
        "Lemma 3.3 says first come, first served among equals; a neighbour has one entry, \
         however many wait behind it",
        "with equal priorities the order is Raymond's; mra-p with aging keeps the order",
    ),
    Defect::told(
        "kanrar-F11",
        "Table 3.4 has <8,1> for <3,1> at P1, <2,4> for <1,4> at P3, <3,3> for <1,3> at P2 \
         and for <2,3> at P5, and # for *",
        "misprints",
    ),
];
