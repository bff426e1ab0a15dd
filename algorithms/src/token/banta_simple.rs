//! Banta's simple algorithm: a token with a queue, and a guess at the end of it.
//!
//! P. Banta, "Distributed mutual exclusion algorithms", M.S. thesis, University of Nevada, Las Vegas,
//! 1993, chapters 3 and 4.
//!
//! The token carries a queue of the sites that wait for it. A request goes to the last site of that
//! queue, its *good site*, which keeps it until the token comes by and then appends it. Whenever the
//! end of the queue changes, the sites that are not on it are told.
//!
//! ```text
//!     token at 4, queue [7]        2 and 5 ask 7, which files them
//!     token at 7, queue [2 5]      7 leaves, appends them, tells 0 1 3 4 6: the good site is 5
//! ```
//!
//! Cost: `n` messages for a lone request (REQUEST, `n-2` UPDATEs, TOKEN), none for the holder, so
//! `n-1` on average when one site at a time, drawn uniformly, asks; about 3 when everybody always
//! wants in. Links need not keep order.
//! Kept from the thesis: its four states, `good_site`, both queues, and `send_token`. With
//! `rules=preliminary` those of section 4.3, with `rules=numbered` those of 4.6: requests have
//! numbers, every site on the way keeps a copy, and the token knows the numbers. With `rules=basic`
//! those of chapter 3: what was filed joins the queue when the token arrives, and everybody is told
//! of its end, those on it too. The first draft of that chapter, in which a request goes to everybody,
//! is a machine of its own, [`draft`].
//! Added: epochs. UPDATEs of different senders overtake each other, so the token counts the changes
//! of its end, and a site believes only what is newer than what it knows.

mod defects;
mod draft;
mod entry;
mod invariants;

use std::collections::VecDeque;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::contract::{
    Algorithm, NodeId, Outbox, Request, declared, holds_token, ignores, invariants, messages, node,
    one_token, shown,
};
use crate::token::banta_efficient::queue;
use crate::view::View;

pub(crate) use entry::INFO;

messages! {
    /// What sites say to each other.
    pub(crate) enum Message, shown as below {
        /// `site` wants the token, for the `number`-th time; always 0 in the preliminary rules.
        Request { site: NodeId, number: u64 } of site = "REQUEST",
        /// `last` is the last site on the token queue since that epoch began.
        Update { last: NodeId, epoch: u64 } = "UPDATE",
        /// The token itself. The first of its queue is the addressee.
        Token(Token) = "TOKEN",
    }
}

/// What travels with the right to enter.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Token {
    token_queue: VecDeque<NodeId>,
    /// How often the end of the queue has changed.
    epoch: u64,
    /// The number of each site's last request that was put on the queue; empty in the preliminary
    /// rules.
    history: Vec<u64>,
}

shown! {
    Message:
    Self::Request { site, number: 0 } => "Request({site})",
    Self::Request { site, number } => "Request({site} number {number})",
    Self::Update { last, epoch } => "Update({last} epoch {epoch})",
    Self::Token(token) => "Token({token:?})",
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} epoch {}", self.token_queue, self.epoch)?;
        match self.history.is_empty() {
            true => Ok(()),
            false => write!(f, " history {:?}", self.history),
        }
    }
}

/// What a site does: the thesis's N, R, E and H.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
enum State {
    NotRequesting,
    Requesting,
    Executing,
    Holding,
}

node! {
    /// What one site knows.
    pub(crate) struct BantaSimple of setup with me, nodes
    given
        numbered = setup.setting.params.word("rules") == "numbered",
        basic = setup.setting.params.word("rules") == "basic",
        no_numbers = vec![0; if numbered { setup.nodes() as usize } else { 0 }];
    {
        site_state: State = match setup.is_holder() {
            true => State::Holding,
            false => State::NotRequesting,
        },
        /// The last site on the token queue, as far as we know.
        good_site: NodeId = setup.setting.holder,
        /// The epoch in which it was.
        epoch: u64 = 0,
        /// The requests we keep for the token, with their numbers.
        local_queue: Vec<(NodeId, u64)> = Vec::new(),
        /// How many of them joined the queue when the token arrived, in the basic rules.
        joined: u64 = 0,
        /// The token, while we have it.
        token: Option<Token> = setup.is_holder().then(|| Token {
            token_queue: VecDeque::new(),
            epoch: 0,
            history: no_numbers.clone(),
        }),
        /// How many requests we have made; 0 in the preliminary rules.
        number: u64 = 0,
        /// The largest number that reached us from each site; empty in the preliminary rules.
        seen: Vec<u64> = no_numbers,
        rules: Rules = Rules {
            numbered,
            basic,
            leaving_appends: !basic || !setup.without("leaving-appends"),
            idle_site_forwards: !basic || !setup.without("idle-site-forwards"),
            holder_enters: !setup.without("holder-enters"),
            epochs: !setup.without("epochs"),
            queued_is_recorded: !setup.without("queued-is-recorded"),
            seen_is_dropped: !setup.without("seen-is-dropped"),
        },
    }
}

