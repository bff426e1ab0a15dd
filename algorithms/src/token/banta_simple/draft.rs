//! The first draft of chapter 3 (section 3.4): a request goes to everybody, and there is no queue.
//!
//! The thesis gives it to show why a queue is needed, and says what is wrong with it: a site without
//! the token ignores what it is asked, so a request is lost while the token is under way, and the
//! site that has the token can send it to one of those that asked only.
//!
//! What the text leaves open is decided so: a site that has the token and does not use it sends it to
//! the site that asks, one that is inside remembers the first request that comes, for when it leaves, and
//! one that gets the token for a request that was served already keeps it.

use serde::Serialize;

use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, declared, ignores, invariants, messages, node,
};
use crate::view::View;

messages! {
    /// What sites say to each other.
    pub(crate) enum Message {
        /// The sender wants the token.
        Request = "REQUEST",
        /// The token itself.
        Token = "TOKEN",
    }
}

/// Where the token is, for one site, and what the site does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
enum State {
    /// The token is elsewhere, and we do not want it.
    Elsewhere,
    /// The token is elsewhere, and we have asked for it.
    Requesting,
    /// It is here, and we are inside; somebody may have asked.
    Executing { next: Option<NodeId> },
    /// It is here, and nobody uses it.
    Holding,
}

node! {
    /// What one site knows.
    pub(crate) struct Draft of setup with me, nodes {
        state: State = match setup.is_holder() {
            true => State::Holding,
            false => State::Elsewhere,
        },
    }
}

impl Algorithm for Draft {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        match self.state {
            State::Holding => {
                self.state = State::Executing { next: None };
                out.note("idle", 1);
                out.enter();
            }
            State::Elsewhere | State::Requesting | State::Executing { .. } => {
                self.state = State::Requesting;
                out.send_to_others(self.nodes, &Message::Request);
            }
        }
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.state = match self.state {
            State::Executing { next: Some(next) } => {
                out.send_for(next, next, Message::Token);
                State::Elsewhere
            }
            State::Executing { next: None }
            | State::Holding
            | State::Elsewhere
            | State::Requesting => State::Holding,
        };
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match (message, self.state) {
            (Message::Request, State::Holding) => {
                self.state = State::Elsewhere;
                out.send_for(from, from, Message::Token);
            }
            (Message::Request, State::Executing { next: None }) => {
                self.state = State::Executing { next: Some(from) };
            }
            // "The requests received at each site are ignored since each site does not have the
            // token"; and of two, "it can only send the token to one".
            (Message::Request, _) => {}
            (Message::Token, State::Requesting) => {
                self.state = State::Executing { next: None };
                out.enter();
            }
            // An old request of ours was heeded.
            (Message::Token, State::Elsewhere) => self.state = State::Holding,
            (Message::Token, State::Holding | State::Executing { .. }) => {
                out.protocol_error(format!("{from} sent a second token"));
            }
        }
    }

    ignores! { timer, peer: "the thesis assumes that nobody fails: a lost token stays lost", link }

    fn draw(&self, view: &mut View) {
        if let State::Executing { next } = self.state {
            view.points_to("next", next);
        }
        view.token(matches!(
            self.state,
            State::Holding | State::Executing { .. }
        ));
    }

    invariants! {
        "there is one token": one_token,
    }
}

fn one_token(world: &Snapshot<'_, Draft>) -> Result<(), String> {
    let holds = |site: &Draft| matches!(site.state, State::Holding | State::Executing { .. });
    world.one_token(holds, |message| *message == Message::Token)
}
