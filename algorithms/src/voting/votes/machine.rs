//! A process: a voter always, a candidate while its client wants in.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;

use super::invariants;
use super::message::{Message, Token};
use super::resources::Resources;
use super::rule::{Claim, Rank, Rule, Tally};
use super::voter::{Loan, Order, Voter};
use crate::common::stamp::Stamp;
use crate::contract::{
    After, Algorithm, Change, NodeId, Outbox, Request, Timer, declared, ignores, invariants, node,
};
use crate::params::Value;
use crate::setup::Setup;
use crate::view::View;
use crate::voting::weights::weights;

/// Phase 1 has lasted long enough.
pub(super) const T1: Timer = Timer::named("T1");
/// A passive candidate has waited long enough for somebody to win.
pub(super) const T2: Timer = Timer::named("T2");

node! {
    /// What one process knows.
    pub(crate) struct Process of setup with me {
        terms: Terms = Terms::new(setup),
        clock: u64 = 0,
        pub(super) voter: Voter = Voter::new(setup.nodes(), Order::of(&setup.setting.params)),
        /// Our request, while we wait or are inside.
        pub(super) req: Option<Stamp> = None,
        /// Our attempt to get in, while we wait.
        campaign: Option<Campaign> = None,
        /// The votes we have, by voter: serial and hop.
        pub(super) got: BTreeMap<NodeId, (u64, u64)> = BTreeMap::new(),
        /// The newest loan and hop of each vote that we have had: what is not newer is a duplicate.
        pub(super) seen: Vec<(u64, u64)> = vec![(0, 0); setup.nodes() as usize],
        /// The highest fence heard of.
        fence: u64 = 0,
        /// Those reported dead. That shortens phase 1 and no more: a vote is never taken for lost.
        down: BTreeSet<NodeId> = BTreeSet::new(),
    }
}

/// What a process is told at the start and never changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Terms {
    rule: Rule,
    /// What we hold, for BMaV.
    held: u32,
    /// How many votes each process has.
    weights: Vec<u32>,
    /// Where tau starts for each request.
    tau: i64,
    /// Whether a voter whose vote is out says so.
    reject: bool,
    /// The bound T on the delay of a message.
    bound: Duration,
}

/// A candidate's way to a majority.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Campaign {
    phase: Phase,
    /// What we hold, or how urgent our request is, whichever decides.
    held: u32,
    /// Rivals that asked for our votes.
    want: BTreeMap<Stamp, Rank>,
    /// Younger requests that were served before ours.
    over: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
enum Phase {
    /// The first phase: votes come in.
    First {
        /// Who has voted, for us or another.
        answered: BTreeSet<NodeId>,
        tally: Tally,
    },
    /// Phase 2 without us: any active process may have our votes.
    Passive { tau: i64 },
    /// Phase 2, in S: we ask rivals for their votes.
    Active {
        /// Whom we have asked, and whether we had aged by then.
        asked: BTreeMap<Stamp, bool>,
    },
}

impl Algorithm for Process {
    declared! { Message }

    fn request(&mut self, request: Request, out: &mut Outbox<Message>) {
        self.clock = self.clock.saturating_add(1);
        let (t, id) = (self.clock, self.me);
        let req = Stamp { t, id };
        self.req = Some(req);
        let held = match self.terms.rule {
            Rule::Priority { .. } => request.priority,
            Rule::TimeStamp | Rule::Holdings { .. } => self.terms.held,
        };
        self.campaign = Some(Campaign::new(held));
        out.set_timer(T1, After::Exactly(3 * self.terms.bound));
        // Our own vote is one like any other: we ask ourselves too.
        for voter in self.everybody() {
            out.send_for(self.me, voter, Message::Req { req, held });
        }
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        let req = self.req.take().expect("who leaves has asked");
        let fence = self.fence;
        for voter in self.everybody() {
            let serial = self.got.remove(&voter).map(|(serial, _)| serial);
            out.send_for(self.me, voter, Message::Rel { req, serial, fence });
        }
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        if let Err(why) = self.check(from, &message) {
            out.protocol_error(why);
            return;
        }
        match message {
            Message::Req { req, held } => {
                self.queue(req, held);
                self.refuse(req, out);
            }
            Message::Vote {
                req,
                serial,
                fence,
                done,
            } => {
                let token = Token {
                    voter: from,
                    serial,
                    hop: 0,
                };
                self.take_all(req, &[token], fence, &done, out);
            }
            Message::No { req, holder, held } => {
                if self.req == Some(req) {
                    self.answer(from, (holder, held));
                }
            }
            Message::P2req { claim, rival } => self.asked_for(claim, rival),
            Message::P2v {
                req,
                tokens,
                fence,
                done,
            } => self.take_all(req, &tokens, fence, &done, out),
            Message::Rel { req, serial, fence } => {
                self.fence = self.fence.max(fence);
                self.learn(req.id, req.t);
                if let Some(serial) = serial {
                    self.voter.take_back(serial);
                }
            }
        }
        self.grant(out);
        self.evaluate(out);
    }

