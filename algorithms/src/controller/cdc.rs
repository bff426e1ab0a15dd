//! CDC: centralised queue, dynamic routing, counter-based migration (section 4.1 of the paper).

use super::framework::derived;
use super::rows::centralised::Centralised;
use super::{defects, forms};
use crate::registry::AlgorithmInfo;

pub(crate) static INFO: AlgorithmInfo = derived! {
    name: "cdc", title: "CDC: a queue that moves with its controller", section: "4.1",
    cost: "3(N-1)/N + (N-1)/max_req alone",
    row Centralised, defects: defects::CDC, forms: forms::CDC, explanation: EXPLANATION,
};

const EXPLANATION: &str = "\
One node is controller. It knows who is inside and keeps everybody else in a
queue, first come first served, as a coordinator does. But it does not stay
controller: after max_req entries the role moves, queue and all, to the second
in the queue, and everybody is told.

    1            0 (controller)          2                   3
    |-- REQUEST ---->|                   |                   |
    |<--- GRANT -----|<----- REQUEST ----|                   |
    |  (inside)      |<---------------------- REQUEST -------|
    |---- EXIT ----->|  max_req reached: the role goes to 3
    |                |------------ BECOME, queue 2 3 ------->|  (controller)
    |<--- INFORM ----|------ INFORM ---->|<---- GRANT -------|
    |                |                   |  (inside)         |

Each tenure has a number, its epoch. A node points at the controller of the
newest epoch it has heard of. A request that arrives where the role no longer is
follows the pointer there, which is always newer, so it cannot run in a circle.
One that arrives before the role does is kept until it comes. One that was
passed on hop_limit times, because the role is always gone when it arrives, is
told to everybody: the node that is or becomes controller has it then.

Why it is safe: there is one role, it grants one entry at a time, and it moves
only between two. Why nobody starves: every request reaches the controller in
the end, the queue is first come, first served, and it travels with the role.

What it costs: REQUEST, GRANT and EXIT, unless the controller's own client asks;
another hop for a request that missed the role; and N-1 messages for every move,
that is (N-1)/max_req per entry. A larger max_req makes it cheaper and the work
less evenly shared; with no moves at all it is a coordinator.

What the printed text lacks is much: the queue does not travel, a controller
wakes itself up by messages that may come twice, and late news of an old
controller replaces newer. It lets two in, or stops.";