/// Which version of the algorithm, and the repairs that the thesis lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
struct Rules {
    /// The numbered rules of section 4.6, not the preliminary ones.
    numbered: bool,
    /// The basic rules of chapter 3.
    basic: bool,
    leaving_appends: bool,
    idle_site_forwards: bool,
    holder_enters: bool,
    epochs: bool,
    queued_is_recorded: bool,
    seen_is_dropped: bool,
}

holds_token! { Token: BantaSimple.token, Message::Token }

impl Algorithm for BantaSimple {
    declared! { Message }

    /// The thesis's procedure `request_token`.
    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        if self.rules.numbered {
            self.number += 1;
        }
        // banta-S1: the thesis leaves this rule out, and the holder asks its good site.
        if self.site_state == State::Holding && self.rules.holder_enters {
            self.record(self.me, self.number);
            self.site_state = State::Executing;
            out.note("idle", 1);
            out.enter();
            return;
        }
        self.site_state = State::Requesting;
        let request = Message::Request {
            site: self.me,
            number: self.number,
        };
        out.send_for(self.me, self.good_site, request);
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        // banta-N1: in the thesis the token learns of a request when it has been served, here.
        if !self.rules.queued_is_recorded {
            self.record(self.me, self.number);
        }
        self.send_token(out);
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request { site, .. } | Message::Update { last: site, .. }
                if site.0 >= self.nodes =>
            {
                out.protocol_error(format!("{from} spoke of {site}, nobody here"));
            }
            Message::Request { site, number } => self.receive_request(site, number, out),
            Message::Update { last, epoch } => self.receive_good_site_update(last, epoch, out),
            Message::Token(token) if !self.could_be(&token) => {
                out.protocol_error(format!("{from} sent a token that is not for this site"));
            }
            Message::Token(_) if self.token.is_some() => {
                out.protocol_error(format!("{from} sent a second token"));
            }
            Message::Token(token) => self.receive_token(token, out),
        }
    }

    ignores! { timer, peer: "the thesis assumes that nobody fails: a lost token stays lost", link }

    fn draw(&self, view: &mut View) {
        view.points_to("good site", self.good_site);
        view.queue("local queue", self.local_queue.iter().map(|(site, _)| site));
        view.token_with_queue(self.token.as_ref(), "token queue", |token| {
            &token.token_queue
        });
    }

    invariants! {
        "there is one token": one_token,
        "everybody on the token queue waits, once": invariants::the_queued_wait,
        "a request is somewhere until it is served": invariants::no_request_is_lost,
        "nobody knows a later epoch than the token": invariants::epochs_come_from_the_token,
    }
}

impl BantaSimple {
    fn receive_request(&mut self, site: NodeId, number: u64, out: &mut Outbox<Message>) {
        if self.rules.numbered {
            let seen = &mut self.seen[site.index()];
            // banta-N3: the thesis leaves this rule out, and a request that was queued elsewhere
            // is passed on and on.
            if number <= *seen && self.rules.seen_is_dropped {
                return;
            }
            *seen = number.max(*seen);
        }
        // banta-B2: in chapter 3 a site holds whatever it is asked until the token comes.
        let forwards = self.site_state == State::NotRequesting && self.rules.idle_site_forwards;
        // A site that passes a request on keeps a copy in the numbered rules alone.
        if self.rules.numbered || !forwards {
            self.local_queue
                .retain(|&(kept, _)| !self.rules.numbered || kept != site);
            self.local_queue.push((site, number));
        }
        match self.site_state {
            State::Holding => {
                self.join(out);
                self.send_token(out);
            }
            State::NotRequesting if !forwards => {}
            State::NotRequesting if self.good_site == self.me => {
                out.protocol_error("our good site is ourselves, and we do not expect the token");
            }
            State::NotRequesting => {
                out.note("forwarded", 1);
                out.send_for(site, self.good_site, Message::Request { site, number });
            }
            State::Requesting | State::Executing => {}
        }
    }

