//! Thomas's daisy chain: a request goes from voter to voter and collects votes.
//!
//! R. H. Thomas 1979 lets a request be passed on by those that vote, in place of a coordinator that asks
//! everybody. The book has no procedure for either; the choices here are ours:
//!
//! ```text
//!     0 -- REQ {0} --> 1 -- REQ {0 1} --> 2      three of five: a majority
//!     2 -- VOTES {0 1 2} --> 0                   0 enters; REL to 1 and 2
//! ```
//!
//! The chain is the circle that begins behind the candidate. A voter whose vote is out passes the
//! request on without it; nobody waits in a queue at a voter. A chain that comes to its end without a
//! majority brings its votes to the candidate all the same, which gives them back and begins again after
//! a while, as where everybody is asked. So each attempt has one chain, which comes home once, and no
//! timer runs while it is under way.
//!
//! Cost: with a majority of `m`, `m-1` REQs, one VOTES and `m-1` RELs. Links need not keep order.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Attempt, Retry, TB};
use crate::common::stamp::Stamp;
use crate::contract::{
    Algorithm, NodeId, Outbox, Snapshot, Timer, Visit, declared, ignores, invariants, messages,
    node,
};
use crate::registry::Circumstances;
use crate::view::View;
use crate::voting::attempts::{self, Inside, Stage, in_attempts};
use crate::voting::weights::{is_majority, weights};

messages! {
    /// What nodes say to each other.
    pub(crate) enum Message {
        /// The candidate of this attempt has these votes, and wants the addressee's.
        Req { attempt: Attempt, votes: BTreeSet<NodeId> } = "REQ",
        /// The chain of this attempt is at its end, with these votes.
        Votes { attempt: Attempt, votes: BTreeSet<NodeId> } = "VOTES",
        /// The attempt is over: the sender has left, or withdraws.
        Rel { attempt: Attempt } = "REL",
    }

    fn origin(&self) -> Option<NodeId> {
        Some(self.attempt().req.id)
    }

    fn growing(&mut self, each: Visit<'_>) {
        match self {
            Message::Req { attempt, .. }
            | Message::Votes { attempt, .. }
            | Message::Rel { attempt } => attempt.growing(each),
        }
    }
}

impl Message {
    fn attempt(&self) -> Attempt {
        match self {
            Message::Req { attempt, .. }
            | Message::Votes { attempt, .. }
            | Message::Rel { attempt } => *attempt,
        }
    }
}

node! {
    /// What one node knows.
    pub(crate) struct Chain of setup with me {
        weights: Vec<u32> = weights(setup.setting.params.word("votes"), setup.nodes())
            .expect("the registry refuses votes that do not fit"),
        retry: Retry = Retry::of(setup),
        bound: Duration = setup.setting.bound,
        clock: u64 = 0,
        /// Whom we have voted for.
        lock: Option<Attempt> = None,
        stage: Stage = Stage::Idle,
        /// The number of our last attempt.
        att: u64 = 0,
        /// Who voted for it.
        got: BTreeSet<NodeId> = BTreeSet::new(),
    }
}

impl Algorithm for Chain {
    declared! { Message }

    in_attempts! { request, release }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        let attempt = message.attempt();
        let candidate = attempt.req.id;
        let known = |id: &NodeId| id.index() < self.weights.len();
        let fits = match &message {
            Message::Req { votes, .. } => candidate != self.me && votes.iter().all(known),
            Message::Votes { votes, .. } => candidate == self.me && votes.iter().all(known),
            Message::Rel { .. } => candidate == from,
        };
        if !(known(&candidate) && fits) {
            out.protocol_error(format!("{from} sent a message about another's request"));
            return;
        }
        self.clock = self.clock.max(attempt.req.t);
        match message {
            Message::Req { attempt, votes } => self.vote(attempt, votes, out),
            Message::Votes { attempt, votes } => self.come_home(from, attempt, votes, out),
            Message::Rel { attempt } => {
                self.lock.take_if(|lock| *lock == attempt);
            }
        }
    }

    fn timer(&mut self, timer: Timer, out: &mut Outbox<Message>) {
        match self.stage {
            Stage::BackingOff(req, tries) if timer == TB => self.begin(req, tries + 1, out),
            _ => out.timer_was_not_set(timer),
        }
    }

    ignores! { peer: "a chain that reaches a dead voter ends there", link }

    fn draw(&self, view: &mut View) {
        view.points_to("voted for", self.lock.map(|attempt| attempt.req.id));
        view.set("voted for us", &self.got);
    }

    invariants! {
        "who is inside has locked a majority": who_is_inside_has_locked_a_majority,
    }

    fn growing(&mut self, each: Visit<'_>) {
        each((self.me, "attempt"), &mut self.att);
        self.lock.iter_mut().for_each(|lock| lock.growing(each));
        self.stage.growing(self.me, each);
    }
}

