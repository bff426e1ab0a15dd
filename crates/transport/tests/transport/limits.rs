//! What is bounded, and what large things get through all the same.

use algorithms::NodeId;
use algorithms::registry::LinkOrder;
use transport::Config;

use crate::world::{MS, Weather, World};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

/// Bytes that are different everywhere.
fn token(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * at / 7 + at) as u8).collect()
}

#[test]
fn a_token_of_ten_thousand_entries_passes_whatever_the_budget() {
    let smallest = Config::MIN_DATAGRAM_BYTES;
    let largest = Config::MAX_DATAGRAM_BYTES;
    for (datagram_bytes, loss) in [(smallest, 0), (1_200, 0), (1_200, 30), (largest, 10)] {
        for order in [LinkOrder::Fifo, LinkOrder::Any] {
            let config = Config {
                datagram_bytes,
                order,
                ..Config::default()
            };
            let weather = Weather {
                loss,
                ..Weather::FAIR
            };
            let mut world = World::new(config, 2, weather, 5);
            let token = token(80_000);
            world.send(A, B, &token);
            world.send(A, B, b"after it");
            world.run_for(60_000 * MS);
            let mut messages: Vec<_> = world.messages(B).map(|(_, bytes)| bytes).collect();
            messages.sort_by_key(|message| message.len());
            assert!(
                messages == [&b"after it"[..], &token],
                "{datagram_bytes} {loss} {order:?}"
            );
            assert!(world.settled());
        }
    }
}

#[test]
fn fragments_are_counted_once() {
    let mut world = World::new(Config::default(), 2, Weather::FAIR, 1);
    world.weather.loss = 30;
    world.send(A, B, &token(10_000));
    world.run_for(10_000 * MS);
    assert_eq!(world.member(A).counters().fragments, 10);
    assert!(world.member(A).counters().retransmissions > 0);
}

#[test]
fn a_burst_stays_within_the_window() {
    let config = Config::default();
    let mut world = World::new(config, 2, Weather::FAIR, 1);
    world.cut.insert((A, B));
    world.send(A, B, &token(1_000_000));
    let bytes: usize = world.sent.iter().map(|sent| sent.3.len()).sum();
    assert!(bytes > config.window_bytes / 2, "{bytes}");
    assert!(bytes < config.window_bytes * 9 / 8, "{bytes}");
    // After a timeout it is two datagrams at a time.
    assert_eq!(world.sent_within(60 * MS), 2);
}

#[test]
fn a_burst_of_small_messages_stays_within_the_window() {
    let mut world = World::new(Config::default(), 2, Weather::FAIR, 1);
    world.cut.insert((A, B));
    for _ in 0..1_000 {
        world.send(A, B, b"tiny");
    }
    assert_eq!(world.sent.len(), 64);
}

#[test]
fn what_waits_for_a_lost_segment_is_bounded() {
    let config = Config::default();
    let mut world = World::new(config, 2, Weather::FAIR, 1);
    world.censored = b"never to arrive".to_vec();
    let first = world.censored.clone();
    world.send(A, B, &first);
    let mut most = 0;
    for _ in 0..200 {
        world.send(A, B, &token(1_000));
        world.run_for(MS / 10);
        most = most.max(world.member(B).kept_bytes(A));
    }
    assert!(most <= config.window_bytes, "{most}");
    assert!(most > config.window_bytes / 2, "{most}");
    assert_eq!(world.member(B).counters().too_early, 0);
    world.censored.clear();
    world.run_for(1_000 * MS);
    assert_eq!(world.messages(B).count(), 201);
    assert_eq!(world.member(B).kept_bytes(A), 0);
}

#[test]
fn limits_are_said_and_nothing_is_refused() {
    let config = Config {
        soft_limit_bytes: 10_000,
        hard_limit_bytes: 20_000,
        ..Config::default()
    };
    let mut world = World::new(config, 3, Weather::FAIR, 1);
    world.cut.insert((A, B));
    assert!(!world.member(A).congested());
    world.send(A, B, &token(11_000));
    assert!(world.member(A).congested());
    assert_eq!(world.member(A).overflow(), None);
    // Another peer's queue is its own.
    world.send(A, NodeId(2), &token(9_500));
    assert_eq!(world.member(A).overflow(), None);
    world.send(A, B, &token(9_500));
    let overflow = world.member(A).overflow().unwrap();
    assert_eq!(overflow.peer, B);
    assert!(overflow.queued_bytes > 20_000);
    let said = overflow.to_string();
    assert!(
        said.contains("for member 1, more than the limit of 20000"),
        "{said}"
    );
    world.heal();
    world.run_for(10_000 * MS);
    assert_eq!(world.messages(B).count(), 2);
    assert!(!world.member(A).congested());
    assert_eq!(world.member(A).queued_bytes(B), 0);
}