    fn receive_good_site_update(&mut self, last: NodeId, epoch: u64, out: &mut Outbox<Message>) {
        // banta-S2, banta-N2: the thesis has no epochs and believes whatever arrives last.
        if epoch > self.epoch || !self.rules.epochs {
            self.good_site = last;
            self.epoch = epoch;
        } else {
            out.note("stale", 1);
        }
    }

    fn receive_token(&mut self, mut token: Token, out: &mut Outbox<Message>) {
        token.token_queue.pop_front();
        // banta-S4: in the thesis an idle holder keeps the good site it knew.
        if token.epoch > self.epoch && self.rules.epochs {
            self.epoch = token.epoch;
            self.good_site = *token.token_queue.back().unwrap_or(&self.me);
        }
        self.token = Some(token);
        self.join(out);
        self.site_state = State::Executing;
        out.enter();
    }

    /// Step 3 of figure 3.4, the token is here: what we filed joins its queue. From chapter 4 on a site
    /// does so when it leaves.
    fn join(&mut self, out: &mut Outbox<Message>) {
        if let Some(mut token) = self.token.take_if(|_| self.rules.basic) {
            self.joined = self.append_local_queue(&mut token, out);
            self.token = Some(token);
        }
    }

    fn send_token(&mut self, out: &mut Outbox<Message>) {
        let mut token = self
            .token
            .take()
            .expect("a site that is inside or holds has it");
        let mut added = std::mem::take(&mut self.joined);
        // banta-B1: in chapter 3 what comes after the token waits until it comes again.
        if self.rules.leaving_appends {
            added += self.append_local_queue(&mut token, out);
        }
        if added > 0 {
            token.epoch = token.epoch.saturating_add(1);
            out.note("appended", added);
            self.tell_the_good_site(&token, out);
        }
        match (token.token_queue.front(), token.token_queue.back()) {
            (Some(&first), Some(&last)) => {
                self.good_site = last;
                self.epoch = token.epoch;
                self.site_state = State::NotRequesting;
                out.send_for(first, first, Message::Token(token));
            }
            _ => {
                self.site_state = State::Holding;
                self.token = Some(token);
            }
        }
    }

    /// Moves the local queue to the end of the token queue; says how many came on it.
    fn append_local_queue(&mut self, token: &mut Token, out: &mut Outbox<Message>) -> u64 {
        let mut added = 0;
        for (site, number) in std::mem::take(&mut self.local_queue) {
            if self.rules.numbered {
                let recorded = &mut token.history[site.index()];
                if number <= *recorded {
                    continue;
                }
                if self.rules.queued_is_recorded {
                    *recorded = number;
                }
            }
            token.token_queue.push_back(site);
            out.note_for(site, "queued", 1);
            added += 1;
        }
        added
    }

    fn tell_the_good_site(&self, token: &Token, out: &mut Outbox<Message>) {
        let &last = token.token_queue.back().expect("somebody was appended");
        let epoch = token.epoch;
        let update = Message::Update { last, epoch };
        let nobody = VecDeque::new();
        // Figure 3.4 tells all sites; that those on the queue learn it from the token is the last
        // thought of chapter 3, and the rule from chapter 4 on.
        let learn_from_the_token = match self.rules.basic {
            true => &nobody,
            false => &token.token_queue,
        };
        let group = (self.me, self.nodes);
        queue::tell_the_others(group, learn_from_the_token, last, &update, out);
    }

    /// Writes into the token that this request needs no place on the queue any more.
    fn record(&mut self, site: NodeId, number: u64) {
        if let Some(token) = &mut self.token
            && self.rules.numbered
        {
            token.history[site.index()] = number;
        }
    }

    /// Whether the token is addressed to us and its queue and history fit this group.
    fn could_be(&self, token: &Token) -> bool {
        let known = |site: &NodeId| site.0 < self.nodes;
        token.token_queue.front() == Some(&self.me)
            && token.token_queue.iter().all(known)
            && token.history.len() == self.seen.len()
    }
}
