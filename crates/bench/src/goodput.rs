//! What gets through when the network loses datagrams: messages that arrive, against the datagrams
//! that the proxy carries when it has nothing else to do.

use model::run::Run;

use orchestrator::numbers::{count, decimal};
use orchestrator::table::Table;

/// The sizes of the groups, and how much of what they send is lost, in percent.
pub(crate) const MEMBERS: [usize; 3] = [50, 200, 400];
pub(crate) const LOSSES: [u32; 3] = [0, 5, 20];

/// What one group got through the proxy.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Goodput {
    pub(crate) members: usize,
    pub(crate) loss_percent: u32,
    /// Requests that were served; each member makes one.
    pub(crate) entries: usize,
    /// Messages of the algorithm that arrived.
    pub(crate) messages: u64,
    /// Datagrams that the members sent for them: first ones, repetitions and acknowledgements.
    pub(crate) datagrams: u64,
    /// From the first request to the end of the run.
    pub(crate) busy_ns: u64,
    /// Datagrams per second that the proxy carried just before.
    pub(crate) capacity: f64,
}

impl Goodput {
    /// The words of a fault that loses this share of datagrams. A run that loses nothing needs the
    /// proxy as well, so its fault heals cuts that are not there.
    pub(crate) fn fault(loss_percent: u32) -> String {
        match loss_percent {
            0 => "at 0s heal".to_owned(),
            _ => format!("at 0s loss {loss_percent}%"),
        }
    }

    pub(crate) fn of(run: &Run, members: usize, loss_percent: u32, capacity: f64) -> Self {
        let first_ns = run.requests.iter().map(|request| request.arrived_ns).min();
        let served = run.requests.iter();
        let served = served.filter(|request| request.left_ns.is_some());
        Self {
            members,
            loss_percent,
            entries: served.count(),
            messages: run.messages.values().map(|row| row.received).sum(),
            datagrams: run.transport.values().map(|row| row.datagrams_sent).sum(),
            busy_ns: run.ended_ns.saturating_sub(first_ns.unwrap_or(0)),
            capacity,
        }
    }

    pub(crate) fn is_met(&self) -> bool {
        self.entries == self.members
    }

    fn per_second(&self) -> f64 {
        self.messages as f64 * 1e9 / self.busy_ns as f64
    }

    fn ratio(&self) -> f64 {
        self.per_second() / self.capacity
    }

    /// The load that is offered to the network for each message that arrives.
    fn datagrams_per_message(&self) -> f64 {
        self.datagrams as f64 / self.messages as f64
    }
}

/// A row for each group.
pub(crate) fn show(rows: &[Goodput]) -> String {
    let mut table = Table::new([
        "suzuki-kasami",
        "loss",
        "entries",
        "goodput",
        "proxy carries",
        "ratio",
        "datagrams/message",
        "",
    ]);
    for row in rows {
        table.row([
            &format!("{} members", row.members),
            &format!("{} %", row.loss_percent),
            &format!("{} of {}", row.entries, row.members),
            &format!("{} messages/s", count(row.per_second() as u64)),
            &format!("{} datagrams/s", count(row.capacity as u64)),
            &format!("{:.2}", row.ratio()),
            &decimal(row.datagrams_per_message(), 2),
            if row.is_met() { "met" } else { "missed" },
        ]);
    }
    table.show()
}

#[cfg(test)]
mod tests {
    use algorithms::NodeId;
    use model::run::{MessageRow, RequestRow, TransportRow};

    use super::*;

    /// A run of two members that asked at 1 s and 2 s, of which `served` were served until 5 s.
    fn run(served: usize) -> Run {
        let request = |n: u32| RequestRow {
            left_ns: (served > n as usize).then_some(4_000_000_000),
            ..RequestRow::arrived(NodeId(n), 0, u64::from(n + 1) * 1_000_000_000)
        };
        let message = MessageRow {
            sent: 110,
            received: 100,
            ..MessageRow::default()
        };
        let transport = TransportRow {
            datagrams_sent: 300,
            ..TransportRow::default()
        };
        Run {
            requests: [0, 1].map(request).to_vec(),
            messages: [0, 1]
                .map(|n| ((NodeId(n), None, "REQUEST"), message))
                .into(),
            transport: [0, 1].map(|n| (NodeId(n), transport)).into(),
            ended_ns: 5_000_000_000,
            ..Run::default()
        }
    }

    /// 200 messages arrived in the four seconds from the first request on, with 600 datagrams.
    #[test]
    fn what_arrived_is_compared_with_what_the_proxy_carries() {
        let row = Goodput::of(&run(2), 2, 5, 200.0);
        assert!((row.per_second() - 50.0).abs() < 1e-9, "{row:?}");
        assert!((row.ratio() - 0.25).abs() < 1e-9, "{row:?}");
        assert!((row.datagrams_per_message() - 3.0).abs() < 1e-9, "{row:?}");
    }

    #[test]
    fn a_group_that_was_not_served_whole_is_missed() {
        let rows = [2, 1].map(|served| Goodput::of(&run(served), 2, 20, 200.0));
        assert_eq!(rows.map(|row| row.is_met()), [true, false]);
        let shown = show(&rows);
        let lines = shown.lines().collect::<Vec<_>>();
        let has = |line: usize, words: &str| lines[line].contains(words);
        assert!(has(2, "2 of 2") && has(2, "met"), "{shown}");
        assert!(has(3, "1 of 2") && has(3, "missed"), "{shown}");
    }
}
