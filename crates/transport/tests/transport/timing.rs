//! When datagrams leave, to the nanosecond: time is an argument.

use algorithms::NodeId;
use transport::{Config, Contract, Timing};

use crate::world::{MS, Told, Weather, World};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const DELAY: u64 = Weather::FAIR.delay_ns.0;

fn world() -> World {
    World::new(Config::default(), 2, Weather::FAIR, 1)
}

/// When each datagram of one member left.
fn departures(world: &World, from: NodeId) -> Vec<u64> {
    let sent = world.sent.iter().filter(|sent| sent.1 == from);
    sent.map(|sent| sent.0).collect()
}

#[test]
fn an_acknowledgement_without_company_leaves_after_its_delay() {
    let mut world = world();
    world.send(A, B, b"hello");
    world.run_for(1_000 * MS);
    let ack_delay = Timing::default().ack_delay_ns;
    assert_eq!(departures(&world, B), [DELAY + ack_delay]);
    assert_eq!(departures(&world, A), [0]);
    assert_eq!(world.member(B).counters().acks, 1);
    assert!(world.settled());
}

#[test]
fn an_acknowledgement_travels_with_a_message_if_there_is_one() {
    let mut world = world();
    for _ in 0..100 {
        world.send(A, B, b"ping");
        world.run_for(MS);
        world.send(B, A, b"pong");
        world.run_for(MS);
    }
    assert_eq!(world.sent.len(), 200);
    assert_eq!(world.member(A).counters().acks, 0);
    assert_eq!(world.member(B).counters().acks, 0);
    assert_eq!(world.member(A).counters().retransmissions, 0);
}

#[test]
fn a_stream_is_acknowledged_before_its_window_runs_out() {
    let mut world = world();
    for _ in 0..64 {
        world.send(A, B, b"one of many");
    }
    world.run_for(2 * DELAY);
    // Four times sixteen, and none of them waited for a timer.
    assert_eq!(world.member(B).counters().acks, 4);
    assert!(world.settled());
}

#[test]
fn messages_of_one_moment_share_a_datagram() {
    let mut world = world();
    for number in 0..10_u8 {
        world.member(A).send(B, &[number; 20]);
    }
    world.flush(A);
    assert_eq!(world.sent.len(), 1);
    world.run_for(DELAY);
    assert_eq!(world.messages(B).count(), 10);
}

#[test]
fn unanswered_messages_are_repeated_after_pauses_that_double_up_to_the_cap() {
    let mut world = world();
    world.cut.insert((A, B));
    world.send(A, B, b"hello?");
    world.run_for(8_000 * MS);
    // 50 ms for the unknown path and 5 ms for the other end's patience, doubled up to 2 s.
    let expected = [0, 55, 165, 385, 825, 1_705, 3_465, 5_465, 7_465].map(|ms| ms * MS);
    assert_eq!(departures(&world, A), expected);
    assert_eq!(world.member(A).counters().retransmissions, 8);
}

#[test]
fn a_measured_path_is_repeated_on_much_sooner() {
    let mut world = world();
    for _ in 0..20 {
        world.send(A, B, b"ping");
        world.run_for(MS);
        world.send(B, A, b"pong");
        world.run_for(MS);
    }
    let round_trip = world.member(A).round_trip_ns(B).unwrap();
    assert!(round_trip.abs_diff(2 * DELAY) < 2_000, "{round_trip}");
    world.run_for(100 * MS);
    world.cut.insert((A, B));
    let start = world.now;
    world.send(A, B, b"lost");
    world.run_for(100 * MS);
    let left = departures(&world, A).into_iter();
    let left: Vec<_> = left.filter_map(|at| at.checked_sub(start)).collect();
    // The floor and the delay of acknowledgements, doubled each time.
    assert_eq!(left, [0, 10 * MS, 30 * MS, 70 * MS]);
}

/// The network loses one message from A to B.
fn lose_one(world: &mut World) {
    world.cut.insert((A, B));
    world.send(A, B, b"lost");
    world.cut.clear();
}

/// A sends B so many messages that overtake an earlier one.
fn send_overtakers(world: &mut World, messages: usize) {
    for _ in 0..messages {
        world.send(A, B, b"overtakes it");
    }
}

#[test]
fn what_others_overtook_is_repeated_without_waiting() {
    let mut world = world();
    lose_one(&mut world);
    send_overtakers(&mut world, 3);
    world.run_for(3 * DELAY);
    assert_eq!(world.member(A).counters().retransmissions, 1);
    assert_eq!(world.messages(B).count(), 4);
}

#[test]
fn two_overtakers_are_no_proof_of_loss() {
    let mut world = world();
    world.weather.delay_ns = (2 * MS, 2 * MS);
    world.send(A, B, b"late");
    world.weather = Weather::FAIR;
    send_overtakers(&mut world, 2);
    world.run_for(100 * MS);
    assert_eq!(world.member(A).counters().retransmissions, 0);
    assert_eq!(world.messages(B).count(), 3);
}

