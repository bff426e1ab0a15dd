//! Members that come back: nobody gets or sends yesterday's messages.

use algorithms::NodeId;
use proptest::prelude::*;
use transport::Config;
use transport::frame::Rejected;

use crate::history::{Book, MEMBERS, Step, Tag, delivered, history, pairs, play, send, tag};
use crate::world::{MS, Told, Weather, World};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

fn world(seed: u64) -> World {
    World::new(Config::default(), MEMBERS, Weather::FAIR, seed)
}

/// What holds of the messages one incarnation got, at any time.
fn check_no_yesterday(world: &World, sent: &Book) {
    for ((from, to), messages) in delivered(world) {
        let mut before: Option<Tag> = None;
        for message in &messages {
            let tag = tag(message);
            assert_eq!(&sent[&(from, to)][tag.place as usize], message, "invented");
            assert_eq!(
                tag.to_incarnation,
                world.incarnation(to),
                "for an earlier one"
            );
            if let Some(before) = before {
                assert!(before.from_incarnation <= tag.from_incarnation);
                assert!(before.place < tag.place, "twice, or out of order");
                // What was sent before its sender knew of a restart is missing, nothing later.
                if before.from_incarnation == tag.from_incarnation {
                    assert_eq!(before.place + 1, tag.place, "a gap");
                }
            }
            before = Some(tag);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn nobody_gets_or_sends_yesterdays_messages(steps in history(true), seed: u64) {
        let mut world = world(seed);
        let mut sent = play(&mut world, &steps);
        check_no_yesterday(&world, &sent);
        world.heal();
        world.run_for(20_000 * MS);
        // A first message finds out who restarted; the next one must arrive.
        for _ in 0..2 {
            for (from, to) in pairs() {
                send(&mut world, &mut sent, from, to, 10);
            }
            world.run_for(1_000 * MS);
        }
        check_no_yesterday(&world, &sent);
        prop_assert!(world.settled());
        let delivered = delivered(&world);
        for link in pairs() {
            prop_assert_eq!(delivered[&link].last(), sent[&link].last());
        }
    }

    #[test]
    fn without_restarts_nothing_is_lost_to_them(steps in history(false), seed: u64) {
        let mut world = world(seed);
        play(&mut world, &steps);
        for (member, told) in world.members.iter().zip(&world.told) {
            prop_assert_eq!(member.counters().messages_lost, 0);
            prop_assert!(told.iter().all(|told| matches!(told, Told::Message(..))));
        }
    }
}

/// What A sends now is the only thing that B is told.
#[track_caller]
fn assert_arrives(world: &mut World, message: &[u8]) {
    world.send(A, B, message);
    world.run_for(100 * MS);
    let expected = Told::Message(A, message.to_vec());
    assert_eq!(world.told[B.index()], [expected]);
}

#[test]
fn a_restarted_peer_is_noticed_by_a_peer_that_still_speaks_to_the_old_one() {
    let mut world = world(1);
    world.send(A, B, b"first");
    world.run_for(100 * MS);
    world.restart(B);
    world.send(A, B, b"to the old one");
    world.run_for(100 * MS);
    assert_eq!(world.told[B.index()], []);
    assert_eq!(world.told[A.index()], [Told::Restarted(B, 1)]);
    assert_eq!(world.member(A).counters().messages_lost, 1);
    let stale = Rejected::StaleDestination;
    assert_eq!(world.member(B).counters().rejected_for(stale), 1);
    assert_arrives(&mut world, b"to the new one");
}

#[test]
fn frames_of_the_old_incarnation_that_were_long_on_the_way_are_refused() {
    let mut world = world(1);
    world.weather.delay_ns = (500 * MS, 500 * MS);
    world.send(B, A, b"from the old one");
    world.restart(B);
    world.weather = Weather::FAIR;
    world.send(B, A, b"from the new one");
    world.run_for(1_000 * MS);
    let expected = [
        Told::Restarted(B, 1),
        Told::Message(B, b"from the new one".to_vec()),
    ];
    assert_eq!(world.told[A.index()], expected);
    let stale = Rejected::StaleSource;
    assert_eq!(world.member(A).counters().rejected_for(stale), 1);
}

#[test]
fn two_that_restarted_at_once_find_each_other() {
    let mut world = world(1);
    world.restart(A);
    world.restart(B);
    world.send(A, B, b"for the first incarnation");
    world.run_for(100 * MS);
    assert_eq!(world.told[A.index()], [Told::Restarted(B, 1)]);
    assert_eq!(world.told[B.index()], [Told::Restarted(A, 1)]);
    world.send(A, B, b"for the second");
    world.run_for(100 * MS);
    let expected = Told::Message(A, b"for the second".to_vec());
    assert_eq!(world.told[B.index()].last(), Some(&expected));
    assert!(world.settled());
}

#[test]
fn who_was_told_of_a_restart_loses_nothing_by_it() {
    let mut world = world(1);
    world.restart(B);
    world.meet(A, B);
    assert_arrives(&mut world, b"to the new one");
    assert_eq!(world.member(A).counters().messages_lost, 0);
}

#[test]
fn nothing_is_kept_or_repeated_for_the_dead() {
    let mut world = world(1);
    world.cut.insert((A, B));
    world.send(A, B, b"too late");
    world.run_for(100 * MS);
    assert!(!world.settled());
    world.peer_died(A, B);
    world.send(A, B, b"later still");
    assert!(world.settled());
    assert_eq!(world.member(A).counters().messages_lost, 2);
    assert_eq!(world.sent_within(10_000 * MS), 0);
    // Its next incarnation is a peer like any other.
    world.heal();
    world.restart(B);
    world.send(B, A, b"here again");
    world.run_for(100 * MS);
    assert_arrives(&mut world, b"welcome");
}

/// A history is only evidence if it restarts somebody who was spoken to.
#[test]
fn histories_restart_members() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let restarts = |steps: &Vec<Step>| steps.iter().any(|step| matches!(step, Step::Restart(_)));
    let with = (0..200)
        .map(|_| history(true).new_tree(&mut runner).unwrap().current())
        .filter(restarts)
        .count();
    assert!(with > 50, "{with} of 200");
}
