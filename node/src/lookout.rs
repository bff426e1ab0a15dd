//! Keeping an eye on one's neighbours.
//!
//! An algorithm that asks for link events learns of a cut while it has something unanswered on the
//! way, and while it waits; for the latter its transport asks the neighbours now and then whether
//! they are there. Who wants nothing lets them be.

use algorithms::{NodeId, Topology};

use crate::transport::Transport;

/// The neighbours of a member whose algorithm asks for link events.
#[derive(Clone, Debug)]
pub struct Lookout {
    neighbours: Vec<NodeId>,
    watching: bool,
}

impl Lookout {
    /// A member that does not wait yet, and the links without their direction: both ends of a link
    /// have a stake in it.
    pub fn new(topology: &Topology, me: NodeId) -> Self {
        Self {
            neighbours: topology.neighbours(me).collect(),
            watching: false,
        }
    }

    /// The member waits, or no longer.
    pub fn look(&mut self, now: u64, waits: bool, transport: &mut Transport) {
        if self.watching == waits {
            return;
        }
        self.watching = waits;
        for &neighbour in &self.neighbours {
            transport.watch(now, neighbour, waits);
        }
    }
}
