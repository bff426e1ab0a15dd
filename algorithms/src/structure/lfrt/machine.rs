//! One node of LFRT or LFRT-P, as long as its links are there.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;

use super::invariants;
use super::message::{Asked, Message, Relay, Token, Waiting};
use crate::contract::{
    Algorithm, Change, NodeId, Outbox, Request, Timer, declared, ignores, invariants, node,
};
use crate::printed::{LeftOut, rule_names};
use crate::structure::precedence::{Precedence, Rank};
use crate::view::View;

rule_names! {
    /// kanrar-L1: a holder that is not inside serves any node that asks, itself too.
    IDLE_HOLDER_SERVES = "idle-holder-serves",
    /// kanrar-L3: a request that was served is recognised by its number.
    SERVED_IS_KNOWN = "served-is-known",
    /// kanrar-L4: what was heard of and is not in ORQ is added when the token comes.
    MERGED_ON_ARRIVAL = "merged-on-arrival",
    /// kanrar-L8: wide copies go to everybody, even to the originator and back to the sender.
    WIDE_GOES_EVERYWHERE = "wide-goes-everywhere",
}

node! {
    /// What one node knows.
    pub(crate) struct Lfrt of setup with me, nodes {
        precedence: Precedence = Precedence::of(setup),
        /// What the print lacks and is to be left out.
        without: LeftOut = LeftOut::of(setup, RULES),
        /// The neighbours that edges lead to: one of them is on the way to the token.
        pub(super) out: BTreeSet<NodeId> = setup.neighbours().collect(),
        /// The neighbours, in either direction, whose link is there.
        pub(super) up: BTreeSet<NodeId> = setup.linked().collect(),
        /// How often the local client has asked.
        seq: u64 = 0,
        /// The local client is inside.
        pub(super) busy: bool = false,
        /// Who asked, in order of arrival: the latest request of each that was heard of.
        pub(super) lrq: Vec<Heard> = Vec::new(),
        pub(super) token: Option<Token> = setup.is_holder().then(Token::default),
        /// The largest hop of a token that was accepted here.
        pub(super) max_hop: u64 = 0,
        /// The token's `ln` when it last left.
        pub(super) done: BTreeMap<NodeId, u64> = BTreeMap::new(),
        /// The token that was sent last and to whom, until a later hop is heard of.
        pub(super) sent: Option<(NodeId, Token)> = None,
        /// The relay with the largest hop that was heard of.
        pub(super) relay: Option<Relay> = None,
        /// The number of the search that is going on, and whom it is for.
        pub(super) find: Option<(u64, NodeId)> = None,
        /// How many searches were begun here.
        pub(super) nonce: u64 = 0,
        /// The latest search of each holder that was heard of.
        pub(super) seen_find: BTreeMap<NodeId, u64> = BTreeMap::new(),
        /// How often in a row nobody could be found.
        pub(super) retries: u32 = 0,
        /// How long a search may take: there and back through everybody.
        pub(super) patience: Duration = setup.setting.bound.saturating_mul(2 * setup.nodes()),
    }
}

/// A request that was heard of, and from whom first; `me` for one's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Heard {
    pub(super) asked: Asked,
    pub(super) via: NodeId,
}

impl Algorithm for Lfrt {
    declared! { Message }

    fn request(&mut self, request: Request, out: &mut Outbox<Message>) {
        self.seq += 1;
        let asked = Asked {
            origin: self.me,
            seq: self.seq,
            priority: request.priority,
            wide: false,
        };
        self.hear(asked, self.me, out);
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.busy = false;
        if let Some(token) = &mut self.token {
            token.parked.clear();
        }
        self.step(out);
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        if !message.names_only(self.nodes) {
            out.protocol_error(format!("{from} names a node that there is not"));
            return;
        }
        match message {
            Message::Request(asked) => self.receive_request(from, asked, out),
            Message::Token(token) => self.accept(from, token, out),
            Message::Find {
                holder,
                nonce,
                target,
                path,
            } => self.receive_find(from, (holder, nonce), target, path, out),
            Message::Found {
                holder,
                nonce,
                path,
            } => self.receive_found((holder, nonce), path, out),
            Message::Relay(relay) => self.receive_relay(from, relay, out),
        }
    }

    fn timer(&mut self, timer: Timer, out: &mut Outbox<Message>) {
        self.wake(timer, out);
    }

    ignores! { peer: "links fail here, not nodes" }

