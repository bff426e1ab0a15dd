//! What is true of all sites at every moment.

use super::{BantaEfficient, State};
use crate::contract::{Message as _, Snapshot, tokens};
use crate::token::banta_efficient::queue;

pub(super) fn requests_are_in_one_place(
    world: &Snapshot<'_, BantaEfficient>,
) -> Result<(), String> {
    let filed = world.alive().flat_map(|(_, site)| &site.local_queue);
    let queued = tokens(world).flat_map(|token| &token.token_queue);
    let flight = world.flight.iter();
    let asked = flight.filter_map(|(_, _, message)| message.origin());
    let waits = |site: &BantaEfficient| site.state == State::Requesting;
    world.in_one_place(filed.chain(queued).copied().chain(asked), waits)
}

pub(super) fn epochs_come_from_the_token(
    world: &Snapshot<'_, BantaEfficient>,
) -> Result<(), String> {
    tokens(world).try_for_each(|token| queue::at_most_epoch(world, token.epoch, |site| site.epoch))
}
