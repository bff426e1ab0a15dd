//! LFRT and LFRT-P as the book prints them: requests that bounce, and dummies that bring the token back.
//!
//! Pseudo-code, description and worked example disagree. This is the reading that gets furthest, the
//! one of the worked example:
//!
//! - A request goes along all edges. Who knows it already, or has no edge to send it on, *bounces*
//!   it; a node whose edges have all bounced it forgets it and bounces it, too.
//! - With priorities a request is passed on if it is the first, or a higher, request from that
//!   neighbour, as the description says; by the code (kanrar-Q1) only if it becomes the most urgent.
//! - The token goes to where `LRQ`'s *first* entry came from, no matter who is first in `ORQ`; the
//!   edge it crosses is set to point after it.
//! - If entries are left, a dummy `<0, sender>` goes with the token and is put at the front of the
//!   receiver's `LRQ`, so that the token comes back; none goes with a token that a dummy brings back.
//!
//! ```text
//!     P5: LRQ = <4,6> <1,1> <6,6>     ORQ = 4 1 6
//!     the token goes to 6, and a dummy with it: LRQ at 6 = <0,5> ..., and from 6 to 4
//!     when 4 has left, the dummies bring it back to 6 and to 5, which goes on with <1,1>
//! ```
//!
//! It serves the worked example, and without priorities every burst whose requests have settled before
//! the token moves; with them, even of those only small ones. It fails as soon as both move at the same time: a copy of a request that was served is taken for a
//! new one, and a request that misses the token bounces home and is forgotten. Step 7, for links that
//! fail, reads other nodes' neighbours without asking them, so it cannot be run; here a link that
//! fails is only an edge less.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::machine::IDLE_HOLDER_SERVES;
use crate::contract::{
    Algorithm, Change, NodeId, Outbox, Request, declared, ignores, invariants, messages, node,
};
use crate::printed::LeftOut;
use crate::structure::precedence::{Precedence, Rank, ranked};
use crate::view::View;

/// kanrar-L2: the token goes to ORQ's first, the way its request came.
pub(super) const ROUTED_BY_ORQ: &str = "routed-by-orq";

/// kanrar-L5: bounces are counted from 0 for every request.
pub(super) const COUNTED_ANEW: &str = "counted-anew";

/// kanrar-L6: no dummy goes with a token that a dummy brings back.
pub(super) const DUMMIES_OUTWARD: &str = "dummies-outward";

/// kanrar-Q1: a request is passed on even where it does not become the most urgent: in this machine by
/// the description's rule. The repaired machine passes every request on once.
pub(super) const PASSED_ON: &str = "passed-on";

/// What the print lacks and this machine knows.
const RULES: &[&str] = &[IDLE_HOLDER_SERVES, COUNTED_ANEW, DUMMIES_OUTWARD, PASSED_ON];

messages! {
    /// What nodes say to each other.
    pub(crate) enum Message {
        /// The node `origin` wants in.
        Request { origin: NodeId, priority: u32 } = "REQUEST",
        /// There is no way on for the request of `origin` here.
        Bounce { origin: NodeId } = "BOUNCE",
        /// The token, with those who are to get it, and how urgently the sender wants it back, if it does.
        Token { orq: Vec<Entry>, dummy: Option<u32> } = "TOKEN",
    }

    fn origin(&self) -> Option<NodeId> {
        match self {
            Message::Request { origin, .. } | Message::Bounce { origin } => Some(*origin),
            Message::Token { orq, .. } => orq.first().and_then(|next| next.origin),
        }
    }
}

/// Somebody who waits: in `ORQ` the originator, in `LRQ` also the neighbour its request came from. The
/// book's id 0, a dummy, is nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Entry {
    origin: Option<NodeId>,
    via: NodeId,
    rank: Rank,
}

impl Entry {
    fn new(origin: NodeId, via: NodeId, priority: u32) -> Self {
        Self {
            origin: Some(origin),
            via,
            rank: Rank::new(priority),
        }
    }

