//! Tasks and the moments at which they are due.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Tasks in the order of their moments, in nanoseconds from the start; ties as they were added.
#[derive(Debug)]
pub struct TimerQueue<Task> {
    tasks: BinaryHeap<Reverse<Due<Task>>>,
    added: u64,
}

/// A task and its place in the order; what the task is has no say in that.
#[derive(Debug)]
struct Due<Task> {
    at_ns: u64,
    nth: u64,
    task: Task,
}

impl<Task> TimerQueue<Task> {
    /// Adds a task for that moment.
    pub fn add(&mut self, at_ns: u64, task: Task) {
        self.added += 1;
        self.tasks.push(Reverse(Due {
            at_ns,
            nth: self.added,
            task,
        }));
    }

    /// When the first task is due, if there is one.
    pub fn next_ns(&self) -> Option<u64> {
        self.tasks.peek().map(|Reverse(first)| first.at_ns)
    }

    /// Takes the first task, if it is due.
    pub fn due(&mut self, now_ns: u64) -> Option<Task> {
        self.next_ns().filter(|at_ns| *at_ns <= now_ns)?;
        self.tasks.pop().map(|Reverse(first)| first.task)
    }

    /// The tasks that are left, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().map(|Reverse(due)| &due.task)
    }

    /// Whether nothing is left to do.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }
}

impl<Task> Default for TimerQueue<Task> {
    fn default() -> Self {
        Self {
            tasks: BinaryHeap::new(),
            added: 0,
        }
    }
}

impl<Task> Ord for Due<Task> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at_ns, self.nth).cmp(&(other.at_ns, other.nth))
    }
}

impl<Task> PartialOrd for Due<Task> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<Task> PartialEq for Due<Task> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<Task> Eq for Due<Task> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_come_in_order_of_time_and_ties_as_added() {
        let mut queue = TimerQueue::default();
        queue.add(20, "third");
        queue.add(10, "first");
        queue.add(10, "a second");
        assert_eq!(queue.due(9), None);
        assert_eq!(queue.due(15), Some("first"));
        assert_eq!(queue.due(15), Some("a second"));
        assert_eq!(queue.due(15), None);
        assert_eq!(queue.next_ns(), Some(20));
    }
}
