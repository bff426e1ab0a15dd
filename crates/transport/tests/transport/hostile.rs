//! Datagrams that no honest network would bring: dropped, counted by reason, and without effect.

use algorithms::NodeId;
use proptest::prelude::*;
use transport::frame::{Header, Key, Rejected, Seal};
use transport::{Config, Contract, Timing};

use crate::world::{MS, Weather, World, seal};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

fn world() -> World {
    World::new(Config::default(), 3, Weather::FAIR, 1)
}

/// A world in which A and B have talked, and the datagrams that B got.
fn talked() -> (World, Vec<Vec<u8>>) {
    let mut world = world();
    for number in 0..20_u8 {
        world.send(A, B, &[number; 30]);
        world.run_for(MS);
        world.send(B, A, &[number; 10]);
        world.run_for(MS);
    }
    world.send(A, B, &[7; 3_000]);
    world.run_for(100 * MS);
    let to_b = world.sent.iter().filter(|sent| sent.2 == B);
    let datagrams = to_b.map(|sent| sent.3.clone()).collect();
    (world, datagrams)
}

fn sealed(seal: &Seal, header: Header, body: &[u8]) -> Vec<u8> {
    let mut datagram = Vec::new();
    seal.begin(&header, &mut datagram);
    datagram.extend_from_slice(body);
    seal.close(&mut datagram);
    datagram
}

fn header(number: u64) -> Header {
    Header {
        source: A,
        destination: B,
        source_incarnation: 0,
        destination_incarnation: 0,
        number,
    }
}

#[test]
fn a_thousand_of_every_bad_kind_change_nothing() {
    let (mut world, datagrams) = talked();
    let before = *world.member(B).counters();
    let told = world.told[B.index()].clone();
    let (body, number) = (&[0_u8; 12][..], 1_000_000);
    let other_key = Seal::new("a test", 1, Key::new([8; 32]));
    let other_run = Seal::new("a test", 2, Key::new([7; 32]));
    let other_algorithm = Seal::new("another", 1, Key::new([7; 32]));
    let with = |change: fn(&mut Header)| {
        let mut header = header(number);
        change(&mut header);
        sealed(&seal(), header, body)
    };
    let mut other_version = with(|_| {});
    other_version[0] = 9;
    let kinds = [
        (b"no frame".to_vec(), Rejected::TooShort),
        (other_version, Rejected::WrongVersion),
        (sealed(&other_run, header(number), body), Rejected::OtherRun),
        (
            sealed(&other_algorithm, header(number), body),
            Rejected::OtherAlgorithm,
        ),
        (
            with(|header| header.destination = NodeId(2)),
            Rejected::NotForUs,
        ),
        (
            with(|header| header.source = NodeId(3)),
            Rejected::UnknownSource,
        ),
        (with(|header| header.source = B), Rejected::UnknownSource),
        (sealed(&other_key, header(number), body), Rejected::BadMac),
        (datagrams[0][..40].to_vec(), Rejected::BadMac),
        (datagrams[0].clone(), Rejected::Duplicate),
    ];
    for (datagram, _) in &kinds {
        for _ in 0..1_000 {
            world.inject(B, datagram);
        }
    }
    let after = *world.member(B).counters();
    for reason in Rejected::ALL {
        let expected = kinds.iter().filter(|kind| kind.1 == reason).count() as u64 * 1_000;
        let rejected = after.rejected_for(reason) - before.rejected_for(reason);
        assert_eq!(rejected, expected, "{reason}");
    }
    assert_eq!(after.rejected() - before.rejected(), 9_000);
    assert_eq!(after.duplicates - before.duplicates, 1_000);
    assert_eq!(after.datagrams_received - before.datagrams_received, 10_000);
    assert_eq!(
        after.datagrams_sent, before.datagrams_sent,
        "nobody is answered"
    );
    assert_eq!(world.told[B.index()], told);
    world.send(A, B, b"as if nothing had happened");
    world.run_for(100 * MS);
    assert_eq!(world.messages(B).count(), 22);
    assert!(world.settled());
}

#[test]
fn every_flipped_bit_and_every_truncation_is_dropped_and_the_original_still_counts() {
    let mut world = world();
    world.member(A).send(B, b"a message");
    let mut datagram = Vec::new();
    let now = world.now;
    assert_eq!(world.member(A).poll_transmit(now, &mut datagram), Some(B));
    let bits = 8 * datagram.len();
    for bit in 0..bits {
        let mut flipped = datagram.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        world.inject(B, &flipped);
    }
    for length in 0..datagram.len() {
        world.inject(B, &datagram[..length]);
    }
    assert_eq!(world.told[B.index()], []);
    let rejected = world.member(B).counters().rejected();
    assert_eq!(rejected as usize, bits + datagram.len());
    world.inject(B, &datagram);
    assert_eq!(world.messages(B).count(), 1);
}

