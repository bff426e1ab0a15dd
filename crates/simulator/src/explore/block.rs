//! What many states lead to, found by several threads, as if one had looked at them one by one.
//!
//! Three things are done with a block of states of one level:
//!
//! 1. Each thread takes some of the states and works out what they lead to. It only looks: a state for
//!    which something was not worked out before is put aside.
//! 2. Those are made up for, one after the other in their order, so everything gets its number in the
//!    order in which one thread alone would have met it.
//! 3. Each thread looks up some of the successors in the tables that are its own: which of them are new?
//!    The first place of a new one in the block decides when it was met.
//!
//! So states, their numbers, and the first bad one are the same for any number of threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::Kind;
use super::states::{self, SHARDS, States};
use super::world::{Seen, Successors, World};

/// The most states of a block.
pub(super) const LARGEST: u32 = 1 << 15;

/// How many states a thread takes at once; fewer are not worth a thread.
const PIECE: usize = 1 << 8;

/// What the states of a block lead to, in order.
#[derive(Default)]
pub(super) struct Block {
    /// The number of its first state.
    first: u32,
    /// Where the ways of each state end.
    ends: Vec<usize>,
    /// Where the ways lead to: rows of that width, one after the other.
    rows: Vec<u32>,
    width: usize,
    hashes: Vec<u64>,
    marks: Vec<Mark>,
}

/// What a search has to know of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    /// Others may count on it.
    certain: bool,
    /// It must never happen.
    wrong: bool,
}

/// What some states lead to, before the states that were put aside are made up for.
struct Piece {
    place: usize,
    found: Block,
    /// The states that were put aside, counted from the first of the piece; they have no ways yet.
    aside: Vec<usize>,
}

/// Where a search must stop, at some way of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// The place of the way.
    pub(super) way: usize,
    pub(super) why: Why,
}

/// Why a search must stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// What happens there must never happen.
    Wrong,
    /// The state that it leads to is new and bad.
    Bad(Kind, String),
    /// The state that it leads to is new, and there is no room for it.
    NoRoom,
}

/// What became of the ways of a block.
pub(super) struct Outcome {
    /// How many ways were looked at.
    pub(super) ways: usize,
    /// How many of the new states are stuck.
    pub(super) stuck: u64,
    pub(super) stop: Option<Stop>,
    /// The states of the block from which no way leads farther from the beginning that others may
    /// count on.
    pub(super) turning: Vec<u32>,
}

/// What one thread has found in its tables.
struct Share {
    /// The places of the ways to new states.
    new: Vec<usize>,
    /// Those of them that lead to states that are stuck.
    stuck: Vec<usize>,
    bad: Option<Stop>,
    /// For each state of the block, whether a way that others may count on leads farther from the
    /// beginning.
    onward: Vec<bool>,
}

impl Block {
    /// Works out what these states lead to.
    pub(super) fn expand(
        &mut self,
        world: &mut World,
        states: &States,
        range: Range<u32>,
        threads: usize,
    ) {
        self.clear(range.start, states.width);
        let numbers: Vec<u32> = range.collect();
        let pieces: Vec<&[u32]> = numbers.chunks(PIECE).collect();
        let found = expand_all(world, states, &pieces, threads);
        let mut late = Block::default();
        let mut successors = Successors::default();
        for piece in found {
            late.clear(0, states.width);
            for &place in &piece.aside {
                let state = states.state(pieces[piece.place][place]);
                world.expand(&state, &mut successors);
                successors.renumber(world);
                late.add(&successors);
            }
            self.append(&piece, &late);
        }
    }

    fn clear(&mut self, first: u32, width: usize) {
        (self.first, self.width) = (first, width);
        self.ends.clear();
        self.rows.clear();
        self.hashes.clear();
        self.marks.clear();
    }

    /// Adds a state that leads there.
    fn add(&mut self, successors: &Successors) {
        for (transition, next) in successors.iter() {
            self.rows.extend_from_slice(next);
            self.hashes.push(states::hash(next.iter().copied()));
            self.marks.push(Mark {
                certain: transition.act.is_certain(),
                wrong: transition.wrong.is_some(),
            });
        }
        self.ends.push(self.marks.len());
    }