    fn timer(&mut self, timer: Timer, out: &mut Outbox<Message>) {
        let (votes, rule) = (self.votes(), self.terms.rule);
        match self.campaign.as_mut().map(|campaign| &mut campaign.phase) {
            Some(Phase::First { .. }) if timer == T1 => self.end_phase_1(out),
            Some(Phase::Passive { tau }) if timer == T2 => {
                *tau -= 1;
                out.note_for(self.me, "lowered", 1);
                if rule.hopes(votes, *tau) {
                    self.enter_phase_2(true, 0, out);
                } else {
                    out.set_timer(T2, After::Exactly(4 * self.terms.bound));
                }
            }
            _ => out.timer_was_not_set(timer),
        }
        self.evaluate(out);
    }

    fn peer(&mut self, peer: NodeId, change: Change, out: &mut Outbox<Message>) {
        change.note_in(&mut self.down, peer);
        self.evaluate(out);
    }

    ignores! { link: "links are patient: a cut only delays, and a vote beyond it is not lost" }

    fn draw(&self, view: &mut View) {
        view.points_to("vote with", self.voter.out.map(|loan| loan.to.id));
        view.set("votes", self.got.keys());
        view.queue("want our vote", self.voter.q.keys().map(|req| req.id));
    }

    invariants! {
        "a vote is in one place": invariants::votes_are_in_one_place,
        "who is inside has a majority of votes": invariants::who_is_inside_has_a_majority,
        "nobody waits with a majority": invariants::nobody_waits_with_a_majority,
    }
}

impl Process {
    /// Enters with a majority; without one, moves the campaign on.
    fn evaluate(&mut self, out: &mut Outbox<Message>) {
        let Some(campaign) = &self.campaign else {
            return;
        };
        if self.has_majority() {
            self.enter(out);
            return;
        }
        if let Phase::First { answered, .. } = &campaign.phase {
            let known = |id: NodeId| answered.contains(&id) || self.down.contains(&id);
            if self.everybody().all(known) {
                out.cancel_timer(T1);
                self.end_phase_1(out);
            }
        }
        self.ask(out);
        self.hand(out);
    }

    fn enter(&mut self, out: &mut Outbox<Message>) {
        let campaign = self.campaign.take().expect("only who waits enters");
        match campaign.phase {
            Phase::First { .. } => out.cancel_timer(T1),
            Phase::Passive { .. } => out.cancel_timer(T2),
            Phase::Active { .. } => {}
        }
        let hops = self.got.values().map(|(_, hop)| *hop).max().unwrap_or(0);
        out.note_for(self.me, "hops", hops);
        out.note_for(self.me, "phase_1", u64::from(hops == 0));
        // Majorities meet, so somebody among our voters knew the last fence.
        self.fence = self.fence.saturating_add(1);
        out.enter_with(self.fence);
    }

    /// Nobody has a majority yet: are we one of those that go on?
    fn end_phase_1(&mut self, out: &mut Outbox<Message>) {
        let (Some(campaign), Some(req)) = (&self.campaign, self.req) else {
            return;
        };
        let Phase::First { tally, .. } = &campaign.phase else {
            return;
        };
        let Terms { rule, tau, .. } = self.terms;
        let active = rule.leads(req, self.votes(), tau, tally);
        out.note_for(self.me, "active", u64::from(active));
        self.enter_phase_2(active, tau, out);
    }

    fn enter_phase_2(&mut self, active: bool, tau: i64, out: &mut Outbox<Message>) {
        let Some(campaign) = &mut self.campaign else {
            return;
        };
        campaign.phase = if active {
            out.note_for(self.me, "phase_2_began", 1);
            let asked = BTreeMap::new();
            Phase::Active { asked }
        } else {
            out.set_timer(T2, After::Exactly(4 * self.terms.bound));
            Phase::Passive { tau }
        };
    }

