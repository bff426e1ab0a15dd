//! Replicated queue: everybody, or a few nodes, know every request; only the role knows which are
//! served.
//!
//! A request is a number told to all replicas (`rn`). The controller compares what it has heard with
//! what it has taken (`taken`), which goes with the role, so copies need not be removed: an old one
//! is recognised as old. Nobody has to know where the controller is, so nobody is informed. In token
//! style, with a migration at each exit, this is Suzuki and Kasami's algorithm: `taken` plays LN,
//! the queue Q.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::contract::{NodeId, shown};
use crate::controller::chosen::Chosen;
use crate::controller::kernel::{Message, Row, kinds_behind_the_kernels};
use crate::controller::numbers::Numbers;
use crate::controller::ranks::{Ranks, USUAL_GROUPS};
use crate::controller::requests_info::{Heard, Letter, Out, Parcel, RequestsInfo, Role, View};
use crate::controller::rules::Rules;
use crate::controller::target::{Preference, Target};
use crate::setup::Setup;

/// A copy of the queue, and the queue itself at the controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(in crate::controller) struct Replicated {
    /// The nodes that have a copy are the first so many from the first controller.
    ranks: Ranks,
    replicas: u32,
    /// The number of our own last request.
    number: u64,
    /// The largest request number heard from each node.
    rn: Numbers,
    /// Controller: the last request taken from each node.
    taken: Numbers,
    /// Controller: who waits, in the order they were taken.
    queue: VecDeque<NodeId>,
    rules: Rules,
}

/// A request, for every replica.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::controller) struct Ask {
    origin: NodeId,
    number: u64,
}

shown! { Ask: Self { origin, number } => "Request({origin}, number {number})" }

impl Letter for Ask {
    fn kind(&self) -> usize {
        0
    }

    fn origin(&self) -> NodeId {
        self.origin
    }
}

/// What goes with the role.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::controller) struct Baton {
    queue: VecDeque<NodeId>,
    taken: Numbers,
}

shown! { Baton: Self { queue, taken } => "{queue:?}, taken {taken:?}" }

impl Parcel for Baton {
    fn fits(&self, nodes: u32) -> bool {
        self.queue.iter().all(|node| node.0 < nodes) && self.taken.fits(nodes)
    }
}

impl RequestsInfo for Replicated {
    type Letter = Ask;
    type Baton = Baton;
    type Note = ();
    type Extra = ();

    const KINDS: &'static [&'static str] = kinds_behind_the_kernels!["REQUEST"];

    fn new(setup: &Setup<'_>) -> Self {
        Self {
            ranks: Ranks::of(setup),
            replicas: replicas(setup),
            number: 0,
            rn: Numbers::default(),
            taken: Numbers::default(),
            queue: VecDeque::new(),
            rules: Rules::of(&setup.setting.printed),
        }
    }

    fn register(&mut self, role: &Role, out: &mut Out<Self>) -> Heard<()> {
        self.number += 1;
        let ask = Ask {
            origin: role.me,
            number: self.number,
        };
        if role.active {
            return self.hear(&ask, role);
        }
        for replica in self.ranks.first(self.replicas) {
            out.send_for(role.me, replica, Message::Row(ask.clone()));
        }
        Heard::Nothing
    }

    fn receive(&mut self, from: NodeId, ask: Ask, role: &Role, out: &mut Out<Self>) -> Heard<()> {
        if ask.origin != from {
            out.protocol_error(format!("{from} asks in the name of {}", ask.origin));
            return Heard::Nothing;
        }
        self.hear(&ask, role)
    }

    fn select(&mut self) -> Option<(NodeId, ())> {
        self.queue.pop_front().map(|first| (first, ()))
    }

    fn hand_over(&mut self) -> Baton {
        Baton {
            queue: std::mem::take(&mut self.queue),
            taken: std::mem::take(&mut self.taken),
        }
    }

    fn take_over(&mut self, baton: Baton, _: &Role, _: &mut Out<Self>) {
        (self.queue, self.taken) = (baton.queue, baton.taken);
        for (origin, number) in self.rn.drain() {
            if self.taken.raise(origin, number) {
                self.queue.push_back(origin);
            }
        }
    }

    fn draw(&self, view: &mut crate::view::View) {
        view.queue("queue", &self.queue);
    }

    fn view(&self) -> View {
        View::of(&self.queue)
    }
}

impl Row for Replicated {
    const USUAL_TARGET: Preference = Preference::Second;
    const INFORMS: bool = false;

    /// Only who hears all requests can be controller.
    fn candidates(setup: &Setup<'_>, target: Target) -> Target {
        match replicas(setup) {
            replicas if replicas < setup.nodes() => {
                target.among(Ranks::of(setup).first(replicas).collect())
            }
            _ => target,
        }
    }
}

impl Replicated {
    /// Somebody asks: the controller takes the request, everybody else remembers it.
    fn hear(&mut self, ask: &Ask, role: &Role) -> Heard<()> {
        if !role.active {
            // rana-B1: as printed, only the controller listens.
            if self.rules.everybody_remembers {
                self.rn.raise(ask.origin, ask.number);
            }
            return Heard::Nothing;
        }
        if !self.taken.raise(ask.origin, ask.number) {
            return Heard::Nothing;
        }
        self.queue.push_back(ask.origin);
        Heard::Wake
    }
}

fn replicas(setup: &Setup<'_>) -> u32 {
    let chosen = Chosen(&setup.setting.params);
    match chosen.is_static() {
        true => chosen.groups().unwrap_or(USUAL_GROUPS).min(setup.nodes()),
        false => setup.nodes(),
    }
}
