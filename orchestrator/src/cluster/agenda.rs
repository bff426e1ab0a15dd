//! What is to happen to the members, and when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use node::mischief::Task;

/// Tasks in the order of their moments, in nanoseconds from the start; ties as they were added.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    tasks: BinaryHeap<Reverse<(u64, u64, Task)>>,
    added: u64,
}

impl Agenda {
    pub(super) fn add(&mut self, at_ns: u64, task: Task) {
        self.added += 1;
        self.tasks.push(Reverse((at_ns, self.added, task)));
    }

    /// When the first task is due, if there is one.
    pub(super) fn next_ns(&self) -> Option<u64> {
        self.tasks.peek().map(|Reverse((at_ns, _, _))| *at_ns)
    }

    /// Takes the first task, if it is due.
    pub(super) fn due(&mut self, now_ns: u64) -> Option<Task> {
        self.next_ns().filter(|at_ns| *at_ns <= now_ns)?;
        self.tasks.pop().map(|Reverse((_, _, task))| task)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_come_in_order_of_time_and_ties_as_added() {
        let mut agenda = Agenda::default();
        let [third, first, second] = [7, 1, 0].map(|step| Task::Begin { step });
        agenda.add(20, third);
        agenda.add(10, first);
        agenda.add(10, second);
        assert_eq!(agenda.due(9), None);
        assert_eq!(agenda.due(15), Some(first));
        assert_eq!(agenda.due(15), Some(second));
        assert_eq!(agenda.due(15), None);
        assert_eq!(agenda.next_ns(), Some(20));
    }
}
