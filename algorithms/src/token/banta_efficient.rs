//! Banta's efficient algorithm: a token with a queue, served in cycles.
//!
//! P. Banta, "Distributed mutual exclusion algorithms", M.S. thesis, University of Nevada, Las Vegas,
//! 1993, chapter 5.
//!
//! The token carries a queue, and one site on it is marked: the *good site*, whom everybody asks. It
//! collects requests until the token comes, is inside, and then begins the next cycle: what it
//! collected is the queue, the last of it is the new good site, the sites not on the queue are told,
//! and for two times the bound T it waits for requests that are still on their way to it. These join
//! the queue behind the mark and are served a cycle later (or, with `late=before`, the strategy that
//! section 5.8 weighs and leaves, before it).
//!
//! ```text
//!     1 leaves; 2, 4, 3 asked it      queue [2 4 3*], UPDATE 3 to 0 and 5
//!     0 had just asked 1              queue [2 4 3* 0], and after the wait TOKEN to 2
//! ```
//!
//! Cost: a cycle of `m` entries takes `m` REQUESTs, `n-1-m` UPDATEs and `m` TOKENs, so
//! `1 + (n-1)/m` messages per entry; the thesis says `1 + n/m`. An idle holder enters for nothing, a
//! request of one's own during one's wait needs no message, and a request that comes too late is
//! passed on for one message more each time. Safety never depends on T. Links need not keep order.
//! Kept from the thesis: `good_site`, both queues, the mark, the wait.
//! Added: requests that come too late are passed on, updates have epochs as in the simple algorithm,
//! the wait is a timer, and an idle holder enters at once.

pub(in crate::token) mod defects;
mod entry;
pub(crate) mod forms;
mod invariants;
pub(crate) mod queue;
pub(crate) mod wait;

use std::collections::VecDeque;
use std::time::Duration;

use serde::Serialize;

use crate::contract::{
    After, Algorithm, NodeId, Outbox, Request, Timer, declared, holds_token, ignores, invariants,
    messages, node, one_token, shown,
};
use crate::printed::rules;
use crate::view::View;

pub(crate) use entry::INFO;
use queue::Token;

messages! {
    /// What sites say to each other.
    pub(crate) enum Message, shown as below {
        /// `site` wants the token.
        Request { site: NodeId } of site = "REQUEST",
        /// `good` is the site to ask since that epoch began.
        Update { good: NodeId, epoch: u64 } = "UPDATE",
        /// The token itself. The first of its queue is the addressee.
        Token(Token) = "TOKEN",
    }
}

shown! {
    Message:
    Self::Request { site } => "Request({site})",
    Self::Update { good, epoch } => "Update({good} epoch {epoch})",
    Self::Token(token) => "Token({token:?})",
}

/// What a site's client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
enum State {
    NotRequesting,
    Requesting,
    Executing,
}

const WAIT: Timer = Timer::named("wait");

/// Everybody is queued once, unless "append" copies (banta-E2): then each cycle is longer than the
/// one before, and must end before memory does.
const MOST_PLACES_EACH: usize = 100;

node! {
    /// What one site knows.
    pub(crate) struct BantaEfficient of setup with me, nodes {
        state: State = State::NotRequesting,
        /// The site to ask; none is the -1 of the printed rules.
        good_site: Option<NodeId> = Some(setup.setting.holder),
        /// The epoch in which it became so.
        epoch: u64 = 0,
        /// Requests that reached us before the token.
        local_queue: VecDeque<NodeId> = VecDeque::new(),
        /// The token, while we have it (the thesis's `have_token`).
        token: Option<Token> = setup.is_holder().then(Token::default),
        /// The queue is marked, and the token leaves when the wait is over.
        waiting: bool = false,
        wait: Duration = wait::of(setup),
        /// Where requests that come too late for this cycle join the queue.
        late: Late = match setup.setting.params.word("late") {
            "before" => Late::BeforeTheGoodSite,
            _ => Late::BehindTheGoodSite,
        },
        /// What the printed rules do not read during the wait.
        unread: Vec<Unread> = Vec::new(),
        rules: Rules = Rules::of(&setup.setting.printed),
    }
}

/// Where a request joins a queue on which the good site is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
enum Late {
    /// It is served in the next cycle.
    BehindTheGoodSite,
    /// It is served in this one.
    BeforeTheGoodSite,
}

