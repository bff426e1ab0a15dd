//! Generated histories: what members say, and what the network does to them meanwhile.

use std::collections::BTreeMap;

use algorithms::NodeId;
use proptest::prelude::*;

use crate::world::{MS, Told, Weather, World};

pub(crate) const MEMBERS: u32 = 3;

/// One thing that happens.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Send {
        from: NodeId,
        to: NodeId,
        length: usize,
    },
    Wait(u64),
    Weather(Weather),
    Cut(NodeId, NodeId),
    Mend(NodeId, NodeId),
    Pause(NodeId),
    Resume(NodeId),
    Restart(NodeId),
    Watch(NodeId, NodeId, bool),
}

/// What a message says of itself, so that no two are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tag {
    /// The incarnations of its sender and its addressee when it was sent.
    pub from_incarnation: u32,
    pub to_incarnation: u32,
    /// How often the sender had been told that the link was up.
    pub session: u32,
    /// How many were sent on this link before it.
    pub place: u32,
}

/// Messages by sender and addressee, in the order they were sent or delivered.
pub(crate) type Book = BTreeMap<(NodeId, NodeId), Vec<Vec<u8>>>;

/// A history of up to sixty steps; members restart only if they may.
pub(crate) fn history(restarts: bool) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        24 => (pair(), length()).prop_map(|((from, to), length)| Step::Send { from, to, length }),
        12 => prop_oneof![0..200_000_u64, 0..20 * MS, 0..600 * MS].prop_map(Step::Wait),
        4 => weather().prop_map(Step::Weather),
        2 => pair().prop_map(|(from, to)| Step::Cut(from, to)),
        2 => pair().prop_map(|(from, to)| Step::Mend(from, to)),
        2 => member().prop_map(Step::Pause),
        2 => member().prop_map(Step::Resume),
        u32::from(restarts) => member().prop_map(Step::Restart),
        2 => (pair(), any::<bool>()).prop_map(|((who, whom), on)| Step::Watch(who, whom, on)),
    ];
    prop::collection::vec(step, 1..60)
}

/// Plays a history; the book has what was sent.
pub(crate) fn play(world: &mut World, steps: &[Step]) -> Book {
    let mut book = Book::new();
    for step in steps {
        match *step {
            Step::Send { from, to, length } => {
                if !world.paused.contains(&from) {
                    send(world, &mut book, from, to, length);
                }
            }
            Step::Wait(ns) => world.run_for(ns),
            Step::Weather(weather) => world.weather = weather,
            Step::Cut(from, to) => {
                world.cut.insert((from, to));
            }
            Step::Mend(from, to) => {
                world.cut.remove(&(from, to));
            }
            Step::Pause(member) => {
                world.paused.insert(member);
            }
            Step::Resume(member) => world.catch_up(member),
            Step::Restart(member) => world.restart(member),
            Step::Watch(who, whom, on) => {
                let now = world.now;
                world.member(who).watch(now, whom, on);
            }
        }
    }
    book
}

/// Sends one message and books it.
pub(crate) fn send(world: &mut World, book: &mut Book, from: NodeId, to: NodeId, length: usize) {
    let sent = book.entry((from, to)).or_default();
    let place = sent.len() as u32;
    let ups = world.told[from.index()].iter();
    let words = [
        world.incarnation(from),
        world.incarnation(to),
        ups.filter(|&told| *told == Told::Up(to)).count() as u32,
        place,
    ];
    let mut message: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    message.extend((0..length).map(|at| (at as u32 * 31 + place) as u8));
    world.send(from, to, &message);
    sent.push(message);
}

/// What a message says of itself.
pub(crate) fn tag(message: &[u8]) -> Tag {
    let (words, _) = message.as_chunks();
    let [from_incarnation, to_incarnation, session, place] =
        [0, 1, 2, 3].map(|at| u32::from_le_bytes(words[at]));
    Tag {
        from_incarnation,
        to_incarnation,
        session,
        place,
    }
}

/// What was delivered to the present incarnations.
pub(crate) fn delivered(world: &World) -> Book {
    let mut book = Book::new();
    for to in (0..MEMBERS).map(NodeId) {
        for (from, message) in world.messages(to) {
            book.entry((from, to)).or_default().push(message.to_vec());
        }
    }
    book
}

/// All ordered pairs of members.
pub(crate) fn pairs() -> impl Iterator<Item = (NodeId, NodeId)> {
    let pairs = (0..MEMBERS).flat_map(|from| (0..MEMBERS).map(move |to| (from, to)));
    pairs
        .filter(|(from, to)| from != to)
        .map(|(from, to)| (NodeId(from), NodeId(to)))
}

fn member() -> impl Strategy<Value = NodeId> {
    (0..MEMBERS).prop_map(NodeId)
}

fn pair() -> impl Strategy<Value = (NodeId, NodeId)> {
    (0..MEMBERS, 1..MEMBERS).prop_map(|(from, by)| (NodeId(from), NodeId((from + by) % MEMBERS)))
}

fn weather() -> impl Strategy<Value = Weather> {
    let delays = prop_oneof![
        Just((30_000, 30_000)),
        Just((30_000, 2 * MS)),
        Just((5 * MS, 80 * MS)),
        Just((700 * MS, 900 * MS)),
    ];
    let percent = || prop_oneof![2 => Just(0), 1 => 0..60_u8];
    (percent(), percent(), percent(), percent(), delays).prop_map(
        |(loss, duplicate, corrupt, truncate, delay_ns)| Weather {
            loss,
            duplicate,
            corrupt,
            truncate,
            delay_ns,
        },
    )
}

fn length() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 0..60_usize, 2 => 500..3_000_usize, 1 => 20_000..100_000_usize]
}
