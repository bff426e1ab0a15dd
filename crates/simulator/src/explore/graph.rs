//! The states met so far, each stored once, and the ways between them.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

/// States of equal width in the order they were met, from where each was first reached, and what
/// can happen next without a fault.
pub(super) struct Graph {
    width: usize,
    rows: Vec<u32>,
    numbers: HashTable<u32>,
    parents: Vec<u32>,
    /// Where the ways of all expanded states lead, one state after the other.
    targets: Vec<u32>,
    /// How many of them each expanded state has.
    degrees: Vec<u32>,
}

/// What became of a state that was handed to the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// It is a new one, with this number.
    New(u32),
    /// It was there, with this number.
    Known(u32),
    /// It is a new one, and there is no room for it.
    NoRoom,
}

impl Graph {
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            rows: Vec::new(),
            numbers: HashTable::new(),
            parents: Vec::new(),
            targets: Vec::new(),
            degrees: Vec::new(),
        }
    }

    /// How many states there are.
    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    pub(super) fn state(&self, number: u32) -> &[u32] {
        row(&self.rows, self.width, number)
    }

    /// Meets a state, coming from another; there may be `most` in all.
    pub(super) fn meet(&mut self, state: &[u32], parent: u32, most: u32) -> Met {
        let (rows, width) = (&self.rows, self.width);
        let entry = self.numbers.entry(
            FxBuildHasher.hash_one(state),
            |&number| row(rows, width, number) == state,
            |&number| FxBuildHasher.hash_one(row(rows, width, number)),
        );
        match entry {
            Entry::Occupied(known) => Met::Known(*known.get()),
            Entry::Vacant(_) if self.parents.len() >= most as usize => Met::NoRoom,
            Entry::Vacant(vacant) => {
                let number = self.parents.len() as u32;
                vacant.insert(number);
                self.rows.extend_from_slice(state);
                self.parents.push(parent);
                Met::New(number)
            }
        }
    }

    /// Remembers where the ways of the next state lead; states are expanded in order.
    pub(super) fn expanded(&mut self, targets: &[u32]) {
        self.targets.extend_from_slice(targets);
        self.degrees.push(targets.len() as u32);
    }

    /// A shortest way to a state: all states on it, the first and the last included.
    pub(super) fn path(&self, to: u32) -> Vec<u32> {
        let mut path = vec![to];
        let mut at = to;
        while at != 0 {
            at = self.parents[at as usize];
            path.push(at);
        }
        path.reverse();
        path
    }

    /// The states from which one of the goals can be reached.
    ///
    /// Most ways lead from an earlier state to a later one, so walking over all states from the
    /// last to the first settles nearly everything; walking back and forth until nothing changes
    /// settles the rest without a second, reversed copy of the graph.
    pub(super) fn reaching(&self, goal: impl Fn(&[u32]) -> bool) -> Vec<bool> {
        let goals = self.rows.chunks_exact(self.width);
        let mut reaching: Vec<_> = goals.map(goal).collect();
        loop {
            let mut changed = false;
            let mut end = self.targets.len();
            for (number, &degree) in self.degrees.iter().enumerate().rev() {
                let start = end - degree as usize;
                changed |= self.settle(number, start..end, &mut reaching);
                end = start;
            }
            if !changed {
                return reaching;
            }
            let mut start = 0;
            for (number, &degree) in self.degrees.iter().enumerate() {
                let end = start + degree as usize;
                self.settle(number, start..end, &mut reaching);
                start = end;
            }
        }
    }

    fn settle(&self, number: usize, ways: std::ops::Range<usize>, reaching: &mut [bool]) -> bool {
        let settled = reaching[number];
        let leads_there = |&target: &u32| reaching[target as usize];
        if settled || !self.targets[ways].iter().any(leads_there) {
            return false;
        }
        reaching[number] = true;
        true
    }
}

fn row(rows: &[u32], width: usize, number: u32) -> &[u32] {
    let start = number as usize * width;
    &rows[start..start + width]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(ways: &[&[u32]]) -> Graph {
        let mut graph = Graph::new(1);
        for number in 0..ways.len() as u32 {
            graph.meet(&[number], number.saturating_sub(1), u32::MAX);
        }
        for targets in ways {
            graph.expanded(targets);
        }
        graph
    }

    #[test]
    fn a_state_is_kept_once() {
        let mut graph = Graph::new(2);
        assert_eq!(graph.meet(&[1, 2], 0, 2), Met::New(0));
        assert_eq!(graph.meet(&[2, 1], 0, 2), Met::New(1));
        assert_eq!(graph.meet(&[1, 2], 1, 2), Met::Known(0));
        assert_eq!(graph.meet(&[1, 1], 1, 2), Met::NoRoom);
        assert_eq!(graph.state(1), [2, 1]);
        assert_eq!(graph.len(), 2);
    }

    #[test]
    fn a_goal_behind_many_turns_is_reached() {
        // 0 -> 3 -> 1 -> 4 -> 2 -> 5, the goal; 6 and 7 go round in circles.
        let graph = graph(&[&[3, 6], &[4], &[5], &[1], &[2], &[], &[7], &[6]]);
        let reaching = graph.reaching(|state| state == [5]);
        assert_eq!(reaching, [true, true, true, true, true, true, false, false]);
    }

    #[test]
    fn a_path_begins_at_the_start() {
        assert_eq!(graph(&[&[1], &[2], &[]]).path(2), [0, 1, 2]);
        assert_eq!(graph(&[&[]]).path(0), [0]);
    }
}