    /// Adds a piece, with those in between that were put aside.
    fn append(&mut self, piece: &Piece, late: &Block) {
        let states = piece.found.ends.len();
        let mut from = 0;
        for (nth, &place) in piece.aside.iter().enumerate() {
            self.append_states(&piece.found, from..place);
            self.append_states(late, nth..nth + 1);
            from = place + 1;
        }
        self.append_states(&piece.found, from..states);
    }

    fn append_states(&mut self, other: &Block, states: Range<usize>) {
        let start = |state: usize| state.checked_sub(1).map_or(0, |before| other.ends[before]);
        let ways = start(states.start)..start(states.end);
        let shift = self.marks.len();
        let ends = other.ends[states].iter();
        self.ends.extend(ends.map(|end| end - ways.start + shift));
        let rows = ways.start * self.width..ways.end * self.width;
        self.rows.extend_from_slice(&other.rows[rows]);
        self.hashes.extend_from_slice(&other.hashes[ways.clone()]);
        self.marks.extend_from_slice(&other.marks[ways]);
    }

    /// The state to which a way leads.
    pub(super) fn row(&self, way: usize) -> &[u32] {
        &self.rows[way * self.width..(way + 1) * self.width]
    }

    /// The number of the state from which a way leads.
    pub(super) fn from(&self, way: usize) -> u32 {
        self.first + self.ends.partition_point(|&end| end <= way) as u32
    }

    /// Meets the states to which the ways lead, up to the first that ends the search. There may be
    /// `most` states in all.
    pub(super) fn meet(
        &self,
        world: &World,
        states: &mut States,
        most: u32,
        safety_only: bool,
        threads: usize,
    ) -> Outcome {
        let shares = self.look_up(world, states, safety_only, threads);
        let mut stop = self
            .marks
            .iter()
            .position(|mark| mark.wrong)
            .map(|way| Stop {
                way,
                why: Why::Wrong,
            });
        let mut is_new = vec![false; self.marks.len()];
        for share in &shares {
            for &way in &share.new {
                is_new[way] = true;
            }
            if let Some(bad) = &share.bad
                && stop.as_ref().is_none_or(|stop| bad.way < stop.way)
            {
                stop = Some(bad.clone());
            }
        }
        let base = states.len() as u32;
        let mut from = 0;
        for (way, is_new) in is_new.into_iter().enumerate() {
            if stop
                .as_ref()
                .is_some_and(|stop| way > stop.way || way == stop.way && stop.why == Why::Wrong)
            {
                break;
            }
            if !is_new {
                continue;
            }
            let number = states.len() as u32;
            if number >= most {
                let why = Why::NoRoom;
                stop = Some(Stop { way, why });
                break;
            }
            while self.ends[from] <= way {
                from += 1;
            }
            let hash = self.hashes[way];
            let shard = states.of_slice.shard(hash);
            let place = states.shards[shard].find_mut(hash, |&known| known == base + way as u32);
            *place.expect("it was just put there") = number;
            states.add(self.row(way), self.first + from as u32);
        }
        let ways = stop.as_ref().map_or(self.marks.len(), |stop| stop.way + 1);
        let stuck = shares.iter().flat_map(|share| &share.stuck);
        let stuck = stuck.filter(|&&way| {
            way < ways
                && stop
                    .as_ref()
                    .is_none_or(|stop| stop.why != Why::NoRoom || way < stop.way)
        });
        let turning = (0..self.ends.len()).filter(|&at| !shares.iter().any(|it| it.onward[at]));
        Outcome {
            ways,
            stuck: stuck.count() as u64,
            stop,
            turning: turning.map(|at| self.first + at as u32).collect(),
        }
    }

