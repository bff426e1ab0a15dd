//! What nodes say to each other, and what travels with the token.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use serde::{Deserialize, Serialize};

use crate::contract::{NodeId, messages, shown};
use crate::structure::precedence::{Rank, ranked};

messages! {
    /// What nodes say to each other.
    pub(crate) enum Message {
        /// `origin` wants in, for the `seq`-th time.
        Request(Asked) = "REQUEST",
        /// The token goes to the addressee.
        Token(Token) = "TOKEN",
        /// The holder looks for a way to `target`; `path` is the way so far.
        Find {
            holder: NodeId,
            nonce: u64,
            target: NodeId,
            path: Vec<NodeId>,
        } = "FIND",
        /// The whole way, on its way back.
        Found {
            holder: NodeId,
            nonce: u64,
            path: Vec<NodeId>,
        } = "FOUND",
        /// A token that was on a link whose session ended.
        Relay(Relay) = "RELAY",
    }

    fn origin(&self) -> Option<NodeId> {
        match self {
            Message::Request(asked) => Some(asked.origin),
            Message::Token(token) | Message::Relay(Relay { token, .. }) => token.next(),
            Message::Find { target, .. } => Some(*target),
            Message::Found { path, .. } => path.last().copied(),
        }
    }
}

/// A request as it is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(super) origin: NodeId,
    pub(super) seq: u64,
    pub(super) priority: u32,
    /// It goes over all links, in both directions.
    pub(super) wide: bool,
}

/// What travels with the right to enter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Token {
    /// How often it was sent.
    pub(super) hop: u64,
    /// Those who wait, the next first.
    pub(super) orq: Vec<Waiting>,
    /// The number of everybody's last request that was served.
    pub(super) ln: BTreeMap<NodeId, u64>,
    /// Those who cannot be reached at the moment.
    pub(super) parked: BTreeSet<NodeId>,
    /// The way to the next, where the one its request came is dead.
    pub(super) route: Vec<NodeId>,
    /// How many requests have ever been written into it.
    pub(super) registered: u64,
}

/// Somebody in the queue that travels.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub(super) origin: NodeId,
    pub(super) seq: u64,
    pub(super) rank: Rank,
}

// Whose which request, and how urgent: `3#1(2)`.
shown! { Waiting: Self { origin, seq, rank } => "{origin}#{seq}({rank:?})" }

ranked!(Waiting);

/// A token in doubt: the link from `src` to `dst` ended its session, and whether it arrived is not
/// known.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Relay {
    pub(super) src: NodeId,
    pub(super) dst: NodeId,
    pub(super) token: Token,
}

impl Message {
    /// Whether everybody it names is one of so many.
    pub(super) fn names_only(&self, nodes: u32) -> bool {
        let known = |node: &NodeId| node.0 < nodes;
        match self {
            Message::Request(asked) => known(&asked.origin),
            Message::Token(token) => token.names().all(known),
            Message::Relay(Relay { src, dst, token }) => {
                known(src) && known(dst) && token.names().all(known)
            }
            Message::Find {
                holder,
                target,
                path,
                ..
            } => known(holder) && known(target) && path.iter().all(known),
            Message::Found { holder, path, .. } => known(holder) && path.iter().all(known),
        }
    }
}

impl Token {
    /// The node that is next, of those that can be reached.
    pub(super) fn next(&self) -> Option<NodeId> {
        let reachable = |waiting: &&Waiting| !self.parked.contains(&waiting.origin);
        self.orq
            .iter()
            .find(reachable)
            .map(|waiting| waiting.origin)
    }

    pub(super) fn lists(&self, origin: NodeId) -> bool {
        self.orq.iter().any(|waiting| waiting.origin == origin)
    }

    fn names(&self) -> impl Iterator<Item = &NodeId> {
        let waiting = self.orq.iter().map(|waiting| &waiting.origin);
        iter::empty()
            .chain(waiting)
            .chain(self.ln.keys())
            .chain(&self.parked)
            .chain(&self.route)
    }
}
