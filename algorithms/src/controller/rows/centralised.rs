//! Centralised queue: the pending requests are in a queue at the controller, and move with it.
//!
//! With the counter column this is the paper's CDC, without migration Mohan and Silberschatz's
//! coordinator. The queue is in the order of arrival; for the taxonomy's ring row it is kept in ring
//! order instead, from the node that was granted last.

use std::collections::VecDeque;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::routing::{Route, Routing};
use crate::contract::NodeId;
use crate::controller::chosen::Chosen;
use crate::controller::kernel::{Row, kinds_behind_the_kernels};
use crate::controller::numbers::Numbers;
use crate::controller::requests_info::{Heard, Out, Parcel, RequestsInfo, Role, View};
use crate::controller::rules::Rules;
use crate::controller::target::Preference;
use crate::setup::Setup;

/// The queue, at one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(in crate::controller) struct Centralised {
    routing: Routing,
    /// `request_queue`, at the controller.
    queue: VecDeque<NodeId>,
    /// Ring order: the node that was granted last. It goes with the role.
    granted_last: Option<NodeId>,
    nodes: u32,
    rules: Rules,
}

/// What goes with the role: the queue, what was taken into it so far, and where the ring stands.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::controller) struct Baton {
    /// Nothing only as printed.
    queue: Option<VecDeque<NodeId>>,
    taken: Numbers,
    granted_last: Option<NodeId>,
}

impl fmt::Debug for Baton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.queue {
            Some(queue) => write!(f, "{queue:?}")?,
            None => write!(f, "no queue")?,
        }
        write!(f, ", taken {:?}", self.taken)
    }
}

impl Parcel for Baton {
    fn fits(&self, nodes: u32) -> bool {
        let queue = self.queue.iter().flatten();
        queue.chain(&self.granted_last).all(|node| node.0 < nodes) && self.taken.fits(nodes)
    }
}

impl RequestsInfo for Centralised {
    type Letter = Route;
    type Baton = Baton;
    type Note = ();
    type Extra = ();

    const KINDS: &'static [&'static str] = kinds_behind_the_kernels!["REQUEST", "NOTE"];

    fn new(setup: &Setup<'_>) -> Self {
        let in_ring_order = Chosen(&setup.setting.params).word("queue", "centralised") == "ring";
        let last = NodeId(setup.nodes() - 1);
        Self {
            routing: Routing::new(setup),
            queue: VecDeque::new(),
            granted_last: in_ring_order.then_some(last),
            nodes: setup.nodes(),
            rules: Rules::of(&setup.setting.printed),
        }
    }

    fn register(&mut self, role: &Role, out: &mut Out<Self>) -> Heard<()> {
        let arrived = self.routing.register(role, out);
        self.enqueue(arrived)
    }

    fn receive(&mut self, _: NodeId, route: Route, role: &Role, out: &mut Out<Self>) -> Heard<()> {
        let arrived = self.routing.receive(route, role, out);
        self.enqueue(arrived)
    }

    fn select(&mut self) -> Option<(NodeId, ())> {
        let first = self.queue.pop_front()?;
        if let Some(last) = &mut self.granted_last {
            *last = first;
        }
        Some((first, ()))
    }

    fn hand_over(&mut self) -> Baton {
        Baton {
            // rana-C2: as printed, nothing carries the queue to the new controller.
            queue: (self.rules.queue_travels).then(|| std::mem::take(&mut self.queue)),
            taken: self.routing.hand_over(),
            granted_last: self.granted_last,
        }
    }

    fn take_over(&mut self, baton: Baton, _: &Role, out: &mut Out<Self>) {
        if let Some(queue) = baton.queue {
            self.queue = queue;
        }
        // Which order the queue is in was settled at the beginning.
        self.granted_last = self.granted_last.and(baton.granted_last);
        for node in self.routing.take_over(baton.taken, out) {
            self.enqueue(Some(node));
        }
    }

    fn draw(&self, view: &mut crate::view::View) {
        view.queue("request_queue", &self.queue);
    }

    fn view(&self) -> View {
        View::of(&self.queue)
    }
}

impl Row for Centralised {
    const USUAL_TARGET: Preference = Preference::Second;
    const INFORMS: bool = true;
}

impl Centralised {
    fn enqueue(&mut self, arrived: Option<NodeId>) -> Heard<()> {
        let Some(node) = arrived else {
            return Heard::Nothing;
        };
        let behind = |last: NodeId, node: NodeId| (node.0 + self.nodes - last.0 - 1) % self.nodes;
        let place = match self.granted_last {
            None => self.queue.len(),
            Some(last) => (self.queue.iter())
                .position(|&other| behind(last, other) > behind(last, node))
                .unwrap_or(self.queue.len()),
        };
        self.queue.insert(place, node);
        Heard::Wake
    }
}
