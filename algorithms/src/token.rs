//! A node enters with the token, which goes to anybody who asks for it.

use crate::contract::{NodeId, Outbox};
use crate::printed::{Defect, Fails, Shows, World};

/// A chapter of the thesis that Banta's algorithms come from.
macro_rules! thesis {
    ($chapter:literal) => {
        concat!(
            "P. Banta, \"Distributed mutual exclusion algorithms\", M.S. thesis, University of ",
            "Nevada, Las Vegas, 1993, ",
            $chapter
        )
    };
}

pub(crate) mod banta_efficient;
pub(crate) mod banta_k;
pub(crate) mod banta_simple;
pub(crate) mod naimi_trehel;
pub(crate) mod naimi_trehel_queue;
pub(crate) mod ricart_agrawala_token;
pub(crate) mod singhal_heuristic;
pub(crate) mod suzuki_kasami;

/// Takes a token that arrives at a node which waits for it, and enters. Any other is a protocol error.
fn take_token<T, M>(
    token: T,
    from: NodeId,
    (place, requesting): (&mut Option<T>, bool),
    fits: impl Fn(&T) -> bool,
    out: &mut Outbox<M>,
) {
    if !fits(&token) {
        out.protocol_error(format!("{from} sent a token of another group"));
    } else if !requesting || place.is_some() {
        out.protocol_error(format!("a token from {from} that nobody waits for"));
    } else {
        *place = Some(token);
        out.enter();
    }
}

/// A text that leaves out what an idle holder does with a request: without a rule for it, one request is
/// enough for a deadlock.
const fn idle_holder(id: &'static str, what: &'static str, result: &'static str) -> Defect {
    Defect {
        id,
        what,
        rules: &["idle-holder-sends"],
        shows: Shows::World(World::of(&[0, 1], Fails::Deadlock)),
        schedule: "req 1; 1>0:REQUEST",
        result,
        ..Defect::BLANK
    }
}