    /// The sender of the token wants it back.
    fn dummy(sender: NodeId, priority: u32) -> Self {
        Self {
            origin: None,
            via: sender,
            rank: Rank::new(priority),
        }
    }
}

ranked!(Entry);

node! {
    /// What one node knows.
    pub(crate) struct PrintedLfrt of setup with me, nodes {
        precedence: Precedence = Precedence::of(setup),
        without: LeftOut = LeftOut::of(setup, RULES),
        /// The neighbours that edges lead to.
        out: BTreeSet<NodeId> = setup.neighbours().collect(),
        busy: bool = false,
        /// Who asked, and through whom the request came.
        lrq: Vec<Entry> = Vec::new(),
        /// How many neighbours have bounced somebody's request.
        count_bounce: BTreeMap<NodeId, usize> = BTreeMap::new(),
        /// The queue that travels, if the token is here.
        orq: Option<Vec<Entry>> = setup.is_holder().then(Vec::new),
    }
}

impl Algorithm for PrintedLfrt {
    declared! { Message }

    /// Step 1 of the pseudo-code.
    fn request(&mut self, request: Request, out: &mut Outbox<Message>) {
        let (me, priority) = (self.me, request.priority);
        if self.orq.is_some() {
            if !self.without.has(IDLE_HOLDER_SERVES) {
                self.busy = true;
                out.enter();
            }
            return;
        }
        self.file(Entry::new(me, me, priority));
        self.pass_on(me, priority, out);
    }

    /// Step 5 of the pseudo-code.
    fn release(&mut self, out: &mut Outbox<Message>) {
        self.busy = false;
        self.serve(out);
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request { origin, .. } | Message::Bounce { origin }
                if origin.0 >= self.nodes =>
            {
                out.protocol_error(format!("{from} names a node that there is not"));
            }
            Message::Request { origin, priority } => {
                self.receive_request(from, origin, priority, out);
            }
            Message::Bounce { origin } => self.receive_bounce(origin, out),
            Message::Token { orq, dummy } => self.receive_token(from, orq, dummy, out),
        }
    }

    ignores! { timer, peer: "links fail here, not nodes" }

    fn link(&mut self, neighbour: NodeId, change: Change, _: &mut Outbox<Message>) {
        match change {
            Change::Down => _ = self.out.remove(&neighbour),
            // Nothing says in which direction it comes back.
            Change::Up => {}
        }
    }

    // It is judged by what comes of it.
    fn draw(&self, view: &mut View) {
        for &neighbour in &self.out {
            view.points_to("out", neighbour);
        }
        view.set("LRQ", self.lrq.iter().filter_map(|entry| entry.origin));
        view.token_with_queue(self.orq.as_ref(), "ORQ", |orq| {
            orq.iter().filter_map(|entry| entry.origin)
        });
    }

    invariants! {}
}

impl PrintedLfrt {
    /// Steps 2 and 3.
    fn receive_request(
        &mut self,
        from: NodeId,
        origin: NodeId,
        priority: u32,
        out: &mut Outbox<Message>,
    ) {
        let known = self.lrq.iter().any(|entry| entry.origin == Some(origin));
        let dead_end = self.orq.is_none() && self.out.is_empty();
        if known || dead_end {
            out.send_for(origin, from, Message::Bounce { origin });
            return;
        }
        let as_urgent = |entry: &Entry| {
            let real = entry.origin.is_some() && entry.via == from;
            real && entry.rank.priority >= priority
        };
        let highest_from_there = !self.lrq.iter().any(as_urgent);
        self.file(Entry::new(origin, from, priority));
        let Some(orq) = &mut self.orq else {
            let first = self.lrq.first().and_then(|entry| entry.origin) == Some(origin);
            let goes_on = match self.precedence {
                _ if self.without.has(PASSED_ON) => first,
                Precedence::Priority(_) => highest_from_there,
                Precedence::Arrival => true,
            };
            if goes_on {
                self.pass_on(origin, priority, out);
            }
            return;
        };
        self.precedence
            .insert(orq, Entry::new(origin, from, priority));
        if !self.busy && !self.without.has(IDLE_HOLDER_SERVES) {
            self.serve(out);
        }
    }

