//! One site of MRA or MRA-P.

use serde::{Deserialize, Serialize};

use super::invariants;
use crate::contract::{
    Algorithm, NodeId, Outbox, Request, declared, holds_token, ignores, invariants, messages, node,
    one_token, shown,
};
use crate::printed::{LeftOut, rule_names};
use crate::structure::precedence::{Precedence, Rank, ranked};
use crate::view::View;

rule_names! {
    /// kanrar-M1: a holder that is not inside serves any site that asks, itself too.
    IDLE_HOLDER_SERVES = "idle-holder-serves",
    /// kanrar-M8: a request that comes from where the token went is ignored.
    CROSSED_IS_IGNORED = "crossed-is-ignored",
}

messages! {
    /// What sites say to each other.
    pub(crate) enum Message {
        /// `origin`, the sender or a site behind it, wants the token.
        Request { origin: NodeId, priority: u32 } = "REQUEST",
        /// The token itself, with those who are to get it.
        Token(Token) = "TOKEN",
    }

    fn origin(&self) -> Option<NodeId> {
        match self {
            Message::Request { origin, .. } => Some(*origin),
            Message::Token(token) => token.rq.first().map(|next| next.origin),
        }
    }
}

/// What travels with the right to enter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Token {
    /// Those who wait, the next first.
    pub(super) rq: Vec<Waiting>,
    /// How many have ever been written into it.
    registered: u64,
}

/// Somebody in the queue that travels.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub(super) origin: NodeId,
    rank: Rank,
}

// Who, and how urgent: `8(2)`.
shown! { Waiting: Self { origin, rank } => "{origin}({rank:?})" }

impl Waiting {
    /// Somebody who is written down now.
    pub(super) fn new(origin: NodeId, priority: u32) -> Self {
        let rank = Rank::new(priority);
        Self { origin, rank }
    }
}

ranked!(Waiting);

node! {
    /// What one site knows.
    pub(crate) struct Mra of setup with me, nodes {
        precedence: Precedence = Precedence::of(setup),
        /// What the print lacks and is to be left out.
        without: LeftOut = LeftOut::of(setup, RULES),
        /// The neighbour towards the token, or `me`.
        pub(super) holder: NodeId = setup.towards_holder(),
        /// The local client is inside.
        busy: bool = false,
        /// Who waits, as far as this site was asked, in order of arrival, and the way to them.
        pub(super) ldq: Vec<Way> = Vec::new(),
        /// The token, if it is here.
        pub(super) token: Option<Token> = setup.is_holder().then(Token::default),
    }
}

/// Somebody who waits, and the neighbour its request came from; `me` for oneself.
#[derive(Clone, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Way {
    pub(super) origin: NodeId,
    pub(super) via: NodeId,
    priority: u32,
}

// Who, and by which neighbour: `8 via 3`.
shown! { Way: Self { origin, via, .. } => "{origin} via {via}" }

holds_token! { Token: Mra.token, Message::Token }

impl Algorithm for Mra {
    declared! { Message }

    fn request(&mut self, request: Request, out: &mut Outbox<Message>) {
        let (origin, via, priority) = (self.me, self.me, request.priority);
        self.file(
            Way {
                origin,
                via,
                priority,
            },
            out,
        );
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.busy = false;
        self.step(out);
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request { origin, priority } => {
                let via = from;
                self.receive_request(
                    Way {
                        origin,
                        via,
                        priority,
                    },
                    out,
                );
            }
            Message::Token(token) => self.receive_token(from, token, out),
        }
    }

    ignores! { timer, peer: "the book has no recovery: a lost token stays lost", link }

    fn draw(&self, view: &mut View) {
        view.points_to("holder", self.holder);
        view.queue("LDQ", self.ldq.iter().map(|way| way.origin));
        view.token_with_queue(self.token.as_ref(), "RQ", |token| {
            token.rq.iter().map(|waiting| waiting.origin)
        });
    }

    invariants! {
        "there is one token": one_token,
        "the holder has a way to everybody in RQ, and to nobody else": invariants::the_holder_knows_the_ways,
        "no way leads where the token is": invariants::ways_lead_away_from_the_token,
        "LDQ names nobody twice": invariants::origins_are_unique,
    }
}