    fn link(&mut self, neighbour: NodeId, change: Change, out: &mut Outbox<Message>) {
        match change {
            Change::Down => self.link_down(neighbour, out),
            Change::Up => self.link_up(neighbour, out),
        }
    }

    fn draw(&self, view: &mut View) {
        for &neighbour in &self.out {
            view.points_to("out", neighbour);
        }
        view.set("links up", &self.up);
        view.set("LRQ", self.lrq.iter().map(|heard| heard.asked.origin));
        view.token_with_queue(self.token.as_ref(), "ORQ", |token| {
            token.orq.iter().map(|waiting| waiting.origin)
        });
    }

    invariants! {
        "at most one has the token": invariants::one_has_it,
        "nothing under way is newer than the token that somebody has": invariants::no_second_token,
        "the holder knows everybody in ORQ": invariants::the_holder_knows_who_waits,
    }
}

impl Lfrt {
    fn receive_request(&mut self, from: NodeId, asked: Asked, out: &mut Outbox<Message>) {
        let (me, origin) = (self.me, asked.origin);
        if asked.seq <= self.served(origin) && !self.without.has(SERVED_IS_KNOWN) {
            return;
        }
        match self.heard(origin) {
            None if origin == me => {}
            Some(heard) if heard.asked.seq > asked.seq => {}
            Some(heard) if heard.asked.seq == asked.seq => {
                if asked.wide && !heard.asked.wide {
                    heard.asked.wide = true;
                    if self.token.is_none() {
                        self.flood(origin, Some(from), out);
                    }
                }
            }
            Some(_) | None => self.hear(asked, from, out),
        }
    }

    /// Remembers a request that is new here; writes it down or passes it on.
    fn hear(&mut self, asked: Asked, via: NodeId, out: &mut Outbox<Message>) {
        let origin = asked.origin;
        self.lrq.retain(|heard| heard.asked.origin != origin);
        self.lrq.push(Heard { asked, via });
        if self.token.is_none() {
            self.flood(origin, (via != self.me).then_some(via), out);
            return;
        }
        self.register(asked, out);
        if !self.without.has(IDLE_HOLDER_SERVES) {
            self.step(out);
        }
    }

    /// Passes a request on: along the edges, or, where one of those is dead, over all links. Then
    /// even the neighbour it came from needs the wide copy.
    pub(super) fn flood(
        &mut self,
        origin: NodeId,
        from: Option<NodeId>,
        out: &mut Outbox<Message>,
    ) {
        let relies_on_a_dead_link = !self.out.is_subset(&self.up);
        let Some(heard) = self.heard(origin) else {
            return;
        };
        let widens = !heard.asked.wide && relies_on_a_dead_link;
        if widens {
            heard.asked.wide = true;
            out.note("widened", 1);
        }
        let heard = heard.clone();
        let from = from.filter(|_| !widens);
        for &neighbour in &self.up {
            if Some(neighbour) != from && self.goes_to(&heard, neighbour) {
                out.send_for(origin, neighbour, Message::Request(heard.asked));
            }
        }
    }

    /// Whether a neighbour is to hear of this request: along the edges and never of its own, or, if it
    /// is wide, in any case. The only way may lead through the one who asked.
    pub(super) fn goes_to(&self, heard: &Heard, neighbour: NodeId) -> bool {
        let Heard { asked, via } = heard;
        if asked.wide {
            let back = neighbour == asked.origin || neighbour == *via;
            return !(back && self.without.has(WIDE_GOES_EVERYWHERE));
        }
        self.out.contains(&neighbour) && neighbour != asked.origin
    }

    /// The token comes, from the neighbour that sent it or by another way.
    pub(super) fn accept(&mut self, src: NodeId, token: Token, out: &mut Outbox<Message>) {
        if token.hop <= self.max_hop {
            // A copy of a hop that was accepted before.
            return;
        }
        if self.token.is_some() {
            out.protocol_error(format!("{src} sent a second token"));
            return;
        }
        self.max_hop = token.hop;
        (self.sent, self.find) = (None, None);
        self.out.remove(&src);
        for waiting in &token.orq {
            let newer = |heard: &&mut Heard| heard.asked.seq >= waiting.seq;
            if self.heard(waiting.origin).as_ref().is_some_and(newer) {
                continue;
            }
            let asked = Asked {
                origin: waiting.origin,
                seq: waiting.seq,
                priority: waiting.rank.priority,
                wide: false,
            };
            self.lrq
                .retain(|heard| heard.asked.origin != waiting.origin);
            self.lrq.push(Heard { asked, via: src });
        }
        self.token = Some(token);
        self.merge(out);
        self.step(out);
    }