#[test]
fn empty_messages_are_messages() {
    let mut world = World::new(Config::default(), 2, Weather::FAIR, 1);
    world.weather.loss = 40;
    for _ in 0..500 {
        world.send(A, B, b"");
    }
    world.run_for(10_000 * MS);
    assert!(world.settled());
    assert_eq!(world.messages(B).count(), 500);
}

/// A configuration whose links deliver in this order.
fn in_order(order: LinkOrder) -> Config {
    Config {
        order,
        ..Config::default()
    }
}

#[test]
fn a_stream_both_ways_survives_a_third_of_everything_going_wrong() {
    for order in [LinkOrder::Fifo, LinkOrder::Any] {
        let config = in_order(order);
        let weather = Weather {
            loss: 30,
            duplicate: 30,
            corrupt: 5,
            truncate: 5,
            delay_ns: (30_000, 3 * MS),
        };
        let mut world = World::new(config, 2, weather, 3);
        let numbers: Vec<u32> = (0..2_000).collect();
        for &number in &numbers {
            world.send(A, B, &number.to_le_bytes());
            world.send(B, A, &number.to_le_bytes());
            world.run_for(MS / 5);
        }
        world.run_for(60_000 * MS);
        assert!(world.settled());
        for (from, to) in [(A, B), (B, A)] {
            let mut arrived: Vec<u32> = world
                .messages(to)
                .map(|(_, bytes)| u32::from_le_bytes(bytes.try_into().unwrap()))
                .collect();
            if order == LinkOrder::Any {
                assert!(!arrived.is_sorted(), "nothing was overtaken");
                arrived.sort_unstable();
            }
            assert_eq!(arrived, numbers);
            let counters = world.member(from).counters();
            assert_eq!(counters.messages_sent, 2_000);
            assert_eq!(counters.messages_delivered, 2_000);
            assert_eq!(counters.messages_lost, 0);
            assert!(counters.retransmissions > 100);
            assert!(counters.duplicates > 100);
            assert!(counters.rejected() > 100);
        }
    }
}

#[test]
fn members_of_a_large_group_share_no_state() {
    let mut world = World::new(Config::default(), 40, Weather::FAIR, 1);
    for to in (1..40).map(NodeId) {
        world.send(A, to, b"to all");
        world.send(to, A, b"to one");
    }
    world.run_for(1_000 * MS);
    for to in (1..40).map(NodeId) {
        assert_eq!(world.messages(to).count(), 1);
    }
    assert_eq!(world.messages(A).count(), 39);
    assert!(world.settled());
}

/// A path that takes less than was thought: what was cut for a wider one still gets through (the
/// kernel sends it in pieces), and what comes later is cut for this one.
#[test]
fn a_path_that_turns_out_narrow_gets_shorter_datagrams() {
    for order in [LinkOrder::Fifo, LinkOrder::Any] {
        let config = in_order(order);
        let mut world = World::new(config, 2, Weather::FAIR, 3);
        world.cut.insert((A, B));
        world.send(A, B, &token(5_000));
        world.run_for(100 * MS);
        assert!(world.sent.iter().any(|sent| sent.3.len() > 1_000));
        world.member(A).narrow();
        world.heal();
        world.run_for(1_000 * MS);
        assert_eq!(world.messages(B).count(), 1, "{order:?}");
        world.sent.clear();
        world.send(A, B, &token(5_001));
        world.run_for(1_000 * MS);
        assert_eq!(world.messages(B).count(), 2, "{order:?}");
        let longest = world.sent.iter().map(|sent| sent.3.len()).max();
        assert!(
            longest <= Some(Config::NARROW_DATAGRAM_BYTES),
            "{longest:?}"
        );
        assert!(world.settled());
    }
}
