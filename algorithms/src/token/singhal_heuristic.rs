//! Singhal's heuristic algorithm: ask those who probably know.
//!
//! M. Singhal, "A heuristically-aided algorithm for mutual exclusion in distributed systems", IEEE
//! Transactions on Computers 38(5), 1989.
//!
//! Each site keeps a guess at what every other site does (`SV`) and how new that guess is (`SN`),
//! and asks only those that it believes are requesting: one of them will have the token, or get it
//! and see the request. The token carries guesses too (`TSV`, `TSN`); a site that leaves and the
//! token teach each other what is newer.
//!
//! ```text
//!     SV at 2:  [R R N N]     2 wants in and asks 0 and 1, but not 3
//! ```
//!
//! At the start site `i` believes that all below it are requesting. So of any two sites one will ask
//! the other, which is what it rests on.
//!
//! Cost: `(n+1)/2 - 1/n` messages on average when one site at a time, drawn uniformly, asks: sites
//! are ranked by how long ago they were in, and a site asks all that were in since. Up to `n` when
//! everybody wants in. Links need not keep order.
//! Kept from the paper: both vectors of sites and token, their names, and the circular choice.
//! Added: the retry. A direct message that is slower than the token's way over two others can leave
//! a request with sites that do not pass it on (`singhal-H1`); a request still open after a while is
//! therefore told to everybody, once.

mod invariants;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::contract::{
    After, Algorithm, NodeId, Outbox, Request, Timer, declared, holds_token, ignores, invariants,
    messages, node, one_token, shown,
};
use crate::params::Param;
use crate::printed::{Defect, Fails, Shows, World};
use crate::registry::{AlgorithmInfo, Circumstances, ClosedForm, FormKind, info};
use crate::setup::Setup;
use crate::view::View;

pub(crate) static INFO: AlgorithmInfo = info! {
    name: "singhal-heuristic", title: "Singhal, heuristic",
    paper: "M. Singhal, \"A heuristically-aided algorithm for mutual exclusion in distributed \
            systems\", IEEE Transactions on Computers 38(5), 1989",
    cost: "(N+1)/2 messages on average alone, up to N, 0 for the holder",
    family Token, graph Complete, order Any, links Patient, token Some("TOKEN"),
    more: {
        params: &[Param::integer(
            "retry",
            1..=1_000_000,
            10,
            "a request still open after so many times N bounds T goes to everybody, once",
        )],
        notes: &[("retries", "requests told to everybody, having waited long")],
        defects: DEFECTS,
        forms: &[ClosedForm::messages(
            FormKind::Mean, "(N+1)/2 - 1/N", "one request at a time, by a site drawn uniformly",
            light,
        )],
        uses_bound: true,
    },
    explanation: EXPLANATION,
    // SV and SN; the token's vectors exist once.
    node SinghalHeuristic, further bytes: |nodes| 9 * nodes,
};

const EXPLANATION: &str = "\
There is one token; the site that has it may enter. Instead of asking everybody,
a site asks those that probably know where the token is: those that it believes
want it. For each site it remembers a state and the number of the request that
this is about:

    R requesting   E executing   N not requesting   H holds the token, idle

    SV at 2   [R R N N]      2 wants in: REQUEST to 0 and 1, not to 3

At the start every site believes that all sites below it are requesting and none
above, so of any two sites one asks the other. A REQUEST keeps it so:

    receiver is N or E   it notes that the sender is requesting
    receiver is R        if that is news, it sends its own request back
    receiver is H        it sends the token

The token carries two such vectors as well. Who leaves compares them with its
own, site by site: the larger request number is the newer guess, and both keep
the newer one. Then the token goes to the next site in the circle that is R; if
there is none, it stays.

Why it is safe: there is one token. Why nobody should starve: of any two sites
one has asked the other, so the holder hears of every request, directly or from
the token. The published rules have a hole there: when a message is slower than
the token's way over two other sites, its number looks old on arrival and it is
dropped. So a request that stays open for long is sent to everybody, once.

What it costs: alone, a site asks all sites that were in since its own last
entry: (N+1)/2 - 1/N messages on average with the TOKEN, and 0 for the holder.
When everybody wants in everybody asks everybody: N. Links need not keep order.";

