//! BMaV: votes, then who holds more.
//!
//! S. Kanrar, N. Chaki, S. Chattopadhyay, "Concurrency control in distributed system using mutual
//! exclusion", Springer 2018, section 5.1 (below-majority voting).
//!
//! Like [`nhme`](crate::voting::nhme), except that of those with more than tau votes the one that already
//! holds most instances of resources wins, and the older request where they hold the same. The
//! machine is [`votes`](crate::voting::votes), by the rule of holdings. Cost: `3(n-1)` alone, about `5(n-1)`
//! when everybody asks; links need not keep order.

use crate::params::{Param, Params};
use crate::registry::{AlgorithmInfo, info};
use crate::voting::votes::resources::Resources;
use crate::voting::votes::{self, FORMS, NOTES, PAPER};

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "bmav", title: "BMaV",
    paper: PAPER,
    cost: "3(N-1) alone, about 5(N-1) when everybody asks",
    family Voting, graph Complete, order Any, links Patient, token None,
    more: {
        params: &[
            votes::TAU,
            votes::REJECT,
            Param::text(
                "resources",
                "",
                "who holds what while it waits: R1:2=0,3;R2:3=0,3,5 is R1's two instances with 0 and 3",
            )
            .such_as(&["R1:1=0", "R1:1=0;R2:2=0,1", "R1:2=0,2;R2:1=1"]),
            Param::integer(
                "ageing",
                0..=1_000_000,
                0,
                "overtaken by so many younger requests, one goes by its age alone; 0: N of them",
            ),
        ],
        refuses,
        notes: NOTES,
        small_world: "--wants 1,1,0",
        defects: votes::defects::BMAV,
        forms: FORMS,
        uses_bound: true,
    },
    explanation: EXPLANATION,
    state_bytes: votes::state_bytes,
    machine: votes::machine,
};

const EXPLANATION: &str = "\
Every process has one vote, and a candidate enters with the votes of a majority.
If nobody has one, those with more than tau votes go on to a second phase, and
there the one wins that already holds most instances of other resources: the
sooner it is done, the sooner they are free. Equals go by time stamp.

    resources=R1:2=0,3;R2:3=0,3,5     0 and 3 hold two instances each, 5 one
    votes     0: two   3: two   5: two     of six; a majority would be four
    phase 2   0 and 3 hold most; 3 asked first: 3 is elected

    phase 1   REQ to all; a free vote answers VOTE, a taken one NO
    phase 2   the elected --P2REQ--> every rival, which answers P2V: its votes

A candidate counts the votes it was told of, its own and those in the NOs, and
becomes active if it finds itself elected. If nobody wins, a passive one becomes
active after 4T; then the one that holds more keeps its votes. T is the bound on
a message's delay; if it is wrong that costs messages, and nothing else.

A vote is a token, in one place at a time, and only a majority of them lets a
candidate in, in either phase. As the book prints it no message carries votes,
counts or holdings, a winner of phase 2 has no majority, and two are inside
within six steps; in a partition every block elects its own winner.

Who holds little would starve where others hold much. So a request that has been
overtaken by N younger ones (aging) goes by its age alone, before all that have
not. Votes that come home go to the oldest request whatever it holds.

Why it is safe: two inside would have more votes than there are. Why nobody
starves: once it has aged nobody outranks the oldest request. In a partition the
block with a majority of votes goes on, others wait until it heals.

Holdings decide who goes first, nothing else: they are not taken or given back,
and a majority enters whatever it holds.

What it costs: REQ, VOTE, REL to and from all the others, 3(N-1); under load a
NO or a second VOTE each and a few P2REQ and P2V: about 5(N-1).";

fn refuses(params: &Params, nodes: u32) -> Option<String> {
    Resources::read(params.word("resources"), nodes).err()
}