/// Something that happened while a site was blocked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
enum Unread {
    OwnRequest,
    Message(NodeId, Message),
}

rules! {
    /// The repairs that the thesis lacks.
    struct Rules {
        idle_holder_is_good: "idle-holder-is-good",
        append_empties: "append-empties",
        wait_is_a_timer: "wait-is-a-timer",
        strays_are_forwarded: "strays-are-forwarded",
        epochs: "epochs",
        every_exit_appends: "every-exit-appends",
        holder_enters: "holder-enters",
    }
}

impl Late {
    fn queue(self, token: &mut Token, site: NodeId) {
        let place = |mark| token.token_queue.iter().position(|queued| *queued == mark);
        match (self, token.mark.and_then(place)) {
            (Late::BeforeTheGoodSite, Some(place)) => token.token_queue.insert(place, site),
            (Late::BeforeTheGoodSite, None) | (Late::BehindTheGoodSite, _) => {
                token.token_queue.push_back(site);
            }
        }
    }
}

holds_token! { Token: BantaEfficient.token, Message::Token }

impl Algorithm for BantaEfficient {
    declared! { Message }

    /// The thesis's procedure `request_token`.
    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        // banta-E7: in the thesis an idle holder asks itself, tells everybody, and waits.
        let idle = self.token.as_mut().filter(|_| !self.waiting);
        if let Some(token) = idle.filter(|_| self.rules.holder_enters) {
            token.register(self.me, out);
            self.state = State::Executing;
            out.note("idle", 1);
            out.enter();
            return;
        }
        self.state = State::Requesting;
        if self.is_blocked() {
            self.unread.push(Unread::OwnRequest);
            return;
        }
        self.ask(out);
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.state = State::NotRequesting;
        let mut token = self.token.take().expect("a site that is inside has it");
        let was_good = token
            .mark
            .is_none_or(|mark| !token.token_queue.contains(&mark));
        // banta-E6: in the thesis only the good site reads its local queue.
        if was_good || self.rules.every_exit_appends {
            self.append_local_queue(&mut token, out);
        }
        if !was_good {
            self.send_token(token, out);
        } else if token.token_queue.is_empty() {
            token.mark = None;
            self.token = Some(token);
            // banta-E1: in the thesis the good site of an idle holder is -1.
            self.good_site = self.rules.idle_holder_is_good.then_some(self.me);
        } else {
            self.begin_cycle(token, out);
        }
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        if self.is_blocked() {
            self.unread.push(Unread::Message(from, message));
            return;
        }
        match message {
            Message::Request { site } | Message::Update { good: site, .. }
                if site.0 >= self.nodes =>
            {
                out.protocol_error(format!("{from} spoke of {site}, nobody here"));
            }
            Message::Request { site } => self.receive_token_request(site, out),
            Message::Update { good, epoch } => self.receive_good_site_update(good, epoch, out),
            Message::Token(token) if !self.could_be(&token) => {
                out.protocol_error(format!("{from} sent a token that is not for this site"));
            }
            Message::Token(_) if self.token.is_some() => {
                out.protocol_error(format!("{from} sent a second token"));
            }
            Message::Token(token) => self.receive_token(token, out),
        }
    }

    /// The wait is over: the token leaves.
    fn timer(&mut self, timer: Timer, out: &mut Outbox<Message>) {
        let Some(token) = self.token.take_if(|_| timer == WAIT && self.waiting) else {
            out.protocol_error(format!("{} went off, and nothing waits", timer.name));
            return;
        };
        self.waiting = false;
        self.send_token(token, out);
        for unread in std::mem::take(&mut self.unread) {
            match unread {
                Unread::OwnRequest => self.ask(out),
                Unread::Message(from, message) => self.receive(from, message, out),
            }
        }
    }

    ignores! { peer: "the thesis assumes that nobody fails: a lost token stays lost", link }

    fn draw(&self, view: &mut View) {
        view.points_to("good site", self.good_site);
        view.queue("local queue", &self.local_queue);
        view.token_with_queue(self.token.as_ref(), "token queue", |token| {
            &token.token_queue
        });
    }

    invariants! {
        "there is one token": one_token,
        "a request is in one place until it is served": invariants::requests_are_in_one_place,
        "nobody knows a later epoch than the token": invariants::epochs_come_from_the_token,
    }
}