#[test]
fn a_gap_is_reported_at_once_and_so_is_its_end() {
    let mut world = world();
    lose_one(&mut world);
    world.send(A, B, b"early");
    world.run_for(DELAY);
    assert_eq!(departures(&world, B), [DELAY]);
    world.run_for(60 * MS);
    let repeated = *departures(&world, A).last().unwrap();
    assert_eq!(departures(&world, B).last(), Some(&(repeated + DELAY)));
}

#[test]
fn a_stream_does_not_put_off_the_repetition_of_what_it_lost() {
    let mut world = world();
    world.cut.insert((A, B));
    for _ in 0..20 {
        world.send(A, B, b"lost");
        world.run_for(5 * MS);
    }
    let timing = Timing::default();
    let timeout = timing.first_ns + timing.ack_delay_ns;
    // Twenty departures at every fifth millisecond; the repetition shares the one after 55 ms.
    let repeated = departures(&world, A)
        .into_iter()
        .filter(|&at| at == timeout);
    assert_eq!(repeated.count(), 2);
}

#[test]
fn what_comes_again_is_acknowledged_at_once() {
    let mut world = world();
    world.cut.insert((B, A));
    world.send(A, B, b"the answer to this is lost");
    world.run_for(50 * MS);
    world.cut.clear();
    world.run_for(50 * MS);
    let repeated = *departures(&world, A).last().unwrap();
    assert_eq!(departures(&world, B).last(), Some(&(repeated + DELAY)));
    assert!(world.settled());
}

#[test]
fn a_healed_link_speaks_again_within_the_cap() {
    for wait in [0, 100, 777, 5_000, 60_000] {
        let mut world = world();
        world.cut.extend([(A, B), (B, A)]);
        world.send(A, B, b"at last");
        world.run_for(wait * MS);
        world.heal();
        world.run_for(Timing::default().cap_ns + DELAY);
        assert_eq!(world.messages(B).count(), 1, "after {wait} ms");
    }
}

#[test]
fn a_peer_that_speaks_is_answered_long_before_the_cap() {
    let mut world = world();
    world.cut.extend([(A, B), (B, A)]);
    world.send(A, B, b"at last");
    // The next repetition would leave at 5,465 ms.
    world.run_for(3_500 * MS);
    world.heal();
    world.send(B, A, b"hello");
    world.run_for(4 * 55 * MS + 2 * DELAY);
    assert_eq!(world.messages(B).count(), 1);
}

/// Hundreds of links that are all late together do not repeat like hundreds that are late alone.
#[test]
fn the_repetitions_of_all_links_share_a_budget() {
    let mut world = World::new(Config::default(), 300, Weather::FAIR, 1);
    let peers = (1..300).map(NodeId);
    world.cut.extend(peers.clone().map(|peer| (A, peer)));
    for peer in peers.clone() {
        world.member(A).send(peer, b"hello?");
    }
    world.flush(A);
    assert_eq!(world.sent.len(), 299);
    world.run_for(20_000 * MS);
    let repeated = world.sent.len() - 299;
    // Sixty-four at once, then four after each pause, which doubles up to two seconds.
    assert!((64..=140).contains(&repeated), "{repeated}");
    // As soon as somebody answers, the others get their turn at the pace of the answers.
    world.heal();
    world.run_for(10_000 * MS);
    let served = peers.filter(|&peer| world.messages(peer).count() == 1);
    assert_eq!(served.count(), 299);
    assert!(world.settled());
}

#[test]
fn a_path_slower_than_every_timer_is_learned() {
    let mut world = world();
    world.weather.delay_ns = (1_000 * MS, 1_000 * MS);
    world.send(A, B, b"first");
    world.run_for(5_000 * MS);
    let learning = world.member(A).counters().retransmissions;
    assert!(learning > 0);
    world.send(A, B, b"second");
    world.run_for(5_000 * MS);
    assert_eq!(world.member(A).counters().retransmissions, learning);
    assert_eq!(world.messages(B).count(), 2);
}

#[test]
fn a_group_that_has_nothing_to_say_is_silent() {
    let mut world = world();
    world.send(A, B, b"hello");
    world.run_for(1_000 * MS);
    assert_eq!(world.sent_within(1_000_000 * MS), 0);
    assert_eq!(world.member(A).next_deadline(), None);
    assert_eq!(world.member(B).next_deadline(), None);
}

#[test]
fn a_silent_peer_is_suspected_and_trusted_again() {
    let suspect_after_ns = Some(1_000 * MS);
    let config = Config {
        contract: Contract::Patient { suspect_after_ns },
        timing: Timing {
            cap_ns: 500 * MS,
            ..Timing::default()
        },
        ..Config::default()
    };
    let mut world = World::new(config, 2, Weather::FAIR, 1);
    world.member(A).watch(0, B, true);
    world.run_for(3_000 * MS);
    assert_eq!(world.told[A.index()], []);
    world.paused.insert(B);
    world.run_for(10_000 * MS);
    assert_eq!(world.told[A.index()], [Told::Silent(B)]);
    world.send(A, B, b"kept all the same");
    world.heal();
    world.run_for(1_000 * MS);
    assert_eq!(world.told[A.index()], [Told::Silent(B), Told::Heard(B)]);
    assert_eq!(world.messages(B).count(), 1);
}
