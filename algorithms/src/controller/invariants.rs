//! What is true of requests under way, in every reachable state.

use super::kernel::{Kernel, Message, Row};
use super::requests_info::Letter;
use super::rows::routing::Route;
use crate::contract::{NodeId, Snapshot};

/// Each hop follows a pointer of a later epoch, so there are no more hops than epochs.
pub(super) fn hops_are_newer<R: Row>(world: &Snapshot<'_, Kernel<R>>) -> Result<(), String> {
    for (from, to, request) in routes(world) {
        match request {
            Route::Request { epoch, hops, .. } if hops > epoch => {
                return Err(format!(
                    "{from} sends a request to {to} in epoch {epoch}, after {hops} hops"
                ));
            }
            Route::Request { .. } | Route::Note { .. } => {}
        }
    }
    Ok(())
}

/// No request goes to and fro between two nodes that believe the controller to be each other, with
/// nothing under way that would tell them better.
pub(super) fn no_circles<R: Row>(world: &Snapshot<'_, Kernel<R>>) -> Result<(), String> {
    for (from, to, _) in routes(world) {
        let points =
            |at: NodeId, to: NodeId| world.nodes[at.index()].is_some_and(|node| node.points_at(to));
        let is_news = |message: &Message<R>| match message {
            Message::Grant { .. } | Message::Become { .. } | Message::Inform { .. } => true,
            Message::Exit(_) | Message::WakeUp | Message::Row(_) => false,
        };
        let news = |at: NodeId| {
            let mut flight = world.flight.iter();
            flight.any(|&(_, to, message)| to == at && is_news(message))
        };
        if points(from, to) && points(to, from) && !news(from) && !news(to) {
            return Err(format!("a request goes to and fro between {from} and {to}"));
        }
    }
    Ok(())
}

/// The requests under way.
fn routes<'a, R: Row>(
    world: &'a Snapshot<'_, Kernel<R>>,
) -> impl Iterator<Item = (NodeId, NodeId, &'a Route)> {
    let letters = world.flight.iter();
    letters.filter_map(|&(from, to, message)| match message {
        Message::Row(letter) => Some((from, to, letter.route()?)),
        Message::Grant { .. }
        | Message::Exit(_)
        | Message::Become { .. }
        | Message::Inform { .. }
        | Message::WakeUp => None,
    })
}
