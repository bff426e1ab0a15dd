//! Martin's ring, under its own name: the ring row with every node its own coordinator.

use super::forms;
use super::rows::ring::Ring;
use crate::registry::{AlgorithmInfo, info};

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "martin", title: "Martin's ring",
    paper: "A. J. Martin, \"Distributed mutual exclusion on a ring of processes\", Science of \
            Computer Programming 5, 1985",
    cost: "N-1 on average alone; 2 saturated",
    family Structure, graph Complete, order Any, links Patient, token Some("BECOME"),
    more: { notes: &[("moves", "the role went one place round the ring")], forms: forms::MARTIN },
    explanation: EXPLANATION,
    // Its own request alone.
    node Ring, further bytes: |_| size_of::<u32>() as u64,
};

const EXPLANATION: &str = "\
The nodes form a ring, by their numbers, and one role goes round it; the node
that has it may enter. It moves only when somebody wants it.

           role
      0 --BECOME--> 1 --BECOME--> 2 --BECOME--> 3 --> (0)
      0 <--SIGNAL-- 1 <--SIGNAL-- 2 <--SIGNAL-- 3
                                                 3 wants in

A node that wants in and does not have the role sends a SIGNAL against its
direction. A node that hears one and does not have the role passes the signal
on, unless it has signalled already: one signal stands for everybody ahead. A
node that has the role and hears a signal passes the role on, at once if its
client is outside, else when it leaves.

Why it is safe: there is one role. Why nobody starves: the role that was
signalled for goes on until it has passed everybody who signalled, and on its
way it stops once at each.

What it costs: a single request d places ahead of the role takes d signals and d
moves. When one node at a time, drawn uniformly, asks, that is N-1 on average.
When everybody always wants in the role goes round and round, and each entry
costs one move and one signal: 2. An exit and the next entry are one message
apart then. Nobody remembers more than a few bits.

It is the ring row of the migrating-controller framework, with every node its
own coordinator: controller --param queue=ring --param routing=static --param
migrate=each.";
