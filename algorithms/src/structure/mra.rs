//! MRA and MRA-P: Raymond's tree with one queue that travels with the token.
//!
//! S. Kanrar, N. Chaki, S. Chattopadhyay, "Concurrency Control in Distributed System Using Mutual
//! Exclusion", Springer 2018, chapter 3: the Modified Raymond's Algorithm (3.1, 3.2) and the same
//! with priorities.
//!
//! Raymond's sites know only which neighbour asked, so a subtree that asked late may be served
//! early. Here a request keeps its originator's name all the way to the holder, which writes it into
//! `RQ`. `RQ` travels with the token, so those in it are served in the order they got in:
//!
//! ```text
//!         1*            8, 11 and 6 ask, in this order
//!        / \
//!       2   3           Raymond:  8, 6, 11   (6 is near when 8 leaves)
//!      /   / \          MRA:      8, 11, 6
//!     5   6   8
//!     |
//!     11
//! ```
//!
//! Cost: at most `D` REQUESTs and `D` TOKENs per entry (`D` the tree's diameter); requests are not
//! merged on the way, so under load it costs more than Raymond.
//!
//! Kept from the book: the names `LDQ` and `RQ`, and what happens in the worked examples. The book's
//! `LDQ` holds whole paths; on a tree the neighbour a request came from says the same, so here it
//! holds that. In print the holder is left without a way to the one that is next; that machine is
//! [`printed`]. MRA-P's `PQ` repeats what `RQ` says and is left out.
//! Links must keep order: a request that overtakes the token would be forgotten.

mod defects;
mod invariants;
mod machine;
mod printed;

use crate::erased;
use crate::registry::{AlgorithmInfo, info};
use crate::structure::precedence::with_priorities;
use crate::structure::raymond::LIGHT;
use machine::Mra;
use printed::{NEXT_HOPS, PrintedMra};

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "mra", title: "Modified Raymond (MRA)", paper: kanrar!("sections 3.1 and 3.2"),
    cost: "2 x distance alone; no less under load",
    family Structure, graph Tree, order Fifo, links Patient, token Some("TOKEN"),
    more: { notes: &[REGISTERED, RETURN], defects: defects::MRA, forms: &[LIGHT] },
    explanation: EXPLANATION,
    // LDQ has an entry for everybody who waits behind this site: few on average, in a tree.
    state_bytes: |_| (size_of::<Mra>() + 8 * size_of::<machine::Waiting>()) as u64,
    machine: |_, print| erased::printed_or_repaired::<PrintedMra, Mra>(print, NEXT_HOPS),
};

pub(crate) static WITH_PRIORITIES: AlgorithmInfo = with_priorities! {
    INFO, name: "mra-p", title: "MRA with priorities (MRA-P)", paper: kanrar!("section 3.2"),
    aging: "off", defects: defects::MRA_P, explanation: EXPLANATION_WITH_PRIORITIES,
};

/// The note that tells the order of registration.
pub(crate) const REGISTERED: (&str, &str) = (
    "registered",
    "place of a request in the order in which the holder wrote requests down",
);

/// The note that tells how often the book asks for the token's return.
const RETURN: (&str, &str) = (
    "return",
    "requests left behind when the token goes; the book then asks for its return, here RQ remembers",
);

const EXPLANATION: &str = "\
The sites form a tree, and one token moves along its edges, as in Raymond's
algorithm. There a site asks once for everybody behind it, and the token serves
a site that is near; so a site that asked early may be passed by one that asked
late. MRA gives up the merging and keeps the order.

         1*            1 has the token
        / \\
       2   3           8, 11 and 6 ask, in this order:
      /   / \\
     5   6   8         at 1:  RQ = 8 11 6   (their order)
     |                        LDQ: 8 via 3, 11 via 2, 6 via 3   (the way)
     11

A REQUEST keeps the name of its originator and climbs towards the token, edge by
edge; each site on the way remembers in LDQ from which neighbour it came. The
holder writes the name into RQ, and RQ travels with the token. The first in RQ
is the next to enter: each site sends the token to the neighbour from which that
one's request came. What a site that gets the token knows and RQ does not know
is added at the end; a site that is in RQ and unknown here lies behind the
sender.

A request may cross the token on an edge. Then it comes from where the token now
is, and is ignored: the site that sent it adds it when the token arrives. For
this, links must keep order.

Why it is safe: there is one token. Why nobody starves: a request gets into RQ
or meets the token on its way, and RQ is first come, first served.

What it costs: a REQUEST and a TOKEN per edge between requester and holder, at
most twice the tree's diameter. Under load Raymond needs under 4 messages per
entry; MRA still pays for every way in full. That is the price of the order.";

const EXPLANATION_WITH_PRIORITIES: &str = "\
MRA, but the queue that travels with the token is sorted by priority; those of
equal priority are served in the order in which they got into it.

         1*            priorities: 8 has 2, 11 has 3, 6 has 2
        / \\
       2   3           8, 11 and 6 ask, in this order:
      /   / \\
     5   6   8         at 1:  RQ = 11(3) 8(2) 6(2)
     |
     11                entries: 11, 8, 6

Larger numbers are more urgent. The order is worked out again wherever the token
comes by: a site on its way may know of something more urgent, and then the
token turns there. Each such turn is towards something more urgent still, so
there are fewer turns than sites between two entries.

Why it is safe: there is one token. Whether everybody is served depends on
`aging`:

    off      as in the book: a site of low priority waits as long as more
             urgent ones keep asking, for ever if they never pause
    step     a request that is overtaken gains a point of priority; then at most
             max(0, Pmax - 1 - q) later requests overtake one of priority q
    slow(K)  a point for every K-th that overtakes: max(0, K(Pmax - q) - 1)

Only requests that are written down have an order: one that is still on its way
to the holder can be passed by any number of others.

What it costs: what MRA costs, a REQUEST and a TOKEN per edge between requester
and holder, at most twice the tree's diameter. Links must keep order.";
