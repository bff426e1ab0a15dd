//! How many messages went where.

use std::collections::BTreeMap;

use algorithms::NodeId;

use crate::run::MessageRow;

/// Above so many nodes messages are counted by sender and kind, not by link.
pub const LINKS_COUNTED_UP_TO: u32 = 100;

/// Messages by (from, to, kind); above [`LINKS_COUNTED_UP_TO`] nodes by (from, kind).
#[derive(Debug)]
pub struct Tally {
    kinds: &'static [&'static str],
    /// How many addressees are told apart: all, or one that stands for them all.
    addressees: usize,
    sent: Vec<u64>,
    /// Those that will never arrive, by the same places; empty as long as there are none.
    lost: Vec<u64>,
    /// Those that arrive once more than they were sent, in the same way.
    doubled: Vec<u64>,
}

impl Tally {
    /// Nothing counted yet.
    pub fn new(nodes: u32, kinds: &'static [&'static str]) -> Self {
        let addressees = match nodes {
            0..=LINKS_COUNTED_UP_TO => nodes as usize,
            _ => 1,
        };
        Self {
            kinds,
            addressees,
            sent: vec![0; nodes as usize * addressees * kinds.len()],
            lost: Vec::new(),
            doubled: Vec::new(),
        }
    }

    /// A message of that kind was sent.
    pub fn sent(&mut self, from: NodeId, to: NodeId, kind: usize) {
        let place = self.place(from, to, kind);
        self.sent[place] += 1;
    }

    /// A message of that kind that was sent will never arrive.
    pub fn lost(&mut self, from: NodeId, to: NodeId, kind: usize) {
        let place = self.place(from, to, kind);
        self.lost.resize(self.sent.len(), 0);
        self.lost[place] += 1;
    }

    /// A message of that kind that was sent will arrive once more.
    pub fn doubled(&mut self, from: NodeId, to: NodeId, kind: usize) {
        let place = self.place(from, to, kind);
        self.doubled.resize(self.sent.len(), 0);
        self.doubled[place] += 1;
    }

    /// The rows of everything that was sent, when all that is neither lost nor one of these (from,
    /// to, kind) has arrived.
    pub fn rows(
        &self,
        under_way: impl IntoIterator<Item = (NodeId, NodeId, usize)>,
    ) -> BTreeMap<(NodeId, Option<NodeId>, &'static str), MessageRow> {
        let mut received = self.sent.clone();
        for (received, doubled) in received.iter_mut().zip(&self.doubled) {
            *received += doubled;
        }
        for (from, to, kind) in under_way {
            received[self.place(from, to, kind)] -= 1;
        }
        for (received, lost) in received.iter_mut().zip(&self.lost) {
            *received -= lost;
        }
        let counted = self.sent.iter().zip(received).enumerate();
        let rows = counted.filter(|(_, (sent, _))| **sent > 0);
        rows.map(|(place, (&sent, received))| {
            let link = place / self.kinds.len();
            let from = NodeId((link / self.addressees) as u32);
            let to = NodeId((link % self.addressees) as u32);
            let kind = self.kinds[place % self.kinds.len()];
            let row = MessageRow {
                sent,
                received,
                lost: self.lost.get(place).copied().unwrap_or(0),
                ..MessageRow::default()
            };
            ((from, (self.addressees > 1).then_some(to), kind), row)
        })
        .collect()
    }

    fn place(&self, from: NodeId, to: NodeId, kind: usize) -> usize {
        let to = match self.addressees {
            1 => 0,
            _ => to.index(),
        };
        (from.index() * self.addressees + to) * self.kinds.len() + kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: &[&str] = &["REQUEST", "TOKEN"];

    #[test]
    fn a_small_group_counts_by_link() {
        let mut tally = Tally::new(3, KINDS);
        tally.sent(NodeId(2), NodeId(0), 1);
        tally.sent(NodeId(2), NodeId(0), 1);
        tally.sent(NodeId(2), NodeId(0), 1);
        tally.sent(NodeId(2), NodeId(1), 0);
        tally.lost(NodeId(2), NodeId(0), 1);
        let rows = tally.rows([(NodeId(2), NodeId(0), 1)]);
        let counts = |(key, row): (&(NodeId, Option<NodeId>, &'static str), &MessageRow)| {
            (*key, row.sent, row.received, row.lost)
        };
        assert_eq!(
            rows.iter().map(counts).collect::<Vec<_>>(),
            [
                ((NodeId(2), Some(NodeId(0)), "TOKEN"), 3, 1, 1),
                ((NodeId(2), Some(NodeId(1)), "REQUEST"), 1, 1, 0),
            ]
        );
    }

    #[test]
    fn a_large_group_counts_by_sender() {
        let mut tally = Tally::new(101, KINDS);
        tally.sent(NodeId(100), NodeId(7), 0);
        tally.sent(NodeId(100), NodeId(8), 0);
        let rows = tally.rows([]);
        assert_eq!(rows[&(NodeId(100), None, "REQUEST")].sent, 2);
        assert_eq!(rows.len(), 1);
    }
}
