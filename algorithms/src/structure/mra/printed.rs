//! MRA and MRA-P as the book prints them: lists of paths, and requests for the token's return.
//!
//! Pseudo-code, description, worked example and tables disagree. This is the reading that gets
//! furthest, the one of the worked example:
//!
//! - `LDQ` holds paths of ids that end in one's own. A site without an open request passes its whole
//!   path on; one with an open request passes only the originator's id, and the site that gets it
//!   files the sender and itself.
//! - The token follows the *first* path in `LDQ`, no matter who is first in `RQ`.
//! - If paths are left, the sender wants the token back: the receiver files sender and itself at the
//!   front, once it has taken the path it follows.
//!
//! ```text
//!     P3: LDQ = {8,3} {6,3}     the token comes from 1, RQ = 8 11 6
//!     it goes to 8, and LDQ = {1,3} {6,3}: after 8 it goes back to 1
//! ```
//!
//! It serves Table 3.1 in the book's order, but not with the book's lists, and fails as soon as
//! requests and token move at the same time: a path says where somebody is, not who is next.

use super::machine::{IDLE_HOLDER_SERVES, Waiting};
use crate::contract::{
    Algorithm, NodeId, Outbox, Request, declared, ignores, invariants, messages, node,
};
use crate::printed::LeftOut;
use crate::structure::precedence::Precedence;
use crate::view::View;

/// kanrar-M5: every id in RQ has a next hop, the neighbour that its request came from.
pub(super) const NEXT_HOPS: &str = "next-hops";

/// kanrar-M6: RQ holds those who want in, not those who want the token back.
pub(super) const ONLY_ORIGINATORS: &str = "only-originators";

messages! {
    /// What sites say to each other.
    pub(crate) enum Message {
        /// `origin` wants the token; `path` leads from it to the sender, or is empty.
        Request {
            origin: NodeId,
            priority: u32,
            path: Vec<NodeId>,
        } = "REQUEST",
        /// The token, with those who are to get it, and whether the sender wants it back.
        Token { rq: Vec<Waiting>, back: bool } = "TOKEN",
    }

    fn origin(&self) -> Option<NodeId> {
        match self {
            Message::Request { origin, .. } => Some(*origin),
            Message::Token { rq, .. } => rq.first().map(|next| next.origin),
        }
    }
}

node! {
    /// What one site knows.
    pub(crate) struct PrintedMra of setup with me, nodes {
        precedence: Precedence = Precedence::of(setup),
        without: LeftOut = LeftOut::of(setup, &[IDLE_HOLDER_SERVES, ONLY_ORIGINATORS]),
        holder: NodeId = setup.towards_holder(),
        busy: bool = false,
        /// Paths of ids, each from an originator (or a sender) to `me`.
        ldq: Vec<Vec<NodeId>> = Vec::new(),
        /// The queue that travels, if the token is here.
        rq: Option<Vec<Waiting>> = setup.is_holder().then(Vec::new),
    }
}

impl Algorithm for PrintedMra {
    declared! { Message }

    /// Step 1 of the pseudo-code.
    fn request(&mut self, request: Request, out: &mut Outbox<Message>) {
        let (origin, priority) = (self.me, request.priority);
        if self.rq.is_some() && !self.without.has(IDLE_HOLDER_SERVES) {
            self.busy = true;
            out.enter();
            return;
        }
        let path = vec![self.me];
        self.ldq.push(path.clone());
        let message = Message::Request {
            origin,
            priority,
            path,
        };
        if self.rq.is_none() {
            out.send_for(origin, self.holder, message);
        }
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.busy = false;
        self.pass_on(None, out);
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request {
                origin,
                priority,
                path,
            } => {
                if origin.0 >= self.nodes || path.iter().any(|node| node.0 >= self.nodes) {
                    out.protocol_error(format!("{from} names a site that there is not"));
                    return;
                }
                self.receive_request(from, origin, priority, path, out);
            }
            Message::Token { rq, back } => self.receive_token(from, rq, back, out),
        }
    }

    ignores! { timer, peer: "the book has no recovery", link }

    // It is judged by what comes of it.
    fn draw(&self, view: &mut View) {
        view.points_to("holder", self.holder);
        view.queue("LDQ", self.ldq.iter().filter_map(|path| path.first()));
        view.token_with_queue(self.rq.as_ref(), "RQ", |rq| {
            rq.iter().map(|waiting| waiting.origin)
        });
    }

    invariants! {}
}

impl PrintedMra {
    /// Steps 2 and 3.
    fn receive_request(
        &mut self,
        from: NodeId,
        origin: NodeId,
        priority: u32,
        path: Vec<NodeId>,
        out: &mut Outbox<Message>,
    ) {
        let pending = !self.ldq.is_empty();
        let mut path = match path.is_empty() {
            true => vec![from],
            false => path,
        };
        path.push(self.me);
        self.ldq.push(path.clone());
        match &mut self.rq {
            Some(rq) => {
                self.precedence.insert(rq, Waiting::new(origin, priority));
                if !self.busy && !self.without.has(IDLE_HOLDER_SERVES) {
                    self.pass_on(None, out);
                }
            }
            None => {
                let message = Message::Request {
                    origin,
                    priority,
                    path: if pending { Vec::new() } else { path },
                };
                out.send_for(origin, self.holder, message);
            }
        }
    }

    /// Step 5 of the pseudo-code.
    fn receive_token(
        &mut self,
        from: NodeId,
        mut rq: Vec<Waiting>,
        back: bool,
        out: &mut Outbox<Message>,
    ) {
        if from != self.holder || self.rq.is_some() {
            out.protocol_error(format!("a token from {from}, where it was not"));
            return;
        }
        self.holder = self.me;
        if back && self.without.has(ONLY_ORIGINATORS) {
            // The request for its return is an ordinary one (Step 3).
            self.precedence.insert(&mut rq, Waiting::new(from, 0));
        }
        let return_path = back.then(|| vec![from, self.me]);
        let mine = rq.first().is_some_and(|next| next.origin == self.me);
        if mine {
            rq.remove(0);
            self.rq = Some(rq);
            let own = self.ldq.iter().position(|path| *path == [self.me]);
            own.map(|place| self.ldq.remove(place));
            self.ldq.splice(0..0, return_path);
            self.busy = true;
            out.enter();
        } else {
            self.rq = Some(rq);
            self.pass_on(return_path, out);
        }
    }

    /// Step 4: the token follows the first path; then the way back, if the token just came with one,
    /// is filed at the front.
    fn pass_on(&mut self, return_path: Option<Vec<NodeId>>, out: &mut Outbox<Message>) {
        let Some(next) = self.rq.as_ref().and_then(|rq| rq.first()) else {
            self.ldq.splice(0..0, return_path);
            return;
        };
        let origin = next.origin;
        let first = match self.ldq.is_empty() {
            true => None,
            false => Some(self.ldq.remove(0)),
        };
        self.ldq.splice(0..0, return_path);
        let Some([.., via, _]) = first.as_deref() else {
            out.protocol_error(format!("there is no way to {origin}"));
            return;
        };
        let via = *via;
        let rq = self.rq.take().expect("it was just here");
        let back = !self.ldq.is_empty();
        self.holder = via;
        out.send_for(origin, via, Message::Token { rq, back });
    }
}
