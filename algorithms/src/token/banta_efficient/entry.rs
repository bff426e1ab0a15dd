//! What the rest of the workspace needs to know about it.

use super::defects::DEFECTS;
use super::{BantaEfficient, forms, wait};
use crate::params::Param;
use crate::registry::{AlgorithmInfo, Circumstances, info};

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "banta-efficient", title: "Banta, efficient", paper: thesis!("chapter 5"),
    cost: "1+(N-1)/m messages in cycles of m entries, 0 for an idle holder",
    family Token, graph Complete, order Any, links Patient, token Some("TOKEN"),
    more: {
        params: &[
            wait::PARAM,
            Param::choice(
                "late",
                &["behind", "before"],
                "where a request that comes during the wait joins the queue: behind the good site, as in \
                 the thesis, or before it, which section 5.8 weighs against it",
            ),
        ],
        refuses: wait::refuses,
        notes: forms::NOTES,
        defects: DEFECTS,
        forms: &forms::in_cycles!(
            "(1-z)(1+(N-1)/m) - s + f", each: 1.0, where late_ones_come_behind, "",
            printed "N/m + 1", "the thesis's Theorem 5.1",
        ),
        uses_bound: true,
    },
    explanation: EXPLANATION,
    // The two queues hold at most everybody once, all together.
    node BantaEfficient, further bytes: |_| (2 * size_of::<u32>()) as u64,
};

/// Only then is every request on the queue when some cycle begins.
fn late_ones_come_behind(run: &Circumstances<'_>) -> bool {
    run.params.word("late") == "behind"
}

const EXPLANATION: &str = "\
There is one token; the site that has it may enter. It carries a queue of the
sites that will get it, and one of them is marked: the good site, whom everybody
asks.

    token queue [2 4 3*]           0, 1 and 5 know: ask 3

The token goes from site to site. The good site files what reaches it; when it
has had the token and leaves, it begins the next cycle:

    1. what it filed joins the queue; the last of it is the new good site
    2. the sites that are not on the queue are told, by an UPDATE
    3. it waits for twice the bound T on a message's delay
    4. it sends the token to the first

A site that does not yet know of the new good site still asks the old one. The
UPDATE reaches it within T and its request comes within another T, so after 2T
no such request is under way. Those that came meanwhile joined the queue behind
the mark and are served in the next cycle (late=before: before it, in this one).

If T is broken, or the wait is set shorter, a request may come when the token
has left. It is then passed on to the good site of a newer cycle; each cycle has
a number, so an old UPDATE that arrives late is recognised. So T decides what it
costs, never whether it is right. (The thesis files such a request for ever.)

Why it is safe: there is one token. Why nobody starves: a request is queued at
the good site, or passed on to newer ones until it is.

What it costs: a cycle of m entries takes m REQUESTs, N-1-m UPDATEs and m
TOKENs, 1 + (N-1)/m per entry: N alone, 2 when everybody waits; and 0 for a
holder that nobody else wants in. The wait costs time: 2T in each cycle.";
