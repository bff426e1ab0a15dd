//! One node, its client, and the mail on its way to it.

use std::collections::BTreeMap;

use algorithms::erased::StateId;
use algorithms::{NodeId, Timer};

use super::mail::Queue;

/// A node with everything that decides what it can do next.
///
/// Mail belongs to its addressee, so that whatever happens changes one site and adds mail to
/// others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Site {
    pub(super) node: NodeId,
    /// The algorithm's state; none once the node has crashed.
    pub(super) state: Option<StateId>,
    pub(super) client: Client,
    /// The timers that are set, sorted.
    pub(super) timers: Vec<Alarm>,
    /// The crashed nodes it has yet to be told of, sorted.
    pub(super) notices: Vec<NodeId>,
    /// The messages on their way to it, by sender; from itself: what it posted.
    pub(super) inbox: Vec<Queue>,
    /// Its links that are not simply there, by neighbour.
    pub(super) links: BTreeMap<NodeId, Session>,
    /// Some link of the world was cut or came back since this node last tried again what had failed.
    pub(super) stirred: bool,
}

/// What one end knows of a link whose session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Session {
    /// It has yet to be told of the end.
    Ended,
    /// It was told of the end.
    Down,
    /// It has yet to be told of the new session.
    Renewed,
}

/// A timer that is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Alarm {
    pub(super) timer: Timer,
    /// In how many ticks it may go off; 0 where time does not count.
    pub(super) earliest: u32,
    /// In how many ticks it must.
    pub(super) latest: u32,
    /// It would only find what was found before, unless a link has changed.
    pub(super) again: bool,
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
    /// A message must arrive before time goes on.
    pub(super) due_mail: bool,
    /// A timer is set that may go off.
    pub(super) timer: bool,
    /// It has yet to be told of a link.
    pub(super) news: bool,
    /// One of its links is not simply there.
    pub(super) cut_off: bool,
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
            links: BTreeMap::new(),
            stirred: false,
        }
    }

    /// A crashed node: it wants nothing, and what is sent to it goes nowhere.
    pub(super) fn crashed(node: NodeId, nodes: usize) -> Self {
        Self {
            state: None,
            ..Self::fresh(node, StateId(0), 0, nodes)
        }
    }

    /// The same site a tick later; none if something must happen to it first.
    pub(super) fn aged(&self) -> Option<Self> {
        let mut later = self.clone();
        for mail in later.inbox.iter_mut().flatten() {
            mail.left = mail.left.checked_sub(1)?;
        }
        for alarm in &mut later.timers {
            alarm.earliest = alarm.earliest.saturating_sub(1);
            alarm.latest = alarm.latest.checked_sub(1)?;
        }
        Some(later)
    }

    /// Whether a timer may go off as soon as its time has come.
    pub(super) fn heeds(&self, alarm: &Alarm) -> bool {
        self.stirred || !alarm.again
    }

    /// Whether nothing reaches it from that neighbour.
    pub(super) fn is_cut_off_from(&self, neighbour: NodeId) -> bool {
        let session = self.links.get(&neighbour);
        matches!(session, Some(Session::Ended | Session::Down))
    }

    /// The session with a neighbour ends, and what was on its way from there is lost.
    pub(super) fn end_session(&mut self, neighbour: NodeId) {
        self.inbox[neighbour.index()].clear();
        let known = match self.links.get(&neighbour) {
            None => Session::Ended,
            // It has not heard of the session that ends, and will not.
            Some(Session::Renewed) => Session::Down,
            Some(&session @ (Session::Ended | Session::Down)) => session,
        };
        self.links.insert(neighbour, known);
    }

    pub(super) fn standing(&self) -> Standing {
        let Client { wants, phase } = self.client;
        let (inside, waiting) = (phase == Phase::Inside, phase == Phase::Waiting);
        let can_ask = phase == Phase::Outside && wants > 0;
        let mail = self.inbox.iter().any(|queue| !queue.is_empty());
        let due_mail = self.inbox.iter().flatten().any(|mail| mail.left == 0);
        let timer = self.timers.iter().any(|alarm| self.heeds(alarm));
        let news = self.links.values().any(|&session| session != Session::Down);
        let told = timer || !self.notices.is_empty() || news;
        Standing {
            inside,
            waiting,
            crashed: self.state.is_none(),
            mail,
            due_mail,
            timer,
            news,
            cut_off: !self.links.is_empty(),
            moves: can_ask || inside || mail || told,
            served: !can_ask && !inside && !waiting,
        }
    }
}
