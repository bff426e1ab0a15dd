//! What is wrong in the printed text of CDC and DDC.
//!
//! A defect of the part they share is listed by both. Every schedule is a shortest one, as the
//! explorer finds it with `--as-printed=ID` and the parameters given.

use crate::printed::{Defect, Fails, Shows, World};

const ONE: &[(&str, &str)] = &[("max_req", "1")];

/// What both have from the framework and from the way requests find the controller.
const C1: Defect = Defect {
    id: "rana-C1",
    what: "wake_up is a message and the controller stays free until it hears it, so two requests \
           wake it twice; and it does not look whether it is free when it hears it",
    rules: &["requests-dispatch"],
    shows: Shows::World(World::of(&[1, 1], Fails::Exclusion)),
    schedule: "req 0; req 1; 1>0:REQUEST; 0>0:WAKE_UP; 0>0:WAKE_UP; 0>1:GRANT",
    result: "two are inside",
    ..Defect::BLANK
};

/// What is wrong in CDC.
pub(super) const CDC: &[Defect] = &[
    C1,
    C2,
    C2_PRIME,
    C3,
    C4,
    C5,
    Defect {
        id: "rana-P7a",
        what: "the second in the queue, who becomes controller, may be the controller itself",
        rules: &["target-is-another"],
        with: ONE,
        shows: Shows::World(World::of(&[1, 1, 1], Fails::ProtocolError)),
        schedule: "req 1; 1>0:REQUEST; 0>1:GRANT; exit 1; req 2; 2>0:REQUEST; req 0; 1>0:EXIT",
        result: "N-1 messages move the role to where it is, against property 7",
        ..Defect::BLANK
    },
    Defect {
        id: "rana-P7c",
        what: "\"any node other than i, j\" need not exist",
        rules: &["target-may-lack"],
        with: ONE,
        shows: Shows::World(World::of(&[1, 1], Fails::ProtocolError)),
        schedule: "req 0; req 1; 1>0:REQUEST; exit 0",
        result: "the choice of the next controller is undefined, for two nodes at the first exit",
        ..Defect::BLANK
    },
    S1,
];

const C2: Defect = Defect {
    id: "rana-C2",
    what: "nothing carries request_queue to the new controller",
    rules: &["queue-travels"],
    with: ONE,
    shows: Shows::World(World::of(&[0, 1, 1], Fails::Deadlock)),
    schedule: "req 1; 1>0:REQUEST; 0>1:GRANT; exit 1; req 2; 2>0:REQUEST; 1>0:EXIT; \
               0>1:BECOME; 0>2:INFORM",
    result: "whoever was queued waits for ever",
    ..Defect::BLANK
};

const C2_PRIME: Defect = Defect {
    id: "rana-C2'",
    what: "the new controller is free until it hears its own wake_up, and a request that comes \
           before that is granted as well",
    rules: &["take-over-dispatches"],
    with: ONE,
    shows: Shows::World(World::of(&[2, 1], Fails::Exclusion)),
    schedule: "req 0; exit 0; req 0; 0>1:BECOME; req 1; 0>1:REQUEST; 1>1:WAKE_UP; \
               1>0:GRANT",
    result: "two are inside",
    ..Defect::BLANK
};

const C3: Defect = Defect {
    id: "rana-C3",
    what: "an exit goes to current_controller, which late news may have overwritten, and who is not \
           controller has no rule for it",
    rules: &["exit-to-granter"],
    needs_printed: &["rana-C4"],
    with: ONE,
    shows: Shows::World(World::of(&[2, 2, 1], Fails::Deadlock)),
    schedule: "req 0; req 1; 1>0:REQUEST; exit 0; 0>2:BECOME; 2>1:GRANT; exit 1; req 1; \
                   1>2:REQUEST; req 2; 1>2:EXIT; 2>0:BECOME; req 0; 0>1:GRANT; 0>1:INFORM; \
                   exit 1; 2>1:INFORM; 1>2:EXIT",
    result: "the exit is lost and nobody enters any more",
    ..Defect::BLANK
};

const C4: Defect = Defect {
    id: "rana-C4",
    what: "late news of an old controller overwrites newer, so that two nodes may take each other \
           for the controller",
    rules: &["epochs", "hop-limit"],
    with: ONE,
    shows: Shows::World(World::of(&[1, 1, 3], Fails::Trapped)),
    schedule: "req 0; exit 0; 0>1:BECOME; req 1; exit 1; 1>2:BECOME; req 2; exit 2; \
                   2>0:BECOME; req 0; 2>1:INFORM; req 1; 1>0:REQUEST; exit 0; 0>2:BECOME; \
                   2>1:GRANT; exit 1; 1>2:EXIT; 2>1:INFORM; 0>1:INFORM; 0>2:INFORM; req 2",
    result: "a request goes to and fro for ever",
    ..Defect::BLANK
};

const C5: Defect = Defect {
    id: "rana-C5",
    what: "new_controller is sent before become_controller, so that a request may come before the \
           role, and is sent back",
    rules: &["role-goes-first"],
    with: ONE,
    shows: Shows::World(World::of(&[1, 0, 1], Fails::ProtocolError)),
    schedule: "req 0; exit 0; 0>2:INFORM; req 2; 2>1:REQUEST",
    result: "requests go to and fro until the role arrives: wasted messages, as many as fit",
    ..Defect::BLANK
};

