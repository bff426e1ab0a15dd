//! Links with sessions: silence ends them, both ends are told, and nothing crosses over.

use std::collections::BTreeMap;

use algorithms::NodeId;
use proptest::prelude::*;
use transport::frame::Rejected;
use transport::{Config, Contract, Timing};

use crate::history::{Book, MEMBERS, Tag, history, pairs, play, send, tag};
use crate::world::{MS, Told, Weather, World};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const SILENCE: u64 = 400 * MS;

fn world(seed: u64) -> World {
    let config = Config {
        contract: Contract::Sessions {
            silence_ns: SILENCE,
        },
        timing: Timing {
            cap_ns: 100 * MS,
            ..Timing::default()
        },
        ..Config::default()
    };
    World::new(config, MEMBERS, Weather::FAIR, seed)
}

/// What one member was told of one peer must make sense by itself and with what the peer sent.
fn check(world: &World, sent: &Book, from: NodeId, to: NodeId) {
    let mut up = true;
    let mut ups = 0;
    // Sessions of the sender by sessions of the receiver: each belongs to one of the other's.
    let mut sessions: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    let mut before = None;
    for told in &world.told[to.index()] {
        match told {
            Told::Down(peer) if *peer == from => {
                assert!(up, "down twice");
                up = false;
            }
            Told::Up(peer) if *peer == from => {
                assert!(!up, "up twice");
                up = true;
                ups += 1;
            }
            Told::Message(peer, message) if *peer == from => {
                let tag = tag(message);
                assert!(up, "a message while the link was down");
                assert_eq!(&sent[&(from, to)][tag.place as usize], message, "invented");
                assert_eq!(tag.to_incarnation, world.incarnation(to));
                let theirs = (tag.from_incarnation, tag.session);
                let known = *sessions.entry(ups).or_insert(theirs);
                assert_eq!(known, theirs, "a message of another session");
                if let Some(before) = before {
                    assert!(before < tag, "twice, or out of order");
                }
                before = Some(tag);
            }
            Told::Down(_) | Told::Up(_) | Told::Message(..) | Told::Restarted(..) => {}
            Told::Silent(_) | Told::Heard(_) => panic!("nobody is suspected here"),
        }
    }
    let mut theirs: Vec<_> = sessions.values().collect();
    theirs.dedup();
    assert_eq!(theirs.len(), sessions.len(), "one session in two");
    check_gaps(world, sent, from, to);
}

