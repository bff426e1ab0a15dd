//! Values that are stored once and numbered.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// Different values, numbered in the order they were first seen.
pub(super) struct Interned<T> {
    values: Vec<T>,
    numbers: HashTable<u32>,
}

impl<T: Eq + Hash> Interned<T> {
    pub(super) fn new() -> Self {
        Self {
            values: Vec::new(),
            numbers: HashTable::new(),
        }
    }

    /// The value's number, and whether it is new.
    pub(super) fn number(&mut self, value: T) -> (u32, bool) {
        let hash = FxBuildHasher.hash_one(&value);
        let values = &self.values;
        if let Some(&number) = self
            .numbers
            .find(hash, |&number| values[number as usize] == value)
        {
            return (number, false);
        }
        let number = u32::try_from(values.len()).expect("fewer than 2^32 parts of a small world");
        self.values.push(value);
        let values = &self.values;
        self.numbers.insert_unique(hash, number, |&number| {
            FxBuildHasher.hash_one(&values[number as usize])
        });
        (number, true)
    }

    pub(super) fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }
}