    /// Adds to ORQ whatever was heard of here and is neither in it nor served.
    fn merge(&mut self, out: &mut Outbox<Message>) {
        let served: Vec<_> = self
            .lrq
            .iter()
            .map(|heard| self.served(heard.asked.origin))
            .collect();
        let mut served = served.into_iter();
        self.lrq
            .retain(|heard| served.next() < Some(heard.asked.seq));
        if self.without.has(MERGED_ON_ARRIVAL) {
            return;
        }
        let all: Vec<_> = self.lrq.iter().map(|heard| heard.asked).collect();
        for asked in all {
            let listed = |token: &Token| token.lists(asked.origin);
            if !self.token.as_ref().is_some_and(listed) {
                self.register(asked, out);
            }
        }
    }

    /// Writes a request into the queue that travels.
    fn register(&mut self, asked: Asked, out: &mut Outbox<Message>) {
        let token = self.token.as_mut().expect("only the holder writes");
        let Asked {
            origin,
            seq,
            priority,
            ..
        } = asked;
        // An older request of the same node is out of date.
        token.orq.retain(|waiting| waiting.origin != origin);
        let rank = Rank::new(priority);
        self.precedence
            .insert(&mut token.orq, Waiting { origin, seq, rank });
        token.registered = token.registered.saturating_add(1);
        out.note_for(origin, "registered", token.registered);
    }

    /// Lets the next one in, or sends the token its way; looks for a way where there is none.
    pub(super) fn step(&mut self, out: &mut Outbox<Message>) {
        let Some(token) = &self.token else { return };
        if self.busy || self.find.is_some() {
            return;
        }
        match token.next() {
            None => {}
            Some(next) if next == self.me => self.enter(out),
            Some(next) => match self.next_hop(next) {
                Some(neighbour) => self.send_token(next, neighbour, out),
                None => self.start_find(next, out),
            },
        }
    }

    fn enter(&mut self, out: &mut Outbox<Message>) {
        let asked = self.heard(self.me).map(|heard| heard.asked.seq);
        let token = self.token.as_mut().expect("only the holder enters");
        token.orq.retain(|waiting| waiting.origin != self.me);
        let Some(seq) = asked else {
            out.protocol_error("the token came for a request that was not made");
            return self.step(out);
        };
        token.ln.insert(self.me, seq);
        token.route.clear();
        self.lrq.retain(|heard| heard.asked.origin != self.me);
        self.retries = 0;
        self.busy = true;
        out.enter();
    }

    /// The live neighbour on the way to the next: on the way that was found, or else where its
    /// request came from.
    fn next_hop(&mut self, next: NodeId) -> Option<NodeId> {
        let via = self.heard(next).map(|heard| heard.via);
        let token = self.token.as_mut().expect("only the holder sends it");
        let leads_there = token.route.last() == Some(&next);
        let begins_here = token.route.first().is_some_and(|hop| self.up.contains(hop));
        if !leads_there || !begins_here {
            token.route.clear();
        }
        let neighbour = token.route.first().copied().or(via)?;
        self.up.contains(&neighbour).then_some(neighbour)
    }

    fn send_token(&mut self, next: NodeId, neighbour: NodeId, out: &mut Outbox<Message>) {
        let mut token = self.token.take().expect("only the holder sends it");
        token.hop = token.hop.saturating_add(1);
        if !token.route.is_empty() {
            token.route.remove(0);
        }
        self.done.clone_from(&token.ln);
        self.out.insert(neighbour);
        self.retries = 0;
        self.sent = Some((neighbour, token.clone()));
        out.send_for(next, neighbour, Message::Token(token));
    }

    pub(super) fn heard(&mut self, origin: NodeId) -> Option<&mut Heard> {
        self.lrq
            .iter_mut()
            .find(|heard| heard.asked.origin == origin)
    }

    /// The number of a node's last request that is known to be served; 0 where none is.
    fn served(&self, origin: NodeId) -> u64 {
        let served = match &self.token {
            Some(token) => &token.ln,
            None => &self.done,
        };
        served.get(&origin).copied().unwrap_or(0)
    }
}
