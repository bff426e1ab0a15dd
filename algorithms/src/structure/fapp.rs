//! FAPP: Raymond's tree with priorities that age.
//!
//! S. Kanrar, N. Chaki, S. Chattopadhyay, "Concurrency Control in Distributed System Using Mutual
//! Exclusion", Springer 2018, section 3.3: the Fairness Algorithm for Priority Processes.
//!
//! As in Raymond's algorithm a site knows only its neighbours. Its list `PL` has one entry for each
//! neighbour (or itself) that wants the token, with the best priority wanted there, and it tells the
//! holder's side only when its own best rises. The token carries the best priority that is left
//! behind, so that the sender need not ask again:
//!
//! ```text
//!     P3 <6,5> <7,5> <8,3>          6 and 7 want it with 5, 8 wants it with 3
//!     P3 --TOKEN(5)--> P6           6 is next; 5 is left behind
//!     P3 <7,5> <8,3>   P6 <3,5>     and 6 knows that 3 wants it back
//! ```
//!
//! A site that is overtaken gains a point of priority: when something more urgent is filed (A1 for
//! a neighbour's request, A2 for one's own), and when the token comes back and wants to leave again
//! (A3). The last is not in the book, and without it somebody may starve: under load renewed demand
//! comes back with the token and never as a request.
//!
//! Cost: at most `D` REQUESTs and `D` TOKENs per entry, fewer under load. Where all priorities are
//! equal nothing ages, and the order of entries is Raymond's.
//! Kept from the book: the names, and Table 3.4 (its misprints aside). The dummy request that
//! follows the token in the book rides on it, and is noted as `dummy`: `messages + note.dummy.count`
//! counts as the book does.
//! Links must keep order: a request that overtakes the token would be forgotten.

mod defects;
mod machine;

use crate::registry::{AlgorithmInfo, info};
use crate::structure::precedence;
use crate::structure::raymond::LIGHT;
use machine::Fapp;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "fapp", title: "Fairness for priorities (FAPP)", paper: kanrar!("section 3.3"),
    cost: "2 x distance alone; less under load",
    family Structure, graph Tree, order Fifo, links Patient, token Some("TOKEN"),
    more: {
        params: &[precedence::aging("step")],
        refuses: precedence::refuses,
        notes: &[DUMMY],
        defects: defects::ALL,
        forms: &[LIGHT],
    },
    explanation: EXPLANATION,
    // PL has at most one's neighbours and oneself: four on average, in a tree.
    node Fapp, further bytes: |_| (4 * size_of::<machine::Place>()) as u64,
};

/// The note that tells dummies apart from the tokens they ride on.
pub(crate) const DUMMY: (&str, &str) = (
    "dummy",
    "priority of a dummy request that rides on the token; the book sends it apart",
);

const EXPLANATION: &str = "\
The sites form a tree, and one token moves along its edges. As in Raymond's
algorithm a site knows only its neighbours; here it also knows how urgently each
of them wants the token.

    PL at 3:   <6,5> <7,5> <8,3>     neighbour and priority, the next first

A site files who asks it, and tells the neighbour towards the token only if its
best priority has risen; so a request for many goes up once. When the token
comes, it goes to the first in PL, and with it goes the best priority that is
left behind: the receiver files the sender with it and knows that the token is
wanted back.

What a low priority gets for waiting (`aging`): when something more urgent is
filed, whatever waits below it gains a point, everywhere on the way. When the
token comes back and wants to leave again, whatever waited here when it left
gains a point too. Without that second rule, which the book lacks, two urgent
neighbours could hand the token to and fro for ever.

    step     a point each time       slow(K)  a point every K-th time
    off      none: the urgent always go first, and others may starve

A request that crosses the token on an edge comes from where the token now is,
and is ignored: its sender files it itself. For this, links must keep order.

Why it is safe: there is one token. Why nobody starves: whatever waits rises
until it is among the most urgent, and of equals the first in the list is next.
It is not first come, first served among equals: a neighbour has one entry,
however many wait behind it. Where all are equal the order is Raymond's.

What it costs: at most twice the tree's diameter; under load less, as a request
stands for everybody behind it and the way back rides on the token.";