    /// Step 4 of the pseudo-code.
    fn receive_bounce(&mut self, origin: NodeId, out: &mut Outbox<Message>) {
        let count = self.count_bounce.entry(origin).or_default();
        *count += 1;
        if *count != self.out.len() {
            return;
        }
        if !self.without.has(COUNTED_ANEW) {
            self.count_bounce.remove(&origin);
        }
        let place = self
            .lrq
            .iter()
            .position(|entry| entry.origin == Some(origin));
        if let Some(Entry { via, .. }) = place.map(|place| self.lrq.remove(place))
            && via != self.me
        {
            out.send_for(origin, via, Message::Bounce { origin });
        }
    }

    /// Step 5: the holder has left, or was idle.
    fn serve(&mut self, out: &mut Outbox<Message>) {
        if self.orq.as_ref().is_some_and(|orq| !orq.is_empty()) {
            let first = self.take_first();
            self.send_token(first, out);
        }
    }

    /// Step 6 of the pseudo-code.
    fn receive_token(
        &mut self,
        from: NodeId,
        mut orq: Vec<Entry>,
        dummy: Option<u32>,
        out: &mut Outbox<Message>,
    ) {
        if self.orq.is_some() {
            out.protocol_error(format!("{from} sent a second token"));
            return;
        }
        self.out.remove(&from);
        let first = self.take_first();
        if let Some(priority) = dummy {
            // At the front, or with priorities before its equals.
            let urgent = |entry: &Entry| entry.rank.priority > priority;
            let place = match self.precedence {
                Precedence::Arrival => 0,
                Precedence::Priority(_) => {
                    self.lrq.iter().take_while(|entry| urgent(entry)).count()
                }
            };
            self.lrq.insert(place, Entry::dummy(from, priority));
        }
        let me = Some(self.me);
        let next = orq.first().and_then(|next| next.origin);
        if next == me && first.is_some_and(|entry| entry.origin == me) {
            orq.remove(0);
            self.orq = Some(orq);
            self.busy = true;
            out.enter();
        } else {
            self.orq = Some(orq);
            self.send_token(first, out);
        }
    }

    /// Sends the token to where this entry came from, and with it a dummy if others are left.
    fn send_token(&mut self, entry: Option<Entry>, out: &mut Outbox<Message>) {
        let Some(Entry { origin, via, .. }) = entry else {
            out.protocol_error("there is no entry that says where the token is to go");
            return;
        };
        if via == self.me {
            out.protocol_error("the token is to go to where it is");
            return;
        }
        let orq = self.orq.take().expect("only the holder sends it");
        let brought_back = origin.is_none() && !self.without.has(DUMMIES_OUTWARD);
        let left = self.lrq.first().map(|entry| entry.rank.priority);
        let dummy = left.filter(|_| !brought_back);
        if let Some(priority) = dummy {
            out.note("dummy", u64::from(priority));
        }
        self.out.insert(via);
        let token = Message::Token { orq, dummy };
        match origin {
            Some(origin) => out.send_for(origin, via, token),
            None => out.send(via, token),
        }
    }

    fn take_first(&mut self) -> Option<Entry> {
        (!self.lrq.is_empty()).then(|| self.lrq.remove(0))
    }

    fn file(&mut self, entry: Entry) {
        if let Some(origin) = entry.origin
            && !self.without.has(COUNTED_ANEW)
        {
            self.count_bounce.remove(&origin);
        }
        self.precedence.insert(&mut self.lrq, entry);
    }

    fn pass_on(&mut self, origin: NodeId, priority: u32, out: &mut Outbox<Message>) {
        for &neighbour in &self.out {
            out.send_for(origin, neighbour, Message::Request { origin, priority });
        }
    }
}
