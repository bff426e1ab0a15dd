//! Naimi and Trehel's algorithm: path reversal and a chain of next ones.
//!
//! M. Naimi, M. Trehel, "An improvement of the log(n) distributed algorithm for mutual exclusion",
//! 7th International Conference on Distributed Computing Systems, 1987; M. Naimi, M. Trehel,
//! A. Arnold, "A log(N) distributed mutual exclusion algorithm based on path reversal", Journal of
//! Parallel and Distributed Computing 34(1), 1996.
//!
//! Two structures over the same sites. `last` guesses who asked last; a request follows the guesses
//! to their root, and everyone on the way now guesses the requester. `next` is the queue, one link
//! at each waiting site; the token walks it.
//!
//! ```text
//!     last:  3 --> 1 --> 0*       3 asks; 1 and 0 turn to 3, which is now the root:
//!            1 --> 3 <-- 0*       next: 0 --> 3
//! ```
//!
//! Cost: `H(n-1) = 1 + 1/2 + ... + 1/(n-1)` messages per entry on average when one site at a time,
//! drawn uniformly, asks; at worst `n`. Links need not keep order.
//! Kept from the paper: the four variables and the four procedures.
//! Left out: the 1996 paper's recovery from failures.

use serde::{Deserialize, Serialize};

use crate::contract::{Algorithm, Change, Invariant, NodeId, Outbox, Request, Snapshot, Timer};
use crate::erased::Of;
use crate::registry::{
    Circumstances, ClosedForm, Entry, Family, FormKind, Graph, Links, Load, Metric, Order, Sizes,
};
use crate::setup::Setup;

pub(crate) static ENTRY: Entry = Entry {
    name: "naimi-trehel",
    title: "Naimi and Trehel",
    paper: "M. Naimi, M. Trehel, A. Arnold, \"A log(N) distributed mutual exclusion algorithm \
            based on path reversal\", JPDC 34(1), 1996 (first 1987)",
    family: Family::Token,
    cost: "H(N-1) ~ ln N messages on average alone; at most N",
    explanation: "A request follows guesses about who asked last; everyone on the way now guesses \
                  the requester. The token walks the chain of next ones.",
    graph: Graph::Complete,
    sizes: Sizes {
        least: 1,
        fits: None,
    },
    params: &[],
    admits: |_| 1,
    order: Order::Any,
    links: Links::Patient,
    wants_link_events: false,
    wants_peer_events: false,
    token: Some("TOKEN"),
    notes: &[],
    crashes: 0,
    state_bytes: |_| 32,
    defects: &[],
    forms: &[ClosedForm {
        metric: Metric::MessagesPerEntry,
        formula: "H(N-1)",
        condition: "one request at a time, by a site drawn uniformly",
        value: light,
        kind: FormKind::Mean,
    }],
    machine: |_, _| &Of::<NaimiTrehel>::MACHINE,
};

fn light(run: &Circumstances<'_>) -> Option<f64> {
    let fits = run.undisturbed && run.load == Load::OneAtATime;
    fits.then(|| (1..run.nodes).map(|k| 1.0 / f64::from(k)).sum())
}

/// What sites say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Message {
    /// `site` wants the token; passed on until it meets a root.
    Request { site: NodeId },
    /// The token itself.
    Token,
}

impl crate::contract::Message for Message {
    const KINDS: &'static [&'static str] = &["REQUEST", "TOKEN"];

    fn kind(&self) -> usize {
        match self {
            Message::Request { .. } => 0,
            Message::Token => 1,
        }
    }

    fn origin(&self) -> Option<NodeId> {
        match self {
            Message::Request { site } => Some(*site),
            Message::Token => None,
        }
    }
}

/// A site.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct NaimiTrehel {
    me: NodeId,
    nodes: u32,
    /// We have the token.
    token_present: bool,
    /// We wait, or are inside.
    requesting: bool,
    /// Who asked last, as far as we know; `None` if that is us: we are a root.
    last: Option<NodeId>,
    /// Who gets the token from us.
    next: Option<NodeId>,
}

