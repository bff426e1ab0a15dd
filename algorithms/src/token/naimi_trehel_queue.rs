//! Naimi and Trehel's algorithm with queues: wait where the request is, travel with the token.
//!
//! M. Trehel, M. Naimi, "A distributed algorithm for mutual exclusion based on data structures and
//! fault tolerance", 6th Annual International Phoenix Conference on Computers and Communications,
//! 1987, as section 2.1.5 of P. Banta's thesis (1993) retells it.
//!
//! `last` guesses who will have the token last; a request follows the guesses until it meets a site
//! that waits or is inside, and is queued there. When that site leaves it appends its queue to the
//! token's, and guesses the end of it.
//!
//! ```text
//!     token queue at 2:  [4]         2 is inside; 0 and 1 asked and are queued at 2
//!     2 leaves:          [4 0 1]     TOKEN [0 1] to 4; 2 now guesses 1
//! ```
//!
//! Cost: `H(n-1) = 1 + 1/2 + ... + 1/(n-1)` messages per entry on average when one site at a time,
//! drawn uniformly, asks, as without queues; exactly 2 when everybody always wants in, for the guess
//! is then always right. No bound on delays is assumed. Links need not keep order.
//! Kept: `last`, the queue at each site, the queue of the token.
//! Added here: what an idle holder does, and that `last` turns to the requester when a
//! request is passed on.

use std::collections::VecDeque;

use super::idle_holder;
use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, declared, ignores, invariants, messages, node,
};
use crate::printed::{Costs, Defect, Run, Shows};
use crate::registry::{AlgorithmInfo, Circumstances, ClosedForm, FormKind, SATURATED, info};
use crate::token::naimi_trehel::LIGHT;
use crate::token::take_token;
use crate::view::View;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "naimi-trehel-queue", title: "Naimi and Trehel, queues",
    paper: "M. Trehel, M. Naimi, \"A distributed algorithm for mutual exclusion based on data \
            structures and fault tolerance\", IPCCC, 1987",
    cost: "H(N-1) ~ ln N messages on average alone, 2 when everybody asks",
    family Token, graph Complete, order Any, links Patient, token Some("TOKEN"),
    more: {
        notes: &[("forwarded", "requests passed on")],
        defects: DEFECTS,
        forms: &[
            LIGHT,
            ClosedForm::messages(FormKind::Exact, "2", SATURATED, saturated),
        ],
    },
    explanation: EXPLANATION,
    // Its queue and the token's hold at most everybody once, all together.
    node NaimiTrehelQueue, further bytes: |_| (2 * size_of::<NodeId>()) as u64,
};

const EXPLANATION: &str = "\
There is one token; the site that has it may enter, and it carries a queue of
those who get it next. Each site remembers `last`: who will have the token last,
as far as it knows.

A request goes to `last`. What happens there depends on what that site does:

    it waits, or is inside    it puts the requester into its own queue
    it has the token, idle    it sends the token there
    neither                   it passes the request on to its own `last`

The last two also turn `last` to the requester, which will now have the token
last; so the detour is paid once.

Who leaves puts its own queue behind that of the token, remembers the end of it
as `last`, and sends the token with the rest of the queue to the first:

    2 is inside     token queue [4]      2's own queue [0 1]
    2 leaves        token queue [4 0 1]  2 -- TOKEN [0 1] --> 4, and 2.last = 1

Compared with Naimi and Trehel's other algorithm, the waiting line is not a
chain of sites that know one successor each, but travels with the token: so
everybody who has had it knows the end of the line.

Why it is safe: there is one token. Why nobody starves: following `last` always
leads to a site that will have the token, or has it; there the request is
queued, and both queues are first come, first served.

What it costs: alone, the same as without queues: H(N-1) = 1 + 1/2 + ... +
1/(N-1) on average. When everybody always wants in, the end of the line is known
to a site that leaves, so one REQUEST reaches it: with the TOKEN exactly 2,
however many they are. Links need not keep order.";

const DEFECTS: &[Defect] = &[
    idle_holder(
        "banta-NQ1",
        "the survey does not say what an idle holder does with a request",
        "deadlock: 0 queues it until it next leaves, which may be never",
    ),
    Defect {
        id: "banta-NQ2",
        what: "the survey does not say that whoever passes a request on turns to the requester",
        rules: &["path-reversal"],
        shows: Shows::Run(Run {
            flags: "--workload one-at-a-time",
            costs: Costs::Messages,
        }),
        schedule: "req 1; 1>0:REQUEST; 0>1:TOKEN; exit 1; req 2; 2>0:REQUEST; 0>1:REQUEST; \
                   1>2:TOKEN; exit 2; req 0; 0>1:REQUEST; 1>2:REQUEST",
        result: "more messages, nothing worse: the detour is paid again by the next request",
        ..Defect::BLANK
    },
];

