//! What is true of all sites at every moment.

use super::{BantaSimple, Message, State};
use crate::contract::{NodeId, Snapshot, tokens};
use crate::token::banta_efficient::queue;

pub(super) fn the_queued_wait(world: &Snapshot<'_, BantaSimple>) -> Result<(), String> {
    let waits = |site: &BantaSimple| site.site_state == State::Requesting;
    tokens(world).try_for_each(|token| world.queued_once(&token.token_queue, waits))
}

pub(super) fn no_request_is_lost(world: &Snapshot<'_, BantaSimple>) -> Result<(), String> {
    if world.has_crashed() {
        return Ok(());
    }
    let waiting = |(_, site): &(NodeId, &BantaSimple)| site.site_state == State::Requesting;
    for (me, site) in world.alive().filter(waiting) {
        let open = (me, site.number);
        let kept = world
            .alive()
            .any(|(_, site)| site.local_queue.contains(&open));
        let queued = tokens(world).any(|token| token.token_queue.contains(&me));
        let under_way = world.flight.iter().any(|&(_, _, message)| match *message {
            Message::Request { site, number } => (site, number) == open,
            Message::Update { .. } | Message::Token(_) => false,
        });
        if !(kept || queued || under_way) {
            return Err(format!("that of {me} is nowhere"));
        }
    }
    Ok(())
}

pub(super) fn epochs_come_from_the_token(world: &Snapshot<'_, BantaSimple>) -> Result<(), String> {
    tokens(world).try_for_each(|token| queue::at_most_epoch(world, token.epoch, |site| site.epoch))
}
