//! Raymond's algorithm for k inside: Ricart and Agrawala's, content with fewer answers.
//!
//! K. Raymond, "A distributed algorithm for multiple entries to a critical section", Information
//! Processing Letters 30(4), 1989.
//!
//! A node that wants in asks all others and enters as soon as `n-k` of them have answered: at most
//! `k-1` can then be inside or ahead of it. One that is inside, or has an older request, answers
//! when it leaves. Up to `k-1` answers are still owed when a node enters, so answers are counted,
//! not ticked off: an old one may arrive while the next request is open.
//!
//! ```text
//!     n = 4, k = 2:   3 asks 0, 1, 2      0 is inside: it will answer later
//!                     1 and 2 answer      n-k = 2 answers: 3 enters beside 0
//! ```
//!
//! Cost: `2(n-1)` messages alone; never fewer than `2n-k-1`, for one REPLY may answer several
//! requests of the same node. Links need not keep order.
//! Kept from the paper: the logical clock, the number of answers outstanding and deferred per node.

use serde::Serialize;

use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, declared, ignores, invariants, messages, node,
};
use crate::params::{Param, Params};
use crate::registry::{AlgorithmInfo, Circumstances, ClosedForm, FormKind, info};
use crate::view::View;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "raymond-k", title: "Raymond, k inside",
    paper: "K. Raymond, \"A distributed algorithm for multiple entries to a critical section\", \
            Information Processing Letters 30(4), 1989",
    cost: "2N-k-1 to 2(N-1) messages per entry",
    family Permission, graph Complete, order Any, links Patient, token None,
    more: {
        params: &[Param::integer(
            "k",
            1..=u32::MAX as u64,
            2,
            "how many may be inside at once",
        )],
        admits: k,
        forms: &[
            ClosedForm::messages(FormKind::Exact, "2(N-1)", "one request at a time", alone),
            ClosedForm::messages(FormKind::AtMost, "2(N-1)", "whole requests", most),
            ClosedForm::messages(FormKind::AtLeast, "2N-k-1", "whole requests", least),
        ],
    },
    explanation: EXPLANATION,
    node RaymondK, further bytes: |nodes| 16 * nodes,
};

const EXPLANATION: &str = "\
Up to k nodes may be inside at once. There is no token: who wants in asks all
the others for permission, and enters when enough of them have answered.

    n = 4, k = 2         3 wants in: REQUEST (time 7) to 0, 1 and 2

      0 is inside                       it answers when it leaves
      1 wants nothing                   REPLY
      2 wants in too, since time 9      REPLY, for 3 is older

    3 has N-k = 2 answers and enters beside 0

Requests carry the time of a logical clock, which runs ahead of every time it
hears of; of two requests the one with the smaller time is older, and of equal
times that of the lower number. A node answers at once unless it is inside or
its own request is older; then it answers when it leaves.

A node that enters may still be owed up to k-1 answers, and some of those may
arrive when it already asks again. So nobody ticks off names: for each other
node it counts how many answers are outstanding, over all its requests, and only
where that is zero has its newest request been answered. One REPLY may answer
several requests of the same node and says how many.

Why it is safe: the newest of k+1 that were inside together would have been
answered by one of the others, which were inside or older and do not answer. Why
nobody starves: the oldest request is answered by everybody outside.

What it costs: N-1 REQUESTs, and at least N-k REPLYs before the entry, at most
N-1 in all: between 2N-k-1 and 2(N-1). With k = 1 it is Ricart and Agrawala's
algorithm. Links need not keep order.";

fn k(params: &Params) -> u32 {
    u32::try_from(params.integer("k")).unwrap_or(u32::MAX)
}

/// Whether all answers to the requests of the window are in it, and no others: who may be inside beside
/// others does not wait for all of them, so that some come after its exit.
fn has_all_answers(run: &Circumstances<'_>) -> bool {
    !run.cut || k(run.params) == 1
}

fn alone(run: &Circumstances<'_>) -> Option<f64> {
    let fits = run.is_alone() && has_all_answers(run);
    fits.then(|| 2.0 * f64::from(run.nodes - 1))
}

fn most(run: &Circumstances<'_>) -> Option<f64> {
    let fits = run.is_whole() && has_all_answers(run);
    fits.then(|| 2.0 * f64::from(run.nodes - 1))
}

fn least(run: &Circumstances<'_>) -> Option<f64> {
    let fits = run.is_whole() && has_all_answers(run);
    let before_entry = run.nodes.saturating_sub(k(run.params));
    fits.then(|| f64::from(run.nodes - 1 + before_entry))
}

