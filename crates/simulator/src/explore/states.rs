//! The states met so far, each stored once, and how to find one again.
//!
//! A state's row is packed and complete, so two states are
//! never taken for one. From where a state was first reached is not stored but found again: the
//! states are numbered in the order they were met, so the number of the state before never falls, and
//! one in [`SAMPLED`] of them is enough to know where to look. No way between states is stored.

use std::ops::Range;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::packed::Packed;

/// Of how many states one remembers from where it was reached.
pub(super) const SAMPLED: usize = 1 << 8;

/// How many tables there are. Each grows by itself, and they differ in size by up to two, so that
/// they do not grow all at once.
pub(super) const SHARDS: usize = 64;

/// All bits of a hash that choose a table.
const SLICES: usize = 1 << 10;

/// States of equal width, numbered in the order they were met, nearest to the beginning first.
pub(super) struct States {
    pub(super) width: usize,
    pub(super) rows: Packed,
    pub(super) shards: Vec<HashTable<u32>>,
    /// Which table holds a slice of all hashes.
    pub(super) of_slice: Slices,
    /// From where every so many-th state was first reached.
    parents: Vec<u32>,
    /// From where the last one was.
    last_parent: u32,
    /// The first state of each level: so many steps away from the beginning.
    levels: Vec<u32>,
}

/// What became of a state that was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// It is a new one, with this number.
    New(u32),
    /// It was there, with this number.
    Known(u32),
    /// It is a new one, and there is no room for it.
    NoRoom,
}

/// Which table holds which hashes.
#[derive(Clone)]
pub(super) struct Slices(Box<[u8]>);

impl Slices {
    fn new() -> Self {
        let sizes = (0..SHARDS).map(|shard| (shard as f64 / SHARDS as f64).exp2());
        let all: f64 = sizes.clone().sum();
        let mut slices = Vec::with_capacity(SLICES);
        let mut until = 0.0;
        for (shard, size) in sizes.enumerate() {
            until += size / all * SLICES as f64;
            slices.resize(until.round() as usize, shard as u8);
        }
        slices.resize(SLICES, SHARDS as u8 - 1);
        Self(slices.into())
    }

    pub(super) fn shard(&self, hash: u64) -> usize {
        usize::from(self.0[(hash >> 40) as usize % SLICES])
    }
}

/// The hash of a row.
pub(super) fn hash(row: impl Iterator<Item = u32>) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15_u64;
    for number in row {
        hash = (hash ^ u64::from(number)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        hash ^= hash >> 32;
    }
    hash.wrapping_mul(0xd6e8_feb8_6659_fd93)
}