impl BantaEfficient {
    /// Sends our request to the good site; during our own wait that is a late request to ourselves.
    fn ask(&mut self, out: &mut Outbox<Message>) {
        if let Some(token) = self.token.as_mut().filter(|_| self.waiting) {
            token.register(self.me, out);
            self.late.queue(token, self.me);
            out.note("own", 1);
        } else if let Some(good_site) = self.good_site {
            let request = Message::Request { site: self.me };
            out.send_for(self.me, good_site, request);
        }
        // banta-E1: a request to site -1 goes nowhere.
    }

    fn receive_token_request(&mut self, site: NodeId, out: &mut Outbox<Message>) {
        match (self.token.take(), self.state) {
            (Some(mut token), state) => {
                self.local_queue.push_back(site);
                self.append_local_queue(&mut token, out);
                if self.waiting {
                    out.note("late", 1);
                }
                if self.waiting || state == State::Executing {
                    self.token = Some(token);
                } else {
                    self.begin_cycle(token, out);
                }
            }
            (None, State::NotRequesting) if self.rules.strays_are_forwarded => {
                self.forward(site, out);
            }
            // banta-E4, banta-E5: the thesis files what comes too late, and nobody reads it.
            (None, _) => self.local_queue.push_back(site),
        }
    }

    /// A stray: we neither have the token nor will get it, but know whom to ask since.
    fn forward(&mut self, site: NodeId, out: &mut Outbox<Message>) {
        match self.good_site {
            Some(good_site) if good_site != self.me => {
                out.note("stray", 1);
                out.send_for(site, good_site, Message::Request { site });
            }
            _ => out.protocol_error("our good site is ourselves, and we do not expect the token"),
        }
    }

    fn receive_good_site_update(&mut self, good: NodeId, epoch: u64, out: &mut Outbox<Message>) {
        // banta-E5b: the thesis has no epochs and believes whatever arrives last.
        if epoch > self.epoch || !self.rules.epochs {
            self.good_site = Some(good);
            self.epoch = epoch;
        } else {
            out.note("stale", 1);
        }
    }

    fn receive_token(&mut self, mut token: Token, out: &mut Outbox<Message>) {
        token.token_queue.pop_front();
        if token.epoch > self.epoch || !self.rules.epochs {
            self.good_site = token.mark;
            self.epoch = token.epoch;
        }
        self.token = Some(token);
        self.state = State::Executing;
        out.enter();
    }

    /// Marks the last of the queue, tells those who are not on it, and waits for late requests.
    fn begin_cycle(&mut self, mut token: Token, out: &mut Outbox<Message>) {
        let update = |good, epoch| Message::Update { good, epoch };
        let good = token.begin_cycle((self.me, self.nodes), update, out);
        self.good_site = Some(good);
        self.epoch = token.epoch;
        self.token = Some(token);
        self.waiting = true;
        out.set_timer(WAIT, After::Exactly(self.wait));
    }

    fn send_token(&mut self, token: Token, out: &mut Outbox<Message>) {
        if token.token_queue.len() > MOST_PLACES_EACH * self.nodes as usize {
            out.protocol_error("the token queue grows without end; the token stays here");
            self.token = Some(token);
            return;
        }
        let &first = token.token_queue.front().expect("the mark is on it");
        out.send_for(first, first, Message::Token(token));
    }

    fn append_local_queue(&mut self, token: &mut Token, out: &mut Outbox<Message>) {
        for &site in &self.local_queue {
            token.register(site, out);
            self.late.queue(token, site);
        }
        // banta-E2: in the thesis "append" copies.
        if self.rules.append_empties {
            self.local_queue.clear();
        }
    }

    /// banta-E3: the wait of the thesis blocks, so nothing is read until the token has left.
    fn is_blocked(&self) -> bool {
        self.waiting && !self.rules.wait_is_a_timer
    }

    /// Whether the token is addressed to us and its queue fits this group.
    fn could_be(&self, token: &Token) -> bool {
        let known = |site: &NodeId| site.0 < self.nodes;
        token.token_queue.front() == Some(&self.me)
            && token.token_queue.iter().all(known)
            && token.mark.is_some_and(|mark| known(&mark))
    }
}
