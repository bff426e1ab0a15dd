//! What is true of all sites at every moment.

use std::collections::BTreeSet;

use super::machine::Mra;
use crate::contract::Snapshot;

pub(super) fn the_holder_knows_the_ways(world: &Snapshot<'_, Mra>) -> Result<(), String> {
    for (me, site) in world.alive() {
        let Some(token) = &site.token else { continue };
        let listed: BTreeSet<_> = token.rq.iter().map(|waiting| waiting.origin).collect();
        let known: BTreeSet<_> = site.ldq.iter().map(|way| way.origin).collect();
        if listed != known {
            return Err(format!("at {me} RQ has {listed:?}, LDQ {known:?}"));
        }
    }
    Ok(())
}

pub(super) fn ways_lead_away_from_the_token(world: &Snapshot<'_, Mra>) -> Result<(), String> {
    for (me, site) in world.alive().filter(|(_, site)| site.token.is_none()) {
        if let Some(way) = site.ldq.iter().find(|way| way.via == site.holder) {
            return Err(format!("{me} knows of {} from {}", way.origin, way.via));
        }
    }
    Ok(())
}

pub(super) fn origins_are_unique(world: &Snapshot<'_, Mra>) -> Result<(), String> {
    for (me, site) in world.alive() {
        let origins: BTreeSet<_> = site.ldq.iter().map(|way| way.origin).collect();
        if origins.len() < site.ldq.len() {
            return Err(format!("{me} has {:?}", site.ldq));
        }
    }
    Ok(())
}
