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

use crate::contract::{
    Algorithm, NodeId, Outbox, Request, Snapshot, declared, ignores, invariants, messages, node,
};
use crate::printed::{Defect, Fails, Shows, World};
use crate::registry::{AlgorithmInfo, Circumstances, ClosedForm, FormKind, Metric, info};
use crate::view::View;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "naimi-trehel", title: "Naimi and Trehel",
    paper: "M. Naimi, M. Trehel, A. Arnold, \"A log(N) distributed mutual exclusion algorithm \
            based on path reversal\", JPDC 34(1), 1996 (first 1987)",
    cost: "H(N-1) ~ ln N messages on average alone, at most N",
    family Token, graph Complete, order Any, links Patient, token Some("TOKEN"),
    more: { defects: DEFECTS, forms: &[LIGHT] },
    explanation: EXPLANATION,
    node NaimiTrehel, further bytes: |_| 0,
};

const EXPLANATION: &str = "\
There is one token; the site that has it may enter. Each site remembers two
things:

    last   who asked last, as far as it knows; itself, if it is the root
    next   who gets the token from it

A request follows `last` from site to site until it meets a root. Everyone on
the way then lets `last` point to the requester: it will be the root, so the
detour is paid once. This is path reversal.

    0 is inside; arrows are `last`         3 asks: its request goes to 1, then 0

           2 ---> 0* <--- 4                     2 ---> 0* <--- 4
                  ^                                    |   0.next = 3
                  |                                    v
                  1 <--- 3                      1 ---> 3, the new root

A root that has no use for the token sends it to the requester. A root that
waits or is inside remembers the requester as its `next` and sends the token
when it leaves. So the waiting line is spread out: each waiting site knows only
the one behind it, and the token walks from next to next.

Why it is safe: there is one token. Why nobody starves: every request meets a
root in at most N-1 steps, each root takes at most one next, and so the chain of
nexts from the holder contains everybody whose request has arrived.

What it costs: the requests on the way and one TOKEN, or nothing for the holder.
At worst N. When one site at a time, drawn uniformly, asks, the average is
H(N-1) = 1 + 1/2 + ... + 1/(N-1), about ln N + 0.58: 2.08 messages for 5 sites,
5.18 for 100. A site's memory does not grow with N. Links need not keep order.";

const DEFECTS: &[Defect] = &[
    Defect {
        id: "banta-NT1",
        what: "the survey forwards every request at a site that does not want in, at an idle \
               holder too",
        rules: &["idle-holder-sends"],
        shows: Shows::World(World::of(&[0, 1], Fails::Deadlock)),
        schedule: "req 1; 1>0:REQUEST; 0>0:REQUEST; 0>1:REQUEST",
        result: "deadlock: the request comes back to 1, which is now its own next; 0 has the \
                 token and no use for it",
        ..Defect::BLANK
    },
    Defect::told(
        "banta-NT2",
        "the survey does not say that a requester becomes a root; it decides by having no next",
        "the same: whoever wants in and has no next does not read its NewRoot before the \
         next request overwrites it",
    ),
];

/// The mean over the trees that path reversal makes is the harmonic number of N-1.
pub(crate) const LIGHT: ClosedForm = ClosedForm {
    metric: Metric::MessagesPerEntry,
    formula: "H(N-1)",
    condition: "one request at a time, by a site drawn uniformly",
    value: light,
    kind: FormKind::Mean,
};

fn light(run: &Circumstances<'_>) -> Option<f64> {
    run.is_alone()
        .then(|| (1..run.nodes).map(|k| 1.0 / f64::from(k)).sum())
}

messages! {
    /// What sites say to each other.
    pub(crate) enum Message {
        /// `site` wants the token; passed on until it meets a root.
        Request { site: NodeId } of site = "REQUEST",
        /// The token goes to the addressee.
        Token = "TOKEN",
    }
}

node! {
    /// What one site knows.
    pub(crate) struct NaimiTrehel of setup with me, nodes {
        /// We have the token.
        token_present: bool = setup.is_holder(),
        /// We wait, or are inside.
        requesting: bool = false,
        /// Who asked last, as far as we know; `me` if we are a root (the paper's nil).
        last: NodeId = setup.setting.holder,
        /// Who gets the token from us.
        next: Option<NodeId> = None,
        /// A rule that the survey leaves out.
        idle_holder_sends: bool = !setup.without("idle-holder-sends"),
    }
}

impl Algorithm for NaimiTrehel {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        self.requesting = true;
        if self.token_present {
            out.enter();
            return;
        }
        out.send_for(self.me, self.last, Message::Request { site: self.me });
        self.last = self.me;
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        self.requesting = false;
        if let Some(next) = self.next.take() {
            self.send_token(next, out);
        }
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            Message::Request { site } if site.0 >= self.nodes => {
                out.protocol_error(format!("{from} passed on a request of {site}, nobody here"));
            }
            Message::Request { site } => {
                match (self.is_root(), self.requesting) {
                    (true, true) => self.next = Some(site),
                    // banta-NT1: the survey leaves this rule out and passes on to itself.
                    (true, false) if self.idle_holder_sends => self.send_token(site, out),
                    (true, false) => out.post(Message::Request { site }),
                    (false, _) => out.send_for(site, self.last, Message::Request { site }),
                }
                self.last = site;
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

    ignores! { timer, peer: "the 1996 paper's recovery is left out: a lost token stays lost", link }

    fn draw(&self, view: &mut View) {
        view.points_to("last", self.last);
        view.points_to("next", self.next);
        view.token(self.token_present);
    }

    invariants! {
        "there is one token": one_token,
        "there is one root more than requests under way": roots_and_requests,
        "a site that wants in is a root until it has a next": who_wants_in_is_a_root,
        "following last ends at a root": last_leads_to_a_root,
        "nobody is next of two": next_is_a_chain,
    }
}

impl NaimiTrehel {
    fn send_token(&mut self, site: NodeId, out: &mut Outbox<Message>) {
        self.token_present = false;
        out.send_for(site, site, Message::Token);
    }

    fn is_root(&self) -> bool {
        self.last == self.me
    }
}

fn one_token(world: &Snapshot<'_, NaimiTrehel>) -> Result<(), String> {
    world.one_token(
        |site| site.token_present,
        |message| *message == Message::Token,
    )
}

fn roots_and_requests(world: &Snapshot<'_, NaimiTrehel>) -> Result<(), String> {
    if world.has_crashed() {
        return Ok(());
    }
    let roots = world.alive().filter(|(_, site)| site.is_root()).count();
    let under_way = world.flight.iter();
    let requests = under_way
        .filter(|(_, _, message)| matches!(message, Message::Request { .. }))
        .count();
    if roots == 1 + requests {
        return Ok(());
    }
    Err(format!("{roots} roots and {requests} requests under way"))
}

fn who_wants_in_is_a_root(world: &Snapshot<'_, NaimiTrehel>) -> Result<(), String> {
    for (me, site) in world.alive().filter(|(_, site)| site.requesting) {
        if site.is_root() == site.next.is_some() {
            return Err(format!(
                "{me} has last {} and next {:?}",
                site.last, site.next
            ));
        }
    }
    Ok(())
}

fn last_leads_to_a_root(world: &Snapshot<'_, NaimiTrehel>) -> Result<(), String> {
    world.leads_somewhere(|site| site.last, NaimiTrehel::is_root)
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
