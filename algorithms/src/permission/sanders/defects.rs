//! What is wrong in the paper, with schedules that show it.

use crate::printed::{Defect, Fails, Shows, World};

/// Two nodes that ask each other.
const PAIR: (&str, &str) = ("structure", "0/0,1;1/0,1");
const BASIC: (&str, &str) = ("rules", "basic");
const DEADLOCK_FREE: (&str, &str) = ("rules", "deadlock-free");
const RECOVERY: (&str, &str) = ("recovery", "on");
const UNSAFE: (&str, &str) = ("unsafe", "yes");

const fn defect(
    id: &'static str,
    what: &'static str,
    rules: &'static [&'static str],
    shows: Shows,
    with: &'static [(&'static str, &'static str)],
    schedule: &'static str,
    result: &'static str,
) -> Defect {
    Defect {
        id,
        what,
        rules,
        shows,
        with,
        schedule,
        result,
        ..Defect::BLANK
    }
}

/// One that is told and cannot be run.
const fn told(id: &'static str, what: &'static str, result: &'static str) -> Defect {
    defect(id, what, &[], Shows::Nothing, &[], "", result)
}

pub(super) const ALL: &[Defect] = &[
    // Section 3, the basic rules, and section 4, the theorem.
    defect(
        "sanders-S1",
        "a node's request to itself travels like any other message, and until it arrives the node \
         grants as if it did not want in; the proof assumes that it arrives at once",
        &["own-request-is-at-once"],
        Shows::World(World::of(&[1, 1], Fails::Exclusion)),
        &[PAIR, DEADLOCK_FREE],
        "req 0; req 1; 0>1:REQUEST; 1>0:REQUEST; 0>0:REQUEST; 0>1:GRANT; 1>0:GRANT; 1>1:REQUEST",
        "0 and 1 are inside: each has granted before it had asked itself",
    ),
    defect(
        "sanders-S2",
        "Figure 1b is not Ricart and Agrawala's algorithm under the basic rules: a node that has \
         granted itself defers everybody, smaller stamps too",
        &["late-self-grant"],
        Shows::World(World::of(&[1, 1], Fails::Deadlock)),
        &[("structure", "complete")],
        "req 0; req 1; 0>1:REQUEST; 1>0:REQUEST",
        "deadlock: each waits for the other",
    ),
    told(
        "sanders-S3",
        "Figure 3a's schedule needs the late self-grant of section 5: node j has asked itself \
         before it grants to i",
        "with the grant at once the structure is unsafe by another schedule",
    ),
    told(
        "sanders-S4",
        "property a: I_i is a \"subject\" of R_i",
        "read subset",
    ),
    defect(
        "sanders-S5",
        "a RELEASE sets CSSTAT to FREE whoever sends it; harmless where property a holds",
        &["release-is-the-holders"],
        Shows::World(World::of(&[1, 1, 1], Fails::Exclusion)),
        &[("structure", "0,1/0,1;0,1/1,2;0,2/0,1,2"), UNSAFE],
        "req 0; req 1; 1>2:REQUEST; 2>1:GRANT; exit 1; 1>0:RELEASE; req 2; 2>0:REQUEST; \
         2>1:REQUEST; 0>1:REQUEST; 1>0:GRANT; 0>2:GRANT; 1>2:GRANT",
        "0 and 2 are inside: 1's RELEASE frees what 0 holds for itself",
    ),
    // Section 5, the deadlock-free rules.
    defect(
        "sanders-F1",
        "an INQUIRE is answered on arrival or never: if the FAIL comes later, it is forgotten",
        &["inquiries-are-remembered"],
        Shows::World(World::of(&[1, 1], Fails::Deadlock)),
        &[PAIR, DEADLOCK_FREE],
        "req 0; req 1; 0>1:REQUEST; 1>0:REQUEST; 0>1:FAIL",
        "deadlock: 1 holds its own grant, which 0 needs, and knows that it is not next",
    ),
    defect(
        "sanders-F2",
        "a newcomer that lands behind a smaller request in the queue gets no FAIL while the holder \
         is larger",
        &["all-but-the-head-are-told"],
        Shows::World(World::of(&[1, 1, 1], Fails::Deadlock)),
        &[("structure", "mq")],
        "req 0; req 1; req 2; 0>1:REQUEST; 0>2:REQUEST; 1>2:REQUEST; 2>1:REQUEST; 1>2:FAIL; \
         2>0:GRANT",
        "deadlock: 1 holds its own grant and does not know that it is not next at 2",
    ),
    defect(
        "sanders-F3",
        "an INQUIRE that crosses a RELEASE makes a node yield a grant it no longer holds, and a \
         YIELD frees CSSTAT whoever it names",
        &["only-held-grants-are-yielded"],
        Shows::World(World::of(&[1, 1, 2], Fails::Exclusion)),
        &[("structure", "0,2/0,2;0,1/0,1;0,2/0,2")],
        "req 1; req 2; 2>0:REQUEST; req 0; 0>2:GRANT; exit 2; 0>2:REQUEST; req 2; 1>0:REQUEST; \
         0>2:INQUIRE; 2>0:RELEASE; 0>1:GRANT; 2>0:GRANT; 2>0:REQUEST; 2>0:YIELD",
        "0 and 1 are inside: 2's stale YIELD frees what 0 holds for 1",
    ),
    defect(
        "sanders-F4",
        "\"has received a FAIL\" never ends: a node that was let in after all answers INQUIRE with \
         YIELD",
        &["fails-expire"],
        Shows::World(World::of(&[1, 1, 1], Fails::Exclusion)),
        &[("structure", "0,2/0,2;1,2/1,2;2/2"), DEADLOCK_FREE],
        "req 0; req 1; 0>2:REQUEST; req 2; 2>0:GRANT; exit 0; 0>2:RELEASE; 1>2:REQUEST; 2>1:GRANT",
        "1 and 2 are inside: 2 yields from inside because of a FAIL of long ago",
    ),
    told(
        "sanders-F5",
        "\"unless one has already been sent\" and \"the time stamp of the process in the critical \
         section\"",
        "the mark must be reset with CSSTAT, and CSSTAT must keep the stamp",
    ),
    told(
        "sanders-F6",
        "it is not said that whoever has yielded needs no FAIL",
        "one would be a message for nothing",
    ),
    // Section 6, the costs.
    told(
        "sanders-P1",
        "DM sums over all of R_i, i itself too; section 6.1 also prints S_i = {j} for S_j = {j}",
        "a FAIL to oneself is no message: r_i is 0 if S_i = {i}, else 3",
    ),
    told(
        "sanders-P2",
        "D_ij is 2 wherever I_i and I_j meet, which gives 2 and not 2(N-1)/N for the centralised \
         structure",
        "it is the most of [k<>i] + [k<>j] over all k in R_i and I_j",
    ),
    // Section 7.1, local recovery.
    defect(
        "sanders-L1",
        "who asks because of a death does not say so: the other still counts on the grant of the \
         dead",
        &["deaths-travel"],
        Shows::World(World::of(&[1, 1, 1], Fails::Exclusion).crash(1)),
        &[("structure", "centralised"), RECOVERY],
        "req 0; req 1; req 2; 2>0:REQUEST; exit 0; 0>2:FAIL; crash 0; down 0@1; 1>2:REQUEST; \
         0>2:GRANT; 2>1:GRANT",
        "1 and 2 are inside: 2 by the grant of the dead, 1 by that of 2",
    ),
    defect(
        "sanders-L2",
        "the same under the basic rules",
        &["deaths-travel"],
        Shows::World(
            World::of(&[1, 1, 1], Fails::Exclusion)
                .crash(1)
                .safety_only(),
        ),
        &[
            ("structure", "0,1/0,1;0,1/0,1;0,2/0,2"),
            BASIC,
            RECOVERY,
            UNSAFE,
        ],
        "req 0; req 2; 0>1:REQUEST; req 1; 1>0:GRANT; exit 0; 1>0:REQUEST; crash 0; down 0@2; \
         2>1:REQUEST; 0>1:RELEASE; 0>1:GRANT; 1>2:GRANT",
        "1 and 2 are inside: 1 grants to 2, remembers nothing of it, and then to itself",
    ),
    defect(
        "sanders-L3",
        "who is in R already is no addition, and its grant of the time before the death counts",
        &["old-grants-are-void"],
        Shows::World(World::of(&[1, 1, 0], Fails::Exclusion).crash(1)),
        &[("structure", "0,2/0,1,2;1,2/1,2;2/2"), RECOVERY],
        "req 0; 0>1:REQUEST; req 1; 1>0:GRANT; 1>2:REQUEST; 2>1:GRANT; crash 2; down 2@0",
        "0 and 1 are inside: 1 granted to 0 before it asked 2",
    ),
    defect(
        "sanders-L4",
        "recovery is given for the basic rules too, but the survivors are then in Figure 1b's \
         situation, which deadlocks",
        &["recovery-is-deadlock-free"],
        Shows::World(World::of(&[0, 1, 1], Fails::Deadlock).crash(1)),
        &[("structure", "centralised"), RECOVERY],
        "req 1; req 2; crash 0; down 0@1; 1>2:REQUEST; down 0@2; 2>1:REQUEST",
        "deadlock: 1 and 2 have each granted themselves",
    ),
    defect(
        "sanders-L5",
        "additions to R are asked only if the grant of the dead was still missing",
        &["additions-are-always-asked"],
        Shows::World(World::of(&[0, 1, 1, 1], Fails::Deadlock).crash(1)),
        &[
            ("structure", "0/0;0,1/0,1;0,2,3/0,2,3;0,1,3/0,1,3"),
            RECOVERY,
        ],
        "req 1; req 2; req 3; 2>0:REQUEST; 0>2:GRANT; 2>3:REQUEST; 3>1:REQUEST; 1>3:FAIL; crash 0; \
         down 0@1; down 0@2; down 0@3; 1>2:REQUEST; 3>2:GRANT",
        "deadlock: 2 waits for 1, which it has never asked",
    ),
    defect(
        "sanders-L6",
        "it is not said that what the dead asked and answered is purged, and that the condition to \
         enter is looked at again",
        &["the-dead-are-forgotten"],
        Shows::World(World::of(&[1, 1, 0], Fails::Deadlock).crash(1)),
        &[("structure", "mq"), RECOVERY],
        "req 0; req 1; 0>1:REQUEST; crash 2; down 2@0; down 2@1",
        "deadlock: 1 has all the grants it still needs, and does not notice",
    ),
    Defect {
        needs_printed: &["sanders-S5"],
        ..defect(
            "sanders-L6b",
            "nor that the last messages of the dead are dropped once the death is known; harmless \
             where a RELEASE is the holder's alone",
            &["mail-of-the-dead-is-dropped"],
            Shows::World(World::of(&[1, 1, 1], Fails::Exclusion).crash(1)),
            &[("structure", "0,1/0,1;0,1/0,1;0,2/0,2"), RECOVERY],
            "req 1; 1>0:REQUEST; req 0; 0>1:GRANT; exit 1; req 2; crash 1; down 1@0; \
             1>0:RELEASE; 2>0:REQUEST; 0>2:GRANT",
            "0 and 2 are inside: the RELEASE of the dead frees what 0 holds for itself",
        )
    },
];
