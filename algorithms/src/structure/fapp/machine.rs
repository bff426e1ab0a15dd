//! One site of FAPP.

use std::fmt;

use serde::Serialize;

use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, declared, ignores, invariants, messages, node,
};
use crate::printed::{LeftOut, rule_names};
use crate::structure::precedence::{self, Aging, Rank, ranked};
use crate::view::View;

rule_names! {
    /// kanrar-F1: a holder that is not inside serves any site that asks, itself too.
    IDLE_HOLDER_SERVES = "idle-holder-serves",
    /// kanrar-F2: a neighbour has one entry, at every site.
    ONE_ENTRY_EACH = "one-entry-each",
    /// kanrar-F3: a request that comes from where the token went is ignored.
    CROSSED_IS_IGNORED = "crossed-is-ignored",
    /// kanrar-F4: only a raise is told.
    ONLY_A_RAISE_IS_TOLD = "only-a-raise-is-told",
    /// kanrar-F6: the next is chosen before the sender of the token is filed.
    NEXT_BEFORE_SENDER = "next-before-sender",
    /// kanrar-F7: a token that comes back and wants to leave again ages those it passes (A3).
    RETURNING_TOKEN_AGES = "returning-token-ages",
    /// kanrar-F8: one's own request ages those it passes (A2).
    OWN_REQUEST_AGES = "own-request-ages",
}

messages! {
    /// What sites say to each other. Neither names an originator: both stand for a whole side.
    pub(crate) enum Message {
        /// The sender's side wants the token, this urgently.
        Request { priority: u32 } = "REQUEST",
        /// The token itself, and how urgently the sender's side wants it back.
        Token { dummy: Option<u32> } = "TOKEN",
    }
}

node! {
    /// What one site knows.
    pub(crate) struct Fapp of setup with me {
        aging: Aging = Aging::of(setup),
        /// What the print lacks and is to be left out.
        without: LeftOut = LeftOut::of(setup, RULES),
        /// The neighbour towards the token, or `me`.
        holder: NodeId = setup.towards_holder(),
        /// The local client is inside.
        busy: bool = false,
        /// Who wants the token: neighbours, or `me`; the most urgent first, of equals the oldest.
        pl: Vec<Place> = Vec::new(),
        /// The best priority that the holder's side knows of.
        told: Option<u32> = None,
    }
}

/// A neighbour that wants the token, or oneself.
#[derive(Clone, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Place {
    who: NodeId,
    rank: Rank,
    /// It was here when the token last left.
    old: bool,
}

/// As the book writes it: `<6,5>`.
impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let old = if self.old { " old" } else { "" };
        write!(f, "<{},{:?}{old}>", self.who, self.rank)
    }
}

ranked!(Place);

impl Algorithm for Fapp {
    declared! { Message }

    fn request(&mut self, request: Request, out: &mut Outbox<Message>) {
        let ages = !self.without.has(OWN_REQUEST_AGES);
        self.file(self.me, request.priority, ages);
        self.tell_or_serve(out);
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.busy = false;
        self.step(None, out);
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request { .. }
                if from == self.holder && !self.without.has(CROSSED_IS_IGNORED) =>
            {
                // It crossed the token, and `from` has filed it.
            }
            Message::Request { priority } => {
                self.file(from, priority, true);
                self.tell_or_serve(out);
            }
            Message::Token { .. } if from != self.holder => {
                out.protocol_error(format!("a token from {from}, where it was not"));
            }
            Message::Token { dummy } => {
                self.holder = self.me;
                self.told = None;
                if self.pl.is_empty() {
                    out.protocol_error(format!("{from} sent the token; nobody here asked"));
                }
                self.step(dummy.map(|priority| (from, priority)), out);
            }
        }
    }

    ignores! { timer, peer: "the book has no recovery: a lost token stays lost", link }

    fn draw(&self, view: &mut View) {
        view.points_to("holder", self.holder);
        view.queue("PL", self.pl.iter().map(|place| place.who));
        view.token(self.holder == self.me);
        view.mark("asked", self.told.is_some());
    }

    invariants! {
        "there is one token": one_token,
        "PL is sorted and names nobody twice": lists_are_in_order,
        "a site that wants the token is known where it asked": wants_are_known,
    }
}