impl Mra {
    fn receive_request(&mut self, way: Way, out: &mut Outbox<Message>) {
        let (from, origin) = (way.via, way.origin);
        if origin.0 >= self.nodes {
            out.protocol_error(format!(
                "{from} asks for {origin}, and there is no such site"
            ));
        } else if from == self.holder && !self.without.has(CROSSED_IS_IGNORED) {
            // It crossed the token, and `from` adds it to RQ when the token arrives.
        } else if self.via(origin).is_some() || origin == self.me {
            out.protocol_error(format!("{from} asks for {origin} once more"));
        } else {
            self.file(way, out);
        }
    }

    /// Remembers who wants in and where that is known from; writes it down or passes it on.
    fn file(&mut self, way: Way, out: &mut Outbox<Message>) {
        let (origin, priority) = (way.origin, way.priority);
        self.ldq.push(way);
        if self.token.is_none() {
            out.send_for(origin, self.holder, Message::Request { origin, priority });
            return;
        }
        self.register(origin, priority, out);
        if !self.without.has(IDLE_HOLDER_SERVES) {
            self.step(out);
        }
    }

    fn receive_token(&mut self, from: NodeId, mut token: Token, out: &mut Outbox<Message>) {
        if from != self.holder || self.token.is_some() {
            out.protocol_error(format!("a token from {from}, where it was not"));
            return;
        }
        let is_me = |waiting: &Waiting| waiting.origin == self.me;
        if token.rq.iter().any(is_me) && self.via(self.me).is_none() {
            out.protocol_error(format!("{from} sent the token; nobody here asked"));
            token.rq.retain(|waiting| !is_me(waiting));
        }
        if token
            .rq
            .iter()
            .any(|waiting| waiting.origin.0 >= self.nodes)
        {
            out.protocol_error(format!("{from} sent a token for a site that there is not"));
            token.rq.retain(|waiting| waiting.origin.0 < self.nodes);
        }
        let listed = |origin| token.rq.iter().any(|waiting| waiting.origin == origin);
        let news = self.ldq.iter().filter(|way| !listed(way.origin));
        let news: Vec<_> = news.map(|way| (way.origin, way.priority)).collect();
        for waiting in &token.rq {
            // Whatever is unknown here lies behind the sender.
            if self.via(waiting.origin).is_none() {
                self.ldq.push(Way {
                    origin: waiting.origin,
                    via: from,
                    priority: waiting.rank.priority,
                });
            }
        }
        self.holder = self.me;
        self.token = Some(token);
        for (origin, priority) in news {
            self.register(origin, priority, out);
        }
        self.step(out);
    }

    /// Writes a request into the queue that travels.
    fn register(&mut self, origin: NodeId, priority: u32, out: &mut Outbox<Message>) {
        let token = self.token.as_mut().expect("only the holder writes");
        self.precedence
            .insert(&mut token.rq, Waiting::new(origin, priority));
        token.registered = token.registered.saturating_add(1);
        out.note_for(origin, "registered", token.registered);
    }

    /// Lets the first in RQ in, or sends the token its way.
    fn step(&mut self, out: &mut Outbox<Message>) {
        let Some(token) = self.token.as_mut().filter(|_| !self.busy) else {
            return;
        };
        let Some(next) = token.rq.first().map(|waiting| waiting.origin) else {
            return;
        };
        if next == self.me {
            token.rq.retain(|waiting| waiting.origin != next);
            self.ldq.retain(|way| way.origin != next);
            self.busy = true;
            out.enter();
            return;
        }
        let via = self.via(next).expect("LDQ has a way to everybody in RQ");
        // What lies that way is known there, or will be: RQ goes with the token.
        self.ldq.retain(|way| way.via != via);
        if !self.ldq.is_empty() {
            // In the book's MRA-P a request for the token's return goes after it.
            out.note("return", self.ldq.len() as u64);
        }
        self.holder = via;
        let token = self.token.take().expect("it was just here");
        out.send_for(next, via, Message::Token(token));
    }

    /// The neighbour from which a site's request came.
    fn via(&self, origin: NodeId) -> Option<NodeId> {
        let way = self.ldq.iter().find(|way| way.origin == origin)?;
        Some(way.via)
    }
}
