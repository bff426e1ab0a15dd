//! A log for [ShiViz](https://bestchai.bitbucket.io/shiviz/), which draws what happened before what: each
//! event with a vector clock.
//!
//! ```text
//! member3 {"member3":5,"member0":2}
//! receives TOKEN from 0
//! ```
//!
//! A clock counts the events that are shown, so a window of a run is a log like a whole one; a message
//! from before the window is received without being sent.

use std::collections::BTreeMap;
use std::fmt::Write;

use algorithms::NodeId;
use model::event::{Event, What};

use super::Selection;

/// The regular expression that ShiViz needs to read the log: what it offers by itself.
pub(crate) const PATTERN: &str = r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)";

/// More events than this ShiViz draws too slowly to be of use.
pub(crate) const MOST_EVENTS: usize = 2_000;

/// A log in the making.
pub(crate) struct Log<'a> {
    selection: &'a Selection,
    clocks: BTreeMap<NodeId, Clock>,
    /// What each message carries, by sender and number.
    sent: BTreeMap<(NodeId, u64), Clock>,
    text: String,
    /// How many events it has.
    pub(crate) events: usize,
    /// How many more there were.
    pub(crate) left_out: usize,
}

/// How many events of each member are known to have happened.
type Clock = BTreeMap<NodeId, u64>;

impl<'a> Log<'a> {
    /// A log of this part of a run.
    pub(crate) fn new(selection: &'a Selection) -> Self {
        Self {
            selection,
            clocks: BTreeMap::new(),
            sent: BTreeMap::new(),
            text: String::new(),
            events: 0,
            left_out: 0,
        }
    }

    /// The next event of the run.
    pub(crate) fn take(&mut self, event: &Event) {
        let Some(node) = event.node.filter(|node| self.selection.has(*node)) else {
            return;
        };
        let shown = self.selection.meets(event.time_ns, event.time_ns);
        let Some(words) = words(&event.what).filter(|_| shown) else {
            return;
        };
        if self.events == MOST_EVENTS {
            self.left_out += 1;
            return;
        }
        self.events += 1;
        let clock = self.clocks.entry(node).or_default();
        if let What::Receive { from, letter, .. } = &event.what {
            let carried = self.sent.get(&(*from, letter.number));
            for (member, count) in carried.into_iter().flatten() {
                let known = clock.entry(*member).or_default();
                *known = (*known).max(*count);
            }
        }
        *clock.entry(node).or_default() += 1;
        if let What::Send { letter, .. } = &event.what {
            // A copy that a fault made carries no more than the message it is of.
            let message = (node, letter.number);
            self.sent.entry(message).or_insert_with(|| clock.clone());
        }
        let counts = clock
            .iter()
            .map(|(member, count)| format!("\"member{member}\":{count}"));
        let counts = counts.collect::<Vec<_>>().join(",");
        writeln!(self.text, "member{node} {{{counts}}}\n{words}")
            .expect("a text takes every letter");
    }

    /// The log as ShiViz reads it.
    pub(crate) fn text(self) -> String {
        self.text
    }
}

/// What happened, in words; nothing of what is of no interest there.
fn words(what: &What) -> Option<String> {
    Some(match what {
        What::Request { .. } => "asks".to_owned(),
        What::Enter { index: None, .. } => "enters".to_owned(),
        What::Enter {
            index: Some(index), ..
        } => format!("enters, index {index}"),
        What::Release => "leaves".to_owned(),
        What::Send { to, letter, .. } => format!("sends {} to {to}", letter.kind),
        What::Receive { from, letter, .. } => format!("receives {} from {from}", letter.kind),
        What::Timer { timer, .. } => format!("timer {timer} goes off"),
        What::PeerDown { peer } => format!("is told that {peer} died"),
        What::PeerUp { peer } => format!("is told that {peer} is back"),
        What::LinkDown { neighbour } => format!("link to {neighbour} goes down"),
        What::LinkUp { neighbour } => format!("link to {neighbour} comes up"),
        What::ProtocolError { why } => format!("protocol error: {}", why.replace('\n', " ")),
        What::Suspect { peer } => format!("takes {peer} for dead"),
        What::Fault { name, .. } => format!("fault: {}", name.fault),
        What::FaultOver { name } => format!("fault over: {}", name.fault),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::events;
    use super::*;

    fn log(from_ns: u64, until_ns: u64, nodes: &[u32]) -> String {
        let selection = Selection {
            from_ns,
            until_ns,
            nodes: nodes.iter().copied().map(NodeId).collect(),
        };
        let mut log = Log::new(&selection);
        events().iter().for_each(|event| log.take(event));
        log.text()
    }

    #[test]
    fn a_receipt_knows_what_its_sender_had_done() {
        let log = log(0, 100, &[0, 1]);
        let receipt = "member1 {\"member0\":4,\"member1\":2}\nreceives TOKEN from 0\n";
        assert!(log.contains(receipt), "{log}");
        assert!(log.ends_with("fault: kill\n"), "{log}");
    }

    /// ShiViz wants a member's own events counted from 1 without a gap.
    #[test]
    fn a_window_counts_its_own_events() {
        for (log, own) in [(log(12, 100, &[0, 1]), 3), (log(0, 100, &[1]), 4)] {
            let clocks = log.lines().filter(|line| line.starts_with("member1 {"));
            let counts = clocks.map(|line| {
                let (_, count) = line.rsplit_once("\"member1\":").expect("its own");
                count
                    .trim_end_matches('}')
                    .parse::<u64>()
                    .expect("a number")
            });
            let counts = counts.collect::<Vec<_>>();
            assert_eq!(counts, (1..=own).collect::<Vec<_>>(), "{log}");
            assert!(!log.contains("\"member0\""), "{log}");
        }
    }
}
