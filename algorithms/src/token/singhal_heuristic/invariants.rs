//! What is true of all sites at every moment.

use super::{SinghalHeuristic, State};
use crate::contract::Snapshot;

pub(super) fn idle_holders_are_unaware(
    world: &Snapshot<'_, SinghalHeuristic>,
) -> Result<(), String> {
    let idle = |site: &SinghalHeuristic| site.sv[site.me.index()] == State::H;
    for (me, site) in world.alive().filter(|(_, site)| idle(site)) {
        if let Some(other) = site.sv.iter().position(|&state| state == State::R) {
            return Err(format!("{me} keeps the token from {other}"));
        }
    }
    Ok(())
}

pub(super) fn numbers_are_true(world: &Snapshot<'_, SinghalHeuristic>) -> Result<(), String> {
    world.heard_of_no_more_than_made(|site| &site.sn)
}
