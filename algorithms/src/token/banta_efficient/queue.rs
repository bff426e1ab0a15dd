//! The token queue and its good site, for both algorithms that work in cycles.

use std::collections::VecDeque;

use crate::contract::{Algorithm, NodeId, Outbox, Snapshot};

/// The queue with a star behind the good site, as the thesis draws an arrow there.
pub(crate) fn drawn(queue: &VecDeque<NodeId>, good: Option<NodeId>) -> String {
    let marked = |site: &NodeId| match Some(*site) == good {
        true => format!("{site}*"),
        false => site.to_string(),
    };
    let sites: Vec<_> = queue.iter().map(marked).collect();
    format!("[{}]", sites.join(", "))
}

/// A request joins the line: the token counts it, and the run notes its place.
pub(crate) fn register<M>(registered: &mut u64, site: NodeId, out: &mut Outbox<M>) {
    *registered = registered.saturating_add(1);
    out.note_for(site, "registered", *registered);
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