/// A site that leaves knows the end of the line, and its request is there before that site leaves.
/// The hold must be the longer, or the first holder begins with free entries before any request has
/// reached it.
fn saturated(run: &Circumstances<'_>) -> Option<f64> {
    let (hold, delay) = run.saturated()?;
    (hold > delay).then_some(match run.nodes {
        1 => 0.0,
        _ => 2.0,
    })
}

messages! {
    /// What sites say to each other.
    pub(crate) enum Message {
        /// `site` wants the token; passed on until it meets somebody who will have it.
        Request { site: NodeId } of site = "REQUEST",
        /// The token itself, with those who get it after the addressee.
        Token { queue: VecDeque<NodeId> } = "TOKEN",
    }
}

node! {
    /// What one site knows.
    pub(crate) struct NaimiTrehelQueue of setup with me, nodes {
        /// We wait, or are inside.
        requesting: bool = false,
        /// Who will have the token last, as far as we know.
        last: NodeId = setup.setting.holder,
        /// Who asked here while we waited or were inside.
        queue: VecDeque<NodeId> = VecDeque::new(),
        /// The token's queue, while we have the token.
        token_queue: Option<VecDeque<NodeId>> = setup.is_holder().then(VecDeque::new),
        /// Rules that the survey leaves out.
        idle_holder_sends: bool = !setup.without("idle-holder-sends"),
        path_reversal: bool = !setup.without("path-reversal"),
    }
}

impl Algorithm for NaimiTrehelQueue {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.requesting = true;
        match self.token_queue {
            Some(_) => out.enter(),
            None => out.send_for(self.me, self.last, Message::Request { site: self.me }),
        }
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.requesting = false;
        self.pass_on(out);
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request { site } if site.0 >= self.nodes => {
                out.protocol_error(format!("{from} passed on a request of {site}, nobody here"));
            }
            Message::Request { site } => self.receive_request(site, out),
            Message::Token { queue } => {
                let known = |queue: &VecDeque<NodeId>| queue.iter().all(|site| site.0 < self.nodes);
                let place = (&mut self.token_queue, self.requesting);
                take_token(queue, from, place, known, out);
            }
        }
    }

    ignores! { timer, peer: "a lost token stays lost", link }

    fn draw(&self, view: &mut View) {
        view.points_to("last", self.last);
        view.queue("queue", &self.queue);
        view.token(self.token_queue.is_some());
        if let Some(queue) = &self.token_queue {
            view.queue("token queue", queue);
        }
    }

    invariants! {
        "there is one token": one_token,
        "a request is in one place until it is served": requests_are_in_one_place,
        "following last ends at somebody who waits, or has the token": last_leads_to_the_token,
    }
}

impl NaimiTrehelQueue {
    fn receive_request(&mut self, site: NodeId, out: &mut Outbox<Message>) {
        if self.requesting {
            self.queue.push_back(site);
        } else if self.token_queue.is_some() {
            self.queue.push_back(site);
            // banta-NQ1: the survey leaves this rule out.
            if self.idle_holder_sends {
                self.pass_on(out);
            }
        } else if self.last == self.me {
            out.protocol_error("a request that nobody will meet the token with");
        } else {
            out.note("forwarded", 1);
            out.send_for(site, self.last, Message::Request { site });
            // banta-NQ2: the survey leaves this rule out.
            if self.path_reversal {
                self.last = site;
            }
        }
    }

    /// The token takes our queue along and goes to the first, if there is one.
    fn pass_on(&mut self, out: &mut Outbox<Message>) {
        let mut queue = self.token_queue.take().expect("a site that leaves has it");
        queue.append(&mut self.queue);
        match queue.pop_front() {
            Some(first) => {
                self.last = *queue.back().unwrap_or(&first);
                out.send_for(first, first, Message::Token { queue });
            }
            None => {
                self.last = self.me;
                self.token_queue = Some(queue);
            }
        }
    }
}

fn one_token(world: &Snapshot<'_, NaimiTrehelQueue>) -> Result<(), String> {
    world.one_token(
        |site| site.token_queue.is_some(),
        |message| matches!(message, Message::Token { .. }),
    )
}

fn requests_are_in_one_place(world: &Snapshot<'_, NaimiTrehelQueue>) -> Result<(), String> {
    let mut requests = Vec::new();
    for (_, site) in world.alive() {
        requests.extend(site.queue.iter().chain(site.token_queue.iter().flatten()));
    }
    for (_, to, message) in &world.flight {
        match message {
            Message::Request { site } => requests.push(site),
            Message::Token { queue } => requests.extend(queue.iter().chain([to])),
        }
    }
    let waits = |site: &NaimiTrehelQueue| site.requesting && site.token_queue.is_none();
    world.in_one_place(requests.into_iter().copied(), waits)
}

fn last_leads_to_the_token(world: &Snapshot<'_, NaimiTrehelQueue>) -> Result<(), String> {
    let knows = |site: &NaimiTrehelQueue| site.requesting || site.token_queue.is_some();
    world.leads_somewhere(|site| site.last, knows)
}
