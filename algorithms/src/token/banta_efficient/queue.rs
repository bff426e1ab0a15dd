//! The token, its queue and its good site, for both algorithms that work in cycles.

use std::collections::VecDeque;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::contract::{Algorithm, NodeId, Outbox, Snapshot};

/// What travels with the right to enter.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Token {
    pub(crate) token_queue: VecDeque<NodeId>,
    /// The good site, on the queue unless it has the token or nobody waits.
    pub(crate) mark: Option<NodeId>,
    /// How many cycles have begun.
    pub(crate) epoch: u64,
    /// How many requests have joined the line, those included that found nobody in it.
    registered: u64,
}

impl Token {
    /// A request joins the line: the token counts it, and the run notes its place.
    pub(crate) fn register<M>(&mut self, site: NodeId, out: &mut Outbox<M>) {
        self.registered = self.registered.saturating_add(1);
        out.note_for(site, "registered", self.registered);
    }

    /// Marks the last of the queue, tells those who are not on it, and gives the good site.
    pub(crate) fn begin_cycle<M: Clone>(
        &mut self,
        (me, nodes): (NodeId, u32),
        update: impl FnOnce(NodeId, u64) -> M,
        out: &mut Outbox<M>,
    ) -> NodeId {
        let &good = self.token_queue.back().expect("somebody asked");
        self.mark = Some(good);
        self.epoch = self.epoch.saturating_add(1);
        out.note("cycle", self.token_queue.len() as u64);
        let update = update(good, self.epoch);
        tell_the_others((me, nodes), &self.token_queue, good, &update, out);
        good
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = drawn(&self.token_queue, self.mark);
        write!(f, "{queue} epoch {}", self.epoch)
    }
}

/// The queue with a star behind the good site, as the thesis draws an arrow there.
fn drawn(queue: &VecDeque<NodeId>, good: Option<NodeId>) -> String {
    let marked = |site: &NodeId| match Some(*site) == good {
        true => format!("{site}*"),
        false => site.to_string(),
    };
    let sites: Vec<_> = queue.iter().map(marked).collect();
    format!("[{}]", sites.join(", "))
}

/// A cycle begins: the sites that are not on its queue are told of the good site.
pub(crate) fn tell_the_others<M: Clone>(
    (me, nodes): (NodeId, u32),
    queue: &VecDeque<NodeId>,
    good: NodeId,
    update: &M,
    out: &mut Outbox<M>,
) {
    let everybody = (0..nodes).map(NodeId);
    for other in everybody.filter(|other| *other != me && !queue.contains(other)) {
        out.send_for(good, other, update.clone());
    }
}

/// Checks that nobody knows a later epoch than the token.
pub(crate) fn at_most_epoch<A: Algorithm>(
    world: &Snapshot<'_, A>,
    epoch: u64,
    known: impl Fn(&A) -> u64,
) -> Result<(), String> {
    let later = world.alive().find(|(_, site)| known(site) > epoch);
    later.map_or(Ok(()), |(me, site)| {
        let known = known(site);
        Err(format!("{me} knows epoch {known}, the token {epoch}"))
    })
}
