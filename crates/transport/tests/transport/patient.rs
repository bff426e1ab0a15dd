//! Patient links: whatever the network does, every message arrives once.

use algorithms::registry::LinkOrder;
use proptest::prelude::*;
use transport::Config;

use crate::history::{Book, Step, delivered, history, play};
use crate::world::{MS, Weather, World};

/// Plays a history, heals, and waits as long as the slowest timer and the slowest path can need.
fn end_of(order: LinkOrder, steps: &[Step], seed: u64) -> (World, Book) {
    let config = Config {
        order,
        ..Config::default()
    };
    let mut world = World::new(config, crate::history::MEMBERS, Weather::FAIR, seed);
    let sent = play(&mut world, steps);
    for (link, messages) in &delivered(&world) {
        match order {
            LinkOrder::Fifo => {
                assert!(sent[link].starts_with(messages), "out of order on {link:?}");
            }
            LinkOrder::Any => assert!(messages.iter().all(|message| sent[link].contains(message))),
        }
    }
    world.heal();
    world.run_for(20_000 * MS);
    (world, sent)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn every_message_arrives_once_and_in_order(steps in history(false), seed: u64) {
        let (world, sent) = end_of(LinkOrder::Fifo, &steps, seed);
        prop_assert_eq!(delivered(&world), sent);
        prop_assert!(world.settled());
    }

    #[test]
    fn every_message_arrives_once_in_any_order(steps in history(false), seed: u64) {
        let (world, mut sent) = end_of(LinkOrder::Any, &steps, seed);
        let mut delivered = delivered(&world);
        for messages in sent.values_mut().chain(delivered.values_mut()) {
            messages.sort();
        }
        prop_assert_eq!(delivered, sent);
        prop_assert!(world.settled());
    }
}