const DEFECTS: &[Defect] = &[
    Defect {
        id: "singhal-H1",
        what: "a request can be stranded when a message is slower than the token's way over two \
               others: its number then looks old",
        rules: &["retry"],
        shows: Shows::World(World::of(&[1, 1, 2], Fails::Deadlock)),
        schedule: "req 1; req 2; 2>0:REQUEST; req 0; 0>2:TOKEN; exit 2; 0>2:REQUEST; req 2; \
                   2>0:TOKEN; exit 0; 1>0:REQUEST; 0>1:TOKEN; exit 1; 2>0:REQUEST; 2>1:REQUEST",
        result: "deadlock: 1 holds the token idle, 2 waits until somebody else happens to ask",
        ..Defect::BLANK
    },
    Defect::told(
        "banta-SH1",
        "the survey says that a request carries the state vector",
        "a misreading: it carries the site and its number; vectors travel with the token",
    ),
    Defect::told(
        "banta-SH2",
        "the survey merges the vectors when the token arrives",
        "a misreading: they are merged when the site leaves",
    ),
    Defect::told(
        "banta-SH3",
        "\"about (n+1)/2 messages\" is the cost of a lone request only",
        "n messages when everybody wants in",
    ),
];

/// Sites stand in the order of their last entries, the holder first; the r-th asks the r before it
/// and moves to the front. So `r + 1` messages for r = 1 ... n-1, and none for the holder.
fn light(run: &Circumstances<'_>) -> Option<f64> {
    let nodes = f64::from(run.nodes);
    run.is_alone()
        .then(|| (nodes - 1.0) * (nodes + 2.0) / (2.0 * nodes))
}

messages! {
    /// What sites say to each other.
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
    tsv: Vec<State>,
    tsn: Vec<u64>,
}

shown! { Token: Self { tsv, tsn } => "tsv: {tsv:?}, tsn: {tsn:?}" }

/// What a site does, or is believed to do: requesting, executing, not requesting, holding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum State {
    R,
    E,
    N,
    H,
}

const RETRY: Timer = Timer::named("retry");

node! {
    /// What one site knows.
    pub(crate) struct SinghalHeuristic of setup with me
    given
        nodes = setup.nodes() as usize,
        spans = u32::try_from(setup.setting.params.integer("retry")).unwrap_or(u32::MAX),
        retry_after = setup.setting.bound * setup.nodes().saturating_mul(spans);
    {
        /// What each site does, as far as we know; of ourselves the truth.
        sv: Vec<State> = first_guesses(setup),
        /// The request that this is about.
        sn: Vec<u64> = vec![0; nodes],
        /// The token, while we have it.
        token: Option<Token> = setup.is_holder().then(|| Token {
            tsv: vec![State::N; nodes],
            tsn: vec![0; nodes],
        }),
        /// How long a request waits before everybody is asked; for ever in the published rules.
        // singhal-H1: the published rules leave the retry out.
        retry_after: Option<Duration> = (!setup.without("retry")).then_some(retry_after),
    }
}

/// What a site believes at first. The first holder takes the place of site 0, and the circle goes on
/// from there.
fn first_guesses(setup: &Setup<'_>) -> Vec<State> {
    let nodes = setup.nodes();
    let rank = |site: u32| (site + nodes - setup.setting.holder.0) % nodes;
    let mine = rank(setup.me.0);
    let guess = |site| match rank(site) {
        0 if mine == 0 => State::H,
        place if place < mine => State::R,
        _ => State::N,
    };
    (0..nodes).map(guess).collect()
}

holds_token! { Token: SinghalHeuristic.token, Message::Token }

impl Algorithm for SinghalHeuristic {
    declared! { Message }

    fn request(&mut self, _: Request, out: &mut Outbox<Message>) {
        let me = self.me.index();
        if self.sv[me] == State::H {
            self.sv[me] = State::E;
            out.enter();
            return;
        }
        self.sv[me] = State::R;
        self.sn[me] = self.sn[me].saturating_add(1);
        for other in self
            .others()
            .filter(|other| self.sv[other.index()] == State::R)
        {
            self.ask(other, out);
        }
        if let Some(span) = self.retry_after {
            out.set_timer(RETRY, After::Exactly(span));
        }
    }