impl Chain {
    fn begin(&mut self, req: Stamp, tries: u64, out: &mut Outbox<Message>) {
        self.att = self.att.saturating_add(1);
        self.stage = Stage::Waiting(req, tries);
        let attempt = Attempt { req, att: self.att };
        // We are the first voter of our own chain.
        self.vote(attempt, BTreeSet::new(), out);
    }

    /// Adds our vote, if it is at home, and passes the request on.
    fn vote(&mut self, attempt: Attempt, mut votes: BTreeSet<NodeId>, out: &mut Outbox<Message>) {
        if self.lock.is_none() {
            self.lock = Some(attempt);
            votes.insert(self.me);
        }
        let candidate = attempt.req.id;
        let next = NodeId((self.me.0 + 1) % self.weights.len() as u32);
        let message = match is_majority(&self.weights, &votes) || next == candidate {
            true => Message::Votes { attempt, votes },
            false => Message::Req { attempt, votes },
        };
        let to = match &message {
            Message::Req { .. } => next,
            Message::Votes { .. } | Message::Rel { .. } => candidate,
        };
        out.send_for(candidate, to, message);
    }

    /// Our chain is at its end: we enter, or give back what it brought.
    fn come_home(
        &mut self,
        from: NodeId,
        attempt: Attempt,
        votes: BTreeSet<NodeId>,
        out: &mut Outbox<Message>,
    ) {
        let Stage::Waiting(req, tries) = self.stage else {
            out.protocol_error(format!("votes from {from} that nobody waits for"));
            return;
        };
        if attempt != (Attempt { req, att: self.att }) {
            out.protocol_error(format!("{from} sent votes of another attempt"));
            return;
        }
        self.got = votes;
        if is_majority(&self.weights, &self.got) {
            self.stage = Stage::Inside(req);
            out.note_for(self.me, "attempts", tries);
            out.enter();
        } else if let Some(after) = self.retry.after(self.weights.len(), self.bound) {
            self.stage = Stage::BackingOff(req, tries);
            self.give_back(req, out);
            out.set_timer(TB, after);
        }
        // kanrar-TH-D1: else it keeps the votes it has, and waits for ever.
    }

    fn give_back(&mut self, req: Stamp, out: &mut Outbox<Message>) {
        let attempt = Attempt { req, att: self.att };
        for voter in std::mem::take(&mut self.got) {
            out.send_for(self.me, voter, Message::Rel { attempt });
        }
    }

    /// What it is inside with, if it is.
    fn inside(&self) -> Option<Inside<'_, Attempt>> {
        let (req, att) = (self.stage.inside()?, self.att);
        Some(Inside {
            attempt: Attempt { req, att },
            voters: &self.got,
            weights: &self.weights,
        })
    }
}

/// What a request costs that is alone: each of a majority of `m` but the candidate gets a REQ and a REL, and
/// the last one of the chain sends VOTES.
pub(super) fn light(run: &Circumstances<'_>) -> Option<f64> {
    let at_once = (run.note)("attempts").is_some_and(|(sum, count)| sum == count);
    let alike = run.params.word("votes").trim().is_empty();
    let fits = run.params.word("ask") == "chain" && run.is_alone() && !run.cut && at_once && alike;
    let majority = f64::from(run.nodes / 2 + 1);
    fits.then_some(match run.nodes {
        1 => 0.0,
        _ => 2.0 * majority - 1.0,
    })
}

fn who_is_inside_has_locked_a_majority(world: &Snapshot<'_, Chain>) -> Result<(), String> {
    attempts::who_is_inside_has_locked_a_majority(world, Chain::inside, |voter| voter.lock)
}
