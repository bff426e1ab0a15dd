//! DDC: distributed queue, dynamic routing, counter-based migration (section 4.2 of the paper).

use super::framework::derived;
use super::rows::distributed::Distributed;
use super::{defects, forms};
use crate::registry::AlgorithmInfo;

pub(crate) static INFO: AlgorithmInfo = derived! {
    name: "ddc", title: "DDC: a queue spread over those who wait", section: "4.2",
    cost: "3(N-1)/N + (N-1)/max_req alone; 4 + (N-1)/max_req saturated",
    row Distributed, defects: defects::DDC, forms: forms::DDC, explanation: EXPLANATION,
};

const EXPLANATION: &str = "\
One node is controller, and after max_req entries the role moves, as in CDC. But
the queue stays with those who wait: each knows only who is behind it, and the
controller knows only the two ends.

    1 (inside)   2            0 (controller)            3
    |            |-- REQUEST --->|  first = last = 2     |
    |            |               |<------ REQUEST -------|
    |            |<-- NEXT 3 ----|  last = 3             |
    |----------- EXIT - -------->|                       |
    |            |<-- GRANT -----|  more are behind 2    |
    |            |--- EXIT 3 --->|                       |
    |            |               |------- GRANT -------->|  nobody is behind 3

A request that finds a tail is linked behind it: the controller tells the tail
(NEXT). A node that leaves tells the controller who is next. The role can move
at any exit, because all it takes along is the two ends.

A link and a grant to the same node may come from two different controllers, so
the node that is inside may want to leave before it has learned who is next. A
grant therefore says whether somebody is, or will be, linked behind; if so, and
the link has not come, the EXIT waits for it, and so does the node's next
request.

Requests find the controller as in CDC: by pointers that only become newer, kept
where the role is about to come, told to everybody after hop_limit hops.

Why it is safe: there is one role, it grants one entry at a time, and it moves
only between two. Why nobody starves: every request is linked behind the one
before it, and no exit forgets the link.

What it costs: what CDC costs, and a NEXT for every request that finds somebody
waiting: 4 messages under load instead of 3. The target of a move is the last in
the queue, who waits a whole round before its own entry is local.

What the printed text lacks: the first request ever is never granted, and once
it is, links get lost or two get in.";
