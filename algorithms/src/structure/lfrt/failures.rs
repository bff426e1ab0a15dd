//! What a node does about links that end their session, and about those that come back.

use super::machine::Lfrt;
use super::message::{Message, Relay};
use crate::contract::{After, NodeId, Outbox, Timer};

/// A holder and the number of one of its searches.
type Search = (NodeId, u64);

/// The search has taken too long: nobody answers.
const FIND: &str = "find";

/// It is time to look once more for those who could not be found.
const RETRY: &str = "retry";

/// The pauses between attempts double so many times.
const DOUBLINGS: u32 = 5;

impl Lfrt {
    pub(super) fn link_down(&mut self, neighbour: NodeId, out: &mut Outbox<Message>) {
        self.up.remove(&neighbour);
        if let Some((dst, token)) = self.sent.clone().filter(|(dst, _)| *dst == neighbour)
            && self.relay_hop() != Some(token.hop)
        {
            // Whether it arrived is not known. The same hop, to the same addressee, by all other
            // ways: it is accepted once.
            let src = self.me;
            self.relay = Some(Relay { src, dst, token });
            self.pass_relay_on(None, out);
        }
        if self.out.contains(&neighbour) && self.token.is_none() {
            let narrow = self.lrq.iter().filter(|heard| !heard.asked.wide);
            let narrow: Vec<_> = narrow.map(|heard| heard.asked.origin).collect();
            for origin in narrow {
                self.flood(origin, None, out);
            }
        }
    }

    pub(super) fn link_up(&mut self, neighbour: NodeId, out: &mut Outbox<Message>) {
        self.up.insert(neighbour);
        if let Some(relay) = self.relay.clone()
            && relay.token.hop > self.max_hop
        {
            let next = relay.token.next();
            send(next, neighbour, Message::Relay(relay), out);
        }
        if let Some((dst, token)) = &self.sent
            && *dst == neighbour
        {
            send(token.next(), neighbour, Message::Token(token.clone()), out);
        }
        if let Some(token) = &mut self.token {
            token.parked.clear();
            self.forget_find(out);
            self.step(out);
            return;
        }
        for heard in &self.lrq {
            if self.goes_to(heard, neighbour) {
                out.send_for(heard.asked.origin, neighbour, Message::Request(heard.asked));
            }
        }
    }

    pub(super) fn receive_relay(&mut self, from: NodeId, relay: Relay, out: &mut Outbox<Message>) {
        let hop = relay.token.hop;
        if self.sent.as_ref().is_some_and(|(_, sent)| sent.hop < hop) {
            // What was sent from here has gone on since.
            self.sent = None;
        }
        if self.max_hop >= hop || self.relay_hop() >= Some(hop) {
            return;
        }
        let (src, dst) = (relay.src, relay.dst);
        self.relay = Some(relay.clone());
        if dst == self.me {
            self.accept(src, relay.token, out);
        } else {
            self.pass_relay_on(Some(from), out);
        }
    }

    fn pass_relay_on(&self, from: Option<NodeId>, out: &mut Outbox<Message>) {
        let Some(relay) = &self.relay else { return };
        for &neighbour in self.up.iter().filter(|&&neighbour| Some(neighbour) != from) {
            let next = relay.token.next();
            send(next, neighbour, Message::Relay(relay.clone()), out);
        }
    }

    fn relay_hop(&self) -> Option<u64> {
        self.relay.as_ref().map(|relay| relay.token.hop)
    }

    /// Looks for a way to the next, over all links.
    pub(super) fn start_find(&mut self, target: NodeId, out: &mut Outbox<Message>) {
        self.nonce += 1;
        let (holder, nonce) = (self.me, self.nonce);
        self.find = Some((nonce, target));
        for &neighbour in &self.up {
            let find = Message::Find {
                holder,
                nonce,
                target,
                path: vec![holder],
            };
            out.send_for(target, neighbour, find);
        }
        out.set_timer(find_timer(nonce), After::Exactly(self.patience));
        // This is the other attempt.
        out.cancel_timer(Timer::named(RETRY));
    }

    pub(super) fn receive_find(
        &mut self,
        from: NodeId,
        (holder, nonce): Search,
        target: NodeId,
        mut path: Vec<NodeId>,
        out: &mut Outbox<Message>,
    ) {
        let seen = self.seen_find.get(&holder).copied().unwrap_or(0);
        if holder == self.me || nonce <= seen {
            return;
        }
        self.seen_find.insert(holder, nonce);
        path.push(self.me);
        if target == self.me {
            let found = Message::Found {
                holder,
                nonce,
                path,
            };
            out.send_for(target, from, found);
            return;
        }
        for &neighbour in self.up.iter().filter(|&&neighbour| neighbour != from) {
            let find = Message::Find {
                holder,
                nonce,
                target,
                path: path.clone(),
            };
            out.send_for(target, neighbour, find);
        }
    }

    pub(super) fn receive_found(
        &mut self,
        (holder, nonce): Search,
        path: Vec<NodeId>,
        out: &mut Outbox<Message>,
    ) {
        let place = path.iter().position(|&node| node == self.me);
        let (Some(place), Some(&target)) = (place, path.last()) else {
            out.protocol_error("a way was found that does not lead here");
            return;
        };
        if holder == self.me {
            if self.find == Some((nonce, target)) {
                self.forget_find(out);
                if let Some(token) = &mut self.token {
                    token.route = path[place + 1..].to_vec();
                }
                self.step(out);
            }
        } else if let Some(&before) = place.checked_sub(1).and_then(|place| path.get(place))
            && self.up.contains(&before)
        {
            let found = Message::Found {
                holder,
                nonce,
                path,
            };
            out.send_for(target, before, found);
        }
    }

    pub(super) fn wake(&mut self, timer: Timer, out: &mut Outbox<Message>) {
        match timer.name {
            FIND => {
                let Some((nonce, target)) = self.find.filter(|(nonce, _)| *nonce == timer.tag)
                else {
                    return;
                };
                debug_assert_eq!(nonce, self.nonce, "one search at a time");
                self.find = None;
                if let Some(token) = &mut self.token {
                    token.parked.insert(target);
                    out.note_for(target, "parked", 1);
                }
                self.step(out);
                self.try_again_later(out);
            }
            RETRY => {
                if let Some(token) = &mut self.token
                    && !self.busy
                {
                    token.parked.clear();
                    self.step(out);
                }
            }
            name => out.protocol_error(format!("no timer {name} was set")),
        }
    }

    /// If somebody still waits here who could not be found, looks again after a while: a link may
    /// come back far away.
    fn try_again_later(&mut self, out: &mut Outbox<Message>) {
        let left_out = |token: &super::message::Token| !token.parked.is_empty();
        let idle = !self.busy && self.find.is_none();
        if idle && self.token.as_ref().is_some_and(left_out) {
            let pause = self
                .patience
                .saturating_mul(1 << self.retries.min(DOUBLINGS));
            self.retries = self.retries.saturating_add(1);
            out.set_timer(Timer::named(RETRY), After::Again(pause));
        }
    }

    fn forget_find(&mut self, out: &mut Outbox<Message>) {
        if let Some((nonce, _)) = self.find.take() {
            out.cancel_timer(find_timer(nonce));
        }
    }
}

fn find_timer(nonce: u64) -> Timer {
    Timer {
        name: FIND,
        tag: nonce,
    }
}

/// Sends a copy of the token, charged to the node that it is for.
fn send(next: Option<NodeId>, to: NodeId, message: Message, out: &mut Outbox<Message>) {
    match next {
        Some(origin) => out.send_for(origin, to, message),
        None => out.send(to, message),
    }
}
