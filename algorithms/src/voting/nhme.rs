//! NHME-AMC: votes, then time stamps.
//!
//! S. Kanrar, N. Chaki, S. Chattopadhyay, "Concurrency control in distributed system using mutual
//! exclusion", Springer 2018, section 5.2 (a new hybrid mutual exclusion algorithm in the absence of
//! majority consensus).
//!
//! A candidate without a majority of votes goes on if it has more than tau of them; between those
//! that go on the oldest request wins. The machine is [`votes`](crate::voting::votes), by the rule of time
//! stamps. Cost: `3(n-1)` alone, about `5(n-1)` when everybody asks; links need not keep order.

use crate::params::{Param, Params};
use crate::registry::{AlgorithmInfo, More};
use crate::voting::weights::{self, weights};
use crate::voting::{bmav, votes};

pub(crate) static INFO: AlgorithmInfo = AlgorithmInfo {
    name: "nhme",
    title: "NHME-AMC",
    explanation: EXPLANATION,
    more: More {
        params: &[
            votes::TAU,
            votes::REJECT,
            Param::choice(
                "queue",
                &["stamp", "arrival"],
                "phase 1, repaired: whom a voter votes for, the oldest request, or as Thomas does who \
                 asked it first",
            ),
            weights::PARAM,
            Param::choice(
                "priority",
                &["off", "on"],
                "phase 2, repaired: the more urgent request wins, and the older of equals",
            ),
            Param::integer(
                "ageing",
                0..=1_000_000,
                0,
                "with priority=on: overtaken by so many younger requests, one goes by its age alone; \
                 0: N of them",
            ),
        ],
        refuses,
        defects: votes::defects::NHME,
        ..bmav::INFO.more
    },
    ..bmav::INFO
};

fn refuses(params: &Params, nodes: u32) -> Option<String> {
    if params.word("priority") == "off" && params.integer("ageing") > 0 {
        return Some("ageing says how priorities age; add priority=on".to_owned());
    }
    weights(params.word("votes"), nodes).err()
}

const EXPLANATION: &str = "\
Every process has one vote. Who wants in asks everybody for theirs, and enters
with the votes of a majority. What if nobody has one?

    0, 1, 2 ask at once; each has its own vote and nobody has two of three

Plain majority voting is stuck here. This algorithm has a second phase, between
the candidates with more than tau votes: the oldest request is to win.

    phase 1   REQ to all; a free vote answers VOTE, a taken one NO
    phase 2   an active candidate --P2REQ--> every rival it knows of
              a younger or passive rival --P2V, all its votes--> it

A vote is a token, in one place at a time: at home, lent, handed over, or on its
way home. Only a majority of them lets a candidate in, in either phase. As the
book prints it P2V carries nothing, a winner of phase 2 has no majority, and two
are inside after six steps; in a partition every block elects its own winner.

A candidate with tau votes or fewer is passive. If nobody wins, after 4T it
lowers its tau by one and looks again; tau=0 is the fastest. T is the bound on
a message's delay; if it is wrong that costs messages, and nothing else.

Phase 1 may be another voting: each voter's first come first (queue=arrival), or
some with more votes than others (votes=3,1,1). With priority=on the more urgent
request wins phase 2; aging lets one that N younger ones overtook go before all.

Requests stay with the voters until the RELEASE, so a loser need not ask again.
A vote that comes home goes to the oldest of them. Each loan has a serial number
and the vote comes home by that, whichever node brings it. VOTE and P2V also
tell which requests are finished, or votes could circle among those that do not
know.

Why it is safe: two inside would have more votes than there are. Why nobody
starves: nobody outranks the oldest request, so votes only move towards it.
In a partition the block with a majority of votes goes on, others wait until it
heals; if a candidate was cut off with many votes, so may everybody.

Each entry has a fence, one more than any its voters knew: it rises from entry
to entry, so a resource could refuse a node that comes with an old one.

What it costs: REQ, VOTE, REL to and from all the others, 3(N-1); under load a
NO or a second VOTE each and a few P2REQ and P2V: about 5(N-1).";
