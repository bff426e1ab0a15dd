//! How a request finds the controller, for the rows that keep their queue with it.
//!
//! Every node points at the node it believes to be the controller, and knows how often the role had
//! moved when that was true. A request follows the pointers, always to a newer one, so it cannot run
//! in a circle:
//!
//! ```text
//!     2 ---> 0 (epoch 0) ---> 1 (epoch 3) ---> 4 (epoch 7, controller)
//! ```
//!
//! Two things can still go wrong, and both are repaired here. A request can reach the next
//! controller before the role does: it is kept there (`rn`) until the role comes. And it can chase
//! the role for ever, each time arriving just after the role has left (rana-S1): after so many hops
//! it is told to everybody (`NOTE`), so that the controller of any epoch has it. Since it can
//! now be in several places, requests have numbers, and the controller knows which it has taken.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::contract::{NodeId, Outbox};
use crate::controller::chosen::{Chosen, HopLimit};
use crate::controller::kernel::Message;
use crate::controller::numbers::Numbers;
use crate::controller::requests_info::{Letter, RequestsInfo, Role};
use crate::controller::rules::Rules;
use crate::setup::Setup;

/// A request on its way to the controller.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::controller) enum Route {
    /// `request_cs_entry`, to where a pointer of that epoch says.
    Request {
        origin: NodeId,
        epoch: u64,
        number: u64,
        hops: u64,
    },
    /// A request that could not find the controller, for everybody.
    Note { origin: NodeId, number: u64 },
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Route::Request {
                origin,
                epoch,
                number,
                hops,
            } => write!(
                f,
                "Request({origin}, epoch {epoch}, number {number}, hops {hops})"
            ),
            Route::Note { origin, number } => write!(f, "Note({origin}, number {number})"),
        }
    }
}

impl Letter for Route {
    fn kind(&self) -> usize {
        match self {
            Route::Request { .. } => 0,
            Route::Note { .. } => 1,
        }
    }

    fn origin(&self) -> NodeId {
        match self {
            Route::Request { origin, .. } | Route::Note { origin, .. } => *origin,
        }
    }

    fn route(&self) -> Option<&Route> {
        Some(self)
    }
}

/// A node's part in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(in crate::controller) struct Routing {
    nodes: u32,
    /// The number of our own last request.
    number: u64,
    /// Requests remembered here: kept for the role, or told to everybody.
    rn: Numbers,
    /// Controller: the last request taken from each node. It goes with the role.
    taken: Numbers,
    /// After so many hops a request is told to everybody.
    hop_limit: Option<u64>,
    /// Static routing: where all requests go first.
    home: Option<NodeId>,
    rules: Rules,
}

impl Routing {
    pub(in crate::controller) fn new(setup: &Setup<'_>) -> Self {
        let chosen = Chosen(&setup.setting.params);
        let nodes = setup.nodes();
        Self {
            nodes,
            number: 0,
            rn: Numbers::default(),
            taken: Numbers::default(),
            hop_limit: match chosen.hop_limit() {
                Some(HopLimit::Nodes) | None => Some(u64::from(nodes)),
                Some(HopLimit::Hops(hops)) => Some(hops),
                Some(HopLimit::None) => None,
            },
            home: chosen.is_static().then_some(setup.setting.holder),
            rules: Rules::of(&setup.setting.printed),
        }
    }

    /// Our client wants in. Says whose request is to be inserted here, if any.
    pub(in crate::controller) fn register<R>(
        &mut self,
        role: &Role,
        out: &mut Outbox<Message<R>>,
    ) -> Option<NodeId>
    where
        R: RequestsInfo<Letter: From<Route>>,
    {
        self.number += 1;
        if role.active {
            out.note("asked_here", 1);
            return self.take(role.me, self.number, 0, out);
        }
        let home = self.home.filter(|&home| home != role.me);
        let (to, epoch) = match home {
            // Home is asked because it is home, not because it was controller in some epoch.
            Some(home) => (home, 0),
            None => (role.controller, role.epoch),
        };
        let request = Route::Request {
            origin: role.me,
            epoch,
            number: self.number,
            hops: 0,
        };
        out.send_for(role.me, to, Message::Row(request.into()));
        None
    }

    /// Somebody's request arrives. Says whose request is to be inserted here, if any.
    pub(in crate::controller) fn receive<R>(
        &mut self,
        route: Route,
        role: &Role,
        out: &mut Outbox<Message<R>>,
    ) -> Option<NodeId>
    where
        R: RequestsInfo<Letter: From<Route>>,
    {
        match route {
            Route::Request {
                origin,
                number,
                hops,
                ..
            } if role.active => self.take(origin, number, hops, out),
            // rana-C5: as printed, a request that comes before the role is sent back.
            Route::Request {
                origin,
                epoch,
                number,
                ..
            } if epoch > role.epoch && self.keeps() => {
                self.rn.raise(origin, number);
                None
            }
            Route::Request {
                origin,
                epoch,
                number,
                hops,
            } => {
                if epoch > role.epoch && self.rules.epochs {
                    out.protocol_error("a request came before the role, and is sent back");
                }
                self.forward(origin, number, hops, role, out);
                None
            }
            Route::Note { origin, number } if role.active => self.take(origin, number, 0, out),
            Route::Note { origin, number } => {
                self.rn.raise(origin, number);
                None
            }
        }
    }

    /// What goes with the role.
    pub(in crate::controller) fn hand_over(&mut self) -> Numbers {
        std::mem::take(&mut self.taken)
    }

    /// The role has come: whose requests, remembered here, are to be inserted now.
    pub(in crate::controller) fn take_over<M>(
        &mut self,
        taken: Numbers,
        out: &mut Outbox<M>,
    ) -> Vec<NodeId> {
        self.taken = taken;
        let remembered = self.rn.drain();
        let new = remembered.filter_map(|(origin, number)| self.take(origin, number, 0, out));
        new.collect()
    }

    fn forward<R>(
        &mut self,
        origin: NodeId,
        number: u64,
        hops: u64,
        role: &Role,
        out: &mut Outbox<Message<R>>,
    ) where
        R: RequestsInfo<Letter: From<Route>>,
    {
        let tired = self.hop_limit.is_some_and(|limit| hops >= limit);
        if tired && self.rules.hop_limit {
            self.rn.raise(origin, number);
            out.note("broadcasts", 1);
            let others = (0..self.nodes).map(NodeId).filter(|&node| node != role.me);
            for node in others {
                let note = Route::Note { origin, number };
                out.send_for(origin, node, Message::Row(note.into()));
            }
            return;
        }
        out.note("forwards", 1);
        let onward = Route::Request {
            origin,
            epoch: role.epoch,
            number,
            // As printed nobody counts, and a circle has no end.
            hops: hops.saturating_add(u64::from(self.rules.hop_limit)),
        };
        out.send_for(origin, role.controller, Message::Row(onward.into()));
    }

    fn take<M>(
        &mut self,
        origin: NodeId,
        number: u64,
        hops: u64,
        out: &mut Outbox<M>,
    ) -> Option<NodeId> {
        let new = self.taken.raise(origin, number);
        if new {
            out.note_for(origin, "registered", self.taken.sum());
        }
        if new && hops > 0 {
            out.note_for(origin, "hops", hops);
        }
        new.then_some(origin)
    }

    fn keeps(&self) -> bool {
        self.rules.role_goes_first && self.rules.epochs
    }
}