impl States {
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            rows: Packed::new(width),
            shards: (0..SHARDS).map(|_| HashTable::new()).collect(),
            of_slice: Slices::new(),
            parents: Vec::new(),
            last_parent: 0,
            levels: Vec::new(),
        }
    }

    /// How many states there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn state(&self, number: u32) -> Vec<u32> {
        self.rows.row(number).collect()
    }

    /// The number of a state, if it was met.
    pub(super) fn find(&self, state: &[u32]) -> Option<u32> {
        let hash = hash(state.iter().copied());
        let shard = &self.shards[self.of_slice.shard(hash)];
        let same = |&number: &u32| self.rows.row(number).eq(state.iter().copied());
        shard.find(hash, same).copied()
    }

    /// Meets a state, coming from another; there may be `most` in all.
    pub(super) fn meet(&mut self, state: &[u32], parent: u32, most: u32) -> Met {
        let code = hash(state.iter().copied());
        let rows = &self.rows;
        let entry = self.shards[self.of_slice.shard(code)].entry(
            code,
            |&number| rows.row(number).eq(state.iter().copied()),
            |&number| hash(rows.row(number)),
        );
        let number = rows.len() as u32;
        match entry {
            Entry::Occupied(known) => return Met::Known(*known.get()),
            Entry::Vacant(_) if number >= most => return Met::NoRoom,
            Entry::Vacant(vacant) => vacant.insert(number),
        };
        self.add(state, parent);
        Met::New(number)
    }

    /// Adds a state that is in its table already.
    pub(super) fn add(&mut self, state: &[u32], parent: u32) {
        if self.rows.len().is_multiple_of(SAMPLED) {
            self.parents.push(parent);
        }
        self.last_parent = parent;
        self.rows.push(state);
    }

    /// The states of which one is the one from where this state was first reached: the first of them
    /// with a way there.
    pub(super) fn parents(&self, of: u32) -> Range<u32> {
        let sample = of as usize / SAMPLED;
        let last = self.parents.get(sample + 1).copied();
        let last = last.unwrap_or(self.last_parent);
        self.parents[sample]..last + 1
    }

    /// How many steps a state is away from the beginning.
    pub(super) fn depth(&self, number: u32) -> u32 {
        self.levels.partition_point(|&first| first <= number) as u32 - 1
    }

    /// From now on new states are one step farther away from the beginning.
    pub(super) fn begin_level(&mut self) {
        self.levels.push(self.len() as u32);
    }

    /// The first state of the level that has begun last.
    pub(super) fn level_start(&self) -> u32 {
        self.levels.last().copied().unwrap_or(0)
    }

    /// How many states the last two levels have that are finished: no state of theirs is still to come.
    pub(super) fn last_levels(&self) -> [u64; 2] {
        match *self.levels.as_slice() {
            [.., first, second, end] => [second - first, end - second].map(u64::from),
            _ => [0, 0],
        }
    }

    /// How many bytes all of it takes.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let tables = self.shards.iter().map(HashTable::allocation_size);
        self.rows.bytes() + tables.sum::<usize>() + size_of_val(self.parents.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_kept_once() {
        let mut states = States::new(2);
        assert_eq!(states.meet(&[1, 2], 0, 2), Met::New(0));
        assert_eq!(states.meet(&[2, 1], 0, 2), Met::New(1));
        assert_eq!(states.meet(&[1, 2], 1, 2), Met::Known(0));
        assert_eq!(states.meet(&[1, 1], 1, 2), Met::NoRoom);
        assert_eq!(states.state(1), [2, 1]);
        assert_eq!(states.len(), 2);
        assert_eq!(states.find(&[2, 1]), Some(1));
        assert_eq!(states.find(&[1, 1]), None);
    }

    #[test]
    fn the_state_before_is_among_a_few() {
        let mut states = States::new(1);
        for number in 0..100_000 {
            states.meet(&[number], number / 3, u32::MAX);
        }
        for number in 1..100_000 {
            let parents = states.parents(number);
            assert!(parents.contains(&(number / 3)), "{number}: {parents:?}");
            assert!(parents.len() <= SAMPLED / 3 + 2, "{number}: {parents:?}");
        }
    }

    #[test]
    fn tables_differ_in_size_so_that_they_grow_one_by_one() {
        let slices = Slices::new();
        let mut sizes = [0; SHARDS];
        for slice in 0..SLICES as u64 {
            sizes[slices.shard(slice << 40)] += 1;
        }
        assert!(sizes.is_sorted_by(|a, b| a <= &(b + 1)), "{sizes:?}");
        let (least, most) = (sizes[0], sizes[SHARDS - 1]);
        assert!(2 * least >= most - 2 && 2 * least <= most + 4, "{sizes:?}");
    }

    #[test]
    fn a_state_of_four_nodes_takes_at_most_32_bytes() {
        let mut states = States::new(4);
        for number in 0..1_000_000_u32 {
            let mixed = number.wrapping_mul(2_654_435_769);
            let part = |shift: u32| mixed >> shift & 0xf_ffff;
            states.meet(
                &[part(0), part(4), part(8), number % 1_000_003],
                0,
                u32::MAX,
            );
        }
        let each = states.bytes() / states.len();
        assert!((16..=24).contains(&each), "{each} bytes");
    }
}