/// Of each session a beginning arrives, with no gap.
fn check_gaps(world: &World, sent: &Book, from: NodeId, to: NodeId) {
    let key = |tag: &Tag| (tag.from_incarnation, tag.session, tag.to_incarnation);
    let places = |tags: &[Tag]| -> Vec<u32> { tags.iter().map(|tag| tag.place).collect() };
    let messages = world.messages(to).filter(|(sender, _)| *sender == from);
    let arrived: Vec<_> = messages.map(|(_, message)| tag(message)).collect();
    for session in arrived.chunk_by(|one, other| key(one) == key(other)) {
        let all = sent[&(from, to)].iter().map(|message| tag(message));
        let of_it: Vec<_> = all.filter(|tag| key(tag) == key(&session[0])).collect();
        let (of_it, session) = (places(&of_it), places(session));
        let found = if (0..MEMBERS).all(|member| world.incarnation(NodeId(member)) == 0) {
            of_it.starts_with(&session)
        } else {
            // Before the sender knew of a restart it said things that went nowhere.
            of_it.windows(session.len()).any(|run| run == session)
        };
        assert!(found, "{session:?} of {of_it:?} on {from}->{to}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn nothing_crosses_from_one_session_to_another(
        restarts in any::<bool>().prop_flat_map(history),
        seed: u64,
    ) {
        let mut world = world(seed);
        let mut sent = play(&mut world, &restarts);
        for (from, to) in pairs() {
            check(&world, &sent, from, to);
        }
        world.heal();
        world.run_for(20_000 * MS);
        // Both ends agree again, all by themselves; a first message finds out who restarted.
        for _ in 0..2 {
            for (from, to) in pairs() {
                prop_assert!(world.member(from).is_up(to), "{}->{} stays down", from, to);
                send(&mut world, &mut sent, from, to, 10);
            }
            world.run_for(5_000 * MS);
        }
        for (from, to) in pairs() {
            check(&world, &sent, from, to);
            let mut last = world.messages(to).filter(|(sender, _)| *sender == from);
            let last = last.next_back().map(|(_, message)| message);
            prop_assert_eq!(last, sent[&(from, to)].last().map(|message| &message[..]));
        }
        // Nobody watches any more, everything is acknowledged: then nobody says anything.
        for (from, to) in pairs() {
            let now = world.now;
            world.member(from).watch(now, to, false);
        }
        world.run_for(1_000 * MS);
        prop_assert!(world.settled());
        prop_assert_eq!(world.sent_within(60_000 * MS), 0);
    }
}

#[test]
fn a_cut_ends_the_session_at_both_ends_and_healing_begins_a_new_one() {
    let mut world = world(1);
    world.cut.extend([(A, B), (B, A)]);
    world.send(A, B, b"lost");
    world.run_for(SILENCE - 1);
    assert_eq!(world.told[A.index()], []);
    world.run_for(1);
    assert_eq!(world.told[A.index()], [Told::Down(B)]);
    assert_eq!(world.member(A).counters().messages_lost, 1);
    world.run_for(10_000 * MS);
    // B is idle and has noticed nothing.
    assert_eq!(world.told[B.index()], []);
    world.heal();
    world.run_for(500 * MS);
    assert_eq!(world.told[A.index()], [Told::Down(B), Told::Up(B)]);
    assert_eq!(world.told[B.index()], [Told::Down(A), Told::Up(A)]);
    world.send(A, B, b"found");
    world.run_for(100 * MS);
    let found = Told::Message(A, b"found".to_vec());
    assert_eq!(world.told[B.index()].last(), Some(&found));
}

#[test]
fn an_idle_link_notices_nothing_unless_it_is_watched() {
    let mut world = world(1);
    world.send(A, B, b"hello");
    world.run_for(100 * MS);
    world.cut.extend([(A, B), (B, A)]);
    world.run_for(10_000 * MS);
    assert_eq!(world.told[A.index()], []);
    let now = world.now;
    world.member(A).watch(now, B, true);
    world.run_for(2 * SILENCE);
    assert_eq!(world.told[A.index()], [Told::Down(B)]);
}

#[test]
fn a_watched_peer_that_answers_keeps_its_session() {
    let mut world = world(1);
    world.member(A).watch(0, B, true);
    world.run_for(10_000 * MS);
    assert_eq!(world.told[A.index()], []);
    let counters = *world.member(A).counters();
    // One heartbeat in a quarter of the silence, counted from the last answer.
    let round_trip = 2 * Weather::FAIR.delay_ns.0;
    let expected = 10_000 * MS / (SILENCE / 4 + round_trip);
    assert_eq!(counters.heartbeats, expected);
    assert_eq!(world.member(B).counters().heartbeats, 0);
    assert_eq!(world.member(B).counters().acks, counters.heartbeats);
}

#[test]
fn a_cut_in_one_direction_ends_the_session_at_both_ends() {
    for cut in [(A, B), (B, A)] {
        let mut world = world(1);
        world.cut.insert(cut);
        world.send(A, B, b"one way");
        world.run_for(10_000 * MS);
        assert_eq!(world.told[A.index()].last(), Some(&Told::Down(B)));
        world.heal();
        world.run_for(2_000 * MS);
        assert_eq!(world.told[A.index()].last(), Some(&Told::Up(B)));
        assert_eq!(world.told[B.index()].last(), Some(&Told::Up(A)));
    }
}

#[test]
fn what_is_sent_while_the_link_is_down_is_lost_and_counted() {
    let mut world = world(1);
    world.cut.extend([(A, B), (B, A)]);
    world.send(A, B, b"one");
    world.run_for(SILENCE);
    assert!(!world.member(A).is_up(B));
    world.send(A, B, b"two");
    assert_eq!(world.member(A).counters().messages_lost, 2);
    world.heal();
    world.run_for(2_000 * MS);
    assert!(world.messages(B).next().is_none());
}

#[test]
fn when_both_ends_propose_one_session_comes_of_it() {
    let mut world = world(1);
    world.cut.extend([(A, B), (B, A)]);
    world.send(A, B, b"from A");
    world.send(B, A, b"from B");
    world.run_for(3 * SILENCE);
    assert_eq!(world.told[A.index()], [Told::Down(B)]);
    assert_eq!(world.told[B.index()], [Told::Down(A)]);
    world.heal();
    world.run_for(2_000 * MS);
    assert_eq!(world.told[A.index()], [Told::Down(B), Told::Up(B)]);
    assert_eq!(world.told[B.index()], [Told::Down(A), Told::Up(A)]);
}

#[test]
fn a_late_frame_of_an_ended_session_is_refused() {
    let mut world = world(1);
    world.weather.delay_ns = (2_000 * MS, 2_000 * MS);
    world.send(A, B, b"late");
    world.weather = Weather::FAIR;
    world.cut.insert((A, B));
    world.run_for(SILENCE);
    world.heal();
    world.run_for(5_000 * MS);
    assert!(world.messages(B).next().is_none());
    let other = Rejected::OtherSession;
    assert_eq!(world.member(B).counters().rejected_for(other), 1);
}

#[test]
fn a_link_to_the_dead_goes_down_and_nobody_calls() {
    let mut world = world(1);
    world.send(A, B, b"hello");
    world.run_for(100 * MS);
    world.peer_died(A, B);
    assert_eq!(world.told[A.index()], [Told::Down(B)]);
    assert_eq!(world.sent_within(10_000 * MS), 0);
}

#[test]
fn who_was_told_of_a_restart_comes_up_without_a_word_from_the_other_end() {
    let mut world = world(1);
    world.restart(B);
    world.meet(A, B);
    assert_eq!(
        world.told[A.index()],
        [Told::Down(B), Told::Restarted(B, 1)]
    );
    world.run_for(2 * SILENCE);
    assert_eq!(world.told[A.index()].last(), Some(&Told::Up(B)));
    assert_eq!(world.told[B.index()], [Told::Down(A), Told::Up(A)]);
}
