//! What is true in every state: a vote is in one place, and who is inside has most of them.

use std::collections::BTreeSet;

use super::machine::Process;
use super::message::{Message, Token};
use crate::contract::{NodeId, Snapshot};

/// Where a lent vote is: with a process, or in a message that its addressee will not take for a
/// duplicate.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Place {
    With(NodeId),
    UnderWay { to: NodeId, hop: u64 },
    OnTheWayHome,
}

pub(super) fn votes_are_in_one_place(world: &Snapshot<'_, Process>) -> Result<(), String> {
    for (voter, owner) in world.alive() {
        let mut places = places(world, voter, owner.voter.serial);
        let lent = owner.voter.out.is_some();
        if !lent {
            // A REL that comes twice brings nothing the second time.
            places.remove(&Place::OnTheWayHome);
        }
        if places.len() > usize::from(lent) {
            return Err(format!("the vote of {voter} is at {places:?}"));
        }
    }
    Ok(())
}

fn places(world: &Snapshot<'_, Process>, voter: NodeId, serial: u64) -> BTreeSet<Place> {
    let mut places = BTreeSet::new();
    for (id, process) in world.alive() {
        if process.got.get(&voter).is_some_and(|got| got.0 == serial) {
            places.insert(Place::With(id));
        }
    }
    for &(from, to, message) in &world.flight {
        let new = |hop| match world.nodes[to.index()] {
            Some(process) => (serial, hop) > process.seen[voter.index()],
            None => false,
        };
        match message {
            Message::Vote { serial: lent, .. } if from == voter && *lent == serial && new(0) => {
                places.insert(Place::UnderWay { to, hop: 0 });
            }
            Message::P2v { tokens, .. } => {
                let ours = |token: &&Token| {
                    (token.voter, token.serial) == (voter, serial) && new(token.hop)
                };
                let hops = tokens.iter().filter(ours).map(|token| token.hop);
                places.extend(hops.map(|hop| Place::UnderWay { to, hop }));
            }
            Message::Rel { serial: back, .. } if to == voter && *back == Some(serial) => {
                places.insert(Place::OnTheWayHome);
            }
            Message::Req { .. }
            | Message::Vote { .. }
            | Message::No { .. }
            | Message::P2req { .. }
            | Message::Rel { .. } => {}
        }
    }
    places
}

pub(super) fn who_is_inside_has_a_majority(world: &Snapshot<'_, Process>) -> Result<(), String> {
    for (id, process) in world.alive() {
        if process.is_inside() && !process.has_majority() {
            return Err(format!("{id} is inside with {:?}", process.got));
        }
    }
    Ok(())
}

pub(super) fn nobody_waits_with_a_majority(world: &Snapshot<'_, Process>) -> Result<(), String> {
    for (id, process) in world.alive() {
        let waits = process.req.is_some() && !process.is_inside();
        if waits && process.has_majority() {
            return Err(format!("{id} waits with {:?}", process.got));
        }
    }
    Ok(())
}
