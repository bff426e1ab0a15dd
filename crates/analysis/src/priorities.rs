//! How each priority fared.

use std::collections::BTreeMap;

use model::run::Run;
use serde::Serialize;

use crate::order;

/// What became of the requests of one priority.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriorityLine {
    /// The priority; larger is more urgent.
    pub priority: u32,
    /// Requests made with it.
    pub requests: u64,
    /// How many of them were served.
    pub entries: u64,
    /// From arrival to entry, the mean of those served.
    pub wait_mean_us: Option<f64>,
    /// The longest; of those who still wait, up to the end of the run.
    pub wait_max_us: f64,
    /// The most requests that were registered after one of them and entered before it, where the
    /// algorithm notes registrations.
    pub overtaken_max: Option<u64>,
}

/// One line for each priority that was asked with, the least urgent first.
pub(crate) fn lines(run: &Run) -> Vec<PriorityLine> {
    let overtaken = order::overtaken(run);
    let mut lines = BTreeMap::<u32, (PriorityLine, f64)>::new();
    for (row, overtaken) in run.requests.iter().zip(overtaken) {
        if row.uninvited {
            continue;
        }
        let fresh = PriorityLine {
            priority: row.priority,
            requests: 0,
            entries: 0,
            wait_mean_us: None,
            wait_max_us: 0.0,
            overtaken_max: None,
        };
        let (line, waited_us) = lines.entry(row.priority).or_insert((fresh, 0.0));
        let over_ns = row.entered_ns.unwrap_or(run.ended_ns);
        let wait_us = over_ns.saturating_sub(row.arrived_ns) as f64 / 1e3;
        line.requests += 1;
        line.wait_max_us = line.wait_max_us.max(wait_us);
        line.overtaken_max = line.overtaken_max.max(overtaken);
        if row.entered_ns.is_some() {
            line.entries += 1;
            *waited_us += wait_us;
            line.wait_mean_us = Some(*waited_us / line.entries as f64);
        }
    }
    lines.into_values().map(|(line, _)| line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{entry, run, waiting};

    #[test]
    fn each_priority_has_a_line() {
        let mut run = run(vec![
            entry(0, 0, 7_000, 8_000),
            entry(1, 1_000, 2_000, 3_000),
            entry(2, 2_000, 5_000, 6_000),
            waiting(3, 4_000),
        ]);
        run.ended_ns = 10_000;
        for (row, priority) in run.requests.iter_mut().zip([1, 5, 5, 5]) {
            row.priority = priority;
        }
        run.requests[0].registered = Some(1);
        run.requests[1].registered = Some(2);
        let lines = lines(&run);
        assert_eq!(lines.len(), 2);
        assert_eq!((lines[0].priority, lines[0].requests), (1, 1));
        assert_eq!(lines[0].overtaken_max, Some(1));
        assert_eq!(
            (lines[0].wait_mean_us, lines[0].wait_max_us),
            (Some(7.0), 7.0)
        );
        assert_eq!((lines[1].requests, lines[1].entries), (3, 2));
        assert_eq!(lines[1].wait_mean_us, Some(2.0));
        assert_eq!(lines[1].wait_max_us, 6.0, "it still waits");
        assert_eq!(lines[1].overtaken_max, Some(0));
    }
}
