//! TB-DVA as a mutual exclusion algorithm: a reconstruction.
//!
//! B. Hardekopf, K. Kwiat, S. Upadhyaya, "Secure and fault-tolerant voting in distributed systems",
//! IEEE Aerospace Conference 2001; as the comparator of S. Kanrar, N. Chaki, S. Chattopadhyay,
//! "Concurrency control in distributed system using mutual exclusion", Springer 2018, section 5.3.
//!
//! The timed-buffer distributed voting algorithm votes on results: one is committed to a buffer, and
//! others may dissent before its time is up. It is no mutual exclusion algorithm, and the book that
//! compares with it prints no procedure. **This is our reconstruction**, made to have the properties
//! that the book's table gives it: commit first, vote second; `5(n-1)` messages under load, `3(n-1)`
//! alone; a majority is needed, and may not be found.
//!
//! ```text
//!     0 -- COMMIT --> all     each keeps it in a buffer for a while, 2T
//!     nothing else there:     -- VOTE --> 0
//!     something else there:   -- DISSENT --> 0;  0 -- BALLOT --> all: now vote on it
//! ```
//!
//! Links need not keep order: an attempt has a number, and what is about an older one is stale.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::common::stamp::Stamp;
use crate::common::time;
use crate::contract::{
    After, Algorithm, NodeId, Outbox, Timer, Visit, declared, ignores, invariants, messages, node,
};
use crate::params::Param;
use crate::registry::{AlgorithmInfo, Circumstances, ClosedForm, FormKind, info};
use crate::view::View;
use crate::voting::attempts::{Stage, in_attempts};

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "tb-dva", title: "TB-DVA, reconstructed",
    paper: "reconstruction of the comparator in S. Kanrar, N. Chaki, S. Chattopadhyay, \
            \"Concurrency control in distributed system using mutual exclusion\", Springer 2018, \
            section 5.3",
    cost: "3(N-1) alone, 5(N-1) when everybody asks",
    family Voting, graph Complete, order Any, links Patient, token None,
    more: {
        params: &[Param::text(
            "buffer",
            "2T",
            "how long a commit stays in a voter's buffer, in bounds T or as a time: 0s, 1T, 2.5T, 30ms",
        )
        .such_as(&["0s", "1T", "2T", "2.5T", "4T", "30ms"])],
        refuses: |params, _| time::refuses(params, "buffer"),
        notes: &[("attempts", "commits that an entry took")],
        small_world: "--wants 1,1,0 --timers patient",
        forms: &[
            ClosedForm::messages(
                FormKind::Exact, "3(N-1)",
                "one request at a time, each elected at its first commit, constant delay, \
                 constant hold above 0",
                steady,
            ),
            ClosedForm::messages(
                FormKind::AtMost, "3(N-1)",
                "one request at a time, each elected at its first commit, no warm-up", light,
            ),
        ],
        uses_bound: true,
        retries: |_| true,
    },
    explanation: EXPLANATION,
    // A number each; the buffer is empty at rest.
    node TbDva, further bytes: |nodes| 8 * nodes,
};

const EXPLANATION: &str = "\
A reconstruction: TB-DVA votes on results, the book that compares mutual
exclusion algorithms with it prints no procedure, and this one is made to have
the properties that the book's table gives it.

A candidate commits first and is voted on second.

    0 --COMMIT--> all      everybody keeps it in a buffer for 2T
    2T later, alone there: --VOTE--> 0
    a majority: 0 enters, and leaves with REL to all

T is the bound on a message's delay, so within 2T every rival that asked about
the same time has been heard of; a shorter buffer (buffer=1T, buffer=0s) is
quicker and hears of fewer. If there is one, or the vote is out, a voter does
not vote yet:

    2T later, not alone:   --DISSENT--> everyone in the buffer whose time is up
    a majority of answers: 0 --BALLOT--> all
    a voter with its vote at home votes for the smallest time stamp it has,
    once that one's time is up and its BALLOT is there

A vote that comes home goes to the next in the same way. If a candidate has no
majority after (4+4N)T and two buffers it withdraws (REL), waits for up to 2NT
and commits again: such an election elects nobody.

Why it is safe: a vote is given to one at a time, and two majorities have a
voter in common. Each commit has a number; a vote for one that was withdrawn is
dropped, and the REL that frees it is on its way. Why nobody starves: when no
message takes longer than T all voters see the same smallest stamp; when one
does, chance ends it.

What it costs: COMMIT, VOTE and REL to and from all the others, 3(N-1); under
load a DISSENT and a BALLOT more, 5(N-1). From exit to entry two messages.";

fn light(run: &Circumstances<'_>) -> Option<f64> {
    // Votes beyond a majority may come after the exit.
    (!run.cut).then(|| at_once(run))?
}

fn at_once(run: &Circumstances<'_>) -> Option<f64> {
    let at_once = (run.note)("attempts").is_some_and(|(sum, count)| sum == count);
    let fits = run.is_alone() && at_once;
    fits.then(|| 3.0 * f64::from(run.nodes - 1))
}