impl Algorithm for NaimiTrehel {
    type Message = Message;

    fn new(setup: &Setup<'_>) -> Self {
        let holder = setup.setting.holder;
        Self {
            me: setup.me,
            nodes: setup.nodes(),
            token_present: setup.is_holder(),
            requesting: false,
            last: (!setup.is_holder()).then_some(holder),
            next: None,
        }
    }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.requesting = true;
        match self.last.take() {
            // The root that does not wait has the token.
            None => out.enter(),
            Some(last) => out.send_for(self.me, last, Message::Request { site: self.me }),
        }
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.requesting = false;
        if let Some(next) = self.next.take() {
            self.token_present = false;
            out.send_for(next, next, Message::Token);
        }
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request { site } if site.0 >= self.nodes || site == self.me => {
                out.protocol_error(format!("{from} passed on a request of {site}"));
            }
            Message::Request { site } => {
                match self.last {
                    None if self.requesting => self.next = Some(site),
                    None => {
                        self.token_present = false;
                        out.send_for(site, site, Message::Token);
                    }
                    Some(last) => out.send_for(site, last, Message::Request { site }),
                }
                self.last = Some(site);
            }
            Message::Token if !self.requesting || self.token_present => {
                out.protocol_error(format!("a token from {from} that nobody waits for"));
            }
            Message::Token => {
                self.token_present = true;
                out.enter();
            }
        }
    }

    fn timer(&mut self, timer: Timer, out: &mut Outbox<Message>) {
        out.protocol_error(format!("no timer was set, yet {} went off", timer.name));
    }

    fn peer(&mut self, _: NodeId, _: Change, _: &mut Outbox<Message>) {
        // The 1996 paper's recovery is left out: a lost token stays lost.
    }

    fn link(&mut self, _: NodeId, _: Change, _: &mut Outbox<Message>) {
        // Links are patient: a cut only delays.
    }

    fn invariants() -> &'static [Invariant<Self>] {
        &[
            Invariant {
                name: "there is one token",
                check: one_token,
            },
            Invariant {
                name: "there is one root more than requests under way",
                check: roots_and_requests,
            },
            Invariant {
                name: "nobody is next of two",
                check: next_is_a_chain,
            },
        ]
    }
}

fn one_token(world: &Snapshot<'_, NaimiTrehel>) -> Result<(), String> {
    let at_rest = world.alive().filter(|(_, site)| site.token_present).count();
    let under_way = world.flight.iter();
    let in_flight = under_way
        .filter(|(_, _, message)| **message == Message::Token)
        .count();
    let crashed = world.nodes.iter().any(Option::is_none);
    match at_rest + in_flight {
        1 => Ok(()),
        0 if crashed => Ok(()),
        _ => Err(format!("{at_rest} hold it and {in_flight} are under way")),
    }
}

fn roots_and_requests(world: &Snapshot<'_, NaimiTrehel>) -> Result<(), String> {
    if world.nodes.iter().any(Option::is_none) {
        return Ok(());
    }
    let roots = world
        .alive()
        .filter(|(_, site)| site.last.is_none())
        .count();
    let under_way = world.flight.iter();
    let requests = under_way
        .filter(|(_, _, message)| **message != Message::Token)
        .count();
    if roots == 1 + requests {
        return Ok(());
    }
    Err(format!("{roots} roots and {requests} requests under way"))
}

fn next_is_a_chain(world: &Snapshot<'_, NaimiTrehel>) -> Result<(), String> {
    let mut before = vec![None; world.nodes.len()];
    for (me, site) in world.alive() {
        let Some(next) = site.next else { continue };
        if let Some(other) = before[next.index()].replace(me) {
            return Err(format!("{next} is next of {other} and of {me}"));
        }
    }
    Ok(())
}
