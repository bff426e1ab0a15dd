//! What is wrong in chapter 5 of the thesis.

use crate::printed::{Costs, Defect, Fails, Run, Shows, World};

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        id: "banta-E1",
        what: "when the queue is empty the good site of the holder is -1, and its own next request \
               goes there",
        rules: &["idle-holder-is-good"],
        needs_printed: &["banta-E7"],
        shows: Shows::World(World::of(&[0, 2], Fails::Deadlock)),
        schedule: "req 1; 1>0:REQUEST; timer 0:wait; 0>1:TOKEN; exit 1; req 1",
        result: "deadlock: the request is lost, 1 has the token and waits for it",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-E2",
        what: "\"append\" does not empty the local queue, so its sites are queued again with the \
               next request",
        rules: &["append-empties"],
        shows: Shows::World(World::of(&[0, 1, 1], Fails::Uninvited)),
        schedule: "req 1; req 2; 1>0:REQUEST; 2>0:REQUEST; timer 0:wait; 0>1:TOKEN; exit 1",
        result: "the queue is [1 1 2]: 1 sends the token to itself, an uninvited entry",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-E3",
        what: "the wait stands in the middle of a procedure: requests are read when the token has \
               left",
        rules: &["wait-is-a-timer"],
        needs_printed: &["banta-E5"],
        shows: Shows::World(World::of(&[0, 1, 1], Fails::Deadlock)),
        schedule: "req 1; req 2; 1>0:REQUEST; 2>0:REQUEST; timer 0:wait; 0>2:UPDATE; \
                   0>1:TOKEN; exit 1",
        result: "deadlock: 2's request was there in time, but 0 files it when it is good no more",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-E4",
        what: "two time periods suffice only if a message that arrives at the last instant is read \
               before the wait ends",
        rules: &["strays-are-forwarded"],
        with: &[("wait", "2T")],
        shows: Shows::World(World::of(&[0, 1, 1], Fails::Deadlock).timers("bounded:1,ties=either")),
        schedule: "req 1; 1>0:REQUEST; req 2; 0>2:UPDATE; timer 0:wait; 2>0:REQUEST; 0>1:TOKEN; \
                   exit 1",
        result: "deadlock: 0 files 2's request, which took exactly T like the update before it, and \
                 is good no more",
        ..Defect::BLANK
    },
    LATE_IS_FILED,
    Defect {
        id: "banta-E5b",
        what: "an update that takes longer than T is believed, though it was overtaken by a newer \
               one",
        rules: &["epochs"],
        shows: Shows::World(World::of(&[1, 2, 2], Fails::Deadlock)),
        schedule: "req 1; 1>0:REQUEST; req 2; 2>0:REQUEST; timer 0:wait; req 0; 0>1:TOKEN; exit 1; \
                   1>0:UPDATE; 0>1:REQUEST; timer 1:wait; req 1; 1>2:TOKEN; exit 2; 2>1:UPDATE; \
                   0>2:UPDATE; timer 2:wait; 2>0:TOKEN; exit 0; req 2; 2>1:REQUEST; 1>2:REQUEST",
        result: "deadlock, even if strays are passed on: a request follows the old update back to \
                 its owner",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-E6",
        what: "only the good site reads its local queue, so a request filed elsewhere is not even \
               read when the token comes by",
        rules: &["every-exit-appends"],
        needs_printed: &["banta-E5"],
        shows: Shows::World(World::of(&[1, 1, 1, 1], Fails::Deadlock)),
        schedule: "req 1; req 2; 1>0:REQUEST; timer 0:wait; 0>1:TOKEN; 2>0:REQUEST; 0>2:UPDATE; \
                   0>3:UPDATE; req 0; req 3; 0>1:REQUEST; 3>1:REQUEST; exit 1; timer 1:wait; \
                   1>0:TOKEN; exit 0; 0>3:TOKEN; 1>2:UPDATE; exit 3",
        result: "deadlock: the token has been where 2's request is, and 2 waits",
        ..Defect::BLANK
    },
    HOLDER_ASKS_ITSELF,
    Defect::told(
        "banta-E8",
        "have_token is not initialised; and to let the holder in at once without care is \
         unsafe, for a request during its stay finds an empty queue and sends the token away",
        "an omission; the print is saved by leaving its own id on the queue during its stay",
    ),
];

/// A request that comes too late; banta-k has the same defect.
pub(in crate::token) const LATE_IS_FILED: Defect = Defect {
    id: "banta-E5",
    what: "a request that takes longer than T is filed where nobody reads it",
    rules: &["strays-are-forwarded"],
    shows: Shows::World(World::of(&[0, 1, 1], Fails::Deadlock)),
    schedule: "req 1; req 2; 1>0:REQUEST; timer 0:wait; 0>1:TOKEN; exit 1; 0>2:UPDATE; \
               2>0:REQUEST",
    result: "deadlock: 2 waits until 0 happens to be the good site again",
    ..Defect::BLANK
};

/// A holder that wants in; banta-k has the same defect.
pub(in crate::token) const HOLDER_ASKS_ITSELF: Defect = Defect {
    id: "banta-E7",
    what: "an idle holder that wants in asks itself, tells everybody that it is the good site, \
           and waits 2T",
    rules: &["holder-enters"],
    shows: Shows::Run(Run {
        flags: "--workload one-at-a-time",
        costs: Costs::Messages,
    }),
    schedule: "req 0; timer 0:wait; exit 0",
    result: "right, but n-1 messages and a wait for what is free",
    ..Defect::BLANK
};
