//! What is true of all nodes at every moment, whatever the links do.

use std::collections::BTreeSet;

use super::machine::Lfrt;
use super::message::{Message, Relay};
use crate::contract::{NodeId, Snapshot};

/// The nodes that have the token, each with the number of its hop.
fn holders(world: &Snapshot<'_, Lfrt>) -> Vec<(NodeId, u64)> {
    let all = world.alive();
    let holders = all.filter_map(|(me, node)| Some((me, node.token.as_ref()?.hop)));
    holders.collect()
}

pub(super) fn one_has_it(world: &Snapshot<'_, Lfrt>) -> Result<(), String> {
    match holders(world).as_slice() {
        [] | [_] => Ok(()),
        several => Err(format!("{several:?} have it (node, hop)")),
    }
}

pub(super) fn no_second_token(world: &Snapshot<'_, Lfrt>) -> Result<(), String> {
    let Some(&(holder, hop)) = holders(world).first() else {
        return Ok(());
    };
    for (from, to, message) in &world.flight {
        match message {
            Message::Token(token) | Message::Relay(Relay { token, .. }) if token.hop > hop => {
                let newer = token.hop;
                return Err(format!(
                    "{holder} has hop {hop}, and hop {newer} goes from {from} to {to}"
                ));
            }
            Message::Request(_)
            | Message::Token(_)
            | Message::Relay(_)
            | Message::Find { .. }
            | Message::Found { .. } => {}
        }
    }
    Ok(())
}

pub(super) fn the_holder_knows_who_waits(world: &Snapshot<'_, Lfrt>) -> Result<(), String> {
    for (me, node) in world.alive() {
        let Some(token) = &node.token else { continue };
        let heard: BTreeSet<_> = node.lrq.iter().map(|heard| heard.asked.origin).collect();
        let unknown = token
            .orq
            .iter()
            .find(|waiting| !heard.contains(&waiting.origin));
        if let Some(waiting) = unknown {
            return Err(format!("{me} has not heard of {}", waiting.origin));
        }
    }
    Ok(())
}
