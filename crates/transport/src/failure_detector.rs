//! Keeping an eye on others: the transport asks them now and then whether they are there.
//!
//! An algorithm that asks for link events learns of a cut while it has something unanswered on the
//! way, and while it waits; for the latter its neighbours are watched. Who wants nothing lets them
//! be. A detector that goes by silence watches everybody, all the time.

use std::collections::BTreeSet;

use algorithms::{NodeId, Topology};

use crate::Transport;

/// The peers that a member watches, and when.
#[derive(Clone, Debug)]
pub struct FailureDetector {
    others: Vec<NodeId>,
    when: When,
    watching: bool,
    /// Who was taken for dead already.
    suspects: BTreeSet<NodeId>,
}

#[derive(Clone, Copy, Debug)]
enum When {
    Waiting,
    Always,
}

impl FailureDetector {
    /// The neighbours, while the member waits. The links come without their direction: both ends of
    /// a link have a stake in it.
    pub fn neighbours(topology: &Topology, me: NodeId) -> Self {
        Self {
            others: topology.neighbours(me).collect(),
            when: When::Waiting,
            watching: false,
            suspects: BTreeSet::new(),
        }
    }

    /// Everybody else of so many members, from the beginning.
    pub fn everybody(members: u32, me: NodeId) -> Self {
        Self {
            others: (0..members).map(NodeId).filter(|&who| who != me).collect(),
            when: When::Always,
            watching: false,
            suspects: BTreeSet::new(),
        }
    }

    /// The member waits, or no longer.
    pub fn look(&mut self, now: u64, waits: bool, transport: &mut Transport) {
        let watch = match self.when {
            When::Waiting => waits,
            When::Always => true,
        };
        if self.watching == watch {
            return;
        }
        self.watching = watch;
        for &other in &self.others {
            transport.watch(now, other, watch);
        }
    }

    /// Somebody is silent, or speaks in a later life: says whether it is news that it is dead. It is
    /// only where deaths are guessed from silence, and only once.
    pub fn suspect(&mut self, other: NodeId) -> bool {
        match self.when {
            When::Waiting => false,
            When::Always => self.suspects.insert(other),
        }
    }
}
