//! BMaV and NHME-AMC as they are printed, as far as processes with local knowledge can follow it.
//!
//! **Unsafe**, and kept to show it. The book's steps 2 to 6 are a central procedure: they compare the
//! votes and holdings of all candidates and know who is disconnected. This is the reading closest to
//! the text in which a process knows only what it was told. A RESULT message is added, for BMaV
//! prints no way to learn of rivals; losers go back to step 1, as NHME-AMC says.
//!
//! ```text
//!     step 1   vote for yourself, REQ to all; a free vote answers VOTE, a taken one NO
//!     step 2   a majority: enter
//!     step 3   more than tau votes: phase 2; fewer: tau := tau - 1, back to step 1
//!     step 4   P2REQ (or RESULT) to all; a younger rival answers P2V
//!     step 5   the rivals that have been heard of have all given way: enter; else step 1
//! ```
//!
//! What is wrong with it, and which lines are which defect: [`defects`](super::defects).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;

use super::machine::{T1, T2};
use super::resources::Resources;
use crate::common::stamp::Stamp;
use crate::contract::{
    After, Algorithm, Change, NodeId, Outbox, Request, Timer, declared, ignores, invariants,
    messages, node,
};
use crate::params::Value;
use crate::printed::rules;
use crate::setup::Setup;
use crate::view::View;

messages! {
    /// What processes say to each other.
    pub(crate) enum Message {
        /// The sender asks for the addressee's vote, for the `att`-th time.
        Req { req: Stamp, att: u64 } of req.id = "REQ",
        /// The sender votes for the addressee.
        Vote { req: Stamp, att: u64, fence: u64 } of req.id = "VOTE",
        /// The sender has voted for another.
        No { req: Stamp, att: u64 } of req.id = "NO",
        /// NHME-AMC: the sender is in phase 2.
        P2req { req: Stamp } of req.id = "P2REQ",
        /// NHME-AMC: the sender gives way.
        P2v { req: Stamp } of req.id = "P2V",
        /// BMaV: the sender is in phase 2 with so many votes.
        Result { req: Stamp, votes: u32, held: u32 } of req.id = "RESULT",
        /// The sender has left.
        Rel { req: Stamp, fence: u64 } of req.id = "REL",
        /// A patch that is not in the book: the sender is inside.
        Busy { req: Stamp } of req.id = "BUSY",
    }
}

node! {
    /// What one process knows.
    pub(crate) struct Published of setup with me, nodes {
        /// BMaV's; NHME-AMC has none.
        resources: Option<Resources> = resources(setup),
        tau0: i64 = setup.setting.params.integer("tau") as i64,
        bound: Duration = setup.setting.bound,
        rules: Rules = Rules::of(&setup.setting.printed),
        clock: u64 = 0,
        /// Whom we voted for; until its REL.
        voted: Option<NodeId> = None,
        req: Stamp = Stamp { t: 0, id: setup.me },
        /// Rounds of step 1, ever.
        att: u64 = 0,
        tau: i64 = 0,
        stage: Stage = Stage::Idle,
        got: BTreeSet<NodeId> = BTreeSet::new(),
        answered: BTreeSet<NodeId> = BTreeSet::new(),
        /// S, as far as we have heard of it: their requests, votes and holdings.
        rivals: BTreeMap<NodeId, (Stamp, u32, u32)> = BTreeMap::new(),
        /// The processes that gave way.
        p2v: BTreeSet<NodeId> = BTreeSet::new(),
        /// P2REQs that came before we were in phase 2.
        parked: BTreeSet<Stamp> = BTreeSet::new(),
        /// A node has told us that it is inside.
        busy: bool = false,
        /// Who asked and has not left, for the report of a resource deadlock.
        waiting: BTreeSet<NodeId> = BTreeSet::new(),
        fence: u64 = 0,
        down: BTreeSet<NodeId> = BTreeSet::new(),
    }
}

