//! What the rest of the workspace needs to know about it.

use super::defects::DEFECTS;
use super::drain::Drain;
use super::pipeline::Pipeline;
use crate::erased::Of;
use crate::params::{Param, Params};
use crate::registry::{AlgorithmInfo, Circumstances, info};
use crate::token::banta_efficient::{forms, wait};

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "banta-k", title: "Banta, k inside", paper: thesis!("chapter 6"),
    cost: "2+(N-2)/m messages in cycles of m entries, 0 for an idle holder",
    family Token, graph Complete, order Any, links Patient, token Some("TOKEN"),
    more: {
        params: &[
            Param::integer("k", 1..=10_000, 2, "how many may be inside at once"),
            Param::choice(
                "mode",
                &["drain", "pipeline"],
                "drain: the good site enters alone, as designed and always as printed; pipeline: free \
                 slots are used",
            ),
            wait::PARAM,
        ],
        refuses: wait::refuses,
        admits: k,
        notes: forms::NOTES,
        defects: DEFECTS,
        forms: &forms::in_cycles!(
            "(1-z)(2+(N-2)/m) - s + f", each: 2.0, where drains, "drain; ",
            printed "N/m + 2", "the thesis's Theorem 6.1",
        ),
        uses_bound: true,
    },
    explanation: EXPLANATION,
    // The queues hold at most everybody once, all together.
    state_bytes: |_| (size_of::<Drain>().max(size_of::<Pipeline>()) + 2 * size_of::<u32>()) as u64,
    machine: |params, printed| match params.word("mode") {
        // The print is about the design; what repairs the design has no defects of its own.
        "pipeline" if printed.is_repaired() => &Of::<Pipeline>::MACHINE,
        _ => &Of::<Drain>::MACHINE,
    },
};

/// How many may be inside.
pub(super) fn k(params: &Params) -> u32 {
    u32::try_from(params.integer("k")).unwrap_or(u32::MAX)
}

fn drains(run: &Circumstances<'_>) -> bool {
    run.params.word("mode") == "drain"
}

const EXPLANATION: &str = "\
Up to k sites may be inside at once. There is one token with a queue, a good
site on it whom everybody asks, cycles, and a wait of 2T for late requests, as
in banta-efficient. But the token does not stay while somebody is inside: it
also carries a semaphore, the number of free slots, and is passed on at once.

    TOKEN 2 [1 2 3 4*]     two slots are free, 4 is the good site

    1 takes a slot, enters, and sends TOKEN 1 [2 3 4*]
    2 takes a slot, enters, and sends TOKEN 0 [3 4*]
    3 finds none: it sends TOKEN 0 [4*] and waits for a RELEASE
    4 is the good site: it keeps the token and collects the slots that are out

A site that leaves sends its slot, as a RELEASE, to the k-th site behind it on
the queue, or to the good site if that is nearer. So the sites before the good
one form k chains, and a slot walks along each:

    1 leaves -- RELEASE --> 3 enters
    2 leaves -- RELEASE --> 4
    3 leaves -- RELEASE --> 4 has both slots and enters, alone

mode=drain is that, as designed: while the good site is inside nobody else is,
and with few requests it behaves as if k were 1. With mode=pipeline the good
site takes one slot like anybody and begins the next cycle while it is inside;
slots that are out then come home to it later and go on to the first of the new
queue.

Why it is safe: a slot is in one place, and there are k. Why nobody starves: as
in banta-efficient, and each waiting site is owed exactly one slot.

What it costs: a cycle of m entries takes m REQUESTs, N-1-m UPDATEs, m TOKENs
and m-1 RELEASEs: 2 + (N-2)/m per entry. A pipeline sends up to k RELEASEs more
in each cycle, and keeps more sites inside.";
