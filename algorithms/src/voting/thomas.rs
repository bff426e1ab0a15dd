//! Majority voting after Thomas, with Gifford's weights.
//!
//! R. H. Thomas, "A majority consensus approach to concurrency control for multiple copy databases",
//! ACM Transactions on Database Systems 4(2), 1979; D. K. Gifford, "Weighted voting for replicated
//! data", SOSP 1979; as the baseline of S. Kanrar, N. Chaki, S. Chattopadhyay, "Concurrency control
//! in distributed system using mutual exclusion", Springer 2018, sections 2.6 and 5.3.
//!
//! ```text
//!     0 -- REQ --> all        each votes for one at a time
//!     0: {0 2}  of three      a majority: 0 enters
//!     0: {0}  1: {1}  2: {2}  a split vote: nobody ever enters, unless they withdraw
//! ```
//!
//! Cost: `3(n-1)` for a request that is alone; twice that when everybody asks, for most attempts
//! fail. Links need not keep order: an attempt has a number, and what is about an older one is stale.
//! Ours: the attempt numbers and the withdrawal, without which a split vote is a deadlock.
//! With `ask=chain` the request goes from voter to voter instead, Thomas's daisy chain: [`chain`].

mod chain;

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::common::stamp::Stamp;
use crate::contract::{
    After, Algorithm, NodeId, Outbox, Snapshot, Timer, Visit, declared, ignores, invariants,
    messages, node,
};
use crate::erased::{Machine, Of};
use crate::params::{Param, Params};
use crate::printed::{Costs, Defect, Fails, Printed, Run, Shows, World};
use crate::registry::{
    AlgorithmInfo, Circumstances, ClosedForm, FormKind, LinkOrder, Promise, info,
};
use crate::setup::Setup;
use crate::view::View;
use crate::voting::attempts::{self, Inside, Stage, in_attempts};
use crate::voting::weights::{self, is_majority, weights};
use chain::Chain;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "thomas", title: "Thomas's majority voting",
    paper: "R. H. Thomas, \"A majority consensus approach to concurrency control\", ACM TODS 4(2), \
            1979; weights: D. K. Gifford, SOSP 1979",
    cost: "3(N-1) alone, about 6(N-1) when everybody asks",
    family Voting, graph Complete, order Any, links Patient, token None,
    more: {
        params: &[
            Param::choice(
                "ask",
                &["all", "chain"],
                "whom a candidate asks: everybody, or the next one, which passes it on with its vote",
            ),
            Param::choice(
                "retry",
                &["random", "fixed", "off"],
                "back-off after 3T without a majority: up to 4NT, always 2NT, or never give up",
            ),
            Param::choice(
                "queue",
                &["arrival", "stamp"],
                "whom a voter votes for next: who asked it first, or the oldest request",
            ),
            weights::PARAM,
        ],
        refuses,
        notes: &[("attempts", "rounds of votes that an entry took")],
        small_world: "--timers patient",
        defects: DEFECTS,
        forms: &[
            ClosedForm::messages(
                FormKind::Exact, "3(N-1)",
                "one request at a time, each served at its first attempt, links keep order", light,
            ),
            ClosedForm::messages(
                FormKind::Exact, "2M - 1",
                "ask=chain, one vote each, one request at a time, each served at its first attempt; \
                 M: a majority of N",
                chain::light,
            ),
        ],
        uses_bound: true,
        // Without retries a split vote is a deadlock, and with a fixed back-off it comes again.
        gives_up: |params, _| (params.word("retry") != "random").then_some(Promise::Liveness),
        retries: |params| params.word("retry") != "off",
    },
    explanation: EXPLANATION,
    // A weight and a number each.
    state_bytes: |nodes| size_of::<Thomas>() as u64 + 16 * nodes,
    machine: machine,
};

fn machine(params: &Params, _: &Printed) -> &'static dyn Machine {
    match params.word("ask") {
        "chain" => &Of::<Chain>::MACHINE,
        _ => &Of::<Thomas>::MACHINE,
    }
}