    /// An active candidate asks every rival it knows for its votes; again once it has aged.
    fn ask(&mut self, out: &mut Outbox<Message>) {
        let (Some(claim), Some(campaign)) = (self.claim(), &mut self.campaign) else {
            return;
        };
        let Phase::Active { asked } = &mut campaign.phase else {
            return;
        };
        for rival in self.voter.q.keys().filter(|rival| rival.id != self.me) {
            if asked.insert(*rival, claim.aged) != Some(claim.aged) {
                let rival_t = rival.t;
                let message = Message::P2req {
                    claim,
                    rival: rival_t,
                };
                out.send_for(self.me, rival.id, message);
            }
        }
        asked.retain(|rival, _| self.voter.q.contains_key(rival));
    }

    /// Hands all votes to the best rival that asked, if it goes before us or we are out of it.
    fn hand(&mut self, out: &mut Outbox<Message>) {
        let (Some(claim), Some(campaign)) = (self.claim(), &self.campaign) else {
            return;
        };
        let Some((&req, &rank)) = campaign.want.iter().min_by_key(|(_, rank)| **rank) else {
            return;
        };
        let passive = matches!(campaign.phase, Phase::Passive { .. });
        if self.got.is_empty() || !(passive || rank < self.terms.rule.rank(claim)) {
            return;
        }
        // What is handed over is ours no longer.
        let got = std::mem::take(&mut self.got);
        out.note_for(self.me, "handed_over", got.len() as u64);
        let tokens = got.into_iter().map(|(voter, (serial, hop))| Token {
            voter,
            serial,
            hop: hop.saturating_add(1),
        });
        let message = Message::P2v {
            req,
            tokens: tokens.collect(),
            fence: self.fence,
            done: self.voter.done.clone(),
        };
        out.send_for(req.id, req.id, message);
    }

    /// Lends our vote to the oldest request, if it is at home.
    fn grant(&mut self, out: &mut Outbox<Message>) {
        if let Some(Loan { serial, to }) = self.voter.lend() {
            let message = Message::Vote {
                req: to,
                serial,
                fence: self.fence,
                done: self.voter.done.clone(),
            };
            out.send_for(to.id, to.id, message);
        }
    }

    /// Says that our vote is out; ourselves we always tell.
    fn refuse(&self, req: Stamp, out: &mut Outbox<Message>) {
        let Some(Loan { to: holder, .. }) = self.voter.out else {
            return;
        };
        let open = self.voter.q.contains_key(&req);
        if open && holder != req && (self.terms.reject || req.id == self.me) {
            let held = self.voter.held(holder);
            out.send_for(req.id, req.id, Message::No { req, holder, held });
        }
    }

    fn asked_for(&mut self, claim: Claim, rival: u64) {
        let req = claim.req;
        self.queue(req, claim.held);
        let about_us = self.req.is_some_and(|req| req.t == rival);
        let open = self.voter.q.contains_key(&req);
        if let Some(campaign) = &mut self.campaign
            && about_us
            && open
        {
            let rank = self.terms.rule.rank(claim);
            let known = campaign.want.entry(req).or_insert(rank);
            *known = rank.min(*known);
        }
    }

    /// Takes votes for a request of ours; those that come too late go home.
    fn take_all(
        &mut self,
        req: Stamp,
        tokens: &[Token],
        fence: u64,
        done: &[u64],
        out: &mut Outbox<Message>,
    ) {
        self.fence = self.fence.max(fence);
        // Without this news a finished request would be handed votes again and again.
        for (id, &t) in done.iter().enumerate() {
            self.learn(NodeId(id as u32), t);
        }
        for &Token { voter, serial, hop } in tokens {
            let seen = &mut self.seen[voter.index()];
            if (serial, hop) <= *seen {
                continue;
            }
            *seen = (serial, hop);
            if self.req == Some(req) {
                self.got.insert(voter, (serial, hop));
                self.answer(voter, (req, self.terms.held));
            } else {
                let serial = Some(serial);
                let late = Message::Rel {
                    req,
                    serial,
                    fence: 0,
                };
                out.send_for(self.me, voter, late);
            }
        }
    }

    /// A voter has told for whom it voted.
    fn answer(&mut self, voter: NodeId, vote: (Stamp, u32)) {
        if let Some(campaign) = &mut self.campaign
            && let Phase::First { answered, tally } = &mut campaign.phase
        {
            answered.insert(voter);
            if self.terms.rule.counts_votes_of_others() {
                let ours = Some(vote.0) == self.req;
                let told = tally.entry(voter).or_insert(vote);
                *told = if ours { vote } else { *told };
            }
        }
    }

