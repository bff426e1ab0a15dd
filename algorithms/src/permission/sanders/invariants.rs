//! What is true in every reachable state, whatever the structure.

use super::machine::{Message, Sanders};
use super::rules::Version;
use crate::common::phase::Phase;
use crate::contract::{NodeId, Snapshot};

fn under_way(
    world: &Snapshot<'_, Sanders>,
    from: NodeId,
    to: NodeId,
    is: impl Fn(&Message) -> bool,
) -> bool {
    let mut flight = world.flight.iter();
    flight.any(|&(sender, addressee, message)| (sender, addressee) == (from, to) && is(message))
}

pub(super) fn the_inside_are_known(world: &Snapshot<'_, Sanders>) -> Result<(), String> {
    let inside = world
        .alive()
        .filter(|(_, node)| node.phase == Phase::Inside);
    for (i, node) in inside {
        // Where property a fails, a node that is told without having been asked knows nothing
        // before.
        for &k in node.inform_set.intersection(&node.request_set) {
            let Some(arbiter) = world.nodes[k.index()] else {
                continue;
            };
            let csstat = arbiter.csstat.map(|asked| asked.stamp);
            if csstat != Some(node.stamp) {
                return Err(format!("{i} is inside, but CSSTAT of {k} is {csstat:?}"));
            }
        }
    }
    Ok(())
}

pub(super) fn csstat_is_reset(world: &Snapshot<'_, Sanders>) -> Result<(), String> {
    for (k, arbiter) in world.alive() {
        let Some(asked) = arbiter.csstat else {
            continue;
        };
        let i = asked.stamp.id;
        let Some(node) = world.nodes[i.index()] else {
            continue;
        };
        let wants_in = node.phase != Phase::Idle && node.stamp == asked.stamp;
        let released = under_way(world, i, k, |message| matches!(message, Message::Release));
        if !wants_in && !released {
            return Err(format!(
                "CSSTAT of {k} is {i}, which has left without a word"
            ));
        }
    }
    Ok(())
}

pub(super) fn the_free_serve(world: &Snapshot<'_, Sanders>) -> Result<(), String> {
    for (k, arbiter) in world.alive() {
        let puts_itself_off = arbiter.rules.late;
        if arbiter.csstat.is_none() && !arbiter.queue.is_empty() && !puts_itself_off {
            return Err(format!(
                "{k} waits for nobody, and {:?} wait for it",
                arbiter.queue
            ));
        }
    }
    Ok(())
}

pub(super) fn nobody_is_forgotten(world: &Snapshot<'_, Sanders>) -> Result<(), String> {
    let waiting = world
        .alive()
        .filter(|(_, node)| node.phase == Phase::Waiting);
    for (i, node) in waiting {
        for &k in &node.request_set {
            let Some(arbiter) = world.nodes[k.index()] else {
                continue;
            };
            let granted = node.got.contains(&k);
            let queued = arbiter.queue.iter().any(|asked| asked.stamp == node.stamp);
            let sent = under_way(world, i, k, |message| {
                matches!(message, Message::Request { .. } | Message::Yield { .. })
            });
            let answered = under_way(world, k, i, |message| {
                matches!(message, Message::Grant { .. })
            });
            if !(granted || queued || sent || answered) {
                return Err(format!("{i} waits for {k}, which knows nothing of it"));
            }
        }
    }
    Ok(())
}

/// Without this a chain of larger holders could end at one that never gives back.
pub(super) fn the_hopeless_know(world: &Snapshot<'_, Sanders>) -> Result<(), String> {
    let arbiters = world
        .alive()
        .filter(|(_, node)| node.rules.version == Version::DeadlockFree);
    for (k, arbiter) in arbiters {
        let Some(holder) = arbiter.csstat else {
            continue;
        };
        for (place, asked) in arbiter.queue.iter().enumerate() {
            let i = asked.stamp.id;
            let is_next = place == 0 && asked.stamp < holder.stamp;
            let Some(node) = world.nodes[i.index()] else {
                continue;
            };
            let knows = node.failed.contains(&k) || node.yielded.contains(&k);
            let will = under_way(world, k, i, |message| matches!(message, Message::Fail));
            // Because of a death this one is about to be replaced.
            let asks_anew = under_way(world, i, k, |message| {
                matches!(message, Message::Request { .. })
            });
            if !is_next && !knows && !will && !asks_anew {
                return Err(format!("{i} is not next at {k} and will not hear of it"));
            }
        }
    }
    Ok(())
}