    fn release(&mut self, out: &mut Outbox<Message>) {
        let mut token = self.token.take().expect("a site that is inside has it");
        let me = self.me.index();
        self.sv[me] = State::N;
        token.tsv[me] = State::N;
        for site in 0..self.sv.len() {
            if self.sn[site] > token.tsn[site] {
                (token.tsv[site], token.tsn[site]) = (self.sv[site], self.sn[site]);
            } else {
                (self.sv[site], self.sn[site]) = (token.tsv[site], token.tsn[site]);
            }
        }
        match self
            .others()
            .find(|other| self.sv[other.index()] == State::R)
        {
            Some(next) => out.send_for(next, next, Message::Token(token)),
            None => {
                self.sv[me] = State::H;
                self.token = Some(token);
            }
        }
    }

    fn receive(&mut self, from: NodeId, message: Message, out: &mut Outbox<Message>) {
        match message {
            // An old request, or one that came before.
            Message::Request { number } if number <= self.sn[from.index()] => {}
            Message::Request { number } => {
                self.sn[from.index()] = number;
                self.hear(from, out);
            }
            Message::Token(token) if !self.could_be(&token) => {
                out.protocol_error(format!("{from} sent a token of another group"));
            }
            Message::Token(_) if self.sv[self.me.index()] != State::R => {
                out.protocol_error(format!("a token from {from} that nobody waits for"));
            }
            Message::Token(token) => {
                self.sv[self.me.index()] = State::E;
                self.token = Some(token);
                if self.retry_after.is_some() {
                    out.cancel_timer(RETRY);
                }
                out.enter();
            }
        }
    }

    /// The request is still open: everybody is told. From then on every site knows its number, and
    /// the holder of the token finds it.
    fn timer(&mut self, timer: Timer, out: &mut Outbox<Message>) {
        if timer != RETRY || self.sv[self.me.index()] != State::R {
            out.protocol_error(format!("{} went off, and nothing waits", timer.name));
            return;
        }
        out.note("retries", 1);
        for other in self.others() {
            self.ask(other, out);
        }
    }

    ignores! { peer: "the paper assumes that nobody fails: a lost token stays lost", link }

    fn draw(&self, view: &mut View) {
        let of = |state: State| {
            let states = (0..).map(NodeId).zip(&self.sv);
            states.filter_map(move |(node, found)| (*found == state).then_some(node))
        };
        view.set("requesting", of(State::R));
        view.set("executing", of(State::E));
        view.set("holding", of(State::H));
        view.token_with(self.token.as_ref());
    }

    invariants! {
        "there is one token": one_token,
        "an idle holder knows of nobody who waits": invariants::idle_holders_are_unaware,
        "nobody has heard of a request that was not made": invariants::numbers_are_true,
    }
}

impl SinghalHeuristic {
    /// A request that is news.
    fn hear(&mut self, from: NodeId, out: &mut Outbox<Message>) {
        let believed = std::mem::replace(&mut self.sv[from.index()], State::R);
        match self.sv[self.me.index()] {
            State::N | State::E => {}
            State::R if believed == State::R => {}
            State::R => self.ask(from, out),
            State::H => {
                let mut token = self.token.take().expect("a holder has it");
                token.tsv[from.index()] = State::R;
                token.tsn[from.index()] = self.sn[from.index()];
                self.sv[self.me.index()] = State::N;
                out.send_for(from, from, Message::Token(token));
            }
        }
    }

    fn ask(&self, other: NodeId, out: &mut Outbox<Message>) {
        let number = self.sn[self.me.index()];
        out.send_for(self.me, other, Message::Request { number });
    }

    /// The others, in a circle that begins behind us.
    fn others(&self) -> impl Iterator<Item = NodeId> + use<> {
        self.me.others_behind(self.sv.len())
    }

    /// Whether its vectors fit this group.
    fn could_be(&self, token: &Token) -> bool {
        let nodes = self.sv.len();
        (token.tsv.len(), token.tsn.len()) == (nodes, nodes)
    }
}