fn refuses(params: &Params, nodes: u32) -> Option<String> {
    if params.word("ask") == "chain" && params.word("queue") == "stamp" {
        return Some(
            "queue is for ask=all; a chain passes by a voter whose vote is out".to_owned(),
        );
    }
    weights(params.word("votes"), nodes).err()
}

const EXPLANATION: &str = "\
Every node has one vote and gives it to one candidate at a time. Who wants in
asks everybody, enters with the votes of a majority, and gives them back.

    0 --REQ--> 1, 2        both free:  --VOTE--> 0
    0: {0 1 2} of three    a majority: 0 enters
    0 --REL--> 1, 2        their votes are free again

A vote that is out makes others wait in a queue at that voter (queue=arrival: in
the order they came, queue=stamp: the oldest request first).

    0, 1, 2 ask at once    0: {0}  1: {1}  2: {2}    a split vote

Nobody has two of three, and nobody gives back a vote it needs: with retry=off
that is a deadlock. So a candidate that has no majority after 3T (T is the bound
on a message's delay) withdraws: REL to all, and it begins again later. If all
of them wait equally long (retry=fixed) and messages take equally long, they
meet again, for ever: a live-lock. With retry=random each draws its own time, up
to 4NT, and sooner or later one comes alone.

Each attempt has a number. A vote for an attempt that was withdrawn is dropped
by the candidate: the REL that frees it is already on its way to the voter. So
links need not keep order.

With ask=chain the request goes round instead: to the next node, which adds its
vote if it has it and passes both on, until a majority is together or the chain
is at its end. Then the votes go to the candidate. Half of the messages are
saved, and each takes its turn; the book's (N+1)/2 are those before the entry.

Not every node need have one vote (votes=3,1,1): a majority of the votes is what
counts, and a node with none of them is only asked in vain.

Why it is safe: a vote is given to one at a time, and two majorities have a
voter in common. Why nobody starves: by chance, and only by chance.

What it costs: REQ, VOTE and REL for each other node, 3(N-1), when nobody
competes, and 2M-1 for a chain with a majority of M. The book's (N+1)/2 is M.";

const DEFECTS: &[Defect] = &[
    Defect {
        id: "kanrar-TH-D1",
        what: "a candidate without a majority waits for ever for votes that its rivals have",
        rules: &["losers-withdraw"],
        shows: Shows::World(World::of(&[1, 1, 1], Fails::Deadlock).timers("patient")),
        schedule: "req 0; req 1; req 2; 0>1:REQ; 0>2:REQ; 1>0:REQ; 1>2:REQ; 2>0:REQ; 2>1:REQ",
        result: "deadlock: everybody has voted for itself",
        ..Defect::BLANK
    },
    Defect {
        id: "kanrar-TH-D2",
        what: "losers that wait equally long meet again",
        rules: &["back-off-is-random"],
        needs_repaired: &["kanrar-TH-D1"],
        shows: Shows::Run(Run {
            flags: "-n 3 --workload batch --delay 4ms",
            costs: Costs::LiveLock,
        }),
        schedule: "req 0; req 1; req 2; 0>1:REQ; 0>2:REQ; 1>0:REQ; 1>2:REQ; 2>0:REQ; 2>1:REQ; \
                   timer 0:T1; timer 1:T1; timer 2:T1; 0>1:REL; 0>2:REL; 1>0:REL; 1>2:REL; 2>0:REL; \
                   2>1:REL; timer 0:TB; timer 1:TB; timer 2:TB",
        result: "live-lock: when messages take equally long, every round is a split vote",
        ..Defect::BLANK
    },
];

fn light(run: &Circumstances<'_>) -> Option<f64> {
    let at_once = (run.note)("attempts").is_some_and(|(sum, count)| sum == count);
    // A REQ that comes after its REL is not answered.
    let ordered = run.order == LinkOrder::Fifo;
    let everybody = run.params.word("ask") == "all";
    // Votes beyond a majority may come after the exit.
    let fits = run.is_alone() && !run.cut && at_once && ordered && everybody;
    fits.then(|| 3.0 * f64::from(run.nodes - 1))
}

/// An attempt of a candidate. Its number rises for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Attempt {
    req: Stamp,
    att: u64,
}

