//! What is true of all sites at every moment.

use super::{BantaEfficient, Message, State, Token};
use crate::contract::{NodeId, Snapshot};

pub(super) fn one_token(world: &Snapshot<'_, BantaEfficient>) -> Result<(), String> {
    world.one_token(
        |site| site.token.is_some(),
        |message| matches!(message, Message::Token(_)),
    )
}

/// The tokens there are, at rest or under way.
fn tokens<'a>(world: &Snapshot<'a, BantaEfficient>) -> impl Iterator<Item = &'a Token> {
    world.tokens(
        |site| site.token.as_ref(),
        |message| match message {
            Message::Token(token) => Some(token),
            Message::Request { .. } | Message::Update { .. } => None,
        },
    )
}

pub(super) fn requests_are_in_one_place(
    world: &Snapshot<'_, BantaEfficient>,
) -> Result<(), String> {
    if world.has_crashed() {
        return Ok(());
    }
    let filed = world.alive().flat_map(|(_, site)| &site.local_queue);
    let queued = tokens(world).flat_map(|token| &token.token_queue);
    let mut places = vec![0_usize; world.nodes.len()];
    let mut count = |site: &NodeId| places[site.index()] += 1;
    filed.for_each(&mut count);
    queued.for_each(&mut count);
    for (_, _, message) in &world.flight {
        match message {
            Message::Request { site } => count(site),
            Message::Update { .. } | Message::Token(_) => {}
        }
    }
    for (me, site) in world.alive() {
        let waits = site.state == State::Requesting;
        if places[me.index()] != usize::from(waits) {
            return Err(format!("that of {me} is in {} places", places[me.index()]));
        }
    }
    Ok(())
}

pub(super) fn epochs_come_from_the_token(
    world: &Snapshot<'_, BantaEfficient>,
) -> Result<(), String> {
    for token in tokens(world) {
        if let Some((me, site)) = world.alive().find(|(_, site)| site.epoch > token.epoch) {
            let (known, epoch) = (site.epoch, token.epoch);
            return Err(format!("{me} knows epoch {known}, the token {epoch}"));
        }
    }
    Ok(())
}
