//! What is wrong in chapters 3 and 4 of the thesis.

use crate::printed::{Defect, Fails, Shows, World};

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        id: "banta-B1",
        what: "what a site was asked joins the queue when the token arrives (figure 3.4), and what \
               comes while it is inside waits for the token to come again",
        rules: &["leaving-appends"],
        with: &[("rules", "basic")],
        shows: Shows::World(World::of(&[1, 1], Fails::Deadlock)),
        schedule: "req 0; req 1; 1>0:REQUEST; exit 0",
        result: "deadlock: 0 has left and holds the token, and 1's request is in its local queue",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-B2",
        what: "a site holds a request until the token comes (section 3.4), and may be asked when the \
               token has left it",
        rules: &["idle-site-forwards"],
        with: &[("rules", "basic")],
        shows: Shows::World(World::of(&[0, 1, 1], Fails::Deadlock)),
        schedule: "req 1; req 2; 1>0:REQUEST; 0>1:UPDATE; 0>1:TOKEN; 0>2:UPDATE; exit 1; 2>0:REQUEST",
        result: "deadlock: 2's request is at 0, which has no use for the token that 1 has",
        ..Defect::BLANK
    },
    Defect::told(
        "banta-B3",
        "the first draft ignores requests that reach a site without the token, and serves one of \
         those that reach the site that has it (admitted in section 3.4)",
        "deadlock by design, with --param rules=draft; the queue and the good site repair it",
    ),
    Defect {
        id: "banta-S1",
        what: "a holder that wants in asks its good site, itself, and from then on only files requests",
        rules: &["holder-enters"],
        with: &[("rules", "preliminary")],
        shows: Shows::World(World::of(&[1], Fails::Deadlock)),
        schedule: "req 0",
        result: "deadlock: 0 has the token and waits for it, and whoever asks 0 waits too",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-S2",
        what: "an update that was overtaken by a newer one is believed (section 4.3)",
        rules: &["epochs"],
        with: &[("rules", "preliminary")],
        shows: Shows::World(World::of(&[1, 1, 2], Fails::Deadlock)),
        schedule: STALE_POINTER,
        result: "deadlock: a request follows an old update back to its owner, which files it; the \
                 token idles elsewhere",
        ..Defect::BLANK
    },
    Defect::told(
        "banta-S3",
        "with the preliminary rules a request may run after the token for ever (admitted in \
         section 4.5.2)",
        "starvation by design, with --param rules=preliminary; numbers repair it",
    ),
    Defect::told(
        "banta-S4",
        "a holder that nobody follows keeps the good site it knew",
        "harmless once the holder enters at once and epochs are kept",
    ),
    Defect {
        id: "banta-N1",
        what: "the history records requests that were served (section 4.6), so one that is queued \
               is queued again by the next site with a copy",
        rules: &["queued-is-recorded"],
        shows: Shows::World(World::of(&[1, 1, 1], Fails::Uninvited)),
        schedule: "req 1; req 2; 1>0:REQUEST; 0>1:TOKEN; 2>0:REQUEST; req 0; 0>1:REQUEST#2; \
                   0>1:REQUEST; exit 1; 1>0:TOKEN; exit 0; 0>2:TOKEN; exit 2",
        result: "2 is queued twice and sends the token to itself: an uninvited entry",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-N2",
        what: "numbers do not help against an update that was overtaken (section 4.6)",
        rules: &["epochs"],
        shows: Shows::World(World::of(&[1, 1, 2], Fails::Deadlock)),
        schedule: STALE_POINTER,
        result: "the deadlock of banta-S2",
        ..Defect::BLANK
    },
    Defect {
        id: "banta-N3",
        what: "\"at most n-1 sites\" see a request: it is passed on even where it has been before, \
               and after it was queued",
        rules: &["seen-is-dropped"],
        shows: Shows::World(World::of(&[1, 2, 1], Fails::Messages)),
        schedule: "req 1; 1>0:REQUEST; req 2; 2>0:REQUEST; req 0; 0>1:TOKEN; 0>1:REQUEST#2; exit 1; \
                   0>1:REQUEST; req 1; 1>0:TOKEN; 1>0:REQUEST#2; exit 0; 1>0:REQUEST",
        result: "more messages, nothing worse: a copy runs after the token that its owner has \
                 already had",
        ..Defect::BLANK
    },
];

/// 0's UPDATE to 1 is slow; 1 hears of newer good sites and has the token itself before it arrives.
const STALE_POINTER: &str = "req 1; req 2; 2>0:REQUEST; 0>2:TOKEN; exit 2; 1>0:REQUEST; req 0; \
    0>2:REQUEST; 0>2:REQUEST; req 2; 2>0:UPDATE; 2>1:TOKEN; exit 1; 2>1:REQUEST; 0>1:UPDATE; \
    1>0:TOKEN; exit 0; 1>2:UPDATE; 2>1:REQUEST; 1>2:REQUEST";