const S1: Defect = Defect::told(
    "rana-S1",
    "a request may chase the controller for ever, each time arriving when the role has just \
     left: no schedule has an end to show it by, but hop_limit=none does it, for example in \
     experiments/chase.toml",
    "starvation",
);

/// What is wrong in DDC.
pub(super) const DDC: &[Defect] = &[
    Defect {
        id: "rana-D1",
        what: "first_in_q is never assigned",
        rules: &["first-is-set"],
        shows: Shows::World(World::of(&[0, 1], Fails::Deadlock)),
        schedule: "req 1; 1>0:REQUEST",
        result: "the first request ever is never granted",
        ..Defect::BLANK
    },
    Defect {
        id: "rana-D2",
        what: "last_in_q is not cleared when the head taken from first_in_q is also the tail",
        rules: &["tail-is-cleared"],
        needs_repaired: &["rana-D1"],
        shows: Shows::World(World::of(&[1, 1], Fails::Deadlock)),
        schedule: "req 0; exit 0; req 1; 1>0:REQUEST",
        result: "the next request is linked behind one that is finished: nobody enters any more",
        ..Defect::BLANK
    },
    Defect {
        id: "rana-D3",
        what: "next_requestor may be overtaken by request_granted from the same controller",
        rules: &["link-is-awaited"],
        needs_repaired: &["rana-D1"],
        shows: Shows::World(World::of(&[1, 1, 1], Fails::Deadlock)),
        schedule: "req 0; req 1; 1>0:REQUEST; req 2; 2>0:REQUEST; exit 0; 0>1:GRANT; exit 1; \
                   1>0:EXIT; 0>1:NEXT",
        result: "an exit does not say who is next: whoever was linked waits for ever",
        ..Defect::BLANK
    },
    Defect {
        id: "rana-D4",
        what: "the ends of the queue, and the next_in_q that the exit has just reported, are dropped \
               when the role moves",
        needs_repaired: &["rana-D1"],
        schedule: "req 1; 1>0:REQUEST; 0>1:GRANT; exit 1; req 2; 2>0:REQUEST; 1>0:EXIT; \
                   0>1:INFORM; 0>2:BECOME",
        ..C2
    },
    Defect {
        id: "rana-D5",
        what: "the new controller is free until it hears its own wake_up; if it has let somebody in \
               before that, the wake_up finds nobody and frees it again",
        needs_repaired: &["rana-D1"],
        ..C2_PRIME
    },
    Defect {
        id: "rana-D6",
        what: "across a migration next_requestor comes from the old controller and request_granted \
               from the new one: no order of links helps",
        rules: &["link-is-awaited"],
        needs_repaired: &["rana-D1"],
        with: ONE,
        shows: Shows::World(World::of(&[1, 1, 1], Fails::Deadlock)),
        schedule: "req 0; req 1; 1>0:REQUEST; req 2; 2>0:REQUEST; exit 0; 0>2:BECOME; \
                   2>1:GRANT; exit 1; 0>1:NEXT; 0>1:INFORM; 1>2:EXIT; 2>0:BECOME; 2>1:INFORM",
        result: "an exit does not say who is next: whoever was linked waits for ever",
        ..Defect::BLANK
    },
    Defect {
        id: "rana-P7b",
        what: "the last in the queue, who becomes controller, may be the controller itself",
        rules: &["target-is-another"],
        needs_repaired: &["rana-D1"],
        with: ONE,
        shows: Shows::World(World::of(&[1, 1], Fails::ProtocolError)),
        schedule: "req 1; 1>0:REQUEST; req 0; 0>1:GRANT; exit 1; 1>0:EXIT",
        result: "N-1 messages move the role to where it is, against property 7",
        ..Defect::BLANK
    },
    Defect {
        needs_repaired: &["rana-D1"],
        shows: Shows::World(World::of(&[1, 1, 1], Fails::Exclusion)),
        schedule: "req 0; req 1; 1>0:REQUEST; 0>0:WAKE_UP; exit 0; 0>1:GRANT; req 2; 2>0:REQUEST; \
                   0>0:WAKE_UP; 0>2:GRANT",
        ..C1
    },
    Defect {
        needs_repaired: &["rana-D1"],
        shows: Shows::World(World::of(&[1, 3, 1], Fails::Deadlock)),
        schedule: "req 0; exit 0; 0>1:BECOME; req 1; exit 1; 1>0:INFORM; 1>2:BECOME; req 2; \
                   exit 2; 2>0:BECOME; 2>1:INFORM; req 1; req 2; 2>0:REQUEST; req 0; \
                   1>0:REQUEST; 0>2:GRANT; 0>2:INFORM; exit 2; 2>1:EXIT",
        ..C3
    },
    Defect {
        needs_repaired: &["rana-D1"],
        shows: Shows::World(World::of(&[2, 2, 1], Fails::Trapped)),
        schedule: "req 0; exit 0; req 0; 0>1:BECOME; req 1; 0>1:REQUEST; exit 1; 1>0:BECOME; \
                   req 2; 2>0:REQUEST; exit 0; 0>2:BECOME; exit 2; 2>1:INFORM; 0>1:INFORM; \
                   1>2:INFORM; 0>2:INFORM; req 1",
        ..C4
    },
    Defect {
        needs_repaired: &["rana-D1"],
        shows: Shows::World(World::of(&[1, 0, 1], Fails::ProtocolError)),
        schedule: "req 0; exit 0; 0>2:INFORM; req 2; 2>1:REQUEST",
        ..C5
    },
    S1,
];
