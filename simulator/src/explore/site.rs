//! One node, its client, and the mail on its way to it.

use algorithms::erased::StateId;
use algorithms::{NodeId, Timer};

use super::mail::Queue;

/// A node with everything that decides what it can do next.
///
/// Mail belongs to its addressee, so that whatever happens changes one site and adds mail to
/// others. Link sessions will have their place beside `inbox`, and the moments of bounded timers
/// beside `timers`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Site {
    pub(super) node: NodeId,
    /// The algorithm's state; none once the node has crashed.
    pub(super) state: Option<StateId>,
    pub(super) client: Client,
    /// The timers that are set, sorted.
    pub(super) timers: Vec<Timer>,
    /// The crashed nodes it has yet to be told of, sorted.
    pub(super) notices: Vec<NodeId>,
    /// The messages on their way to it, by sender; from itself: what it posted.
    pub(super) inbox: Vec<Queue>,
}

/// What a node's client has done and still wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Client {
    /// How many times it will still ask.
    pub(super) wants: u32,
    pub(super) phase: Phase,
}

/// Where a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    Outside,
    Waiting,
    Inside,
}

/// What a world needs to know of a site in every state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) inside: bool,
    pub(super) waiting: bool,
    pub(super) crashed: bool,
    /// A message is on its way to it.
    pub(super) mail: bool,
    /// Something other than a fault can happen to it, sooner or later.
    pub(super) moves: bool,
    /// Its client got all it wanted, or died.
    pub(super) served: bool,
}

impl Site {
    /// A node before its first event.
    pub(super) fn fresh(node: NodeId, state: StateId, wants: u32, nodes: usize) -> Self {
        let phase = Phase::Outside;
        Self {
            node,
            state: Some(state),
            client: Client { wants, phase },
            timers: Vec::new(),
            notices: Vec::new(),
            inbox: vec![Queue::new(); nodes],
        }
    }

    /// A crashed node: it wants nothing, and what is sent to it goes nowhere.
    pub(super) fn crashed(node: NodeId, nodes: usize) -> Self {
        Self {
            state: None,
            ..Self::fresh(node, StateId(0), 0, nodes)
        }
    }

    pub(super) fn standing(&self) -> Standing {
        let Client { wants, phase } = self.client;
        let (inside, waiting) = (phase == Phase::Inside, phase == Phase::Waiting);
        let can_ask = phase == Phase::Outside && wants > 0;
        let mail = self.inbox.iter().any(|queue| !queue.is_empty());
        let told = !self.timers.is_empty() || !self.notices.is_empty();
        Standing {
            inside,
            waiting,
            crashed: self.state.is_none(),
            mail,
            moves: can_ask || inside || mail || told,
            served: !can_ask && !inside && !waiting,
        }
    }
}
