//! What is true of all sites at every moment.

use super::{Message, SinghalHeuristic, State};
use crate::contract::{Invariant, Snapshot};

pub(super) const ALL: &[Invariant<SinghalHeuristic>] = &[
    Invariant {
        name: "there is one token",
        check: one_token,
    },
    Invariant {
        name: "an idle holder knows of nobody who waits",
        check: idle_holders_are_unaware,
    },
    Invariant {
        name: "nobody has heard of a request that was not made",
        check: numbers_are_true,
    },
];

fn one_token(world: &Snapshot<'_, SinghalHeuristic>) -> Result<(), String> {
    world.one_token(
        |site| site.token.is_some(),
        |message| matches!(message, Message::Token(_)),
    )
}

fn idle_holders_are_unaware(world: &Snapshot<'_, SinghalHeuristic>) -> Result<(), String> {
    let idle = |site: &SinghalHeuristic| site.sv[site.me.index()] == State::H;
    for (me, site) in world.alive().filter(|(_, site)| idle(site)) {
        if let Some(other) = site.sv.iter().position(|&state| state == State::R) {
            return Err(format!("{me} keeps the token from {other}"));
        }
    }
    Ok(())
}

fn numbers_are_true(world: &Snapshot<'_, SinghalHeuristic>) -> Result<(), String> {
    for (owner, site) in world.alive() {
        let made = site.sn[owner.index()];
        for (other, hearer) in world.alive() {
            let heard = hearer.sn[owner.index()];
            if heard > made {
                return Err(format!(
                    "{other} heard of request {heard} of {owner}'s {made}"
                ));
            }
        }
    }
    Ok(())
}