/// Where delays differ, a vote may not be cast before the REL comes.
fn steady(run: &Circumstances<'_>) -> Option<f64> {
    run.constant_delay?;
    let stays = !run.constant_hold?.is_zero();
    stays.then(|| at_once(run))?
}

/// A commit of a candidate: the smaller goes first. Its number rises for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Commit {
    req: Stamp,
    att: u64,
}

messages! {
    /// What nodes say to each other.
    pub(crate) enum Message {
        /// The sender wants in.
        Commit(Commit) = "COMMIT",
        /// There are others: vote on it.
        Dissent(Commit) = "DISSENT",
        /// So the sender asks for votes.
        Ballot(Commit) = "BALLOT",
        /// The sender votes for the addressee.
        Vote(Commit) = "VOTE",
        /// The commit is over: the sender has left, or withdraws.
        Rel(Commit) = "REL",
    }

    fn origin(&self) -> Option<NodeId> {
        Some(self.commit().req.id)
    }

    fn growing(&mut self, each: Visit<'_>) {
        match self {
            Message::Commit(commit)
            | Message::Dissent(commit)
            | Message::Ballot(commit)
            | Message::Vote(commit)
            | Message::Rel(commit) => commit.growing(each),
        }
    }
}

impl Message {
    fn commit(&self) -> Commit {
        match self {
            Message::Commit(commit)
            | Message::Dissent(commit)
            | Message::Ballot(commit)
            | Message::Vote(commit)
            | Message::Rel(commit) => *commit,
        }
    }
}

impl Commit {
    fn growing(&mut self, each: Visit<'_>) {
        each((self.req.id, "commit"), &mut self.att);
    }
}

/// No majority came in time.
const TC: Timer = Timer::named("TC");
/// The back-off is over.
const TB: Timer = Timer::named("TB");

/// The time of this node's commit in our buffer is up.
fn buffer_time(of: NodeId) -> Timer {
    Timer {
        name: "BUF",
        tag: u64::from(of.0) + 1,
    }
}

