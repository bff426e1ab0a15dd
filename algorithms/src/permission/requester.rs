//! A node that asks the members of its request set and enters when each has replied, as Carvalho and
//! Roucairol's nodes do and Singhal's in the dynamic information structure.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::common::phase::Phase;
use crate::common::stamp::Stamp;
use crate::contract::{NodeId, Outbox};

/// What such a node knows of its own request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Requester {
    pub(super) clock: u64,
    pub(super) phase: Phase,
    /// Of our latest request.
    pub(super) stamp: Stamp,
    /// R: those whom we ask; while we wait, those of whom a reply is missing.
    pub(super) request_set: BTreeSet<NodeId>,
}

impl Requester {
    /// A node that asks these at first.
    pub(super) fn new(me: NodeId, request_set: BTreeSet<NodeId>) -> Self {
        Self {
            clock: 0,
            phase: Phase::Idle,
            stamp: Stamp { t: 0, id: me },
            request_set,
        }
    }

    /// Our client wants in: everybody in the request set is asked, with a new stamp.
    pub(super) fn ask<M>(&mut self, request: impl Fn(u64) -> M, out: &mut Outbox<M>) {
        self.stamp = Stamp::next(&mut self.clock, self.stamp.id);
        self.phase = Phase::Waiting;
        for &other in &self.request_set {
            out.send_for(self.stamp.id, other, request(self.stamp.t));
        }
        self.try_enter(out);
    }

    /// The client leaves.
    pub(super) fn leave(&mut self) {
        self.phase = Phase::Idle;
    }

    /// A request of another node is heard. Whether our own, or our entry, goes first.
    pub(super) fn goes_before(&mut self, theirs: Stamp) -> bool {
        self.clock = self.clock.max(theirs.t);
        match self.phase {
            Phase::Idle => false,
            Phase::Waiting => self.stamp < theirs,
            Phase::Inside => true,
        }
    }

    /// Enters, if we wait and nobody's reply is missing.
    pub(super) fn try_enter<M>(&mut self, out: &mut Outbox<M>) {
        if self.phase == Phase::Waiting && self.request_set.is_empty() {
            self.phase = Phase::Inside;
            out.enter();
        }
    }
}