    fn queue(&mut self, req: Stamp, held: u32) {
        self.clock = self.clock.max(req.t);
        if let Some(older) = self.voter.queue(req, held) {
            self.learn(older.id, older.t);
        }
    }

    /// A request is finished, and all that its process made before.
    fn learn(&mut self, id: NodeId, t: u64) {
        if !self.voter.learn(id, t) {
            return;
        }
        if let (Some(req), Some(campaign)) = (self.req, &mut self.campaign) {
            let finished = Stamp { t, id };
            campaign
                .want
                .retain(|rival, _| rival.id != id || rival.t > t);
            if let Some(ageing) = self.terms.rule.ageing()
                && finished > req
            {
                campaign.over = ageing.min(campaign.over.saturating_add(1));
            }
        }
    }

    /// Ourselves as our rivals see us.
    fn claim(&self) -> Option<Claim> {
        let (req, campaign) = (self.req?, self.campaign.as_ref()?);
        let ageing = self.terms.rule.ageing();
        let aged = ageing.is_some_and(|ageing| campaign.over >= ageing);
        let held = campaign.held;
        Some(Claim { req, held, aged })
    }

    /// Whether the message could have come from there.
    fn check(&self, from: NodeId, message: &Message) -> Result<(), String> {
        let member = |id: NodeId| id.index() < self.seen.len();
        let fits = |done: &[u64]| done.len() == self.seen.len();
        let (owner, rest_fits) = match message {
            Message::Req { req, .. } | Message::Rel { req, .. } => (req.id == from, true),
            Message::P2req { claim, .. } => (claim.req.id == from, true),
            Message::No { req, holder, .. } => (req.id == self.me, member(holder.id)),
            Message::Vote { req, done, .. } => (req.id == self.me, fits(done)),
            Message::P2v {
                req, tokens, done, ..
            } => {
                let voters = tokens.iter().all(|token| member(token.voter));
                (req.id == self.me, voters && fits(done))
            }
        };
        match (owner, rest_fits) {
            (true, true) => Ok(()),
            (false, _) => Err(format!("{from} sent a message about another's request")),
            (_, false) => Err(format!("{from} sent a message of another group")),
        }
    }

    /// How many votes we have.
    pub(super) fn votes(&self) -> usize {
        let weight = |voter: &NodeId| self.terms.weights[voter.index()] as usize;
        self.got.keys().map(weight).sum()
    }

    pub(super) fn has_majority(&self) -> bool {
        let all = self.terms.weights.iter().map(|weight| *weight as usize);
        2 * self.votes() > all.sum()
    }

    /// Whether our client is inside.
    pub(super) fn is_inside(&self) -> bool {
        self.req.is_some() && self.campaign.is_none()
    }

    fn everybody(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.seen.len() as u32).map(NodeId)
    }
}

impl Terms {
    /// BMaV is the one with resources.
    fn new(setup: &Setup<'_>) -> Self {
        let params = &setup.setting.params;
        let (rule, held) = match params.get("resources") {
            Some(Value::Word(text)) => {
                let resources = Resources::read(text, setup.nodes());
                let resources = resources.expect("the registry refuses resources that do not fit");
                let ageing = match params.integer("ageing") {
                    0 => setup.nodes(),
                    ageing => ageing as u32,
                };
                (Rule::Holdings { ageing }, resources.held(setup.me))
            }
            Some(Value::Integer(_)) | None if params.word("priority") == "on" => {
                let ageing = match params.integer("ageing") {
                    0 => setup.nodes(),
                    ageing => ageing as u32,
                };
                (Rule::Priority { ageing }, 0)
            }
            Some(Value::Integer(_)) | None => (Rule::TimeStamp, 0),
        };
        let weights = match params.get("votes") {
            Some(Value::Word(votes)) => weights(votes, setup.nodes()),
            Some(Value::Integer(_)) | None => weights("", setup.nodes()),
        };
        Self {
            rule,
            held,
            weights: weights.expect("the registry refuses votes that do not fit"),
            tau: params.integer("tau") as i64,
            reject: params.word("reject") == "on",
            bound: setup.setting.bound,
        }
    }
}

impl Campaign {
    fn new(held: u32) -> Self {
        Self {
            held,
            phase: Phase::First {
                answered: BTreeSet::new(),
                tally: Tally::new(),
            },
            want: BTreeMap::new(),
            over: 0,
        }
    }
}
