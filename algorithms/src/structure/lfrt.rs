//! LFRT and LFRT-P: a token on a directed graph whose links may fail.
//!
//! S. Kanrar, N. Chaki, S. Chattopadhyay, "Concurrency Control in Distributed System Using Mutual
//! Exclusion", Springer 2018, chapter 4: the Link-Failure Resilient Token based algorithm (4.1) and
//! the same with priorities (4.2).
//!
//! A request floods along the directed edges; each node remembers in `LRQ` whom it first heard it
//! from. The holder writes the originator into `ORQ`, which travels with the token, and the token
//! goes back the way the request came. Every edge it crosses is set to point after it, so that every
//! node keeps a directed path to the holder:
//!
//! ```text
//!     4 --> 6 --> 5*       4's request floods to 3 and 6, and over 6 and 2 to 5
//!     |     |     ^        LRQ at 5: <4,6>; the token goes 5 -> 6 -> 4
//!     v     v     |
//!     3 <-- 2     1
//! ```
//!
//! The book promises this and does something else; that machine is [`printed`]. Kept are
//! the flood, `LRQ`, `ORQ`, the way back and the edges that turn. Requests and the token are
//! numbered, so that a slow copy of either is recognised; the bounces, their counters and the dummy
//! requests are gone.
//!
//! Links have sessions ([`failures`]): when one ends, what was on it is lost and both ends are told.
//! Then requests that relied on it go *wide*, over every link in both directions; a token that was
//! on it is sent again, the same hop to the same addressee, over all other links; and a holder whose
//! next hop is dead looks for another way.
//!
//! Cost: at most `|E|` REQUESTs and `N-1` TOKENs per entry as long as no link fails. Links need not
//! keep order.

mod defects;
mod failures;
mod invariants;
mod machine;
mod message;
mod printed;

use crate::erased;
use crate::registry::{AlgorithmInfo, info};
use crate::structure::fapp::DUMMY;
use crate::structure::mra::REGISTERED;
use crate::structure::precedence::with_priorities;
use machine::Lfrt;
use printed::{PrintedLfrt, ROUTED_BY_ORQ};

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "lfrt", title: "Link-failure resilient (LFRT)",
    paper: kanrar!("section 4.1"),
    cost: "at most E + N-1, E the number of edges",
    family Structure, graph Digraph, order Any, links Sessions, token Some("TOKEN"),
    more: {
        notes: &[
            REGISTERED,
            (
                "widened",
                "requests that went over all links, for a dead one",
            ),
            (
                "parked",
                "requesters that were passed over because no way to them was found",
            ),
            DUMMY,
        ],
        defects: defects::LFRT,
        uses_bound: true,
    },
    explanation: EXPLANATION,
    // LRQ and the numbers served may have an entry for everybody.
    state_bytes: |nodes| size_of::<Lfrt>() as u64 + 64 * nodes,
    machine: |_, print| erased::printed_or_repaired::<PrintedLfrt, Lfrt>(print, ROUTED_BY_ORQ),
};

pub(crate) static WITH_PRIORITIES: AlgorithmInfo = with_priorities! {
    INFO, name: "lfrt-p", title: "LFRT with priorities (LFRT-P)", paper: kanrar!("section 4.2"),
    aging: "step", defects: defects::LFRT_P, explanation: EXPLANATION_WITH_PRIORITIES,
};

const EXPLANATION: &str = "\
The nodes form a directed graph in which everybody has a path to the token. A
request floods along the edges until it meets the token; the token goes back the
way the request came, and every edge it crosses turns to point after it, so that
everybody keeps a path to it.

    4 --> 6 --> 5*       4 wants in: its request reaches 3 and 6, then 2 and 5
    |     |     ^
    v     v     |        5 writes 4 into ORQ and knows: it came from 6
    3 <-- 2     1        5 --TOKEN--> 6 --TOKEN--> 4

Each node remembers in LRQ, for everybody who asked, whom it heard it from first
and passes the request on once. The token carries ORQ, those who wait in the
order they were written down, and the number of everybody's last request that
was served; so a copy that arrives late is known to be old.

Links may fail: one that has been silent for a second (--silence) is given up.
Then both ends are told, and what was under way on it is lost.

  - A request that relied on the link goes wide: over all links, both ways.
  - A token that was on it is not taken back. The same hop, to the same node, is
    sent over all other links (RELAY); each hop is accepted once, whichever way
    it comes, so there is never a second token.
  - A holder whose next hop is dead asks for another way to the one who is next
    (FIND, FOUND), and the way travels in the token.
  - Who cannot be found is passed over until a link comes back.

Why it is safe: there is one token, and each of its hops has a number. Why
nobody starves: a request meets the token or is known wherever the token comes
by, and ORQ is first come, first served. As long as the graph stays connected
every request is served; in a partition, those on the token's side.

What it costs: a REQUEST per edge at most, and a TOKEN per node on the way back.
Each failure costs a few floods.";

const EXPLANATION_WITH_PRIORITIES: &str = "\
LFRT, but the queue that travels with the token is sorted by priority, and those
who are overtaken gain a point.

    priorities: A 1, D 3, F 2          ORQ at the holder
    D asks                             D3
    A asks                             D3 A1
    F asks, more urgent than A         D3 A2 F2     A gained a point

Larger numbers are more urgent; of equals, the one written down first goes
first. What those who are overtaken gain (`aging`):

    step     a point each time: then at most max(0, Pmax - 1 - q) later requests
             overtake one of priority q
    slow(K)  a point every K-th time: at most max(0, K(Pmax - q) - 1)
    off      nothing: the urgent always go first, and others may starve

Everything else is as in LFRT: a request floods along the directed edges until
it meets the token, the token goes back the way it came, and every edge it
crosses turns. When a link fails, requests that relied on it go over all links,
a token that was on it is sent again by other ways, each hop accepted once, and
a holder whose next hop is dead looks for another.

The book passes a request on only where it becomes the most urgent; that loses
requests. Here every request is passed on once.

Why it is safe: there is one token, and each of its hops has a number. Why
nobody starves: a request meets the token, and in its queue it rises until it is
among the most urgent.

What it costs: what LFRT costs, a REQUEST per edge at most and a TOKEN per node
on the way back.";