rules! {
    /// Repairs of single lines of the print, and patches to it; all of them together do not make it safe.
    struct Rules {
        own_vote_is_a_vote: "own-vote-is-a-vote",
        silence_is_not_absence: "silence-is-not-absence",
        early_questions_wait: "early-questions-wait",
        holdings_before_majority: "holdings-before-majority",
        inside_answers_busy: "inside-answers-busy",
        busy_to_the_early: "busy-to-the-early",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
enum Stage {
    Idle,
    First,
    Second,
    Inside,
}

fn resources(setup: &Setup<'_>) -> Option<Resources> {
    match setup.setting.params.get("resources") {
        Some(Value::Word(text)) => Resources::read(text, setup.nodes()).ok(),
        Some(Value::Integer(_)) | None => None,
    }
}

impl Algorithm for Published {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.clock = self.clock.saturating_add(1);
        self.req.t = self.clock;
        self.tau = self.tau0;
        self.step_1(out);
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.stage = Stage::Idle;
        self.got.clear();
        self.voted.take_if(|candidate| *candidate == self.me);
        let (req, fence) = (self.req, self.fence);
        self.tell_others(&Message::Rel { req, fence }, out);
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        let owner = match message {
            Message::Req { req, .. }
            | Message::P2req { req }
            | Message::Result { req, .. }
            | Message::Rel { req, .. } => req.id == from,
            Message::Vote { req, .. }
            | Message::No { req, .. }
            | Message::P2v { req }
            | Message::Busy { req } => req.id == self.me,
        };
        if !owner {
            out.protocol_error(format!("{from} sent a message about another's request"));
            return;
        }
        match message {
            Message::Req { req, att } => self.vote(req, att, out),
            Message::Vote { req, att, fence } => {
                self.fence = self.fence.max(fence);
                self.answer(from, req, att, true, out);
            }
            Message::No { req, att } => self.answer(from, req, att, false, out),
            Message::P2req { req } => self.asked_to_give_way(req, out),
            Message::P2v { req } => {
                if req == self.req {
                    self.p2v.insert(from);
                }
            }
            Message::Result { req, votes, held } => {
                self.clock = self.clock.max(req.t);
                self.rivals.insert(from, (req, votes, held));
                if self.stage == Stage::Inside {
                    self.say_busy(req, out);
                }
            }
            Message::Busy { req } => self.busy |= (req, self.stage) == (self.req, Stage::Second),
            Message::Rel { fence, .. } => {
                self.fence = self.fence.max(fence);
                self.voted.take_if(|candidate| *candidate == from);
                self.rivals.remove(&from);
                self.waiting.remove(&from);
                self.parked.retain(|req| req.id != from);
            }
        }
    }

    fn timer(&mut self, timer: Timer, out: &mut Outbox<Message>) {
        match self.stage {
            Stage::First if timer == T1 => self.end_phase_1(out),
            Stage::Second if timer == T2 && self.won() => self.enter(out),
            // Step 1 again, for votes that are still where they were.
            Stage::Second if timer == T2 => self.step_1(out),
            Stage::Idle | Stage::First | Stage::Second | Stage::Inside => {
                out.timer_was_not_set(timer);
            }
        }
    }

    fn peer(&mut self, peer: NodeId, change: Change, out: &mut Outbox<Message>) {
        change.note_in(&mut self.down, peer);
        self.look(out);
    }

    ignores! { link: "nobody is told of links" }

    // What should be true of it is not.
    fn draw(&self, view: &mut View) {
        view.points_to("voted for", self.voted);
        view.set("voted for us", &self.got);
        view.set("gave way", &self.p2v);
        view.queue("asked for our vote", &self.waiting);
    }

    invariants! {}
}

impl Published {
    fn step_1(&mut self, out: &mut Outbox<Message>) {
        self.att = self.att.saturating_add(1);
        self.stage = Stage::First;
        self.answered = BTreeSet::from([self.me]);
        self.got.clear();
        self.rivals.clear();
        self.p2v.clear();
        self.busy = false;
        let at_home = self.voted.is_none_or(|candidate| candidate == self.me);
        self.voted.get_or_insert(self.me);
        // kanrar-K1: the book votes for itself whatever has become of its vote.
        if at_home || !self.rules.own_vote_is_a_vote {
            self.got.insert(self.me);
        }
        let (req, att) = (self.req, self.att);
        self.tell_others(&Message::Req { req, att }, out);
        out.set_timer(T1, After::Exactly(3 * self.bound));
        self.look(out);
    }

    fn vote(&mut self, req: Stamp, att: u64, out: &mut Outbox<Message>) {
        let from = req.id;
        self.clock = self.clock.max(req.t);
        self.waiting.insert(from);
        let candidate = *self.voted.get_or_insert(from);
        let answer = if candidate == from {
            let fence = self.fence;
            Message::Vote { req, att, fence }
        } else {
            Message::No { req, att }
        };
        out.send_for(from, from, answer);
    }

    fn answer(&mut self, from: NodeId, req: Stamp, att: u64, yes: bool, out: &mut Outbox<Message>) {
        if (req, att, self.stage) != (self.req, self.att, Stage::First) {
            return;
        }
        self.answered.insert(from);
        if yes {
            self.got.insert(from);
        }
        self.look(out);
    }

    /// Whether step 1 has come to an end.
    fn look(&mut self, out: &mut Outbox<Message>) {
        if self.stage != Stage::First {
            return;
        }
        let everybody = (0..self.nodes).map(NodeId);
        let known = |id: NodeId| self.answered.contains(&id) || self.down.contains(&id);
        let all = everybody.into_iter().all(known);
        if self.got.len() > self.nodes as usize / 2 {
            self.majority(out);
        } else if all {
            self.end_phase_1(out);
        }
    }

    fn majority(&mut self, out: &mut Outbox<Message>) {
        let resources = self.resources.as_ref();
        let taken = resources.and_then(|all| all.taken_by(&self.waiting, self.me));
        match taken {
            Some(_) if self.rules.holdings_before_majority => {
                self.phase_2(out);
                return;
            }
            // kanrar-B2: the book lets a majority in whatever it holds and its rivals hold.
            Some(taken) => {
                out.protocol_error(format!(
                    "inside without {taken}, whose holders wait to enter"
                ));
            }
            None => {}
        }
        out.cancel_timer(T1);
        self.enter(out);
    }

    fn end_phase_1(&mut self, out: &mut Outbox<Message>) {
        if self.got.len() as i64 > self.tau {
            self.phase_2(out);
        } else {
            self.tau -= 1;
            out.note_for(self.me, "lowered", 1);
            if self.tau < 0 {
                // kanrar-K2: lemma 5.3 says that this cannot be.
                out.note_for(self.me, "negative_tau", 1);
            }
            self.step_1(out);
        }
    }

    fn phase_2(&mut self, out: &mut Outbox<Message>) {
        self.stage = Stage::Second;
        out.cancel_timer(T1);
        out.note_for(self.me, "active", 1);
        out.set_timer(T2, After::Exactly(3 * self.bound));
        let req = self.req;
        match &self.resources {
            None => self.tell_others(&Message::P2req { req }, out),
            Some(resources) => {
                let (votes, held) = (self.got.len() as u32, resources.held(self.me));
                self.tell_others(&Message::Result { req, votes, held }, out);
            }
        }
        for early in std::mem::take(&mut self.parked) {
            self.asked_to_give_way(early, out);
        }
    }

    fn asked_to_give_way(&mut self, req: Stamp, out: &mut Outbox<Message>) {
        self.clock = self.clock.max(req.t);
        match self.stage {
            Stage::Second => {
                self.rivals.insert(req.id, (req, 0, 0));
                if self.req > req {
                    out.send_for(req.id, req.id, Message::P2v { req });
                }
            }
            // kanrar-N4: the book has no rule for a question that comes early.
            Stage::First if self.rules.early_questions_wait => {
                self.parked.insert(req);
            }
            Stage::Inside => self.say_busy(req, out),
            Stage::First | Stage::Idle => {}
        }
    }

    /// Tells a rival in phase 2 that somebody is inside.
    fn say_busy(&self, req: Stamp, out: &mut Outbox<Message>) {
        // kanrar-K3: who is inside is not in S and says nothing.
        if self.rules.inside_answers_busy {
            out.send_for(req.id, req.id, Message::Busy { req });
        }
    }

    /// Steps 5 and 6: whether all rivals that we know of have given way.
    fn won(&self) -> bool {
        if self.busy {
            return false;
        }
        match &self.resources {
            None => {
                // kanrar-N2: if n counts those who do not respond, a rival that is silent because
                // it is older counts as absent.
                let absent = |id: &&NodeId| match self.rules.silence_is_not_absence {
                    true => self.down.contains(*id),
                    false => !self.p2v.contains(*id),
                };
                let needed = self.rivals.keys().filter(|id| !absent(id)).count();
                self.p2v.len() >= needed
            }
            Some(resources) => {
                let ours = (Reverse(resources.held(self.me)), self.req);
                let rivals = self.rivals.values();
                let rivals = rivals.filter(|(_, votes, _)| i64::from(*votes) > self.tau);
                rivals
                    .into_iter()
                    .all(|(req, _, held)| ours < (Reverse(*held), *req))
            }
        }
    }

    fn enter(&mut self, out: &mut Outbox<Message>) {
        self.stage = Stage::Inside;
        // Two winners below a majority get the same number.
        self.fence = self.fence.saturating_add(1);
        out.enter_with(self.fence);
        // kanrar-K4: a question that came just before the deciding vote has had no answer.
        if self.rules.busy_to_the_early {
            let results = self.rivals.values().map(|(req, _, _)| *req);
            let early = std::mem::take(&mut self.parked).into_iter().chain(results);
            for req in early.collect::<BTreeSet<_>>() {
                self.say_busy(req, out);
            }
        }
    }

    fn tell_others(&self, message: &Message, out: &mut Outbox<Message>) {
        for id in (0..self.nodes).map(NodeId).filter(|id| *id != self.me) {
            out.send_for(self.me, id, message.clone());
        }
    }
}
