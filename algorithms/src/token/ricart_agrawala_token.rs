//! Ricart and Agrawala's token algorithm: broadcast the request, and let the token go round.
//!
//! G. Ricart, A. K. Agrawala, author's response to "On mutual exclusion in computer networks",
//! Communications of the ACM 26(2), 1983, written as section 2.1.2 of P. Banta's thesis (1993)
//! retells it.
//!
//! A request is a number, told to everybody. The token knows the number of each node's last request
//! that it served; a node that leaves looks round the circle, beginning behind itself, for the
//! first node with a request that the token has not served. There is no queue: the circle is the
//! order.
//!
//! ```text
//!     requested at 1:  [1 2 0 1]     what 1 has heard
//!     served:          [1 1 0 0]     1 leaves and looks at 2, 3, 0: the token goes to 3
//! ```
//!
//! Cost: `n` messages (`n-1` requests and the token), or none for the holder; `n-1` on average when
//! one node at a time, drawn uniformly, asks. Links need not keep order: an old number is recognised
//! as old.
//! Kept: the two arrays, and both rules for choosing among those that wait: round the circle
//! (`next=circle`), in which nobody can be passed over for ever, and the lowest number first
//! (`next=lowest`), which the thesis calls not fair.

use serde::{Deserialize, Serialize};

use super::idle_holder;
use crate::common::broadcast;
use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, declared, holds_token, ignores, invariants,
    messages, node, one_token, shown,
};
use crate::params::Param;
use crate::printed::Defect;
use crate::registry::{AlgorithmInfo, info};
use crate::token::take_token;
use crate::view::View;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "ricart-agrawala-token", title: "Ricart and Agrawala, token",
    paper: "G. Ricart, A. K. Agrawala, author's response to \"On mutual exclusion in computer \
            networks\", CACM 26(2), 1983",
    cost: "N messages per entry, 0 for the holder",
    family Token, graph Complete, order Any, links Patient, token Some("TOKEN"),
    more: {
        params: &[Param::choice(
            "next",
            &["circle", "lowest"],
            "whom the token goes to: the next that waits in the circle, or the lowest number that \
             waits, which can starve",
        )],
        defects: DEFECTS,
        forms: broadcast::FORMS,
    },
    explanation: EXPLANATION,
    // What was requested; what was served exists once.
    node RicartAgrawalaToken, further bytes: |nodes| 8 * nodes,
};

const EXPLANATION: &str = "\
There is one token; the node that has it may enter. Nobody knows where it is, so
a request goes to everybody.

    node 2 wants in (its request number 5)

      2 -- REQUEST 5 --> 0
      2 -- REQUEST 5 --> 1 (has the token)
                         1 -- TOKEN (served) --> 2

Each node numbers its own requests and remembers the largest number it has heard
from each of the others. The token carries one number for each node: its last
request that was served. Who leaves writes its own, then looks round the circle,
from the next higher number to the highest and on from 0 to itself, for the
first node whose request the token has not served:

    requested at 1   [1 2 0 1]
    served           [1 2 0 0]    1 looks at 2 (nothing), 3 (new): TOKEN to 3

With next=lowest every site looks from 0 on instead: the lowest number
that waits is served first, and a high one may be passed over for ever.

If nobody waits it keeps the token; then the next REQUEST that arrives sends it
off at once, and an entry of its own costs nothing.

Why it is safe: there is one token. Why nobody starves in the circle: a request
reaches every node, and between it and the token are at most N-1 others, each of
which the token visits once before it has gone round. Who asks late but sits
next in the circle is served first. A REQUEST that arrives late, after it was
served, has a number that the token knows, and is ignored.

What it costs: N-1 REQUESTs and one TOKEN, or nothing. When one node at a time,
drawn uniformly, asks, it is the holder once in N times: N-1 on average. It is
Suzuki and Kasami's algorithm with a circle in place of their queue.";

const DEFECTS: &[Defect] = &[
    idle_holder(
        "banta-RT1",
        "the survey has no rule for an idle holder: a request that reaches it is only noted",
        "deadlock: 0 has the token and no use for it, 1 waits",
    ),
    Defect::told(
        "banta-RT2",
        "the survey cites the paper of 1981, whose algorithm has no token",
        "a misprint: the token is in the correspondence of 1983",
    ),
    Defect::told(
        "banta-RT3",
        "\"n messages per each critical section entry\" leaves out the holder, whose entries \
               are free",
        "n-1 on average when one node at a time asks",
    ),
];

messages! {
    /// What nodes say to each other.
    pub(crate) enum Message {
        /// The sender wants in, for the `number`-th time.
        Request { number: u64 } = "REQUEST",
        /// The token goes to the addressee.
        Token(Token) = "TOKEN",
    }
}