    /// Puts every new state into its table, under the number of all states so far and the place of the
    /// way that leads there.
    fn look_up(
        &self,
        world: &World,
        states: &mut States,
        safety_only: bool,
        threads: usize,
    ) -> Vec<Share> {
        let threads = threads.min(self.ends.len().div_ceil(PIECE)).max(1);
        let (base, next_level) = (states.len() as u32, states.level_start());
        let (rows, of_slice) = (&states.rows, &states.of_slice);
        let last = self.marks.len();
        u32::try_from(states.rows.len() + last).expect("fewer than 2^32 states and ways to more");
        let mut tables: Vec<_> = (0..threads).map(|_| Vec::new()).collect();
        let mut owner = [0; SHARDS];
        for (shard, table) in states.shards.iter_mut().enumerate() {
            owner[shard] = shard % threads;
            tables[shard % threads].push(table);
        }
        let look = |me: usize, mut tables: Vec<&mut HashTable<u32>>| {
            let mut share = Share {
                new: Vec::new(),
                stuck: Vec::new(),
                bad: None,
                onward: vec![false; self.ends.len()],
            };
            let mut seen = Seen::default();
            let mut from = 0;
            for way in 0..last {
                let hash = self.hashes[way];
                let shard = of_slice.shard(hash);
                if owner[shard] != me {
                    continue;
                }
                while self.ends[from] <= way {
                    from += 1;
                }
                let row = self.row(way);
                let row_of = |number: u32| match number.checked_sub(base) {
                    None => Err(rows.row(number)),
                    Some(way) => Ok(self.row(way as usize)),
                };
                let entry = tables[shard / threads].entry(
                    hash,
                    |&number| match row_of(number) {
                        Err(packed) => packed.eq(row.iter().copied()),
                        Ok(other) => other == row,
                    },
                    |&number| match row_of(number) {
                        Err(packed) => states::hash(packed),
                        Ok(_) => self.hashes[(number - base) as usize],
                    },
                );
                let certain = self.marks[way].certain;
                match entry {
                    Entry::Occupied(known) => {
                        share.onward[from] |= certain && *known.get() >= next_level;
                    }
                    Entry::Vacant(vacant) => {
                        vacant.insert(base + way as u32);
                        share.onward[from] |= certain;
                        share.new.push(way);
                        if self.marks[way].wrong {
                            // The search stops before it.
                            break;
                        }
                        if let Some((kind, why)) = world.fault(row, &mut seen) {
                            let why = Why::Bad(kind, why);
                            share.bad = Some(Stop { way, why });
                            break;
                        }
                        if world.is_stuck(row) {
                            share.stuck.push(way);
                            if !safety_only {
                                let why = Why::Bad(Kind::Deadlock, world.deadlock(row));
                                share.bad = Some(Stop { way, why });
                                break;
                            }
                        }
                    }
                }
            }
            share
        };
        on_threads(tables, look)
    }
}

/// Does something with each of these, the first in this thread and each other in one of its own.
fn on_threads<T: Send, R: Send>(parts: Vec<T>, act: impl Fn(usize, T) -> R + Sync) -> Vec<R> {
    let mut parts = parts.into_iter().enumerate();
    let first = parts.next();
    thread::scope(|scope| {
        let act = &act;
        let others: Vec<_> = parts
            .map(|(at, part)| scope.spawn(move || act(at, part)))
            .collect();
        let first = first.map(|(at, part)| act(at, part));
        let others = others.into_iter().map(|other| match other.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        first.into_iter().chain(others).collect()
    })
}

/// What these states lead to, piece by piece; several threads take turns.
fn expand_all(world: &World, states: &States, pieces: &[&[u32]], threads: usize) -> Vec<Piece> {
    let next = AtomicUsize::new(0);
    let work = |_: usize, (): ()| {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            match pieces.get(place) {
                Some(numbers) => done.push(expand_piece(world, states, place, numbers)),
                None => return done,
            }
        }
    };
    let threads = vec![(); threads.min(pieces.len()).max(1)];
    let mut found: Vec<_> = on_threads(threads, work).into_iter().flatten().collect();
    found.sort_unstable_by_key(|piece| piece.place);
    found
}

fn expand_piece(world: &World, states: &States, place: usize, numbers: &[u32]) -> Piece {
    let mut found = Block::default();
    found.clear(0, states.width);
    let mut aside = Vec::new();
    let mut successors = Successors::default();
    let mut state = Vec::new();
    for (nth, &number) in numbers.iter().enumerate() {
        state.clear();
        state.extend(states.rows.row(number));
        let known = world.try_expand(&state, &mut successors).ok();
        match known.and_then(|()| successors.try_renumber(world)) {
            Some(()) => found.add(&successors),
            None => {
                aside.push(nth);
                found.ends.push(found.marks.len());
            }
        }
    }
    Piece {
        place,
        found,
        aside,
    }
}