impl Fapp {
    /// Puts a neighbour, or oneself, on the list; a neighbour that is there may only rise.
    fn file(&mut self, who: NodeId, priority: u32, ages: bool) {
        let there = self.pl.iter().position(|place| place.who == who);
        let replaces = !self.without.has(ONE_ENTRY_EACH) || self.holder == self.me;
        if let Some(place) = there.filter(|_| replaces) {
            if self.pl[place].rank.priority >= priority {
                return;
            }
            self.pl.remove(place);
        }
        if ages {
            self.aging.overtake(&mut self.pl, priority, |_| true);
        }
        let place = precedence::place(&self.pl, priority);
        let rank = Rank::new(priority);
        let old = false;
        self.pl.insert(place, Place { who, rank, old });
    }

    fn tell_or_serve(&mut self, out: &mut Outbox<Message>) {
        if self.holder != self.me {
            self.tell(out);
        } else if !self.busy && !self.without.has(IDLE_HOLDER_SERVES) {
            self.step(None, out);
        }
    }

    /// Tells the holder's side how urgently the token is wanted here, if it knows of less.
    fn tell(&mut self, out: &mut Outbox<Message>) {
        let best = self.best();
        if let Some(priority) = best
            && (best > self.told || self.without.has(ONLY_A_RAISE_IS_TOLD))
        {
            self.told = best;
            out.send(self.holder, Message::Request { priority });
        }
    }

    /// Lets the first on the list in, or sends the token there. Where the token has just come, its
    /// sender may want it back, with a dummy's priority.
    fn step(&mut self, dummy: Option<(NodeId, u32)>, out: &mut Outbox<Message>) {
        let sender_first = self.without.has(NEXT_BEFORE_SENDER);
        if sender_first {
            self.file_sender(dummy);
        }
        if self.pl.is_empty() {
            return;
        }
        let next = self.pl.remove(0);
        if !sender_first {
            self.file_sender(dummy);
        }
        if next.who == self.me {
            self.busy = true;
            out.enter();
            return;
        }
        for place in &mut self.pl {
            place.old = true;
        }
        self.holder = next.who;
        self.told = self.best();
        if let Some(priority) = self.told {
            out.note("dummy", u64::from(priority));
        }
        out.send(next.who, Message::Token { dummy: self.told });
    }

    /// Files the sender of a token that is wanted back there. Those who were here when the token last
    /// left have seen it come and go, and age.
    fn file_sender(&mut self, dummy: Option<(NodeId, u32)>) {
        let Some((from, priority)) = dummy else {
            return;
        };
        if !self.without.has(RETURNING_TOKEN_AGES) {
            self.aging
                .overtake(&mut self.pl, priority, |place| place.old);
        }
        self.file(from, priority, false);
    }

    fn best(&self) -> Option<u32> {
        self.pl.first().map(|place| place.rank.priority)
    }
}

fn one_token(world: &Snapshot<'_, Fapp>) -> Result<(), String> {
    world.one_token(
        |site| site.holder == site.me,
        |message| matches!(message, Message::Token { .. }),
    )
}

fn lists_are_in_order(world: &Snapshot<'_, Fapp>) -> Result<(), String> {
    for (me, site) in world.alive() {
        let sorted = site
            .pl
            .is_sorted_by(|a, b| a.rank.priority >= b.rank.priority);
        let twice = |place: &Place| {
            site.pl
                .iter()
                .filter(|other| other.who == place.who)
                .count()
        };
        if !sorted || site.pl.iter().any(|place| twice(place) > 1) {
            return Err(format!("{me} has {:?}", site.pl));
        }
    }
    Ok(())
}

fn wants_are_known(world: &Snapshot<'_, Fapp>) -> Result<(), String> {
    world.nobody_asks_in_vain(
        |site| (site.holder != site.me && !site.pl.is_empty()).then_some(site.holder),
        |holder, me| holder.pl.iter().any(|place| place.who == me),
        |message, to_holder| match message {
            Message::Request { .. } => to_holder,
            Message::Token { .. } => true,
        },
    )
}