messages! {
    /// What nodes say to each other.
    pub(crate) enum Message {
        /// The sender wants in, since that time.
        Request { time: u64 } = "REQUEST",
        /// The sender has nothing against so many requests of the addressee.
        Reply { count: u64 } = "REPLY",
    }
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
enum State {
    Outside,
    /// It asked at that time.
    Requesting(u64),
    Inside,
}

node! {
    /// What one node knows.
    pub(crate) struct RaymondK of setup with me {
        k: usize = k(&setup.setting.params) as usize,
        clock: u64 = 0,
        state: State = State::Outside,
        /// How many answers each node owes us, over all our requests.
        outstanding: Vec<u64> = vec![0; setup.nodes() as usize],
        /// How many answers we owe each node.
        deferred: Vec<u64> = vec![0; setup.nodes() as usize],
    }
}

impl Algorithm for RaymondK {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.clock = self.clock.saturating_add(1);
        let time = self.clock;
        self.state = State::Requesting(time);
        for other in self.others() {
            self.outstanding[other.index()] += 1;
            out.send_for(self.me, other, Message::Request { time });
        }
        self.enter_if_enough(out);
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.state = State::Outside;
        for other in self.others() {
            match std::mem::take(&mut self.deferred[other.index()]) {
                0 => {}
                count => out.send_for(other, other, Message::Reply { count }),
            }
        }
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request { time } => {
                self.clock = self.clock.max(time);
                if self.comes_before(time, from) {
                    self.deferred[from.index()] += 1;
                } else {
                    out.send_for(from, from, Message::Reply { count: 1 });
                }
            }
            Message::Reply { count } if !self.is_owed(from, count) => {
                out.protocol_error(format!("{from} answered {count} requests, more than made"));
            }
            Message::Reply { count } => {
                self.outstanding[from.index()] -= count;
                self.enter_if_enough(out);
            }
        }
    }

    ignores! {
        timer,
        peer: "the paper tolerates up to k-1 silent nodes by itself; no more is done here",
        link,
    }

    fn draw(&self, view: &mut View) {
        let owing = |counts: &[u64]| {
            let nodes = (0..).map(NodeId).zip(counts.to_vec());
            nodes.filter_map(|(node, count)| (count > 0).then_some(node))
        };
        view.set("replies missing", owing(&self.outstanding));
        view.set("deferred", owing(&self.deferred));
    }

    invariants! {
        "every outstanding answer is owed or under way": answers_are_owed,
    }
}

impl RaymondK {
    /// Enters once all but k-1 of the others have answered the open request.
    fn enter_if_enough(&mut self, out: &mut Outbox<Message>) {
        let State::Requesting(_) = self.state else {
            return;
        };
        let answered = |other: &NodeId| self.outstanding[other.index()] == 0;
        let needed = self.outstanding.len().saturating_sub(self.k);
        if self.others().filter(answered).count() >= needed {
            self.state = State::Inside;
            out.enter();
        }
    }

    /// Whether we are inside, or our open request is older than that one.
    fn comes_before(&self, time: u64, other: NodeId) -> bool {
        match self.state {
            State::Outside => false,
            State::Requesting(mine) => (mine, self.me) < (time, other),
            State::Inside => true,
        }
    }

    fn is_owed(&self, by: NodeId, count: u64) -> bool {
        (1..=self.outstanding[by.index()]).contains(&count)
    }

    fn others(&self) -> impl Iterator<Item = NodeId> + use<> {
        let me = self.me;
        let everybody = (0..self.outstanding.len() as u32).map(NodeId);
        everybody.filter(move |other| *other != me)
    }
}

fn answers_are_owed(world: &Snapshot<'_, RaymondK>) -> Result<(), String> {
    for (me, node) in world.alive() {
        for (other, debtor) in world.alive().filter(|(other, _)| *other != me) {
            let under_way = world
                .flight
                .iter()
                .map(|&(from, to, message)| match message {
                    Message::Request { .. } => u64::from((from, to) == (me, other)),
                    Message::Reply { count } if (from, to) == (other, me) => *count,
                    Message::Reply { .. } => 0,
                });
            let owed = debtor.deferred[me.index()] + under_way.sum::<u64>();
            let outstanding = node.outstanding[other.index()];
            if owed != outstanding {
                return Err(format!(
                    "{me} expects {outstanding} of {other}, which owes {owed}"
                ));
            }
        }
    }
    Ok(())
}
