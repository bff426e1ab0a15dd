//! The queue of events, by time.
//!
//! A radix queue: time never runs backwards, so an entry need not be compared with others, only put
//! where its time first differs from now. Six bits of a time are a digit; an entry waits on the
//! level of the highest digit in which it differs from now, in the slot of that digit. Taking the
//! next one empties the lowest slot of the lowest level onto the levels below. Every entry moves
//! down a few times in all, in long runs through memory, where a heap would jump about; a hundred
//! thousand entries cost hardly more than a thousand.
//!
//! Entries of the same moment come out in the order they were put in: they are always in the same
//! slot, and emptying a slot keeps their order. So entries need no sequence numbers.

/// Entries by time, first in first out within one moment.
#[derive(Clone, Debug)]
pub(crate) struct Queue<T> {
    /// No entry is earlier than this: the time of the last one taken.
    now_ns: u64,
    len: usize,
    /// `slots[level * SLOTS + digit]`.
    slots: Vec<Vec<(u64, T)>>,
    /// For each level which of its slots have entries.
    occupied: [u64; LEVELS],
    /// Which levels have entries.
    levels: u32,
    /// How many of the lowest slot's entries, all of the same moment, have been taken.
    taken: usize,
}

const DIGIT_BITS: u32 = 6;
const SLOTS: usize = 1 << DIGIT_BITS;
const LEVELS: usize = u64::BITS.div_ceil(DIGIT_BITS) as usize;

impl<T: Copy> Queue<T> {
    pub(crate) fn new() -> Self {
        Self {
            now_ns: 0,
            len: 0,
            slots: vec![Vec::new(); SLOTS * LEVELS],
            occupied: [0; LEVELS],
            levels: 0,
            taken: 0,
        }
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Puts an entry in, no earlier than the last one taken.
    pub(crate) fn push(&mut self, at_ns: u64, entry: T) {
        debug_assert!(at_ns >= self.now_ns, "{at_ns} is before {}", self.now_ns);
        self.len += 1;
        self.put(at_ns, entry);
    }

    /// Takes the next entry out, and when it is due.
    pub(crate) fn pop(&mut self) -> Option<(u64, T)> {
        loop {
            if self.len == 0 {
                return None;
            }
            let level = self.levels.trailing_zeros() as usize;
            let digit = self.occupied[level].trailing_zeros() as usize;
            let slot = &mut self.slots[level * SLOTS + digit];
            if level == 0 || slot.len() == 1 {
                let entry = slot[self.taken];
                self.taken += 1;
                if self.taken == slot.len() {
                    slot.clear();
                    self.taken = 0;
                    self.vacate(level, digit);
                }
                self.now_ns = entry.0;
                self.len -= 1;
                return Some(entry);
            }
            self.empty_downwards(level, digit);
        }
    }

    /// Takes out, and forgets, every entry that is not to stay.
    pub(crate) fn retain(&mut self, mut stays: impl FnMut(&T) -> bool) {
        if self.len > 0 {
            // Of the first slot some entries may have been taken.
            let level = self.levels.trailing_zeros() as usize;
            let digit = self.occupied[level].trailing_zeros() as usize;
            self.slots[level * SLOTS + digit].drain(..self.taken);
        }
        (self.len, self.taken) = (0, 0);
        for level in 0..LEVELS {
            for digit in 0..SLOTS {
                let slot = &mut self.slots[level * SLOTS + digit];
                slot.retain(|(_, entry)| stays(entry));
                self.len += slot.len();
                if slot.is_empty() {
                    self.vacate(level, digit);
                }
            }
        }
    }

    /// Everything that is still in, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let lowest = self.levels.trailing_zeros() as usize;
        let first = match lowest {
            0 => self.occupied[0].trailing_zeros() as usize,
            _ => usize::MAX,
        };
        let slots = self.slots.iter().enumerate();
        let left = slots.flat_map(move |(place, slot)| match place == first {
            true => &slot[self.taken..],
            false => &slot[..],
        });
        left.map(|(_, entry)| entry)
    }

    /// Moves the entries of a slot to the levels below, counted from the earliest of them.
    fn empty_downwards(&mut self, level: usize, digit: usize) {
        let place = level * SLOTS + digit;
        let mut slot = std::mem::take(&mut self.slots[place]);
        self.vacate(level, digit);
        let earliest = slot.iter().map(|(at_ns, _)| *at_ns).min();
        self.now_ns = earliest.expect("only occupied slots are emptied");
        for (at_ns, entry) in slot.drain(..) {
            self.put(at_ns, entry);
        }
        // The slot keeps its memory: it will be as full again.
        self.slots[place] = slot;
    }

    fn put(&mut self, at_ns: u64, entry: T) {
        // The lowest level also has what is due now, which differs in no digit.
        let differs = (at_ns ^ self.now_ns) | 1;
        let level = differs.ilog2() / DIGIT_BITS;
        let digit = (at_ns >> (level * DIGIT_BITS)) as usize % SLOTS;
        let level = level as usize;
        self.levels |= 1 << level;
        self.occupied[level] |= 1 << digit;
        self.slots[level * SLOTS + digit].push((at_ns, entry));
    }

    fn vacate(&mut self, level: usize, digit: usize) {
        self.occupied[level] &= !(1 << digit);
        if self.occupied[level] == 0 {
            self.levels &= !(1 << level);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use chaos::Draw;

    use super::*;

    /// The same queue, as slow and as plain as can be.
    #[derive(Default)]
    struct Model {
        entries: BTreeMap<(u64, u32), u32>,
    }

    #[test]
    fn it_is_a_queue_by_time_and_then_by_order_of_arrival() {
        for seed in 0..50 {
            let mut draw = Draw::new([seed]);
            let mut queue = Queue::new();
            let mut model = Model::default();
            let (mut now_ns, mut next) = (0, 0);
            for _ in 0..5_000 {
                if draw.chance(0.51) {
                    // From many at one moment to far apart.
                    let reach = draw.below(61);
                    let at_ns = now_ns + draw.below(1 << reach);
                    queue.push(at_ns, next);
                    model.entries.insert((at_ns, next), next);
                    next += 1;
                } else {
                    let expected = model
                        .entries
                        .pop_first()
                        .map(|((at, _), entry)| (at, entry));
                    assert_eq!(queue.pop(), expected, "seed {seed}");
                    now_ns = expected.map_or(now_ns, |(at_ns, _)| at_ns);
                    if now_ns > 1 << 62 {
                        break;
                    }
                }
                if draw.chance(0.002) {
                    let kept = |entry: &u32| !entry.is_multiple_of(3);
                    queue.retain(kept);
                    model.entries.retain(|_, entry| kept(entry));
                }
                assert_eq!(queue.len(), model.entries.len(), "seed {seed}");
            }
            let mut left = queue.iter().copied().collect::<Vec<_>>();
            left.sort_unstable();
            let mut expected = model.entries.values().copied().collect::<Vec<_>>();
            expected.sort_unstable();
            assert_eq!(left, expected, "seed {seed}");
        }
    }

    #[test]
    fn the_end_of_time_is_a_time() {
        let mut queue = Queue::new();
        queue.push(u64::MAX, 'b');
        queue.push(u64::MAX - 1, 'a');
        queue.push(u64::MAX, 'c');
        let order = std::iter::from_fn(|| queue.pop()).map(|(_, entry)| entry);
        assert_eq!(order.collect::<String>(), "abc");
    }
}