node! {
    /// What one node knows.
    pub(crate) struct TbDva of setup with me, nodes {
        bound: Duration = setup.setting.bound,
        /// How long a commit stays in our buffer before we vote on it.
        buffer: Duration = time::of(setup, "buffer"),
        clock: u64 = 0,
        /// Commits that we have not voted for.
        buf: BTreeMap<Commit, Buffered> = BTreeMap::new(),
        /// Whom we have voted for.
        lock: Option<Commit> = None,
        /// The last commit of each node that is over.
        done: Vec<u64> = vec![0; setup.nodes() as usize],
        stage: Stage = Stage::Idle,
        /// The number of our last commit.
        att: u64 = 0,
        /// Who voted for it, and who dissented.
        got: BTreeSet<NodeId> = BTreeSet::new(),
        diss: BTreeSet<NodeId> = BTreeSet::new(),
        /// We have asked for votes on it.
        balloted: bool = false,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
struct Buffered {
    /// Its time is up.
    open: bool,
    /// Its BALLOT has come.
    ballot: bool,
    /// Its candidate has our DISSENT.
    told: bool,
}

impl Algorithm for TbDva {
    declared! { Message }

    in_attempts! { request, release }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        let commit = message.commit();
        let owner = match message {
            Message::Commit(_) | Message::Ballot(_) | Message::Rel(_) => from,
            Message::Dissent(_) | Message::Vote(_) => self.me,
        };
        if commit.req.id != owner {
            out.protocol_error(format!("{from} sent a message about another's request"));
            return;
        }
        self.clock = self.clock.max(commit.req.t);
        let over = commit.att <= self.done[owner.index()];
        let known = self.buf.contains_key(&commit) || self.lock == Some(commit);
        match message {
            Message::Commit(_) => {
                if !over && !known {
                    self.buf.insert(commit, Buffered::default());
                    out.set_timer(buffer_time(from), After::Exactly(self.buffer));
                }
            }
            Message::Ballot(_) => {
                if !over && self.lock != Some(commit) {
                    // One that comes before its commit has waited long enough.
                    let buffered = self.buf.entry(commit).or_insert(Buffered {
                        open: true,
                        ..Buffered::default()
                    });
                    buffered.ballot = true;
                }
            }
            Message::Rel(_) => self.forget(from, commit.att, out),
            Message::Dissent(_) => self.answer(from, commit, false, out),
            Message::Vote(_) => self.answer(from, commit, true, out),
        }
        self.decide(out);
    }

    fn timer(&mut self, timer: Timer, out: &mut Outbox<Message>) {
        match self.stage {
            _ if timer.name == "BUF" => {
                let mut buffered = self.buf.iter_mut();
                let up = buffered.find(|(commit, _)| buffer_time(commit.req.id) == timer);
                if let Some((_, buffered)) = up {
                    buffered.open = true;
                }
                self.dissent(out);
                self.decide(out);
            }
            Stage::Waiting(req, tries) if timer == TC => {
                self.stage = Stage::BackingOff(req, tries);
                self.give_back(req, out);
                let longest = 2 * self.nodes * self.bound;
                out.set_timer(TB, After::Uniform(Duration::ZERO, longest));
            }
            Stage::BackingOff(req, tries) if timer == TB => self.begin(req, tries + 1, out),
            Stage::Idle | Stage::Waiting(..) | Stage::BackingOff(..) | Stage::Inside(_) => {
                out.timer_was_not_set(timer);
            }
        }
    }

    ignores! { peer: "a dead voter is one that does not answer", link }

    fn draw(&self, view: &mut View) {
        view.points_to("voted for", self.lock.map(|commit| commit.req.id));
        view.set("voted for us", &self.got);
        view.set("dissented", &self.diss);
        view.queue("commits", self.buf.keys().map(|commit| commit.req.id));
    }

    invariants! {}

    fn growing(&mut self, each: Visit<'_>) {
        each((self.me, "commit"), &mut self.att);
        for (id, done) in (0..).map(NodeId).zip(&mut self.done) {
            each((id, "commit"), done);
        }
        self.lock.iter_mut().for_each(|commit| commit.growing(each));
        let buffered = std::mem::take(&mut self.buf).into_iter();
        let renumbered = buffered.map(|(mut commit, buffered)| {
            commit.growing(each);
            (commit, buffered)
        });
        self.buf = renumbered.collect();
        self.stage.growing(self.me, each);
    }
}

impl TbDva {
    fn begin(&mut self, req: Stamp, tries: u64, out: &mut Outbox<Message>) {
        self.att = self.att.saturating_add(1);
        self.stage = Stage::Waiting(req, tries);
        let commit = Commit { req, att: self.att };
        self.tell_everybody(&Message::Commit(commit), out);
        let patience = (4 + 4 * self.nodes) * self.bound + 2 * self.buffer;
        out.set_timer(TC, After::Exactly(patience));
    }

    fn give_back(&mut self, req: Stamp, out: &mut Outbox<Message>) {
        self.got.clear();
        self.diss.clear();
        self.balloted = false;
        self.tell_everybody(&Message::Rel(Commit { req, att: self.att }), out);
    }

    /// A commit is over, and all that its node made before.
    fn forget(&mut self, from: NodeId, att: u64, out: &mut Outbox<Message>) {
        let done = &mut self.done[from.index()];
        *done = att.max(*done);
        let over = |commit: &Commit| commit.req.id == from && commit.att <= att;
        let buffered = self.buf.len();
        self.buf.retain(|commit, _| !over(commit));
        if self.buf.len() < buffered {
            out.cancel_timer(buffer_time(from));
        }
        self.lock.take_if(|commit| over(commit));
    }

    /// If there is a choice, or no vote to give, everyone whose time is up is told.
    fn dissent(&mut self, out: &mut Outbox<Message>) {
        if self.buf.len() < 2 && self.lock.is_none() {
            return;
        }
        for (commit, buffered) in &mut self.buf {
            if buffered.open && !buffered.told {
                buffered.told = true;
                out.send_for(commit.req.id, commit.req.id, Message::Dissent(*commit));
            }
        }
    }

    /// Votes, if the vote is at home, for the only commit there is, or for the smallest once it has
    /// asked for votes.
    fn decide(&mut self, out: &mut Outbox<Message>) {
        if self.lock.is_some() {
            return;
        }
        let alone = self.buf.len() == 1;
        let ripe =
            |(_, buffered): &(&Commit, &Buffered)| buffered.open && (alone || buffered.ballot);
        if let Some((&commit, _)) = self.buf.first_key_value().filter(ripe) {
            self.buf.remove(&commit);
            self.lock = Some(commit);
            out.send_for(commit.req.id, commit.req.id, Message::Vote(commit));
        }
    }

    /// A voter has answered. What is late is dropped: the REL is on its way to the voter.
    fn answer(&mut self, from: NodeId, commit: Commit, yes: bool, out: &mut Outbox<Message>) {
        let Stage::Waiting(req, tries) = self.stage else {
            return;
        };
        if commit != (Commit { req, att: self.att }) {
            return;
        }
        match yes {
            true => self.got.insert(from),
            false => self.diss.insert(from),
        };
        let majority = self.nodes as usize / 2 + 1;
        if self.got.len() >= majority {
            self.stage = Stage::Inside(req);
            out.cancel_timer(TC);
            out.note_for(self.me, "attempts", tries);
            out.enter();
        } else if !self.balloted && self.got.union(&self.diss).count() >= majority {
            self.balloted = true;
            self.tell_everybody(&Message::Ballot(commit), out);
        }
    }

    fn tell_everybody(&self, message: &Message, out: &mut Outbox<Message>) {
        for id in (0..self.nodes).map(NodeId) {
            out.send_for(self.me, id, message.clone());
        }
    }
}