messages! {
    /// What nodes say to each other.
    pub(crate) enum Message {
        /// The sender wants the addressee's vote.
        Req(Attempt) = "REQ",
        /// The sender votes for the addressee.
        Vote(Attempt) = "VOTE",
        /// The attempt is over: the sender has left, or withdraws.
        Rel(Attempt) = "REL",
    }

    fn origin(&self) -> Option<NodeId> {
        match self {
            Message::Req(attempt) | Message::Vote(attempt) | Message::Rel(attempt) => {
                Some(attempt.req.id)
            }
        }
    }

    fn growing(&mut self, each: Visit<'_>) {
        match self {
            Message::Req(attempt) | Message::Vote(attempt) | Message::Rel(attempt) => {
                attempt.growing(each);
            }
        }
    }
}

impl Attempt {
    fn growing(&mut self, each: Visit<'_>) {
        each((self.req.id, "attempt"), &mut self.att);
    }
}

/// No majority came in time.
const T1: Timer = Timer::named("T1");
/// The back-off is over.
const TB: Timer = Timer::named("TB");

node! {
    /// What one node knows.
    pub(crate) struct Thomas of setup with me {
        weights: Vec<u32> = weights(setup.setting.params.word("votes"), setup.nodes())
            .expect("the registry refuses votes that do not fit"),
        retry: Retry = Retry::of(setup),
        oldest_first: bool = setup.setting.params.word("queue") == "stamp",
        bound: Duration = setup.setting.bound,
        clock: u64 = 0,
        /// Whom we have voted for.
        lock: Option<Attempt> = None,
        /// Who waits for our vote.
        q: VecDeque<Attempt> = VecDeque::new(),
        /// The last attempt of each node that is over.
        done: Vec<u64> = vec![0; setup.nodes() as usize],
        stage: Stage = Stage::Idle,
        /// The number of our last attempt.
        att: u64 = 0,
        /// Who voted for it.
        got: BTreeSet<NodeId> = BTreeSet::new(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
enum Retry {
    Random,
    Fixed,
    Off,
}

impl Retry {
    // kanrar-TH-D1 and TH-D2: what is left out when these rules are.
    fn of(setup: &Setup<'_>) -> Self {
        match setup.setting.params.word("retry") {
            _ if setup.without("losers-withdraw") => Retry::Off,
            "off" => Retry::Off,
            _ if setup.without("back-off-is-random") => Retry::Fixed,
            "fixed" => Retry::Fixed,
            _ => Retry::Random,
        }
    }

    /// When a candidate without a majority tries again, in a group of so many.
    fn after(self, nodes: usize, bound: Duration) -> Option<After> {
        let longest = 4 * nodes as u32 * bound;
        match self {
            Retry::Random => Some(After::Uniform(Duration::ZERO, longest)),
            Retry::Fixed => Some(After::Exactly(longest / 2)),
            Retry::Off => None,
        }
    }
}

impl Algorithm for Thomas {
    declared! { Message }

    in_attempts! { request, release }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        let expected = match message {
            Message::Req(attempt) | Message::Rel(attempt) => attempt.req.id == from,
            Message::Vote(attempt) => attempt.req.id == self.me,
        };
        if !expected {
            out.protocol_error(format!("{from} sent a message about another's request"));
            return;
        }
        match message {
            Message::Req(attempt) => {
                self.clock = self.clock.max(attempt.req.t);
                if attempt.att > self.done[from.index()] {
                    self.q.push_back(attempt);
                }
                self.grant(out);
            }
            Message::Vote(attempt) => self.count(from, attempt, out),
            Message::Rel(Attempt { att, .. }) => {
                let done = &mut self.done[from.index()];
                *done = att.max(*done);
                let over = |attempt: &Attempt| attempt.req.id == from && attempt.att <= att;
                self.q.retain(|attempt| !over(attempt));
                self.lock.take_if(|attempt| over(attempt));
                self.grant(out);
            }
        }
    }

    fn timer(&mut self, timer: Timer, out: &mut Outbox<Message>) {
        match self.stage {
            Stage::Waiting(req, tries) if timer == T1 => {
                self.stage = Stage::BackingOff(req, tries);
                self.give_back(req, out);
                if let Some(after) = self.retry.after(self.weights.len(), self.bound) {
                    out.set_timer(TB, after);
                }
            }
            Stage::BackingOff(req, tries) if timer == TB => self.begin(req, tries + 1, out),
            _ => out.timer_was_not_set(timer),
        }
    }

    ignores! { peer: "a dead voter is one that does not answer", link }

    fn draw(&self, view: &mut View) {
        view.points_to("voted for", self.lock.map(|attempt| attempt.req.id));
        view.set("voted for us", &self.got);
        view.queue("q", self.q.iter().map(|attempt| attempt.req.id));
    }

    invariants! {
        "who is inside has locked a majority": who_is_inside_has_locked_a_majority,
    }

    fn growing(&mut self, each: Visit<'_>) {
        each((self.me, "attempt"), &mut self.att);
        for (id, done) in (0..).map(NodeId).zip(&mut self.done) {
            each((id, "attempt"), done);
        }
        for attempt in self.q.iter_mut().chain(&mut self.lock) {
            attempt.growing(each);
        }
        self.stage.growing(self.me, each);
    }
}

impl Thomas {
    fn begin(&mut self, req: Stamp, tries: u64, out: &mut Outbox<Message>) {
        self.att = self.att.saturating_add(1);
        self.stage = Stage::Waiting(req, tries);
        let attempt = Attempt { req, att: self.att };
        self.tell_everybody(&Message::Req(attempt), out);
        match self.retry {
            Retry::Off => {}
            Retry::Random | Retry::Fixed => out.set_timer(T1, After::Exactly(3 * self.bound)),
        }
    }

    fn give_back(&mut self, req: Stamp, out: &mut Outbox<Message>) {
        self.got.clear();
        self.tell_everybody(&Message::Rel(Attempt { req, att: self.att }), out);
    }

    /// Votes for the first in the queue, if we have a vote to give.
    fn grant(&mut self, out: &mut Outbox<Message>) {
        if self.lock.is_some() {
            return;
        }
        let oldest = || (0..self.q.len()).min_by_key(|&place| self.q[place].req);
        let next = if self.oldest_first { oldest() } else { Some(0) };
        self.lock = next.and_then(|place| self.q.remove(place));
        if let Some(attempt) = self.lock {
            let candidate = attempt.req.id;
            out.send_for(candidate, candidate, Message::Vote(attempt));
        }
    }

    /// A vote. One that is late is dropped: the REL that frees it is on its way to the voter.
    fn count(&mut self, from: NodeId, attempt: Attempt, out: &mut Outbox<Message>) {
        let Stage::Waiting(req, tries) = self.stage else {
            return;
        };
        if (attempt.req, attempt.att) != (req, self.att) {
            return;
        }
        self.got.insert(from);
        if is_majority(&self.weights, &self.got) {
            self.stage = Stage::Inside(req);
            if self.retry != Retry::Off {
                out.cancel_timer(T1);
            }
            out.note_for(self.me, "attempts", tries);
            out.enter();
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

    fn tell_everybody(&self, message: &Message, out: &mut Outbox<Message>) {
        for id in (0..self.weights.len() as u32).map(NodeId) {
            out.send_for(self.me, id, message.clone());
        }
    }
}

fn who_is_inside_has_locked_a_majority(world: &Snapshot<'_, Thomas>) -> Result<(), String> {
    attempts::who_is_inside_has_locked_a_majority(world, Thomas::inside, |voter| voter.lock)
}
