//! Values numbered in the order they were first seen.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// The states, or the messages, of a small world: each has a number, by which a search holds it.
pub struct Numbered<T> {
    values: Vec<T>,
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    /// The number of a value, a new one if it was never seen.
    ///
    /// # Panics
    ///
    /// When there are 2^32 values, which no memory holds.
    pub fn number(&mut self, value: T) -> u32 {
        if let Some(&number) = self.numbers.get(&value) {
            return number;
        }
        let number = u32::try_from(self.values.len()).expect("fewer than 2^32 local states");
        self.values.push(value.clone());
        self.numbers.insert(value, number);
        number
    }

    /// The value of a number that was given out.
    pub fn value(&self, number: u32) -> &T {
        &self.values[number as usize]
    }
}