/// What travels with the right to enter.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Token {
    /// The number of each node's last served request.
    served: Vec<u64>,
}

shown! { Token: Self { served } => "served: {served:?}" }

node! {
    /// What one node knows.
    pub(crate) struct RicartAgrawalaToken of setup with me {
        /// The largest request number heard from each node, and our own.
        requested: Vec<u64> = vec![0; setup.nodes() as usize],
        /// The token, while we have it.
        token: Option<Token> = setup.is_holder().then(|| Token {
            served: vec![0; setup.nodes() as usize],
        }),
        /// We wait, or are inside.
        requesting: bool = false,
        /// Whom the token goes to.
        next: Next = match setup.setting.params.word("next") {
            "lowest" => Next::Lowest,
            _ => Next::Circle,
        },
        /// A rule that the survey leaves out.
        idle_holder_sends: bool = !setup.without("idle-holder-sends"),
    }
}

/// How the holder chooses among those that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
enum Next {
    /// The first in the circle that begins behind us.
    Circle,
    /// The one with the lowest number.
    Lowest,
}

holds_token! { Token: RicartAgrawalaToken.token, Message::Token }

impl Algorithm for RicartAgrawalaToken {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.requesting = true;
        if self.token.is_some() {
            out.enter();
            return;
        }
        let number = self.requested[self.me.index()] + 1;
        self.requested[self.me.index()] = number;
        for other in self.behind_me() {
            out.send_for(self.me, other, Message::Request { number });
        }
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.requesting = false;
        let token = self.token.as_mut().expect("a node that is inside has it");
        token.served[self.me.index()] = self.requested[self.me.index()];
        self.pass_on(out);
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request { number } => {
                let requested = &mut self.requested[from.index()];
                *requested = number.max(*requested);
                // banta-RT1: the survey leaves this rule out.
                if self.idle_holder_sends && !self.requesting {
                    self.pass_on(out);
                }
            }
            Message::Token(token) => {
                let fits = |token: &Token| token.served.len() == self.requested.len();
                take_token(token, from, (&mut self.token, self.requesting), fits, out);
            }
        }
    }

    ignores! { timer, peer: "the paper assumes that nobody fails: a lost token stays lost", link }

    fn draw(&self, view: &mut View) {
        view.token_with(self.token.as_ref());
        if let Some(token) = &self.token {
            let heard = (0..)
                .map(NodeId)
                .zip(self.requested.iter().zip(&token.served));
            let open = heard.filter_map(|(node, (asked, served))| (asked > served).then_some(node));
            view.set("not served", open);
        }
        view.mark("requesting", self.requesting);
    }

    invariants! {
        "there is one token": one_token,
        "an idle holder knows of nobody who waits": idle_holders_are_unaware,
        "a node that waits has told everybody, or is about to": requests_are_broadcast,
    }
}

impl RicartAgrawalaToken {
    /// Sends the token, if it is here, to the node that is next of those that wait for it.
    fn pass_on(&mut self, out: &mut Outbox<Message>) {
        let Some(token) = self.token.take() else {
            return;
        };
        let waits = |other: &NodeId| self.requested[other.index()] > token.served[other.index()];
        let mut waiting = self.behind_me().filter(waits);
        let next = match self.next {
            Next::Circle => waiting.next(),
            Next::Lowest => waiting.min(),
        };
        match next {
            Some(next) => out.send_for(next, next, Message::Token(token)),
            None => self.token = Some(token),
        }
    }

    /// The others, in a circle that begins behind us.
    fn behind_me(&self) -> impl Iterator<Item = NodeId> + use<> {
        self.me.others_behind(self.requested.len())
    }
}

fn idle_holders_are_unaware(world: &Snapshot<'_, RicartAgrawalaToken>) -> Result<(), String> {
    world.keeps_from_nobody("token", |node| {
        let token = node.token.as_ref().filter(|_| !node.requesting)?;
        Some((&node.requested, &token.served))
    })
}

fn requests_are_broadcast(world: &Snapshot<'_, RicartAgrawalaToken>) -> Result<(), String> {
    let waiting = |node: &RicartAgrawalaToken| node.requesting && node.token.is_none();
    for (owner, node) in world.alive().filter(|(_, node)| waiting(node)) {
        let number = node.requested[owner.index()];
        for (other, hearer) in world.alive() {
            let told = hearer.requested[owner.index()] == number;
            let under_way = world
                .flight
                .contains(&(owner, other, &Message::Request { number }));
            if !told && !under_way {
                return Err(format!("{other} will never hear of {owner}'s request"));
            }
        }
    }
    Ok(())
}
