//! REQUESTS_INFO: where the pending requests are, and how a request gets there.
//!
//! The paper's three operations are `register_request` ([`RequestsInfo::register`] and the routing
//! half of [`RequestsInfo::receive`]), `select_request` ([`RequestsInfo::select`]) and
//! `update_controller_info` ([`RequestsInfo::hand_over`], [`RequestsInfo::take_over`]). What the
//! paper leaves out is what has to travel: with the role (a baton), with an exit (a note) and with a
//! grant (an extra).

use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::kernel::Message;
use super::rows::routing::Route;
use crate::contract::{NodeId, Outbox};
use crate::setup::Setup;

/// Where a row puts the messages it sends.
pub(super) type Out<R> = Outbox<Message<R>>;

/// What a node knows of the controller role.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Role {
    /// The node that this is about.
    pub(super) me: NodeId,
    /// We are the controller.
    pub(super) active: bool,
    /// `current_controller`: who is, as far as we know.
    pub(super) controller: NodeId,
    /// How often the role had moved when that was true.
    pub(super) epoch: u64,
}

/// The row of the taxonomy, at one node.
pub(super) trait RequestsInfo:
    Clone + Debug + Eq + Hash + Serialize + Send + Sync + 'static
{
    /// What its nodes say to each other besides what the kernel says.
    type Letter: Letter;
    /// What goes with the role.
    type Baton: Parcel;
    /// What goes with an exit; most rows have nothing to say.
    type Note: Parcel + Default;
    /// What goes with a grant.
    type Extra: Parcel;

    /// The kernel's kinds of message, then those of its letters.
    const KINDS: &'static [&'static str];

    /// The collection before the first request.
    fn new(setup: &Setup<'_>) -> Self;

    /// Our client wants in.
    fn register(&mut self, role: &Role, out: &mut Out<Self>) -> Heard<Self::Note>;

    /// A letter arrives: pass it on, insert the request, remember it.
    fn receive(
        &mut self,
        from: NodeId,
        letter: Self::Letter,
        role: &Role,
        out: &mut Out<Self>,
    ) -> Heard<Self::Note>;

    /// We were granted entry.
    fn granted(&mut self, _extra: Self::Extra) {}

    /// What to tell the controller on leaving; nothing yet if that is still to be learned.
    fn leave(&mut self) -> Option<Self::Note> {
        Some(Self::Note::default())
    }

    /// Controller: what somebody told on leaving.
    fn absorb(&mut self, _note: Self::Note) {}

    /// Controller: takes out the request to be granted next.
    fn select(&mut self) -> Option<(NodeId, Self::Extra)>;

    /// Controller: lets go of everything the next controller needs.
    fn hand_over(&mut self) -> Self::Baton;

    /// The next controller: takes it, with what was remembered here. Grants nothing yet.
    fn take_over(&mut self, baton: Self::Baton, role: &Role, out: &mut Out<Self>);

    /// What the choice of the next controller may look at.
    fn view(&self) -> View;

    /// How the collection wants to be drawn.
    fn draw(&self, view: &mut crate::view::View);
}

/// What came of a letter or of a client's wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heard<N> {
    /// Nothing that concerns the controller.
    Nothing,
    /// A request was inserted here: if nobody is inside it can be granted.
    Wake,
    /// What was still to be learned before leaving.
    Leave(N),
}

/// The requests that the choice of the next controller may look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    /// The one to be granted next.
    pub(super) first: Option<NodeId>,
    /// The one after it.
    pub(super) second: Option<NodeId>,
    /// The one to be granted last.
    pub(super) last: Option<NodeId>,
}

impl View {
    /// Of a queue, the next to be granted first.
    pub(super) fn of(queue: &VecDeque<NodeId>) -> Self {
        Self {
            first: queue.front().copied(),
            second: queue.get(1).copied(),
            last: queue.back().copied(),
        }
    }
}

/// Plain data that goes with a message.
pub(super) trait Parcel:
    Clone + Debug + Eq + Hash + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Whether it speaks only of nodes below this number.
    fn fits(&self, nodes: u32) -> bool;
}

impl Parcel for () {
    fn fits(&self, _: u32) -> bool {
        true
    }
}

impl Parcel for bool {
    fn fits(&self, _: u32) -> bool {
        true
    }
}

impl Parcel for Option<NodeId> {
    fn fits(&self, nodes: u32) -> bool {
        self.is_none_or(|node| node.0 < nodes)
    }
}

/// A row's own message.
pub(super) trait Letter:
    Clone + Debug + Eq + Hash + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Which of the row's kinds it is, counted from its first letter.
    fn kind(&self) -> usize;

    /// Whose request it is about.
    fn origin(&self) -> NodeId;

    /// Whether it is about a request of a node below this number.
    fn fits(&self, nodes: u32) -> bool {
        self.origin().0 < nodes
    }

    /// The request that it carries towards the controller, if it does.
    fn route(&self) -> Option<&Route> {
        None
    }
}
