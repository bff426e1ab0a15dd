//! What is wrong in chapter 6 of the thesis. All schedules are with k = 2 and mode=drain.

use crate::printed::{Defect, Fails, Shows, World};
use crate::token::banta_efficient::defects::{HOLDER_ASKS_ITSELF, LATE_IS_FILED};

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        id: "banta-K1",
        what: "an idle holder serves requests at the end of receive_token, which the first holder \
               has never run",
        rules: &["starts-awake"],
        shows: Shows::World(World::of(&[0, 1], Fails::Deadlock)),
        schedule: "req 1; 1>0:REQUEST",
        result: "deadlock: 0 has the token and only files the request; there is no first cycle",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-K2",
        what: "the good site waits for k releases, also when fewer sites were before it",
        rules: &["releases-are-those-owed"],
        needs_repaired: &["banta-K1"],
        shows: Shows::World(World::of(&[0, 1], Fails::Deadlock)),
        schedule: "req 1; 1>0:REQUEST; timer 0:wait; 0>1:TOKEN",
        result: "deadlock: 1 waits for 2 releases that nobody owes",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-K3",
        what: "the semaphore is never put back to k",
        rules: &["semaphore-is-restored"],
        needs_repaired: &["banta-K1"],
        shows: Shows::World(World::of(&[2, 2, 2, 1], Fails::Deadlock).after(
            "req 0; req 1; req 2; req 3; 1>0:REQUEST; 2>0:REQUEST; 3>0:REQUEST; \
             exit 0",
        )),
        schedule: "req 0; req 1; req 2; req 3; 1>0:REQUEST; 2>0:REQUEST; 3>0:REQUEST; exit 0; \
                   timer 0:wait; 0>1:TOKEN; 1>2:TOKEN; 2>3:TOKEN; exit 1; exit 2; 1>3:RELEASE; \
                   2>3:RELEASE; req 0; req 1; req 2; 0>3:REQUEST; 1>3:REQUEST; 2>3:REQUEST; \
                   exit 3; timer 3:wait; 3>0:TOKEN; 0>1:TOKEN; 1>2:TOKEN",
        result: "deadlock: the token left with 0 slots, and everybody in the second cycle waits",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-K4",
        what: "\"min(token_queue[k], good_site)\" read as numbers: it means the one nearer the front",
        rules: &["nearer-is-nearer"],
        needs_repaired: &["banta-K1"],
        shows: Shows::World(World::of(&[1, 1, 1, 1, 1], Fails::Deadlock).after(
            "req 0; req 4; req 3; req 2; req 1; 4>0:REQUEST; 3>0:REQUEST; 2>0:REQUEST; \
             1>0:REQUEST; exit 0",
        )),
        schedule: "req 0; req 4; req 3; req 2; req 1; 4>0:REQUEST; 3>0:REQUEST; 2>0:REQUEST; \
                   1>0:REQUEST; exit 0; timer 0:wait; 0>4:TOKEN; 4>3:TOKEN; 3>2:TOKEN; 2>1:TOKEN; \
                   exit 4; exit 3; 4>1:RELEASE; 3>1:RELEASE; exit 1",
        result: "deadlock: 4 and 3 both release to 1, and 2 never gets a slot",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-K5",
        what: "a release that overtakes the token finds a site that does not wait for one",
        rules: &["early-releases-count"],
        needs_repaired: &["banta-K1"],
        shows: Shows::World(World::of(&[1, 1, 1, 1, 1], Fails::Deadlock).after(
            "req 0; req 1; req 2; req 3; req 4; 1>0:REQUEST; 2>0:REQUEST; 3>0:REQUEST; \
             4>0:REQUEST; exit 0",
        )),
        schedule: "req 0; req 1; req 2; req 3; req 4; 1>0:REQUEST; 2>0:REQUEST; 3>0:REQUEST; \
                   4>0:REQUEST; exit 0; timer 0:wait; 0>1:TOKEN; exit 1; 1>3:RELEASE; 1>2:TOKEN; \
                   2>3:TOKEN; 3>4:TOKEN; exit 2; 2>4:RELEASE",
        result: "deadlock: 3's release is lost, 3 waits for it and 4 for 3's",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-K6",
        what: "\"wait_for(token_request)\" and the request handler both take the same request",
        rules: &["request-is-queued-once"],
        needs_repaired: &["banta-K1"],
        shows: Shows::World(World::of(&[0, 1], Fails::Uninvited)),
        schedule: "req 1; 1>0:REQUEST; timer 0:wait; 0>1:TOKEN; exit 1; timer 1:wait",
        result: "1 is queued twice and sends the token to itself: an uninvited entry",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-K7",
        what: "a request that comes too late is filed where nobody reads it, as in chapter 5",
        needs_repaired: &["banta-K1"],
        ..LATE_IS_FILED
    },
    Defect {
        id: "banta-K7b",
        what: "an update that was overtaken by a newer one is believed, as in chapter 5",
        rules: &["epochs"],
        needs_repaired: &["banta-K1"],
        shows: Shows::World(World::of(&[1, 2, 2], Fails::Deadlock)),
        schedule: "req 1; 1>0:REQUEST; req 2; 2>0:REQUEST; timer 0:wait; req 0; 0>1:TOKEN; exit 1; \
                   1>0:UPDATE; 0>1:REQUEST; timer 1:wait; req 1; 1>2:TOKEN; exit 2; 2>1:UPDATE; \
                   0>2:UPDATE; timer 2:wait; 2>0:TOKEN; exit 0; req 2; 2>1:REQUEST; 1>2:REQUEST",
        result: "deadlock, even if strays are passed on: a request comes back to its owner",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-K7c",
        what: "only the good site reads its local queue, as in chapter 5, so a request filed \
               elsewhere is not even read when the token comes by",
        rules: &["every-visit-appends"],
        needs_printed: &["banta-K7"],
        needs_repaired: &["banta-K1"],
        shows: Shows::World(World::of(&[1, 1, 1, 1], Fails::Deadlock)),
        schedule: "req 1; req 2; 1>0:REQUEST; timer 0:wait; 0>1:TOKEN; 2>0:REQUEST; 0>2:UPDATE; \
                   0>3:UPDATE; req 0; req 3; 0>1:REQUEST; 3>1:REQUEST; exit 1; timer 1:wait; \
                   1>0:TOKEN; exit 0; 0>3:TOKEN; 0>3:RELEASE; 1>2:UPDATE; exit 3",
        result: "deadlock: the token has been where 2's request is, and 2 waits",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-K7d",
        what: "an idle holder that wants in asks itself, tells everybody that it is the good site, \
               and waits 2T, as in chapter 5",
        needs_repaired: &["banta-K1"],
        ..HOLDER_ASKS_ITSELF
    },
    Defect::told(
        "banta-K8",
        "the good site enters alone and keeps the token while it is inside, so others wait \
         although slots are free",
        "the design, not a slip: at most max(1, min(k, m-1)) inside; mode=pipeline repairs it",
    ),
];
