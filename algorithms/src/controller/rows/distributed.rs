//! Distributed queue: each waiting node knows who waits behind it, the controller only the two ends.
//!
//! With the counter column this is the paper's DDC. The controller tells the node at the tail who
//! joined behind it (`NEXT`), and a node that leaves tells the controller who is next:
//!
//! ```text
//!     inside:  1 --next--> 3 --next--> 2         controller: last = 2
//!
//!     1 --EXIT(3)--> controller --GRANT--> 3
//! ```
//!
//! The link `1 -> 3` and the grant to 1 may come from different controllers, so no order of messages
//! helps: a node could leave before it has learned who is next. Hence the grant says whether somebody
//! is, or will be, linked behind (`more`), and an exit waits for that link.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::routing::{Route, Routing};
use crate::contract::NodeId;
use crate::controller::kernel::{Message, Row, kinds_behind_the_kernels};
use crate::controller::numbers::Numbers;
use crate::controller::requests_info::{Heard, Letter, Out, Parcel, RequestsInfo, Role, View};
use crate::controller::rules::Rules;
use crate::controller::target::Preference;
use crate::setup::Setup;

/// A node's part of the queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(in crate::controller) struct Distributed {
    me: NodeId,
    routing: Routing,
    /// `next_in_q`: whose request follows ours.
    next: Option<NodeId>,
    /// Somebody is, or will be, linked behind the request we are inside with.
    more: bool,
    /// Our client has left and the exit waits for the link.
    leaving: bool,
    /// `first_in_q`, at the controller: the head of what cannot be reached through who is inside.
    first: Option<NodeId>,
    /// The last node to leave named that head.
    first_was_named: bool,
    /// `last_in_q`, at the controller: the tail, unless it was granted.
    last: Option<NodeId>,
    rules: Rules,
}

/// What the nodes of the queue say.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::controller) enum Link {
    /// A request on its way.
    Route(Route),
    /// `next_requestor`: who follows the addressee's request.
    Next(NodeId),
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Link::Route(route) => route.fmt(f),
            Link::Next(node) => write!(f, "Next({node})"),
        }
    }
}

impl From<Route> for Link {
    fn from(route: Route) -> Self {
        Link::Route(route)
    }
}

impl Letter for Link {
    fn kind(&self) -> usize {
        match self {
            Link::Route(route) => route.kind(),
            Link::Next(_) => 2,
        }
    }

    fn origin(&self) -> NodeId {
        match self {
            Link::Route(route) => route.origin(),
            Link::Next(node) => *node,
        }
    }

    fn route(&self) -> Option<&Route> {
        match self {
            Link::Route(route) => Some(route),
            Link::Next(_) => None,
        }
    }
}

/// What goes with the role: the two ends, and what was taken into the queue so far.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::controller) struct Baton {
    first: Option<NodeId>,
    last: Option<NodeId>,
    taken: Numbers,
}

impl fmt::Debug for Baton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last, taken } = self;
        let name = |end: &Option<NodeId>| end.map_or("-".to_owned(), |node| node.to_string());
        write!(
            f,
            "first {}, last {}, taken {taken:?}",
            name(first),
            name(last)
        )
    }
}

impl Parcel for Baton {
    fn fits(&self, nodes: u32) -> bool {
        self.first.fits(nodes) && self.last.fits(nodes) && self.taken.fits(nodes)
    }
}

impl RequestsInfo for Distributed {
    type Letter = Link;
    type Baton = Baton;
    /// The node whose request follows that of the one who leaves.
    type Note = Option<NodeId>;
    /// `more`: somebody is, or will be, linked behind the request that is granted.
    type Extra = bool;

    const KINDS: &'static [&'static str] = kinds_behind_the_kernels!["REQUEST", "NOTE", "NEXT"];

    fn new(setup: &Setup<'_>) -> Self {
        Self {
            me: setup.me,
            routing: Routing::new(setup),
            next: None,
            more: false,
            leaving: false,
            first: None,
            first_was_named: false,
            last: None,
            rules: Rules::of(&setup.setting.printed),
        }
    }

    fn register(&mut self, role: &Role, out: &mut Out<Self>) -> Heard<Self::Note> {
        self.next = None;
        let arrived = self.routing.register(role, out);
        self.insert(arrived, out)
    }

    fn receive(
        &mut self,
        _: NodeId,
        link: Link,
        role: &Role,
        out: &mut Out<Self>,
    ) -> Heard<Self::Note> {
        match link {
            Link::Route(route) => {
                let arrived = self.routing.receive(route, role, out);
                self.insert(arrived, out)
            }
            Link::Next(node) => {
                self.next = Some(node);
                match self.leaving {
                    true => Heard::Leave(self.unlink()),
                    false => Heard::Nothing,
                }
            }
        }
    }

    fn granted(&mut self, more: bool) {
        self.more = more;
    }

    fn leave(&mut self) -> Option<Self::Note> {
        // rana-D3, rana-D6: as printed, the exit does not wait for a link that is under way.
        if self.more && self.next.is_none() && self.rules.link_is_awaited {
            self.leaving = true;
            return None;
        }
        Some(self.unlink())
    }

    fn absorb(&mut self, next: Self::Note) {
        if next.is_some() {
            self.first = next;
            self.first_was_named = true;
        }
    }

    fn select(&mut self) -> Option<(NodeId, bool)> {
        let head = self.first.take()?;
        let more = self.last != Some(head);
        // rana-D2: as printed, only a head that was named by an exit is cleared as the tail.
        if !more && (self.first_was_named || self.rules.tail_is_cleared) {
            self.last = None;
        }
        Some((head, more))
    }

    fn hand_over(&mut self) -> Baton {
        let taken = self.routing.hand_over();
        let (first, last) = (self.first.take(), self.last.take());
        // rana-D4: as printed, the ends and the successor just named by an exit are dropped.
        match self.rules.queue_travels {
            true => Baton { first, last, taken },
            false => Baton {
                first: None,
                last: None,
                taken,
            },
        }
    }

    fn take_over(&mut self, baton: Baton, _: &Role, out: &mut Out<Self>) {
        (self.first, self.last) = (baton.first, baton.last);
        self.first_was_named = false;
        for node in self.routing.take_over(baton.taken, out) {
            self.insert(Some(node), out);
        }
    }

    fn draw(&self, view: &mut crate::view::View) {
        view.points_to("next_in_q", self.next);
        view.points_to("first_in_q", self.first);
        view.points_to("last_in_q", self.last);
    }

    fn view(&self) -> View {
        View {
            first: self.first,
            second: None,
            last: self.last,
        }
    }
}

impl Row for Distributed {
    const USUAL_TARGET: Preference = Preference::Last;
    const INFORMS: bool = true;
}

impl Distributed {
    /// Links a request behind the tail, or makes it the head.
    fn insert(&mut self, arrived: Option<NodeId>, out: &mut Out<Self>) -> Heard<Option<NodeId>> {
        let Some(node) = arrived else {
            return Heard::Nothing;
        };
        match self.last.replace(node) {
            Some(tail) => {
                if tail != self.me {
                    out.note("links", 1);
                }
                out.send_for(node, tail, Message::Row(Link::Next(node)));
            }
            // rana-D1: as printed, nothing ever makes it the first.
            None if self.rules.first_is_set => {
                self.first = Some(node);
                self.first_was_named = false;
            }
            None => {}
        }
        Heard::Wake
    }

    /// Forgets the queue behind us and says who was next.
    fn unlink(&mut self) -> Option<NodeId> {
        (self.more, self.leaving) = (false, false);
        self.next.take()
    }
}