#[test]
fn a_whole_conversation_played_again_says_nothing() {
    let (mut world, datagrams) = talked();
    let told = world.told[B.index()].clone();
    for datagram in datagrams.iter().rev() {
        world.inject(B, datagram);
    }
    assert_eq!(world.told[B.index()], told);
    let counters = *world.member(B).counters();
    let duplicates = counters.rejected_for(Rejected::Duplicate);
    assert_eq!(duplicates as usize, datagrams.len());
    // Duplicates are what networks make; too old to be told apart from a replay is something else.
    assert_eq!(counters.rejected(), 0);
    for _ in 0..200 {
        world.send(A, B, b"more");
        world.run_for(MS);
    }
    world.inject(B, &datagrams[0]);
    let counters = world.member(B).counters();
    assert_eq!(counters.rejected_for(Rejected::Replayed), 1);
}

#[test]
fn frame_numbers_never_repeat_whatever_the_frame_is_for() {
    let mut world = World::new(Config::default(), 3, Weather::FAIR, 1);
    world.weather.loss = 30;
    for round in 0..100_u8 {
        world.send(A, B, &[round; 40]);
        world.send(A, NodeId(2), &[round; 2_000]);
        world.send(B, A, &[round; 5]);
        world.run_for(3 * MS);
    }
    world.run_for(1_000 * MS);
    let numbers = world.sent.iter().filter(|sent| sent.1 == A).map(|sent| {
        let (header, _) = seal().open(sent.2, 3, &sent.3).unwrap();
        header.number
    });
    let numbers: Vec<u64> = numbers.collect();
    assert!(numbers.is_sorted_by(|one, next| one < next));
}

/// What an authentic peer with a bug, or a thief with the key, might write.
fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let (_, datagrams) = talked();
    let opened = datagrams
        .iter()
        .filter_map(|datagram| seal().open(B, 3, datagram).ok());
    let honest: Vec<_> = opened.map(|(_, body)| body.to_vec()).collect();
    let twisted = (
        prop::sample::select(honest),
        prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        any::<prop::sample::Index>(),
    );
    let twisted = twisted.prop_map(|(mut body, changes, length)| {
        for (place, value) in changes {
            let place = place.index(body.len());
            body[place] = value;
        }
        body.truncate(length.index(body.len() + 1));
        body
    });
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..60),
        twisted.clone(),
        twisted
    ]
}

fn configs() -> impl Strategy<Value = Config> {
    let sessions = Config {
        contract: Contract::Sessions {
            silence_ns: 400 * MS,
        },
        timing: Timing {
            cap_ns: 100 * MS,
            ..Timing::default()
        },
        ..Config::default()
    };
    prop_oneof![Just(Config::default()), Just(sessions)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn arbitrary_datagrams_are_rejected(
        datagrams in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 1..20),
    ) {
        let mut world = world();
        for datagram in &datagrams {
            world.inject(B, datagram);
        }
        prop_assert_eq!(world.member(B).counters().rejected() as usize, datagrams.len());
        prop_assert!(world.told[B.index()].is_empty());
        prop_assert_eq!(world.member(B).next_deadline(), None);
    }

    #[test]
    fn authentic_nonsense_breaks_nothing(
        config in configs(),
        bodies in prop::collection::vec((bodies(), 0..3_u32, 0..3_u32, 0..50 * MS), 1..40),
    ) {
        let mut world = World::new(config, 3, Weather::FAIR, 1);
        world.cut.insert((B, A));
        for (number, (body, source_incarnation, destination_incarnation, wait)) in (1..).zip(bodies) {
            world.send(B, A, b"so that there is something to acknowledge");
            let header = Header {
                source_incarnation: source_incarnation / 2,
                destination_incarnation: destination_incarnation / 2,
                ..header(number)
            };
            world.inject(B, &sealed(&seal(), header, &body));
            world.run_for(wait);
            prop_assert!(world.member(B).kept_bytes(A) <= config.window_bytes + 3_000);
        }
        // Others are served all the same.
        world.send(B, NodeId(2), b"still here");
        world.run_for(100 * MS);
        prop_assert_eq!(world.messages(NodeId(2)).count(), 1);
    }
}
