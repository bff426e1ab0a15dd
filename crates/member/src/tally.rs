//! Counts of messages by link and kind.

use std::collections::BTreeMap;

use algorithms::NodeId;
use rustc_hash::FxHashMap;

use model::run::MessageRow;

/// The most nodes for which messages are counted by link; above, they are counted by sender and
/// kind.
pub const LINKS_COUNTED_UP_TO: u32 = 100;

/// Messages by (from, to, kind); above [`LINKS_COUNTED_UP_TO`] nodes by (from, kind), unless every
/// link is to be told apart.
#[derive(Debug)]
pub struct Tally {
    kinds: &'static [&'static str],
    places: Places,
    sent: Vec<u64>,
    /// How many bytes those had, in the same places; empty where they are not counted.
    bytes: Vec<u64>,
    /// Those that will never arrive, by the same places; empty as long as there are none.
    lost: Vec<u64>,
    /// Those that arrive once more than they were sent, in the same way.
    doubled: Vec<u64>,
}

/// Where a link and kind is counted.
#[derive(Debug)]
enum Places {
    /// Every sender has places for this number of addressees, each with all kinds: for all
    /// addressees, or for one that stands for them all.
    Reserved { addressees: usize },
    /// In the order they were first used: few of the links of many nodes are.
    Used(FxHashMap<Link, usize>),
}

/// The sender, the addressee and the number of the kind.
type Link = (NodeId, NodeId, usize);

impl Tally {
    /// Counters that are all zero.
    pub fn new(nodes: u32, kinds: &'static [&'static str]) -> Self {
        let addressees = match nodes {
            0..=LINKS_COUNTED_UP_TO => nodes as usize,
            _ => 1,
        };
        Self {
            kinds,
            places: Places::Reserved { addressees },
            sent: vec![0; nodes as usize * addressees * kinds.len()],
            bytes: Vec::new(),
            lost: Vec::new(),
            doubled: Vec::new(),
        }
    }

    /// Like [`new`](Self::new), with every link told apart however many nodes there are.
    pub fn by_link(nodes: u32, kinds: &'static [&'static str]) -> Self {
        match nodes {
            0..=LINKS_COUNTED_UP_TO => Self::new(nodes, kinds),
            _ => Self {
                places: Places::Used(FxHashMap::default()),
                ..Self::new(0, kinds)
            },
        }
    }

    /// The name of a kind.
    pub fn kind(&self, kind: usize) -> &'static str {
        self.kinds[kind]
    }

    /// Counts a message of that kind that was sent; its bytes too, unless 0 of them are given.
    pub fn sent(&mut self, from: NodeId, to: NodeId, kind: usize, bytes: u64) {
        let place = self.place(from, to, kind);
        self.sent[place] += 1;
        if bytes > 0 {
            self.bytes.resize(self.sent.len(), 0);
            self.bytes[place] += bytes;
        }
    }

    /// Counts a message of that kind that was sent and will never arrive.
    pub fn lost(&mut self, from: NodeId, to: NodeId, kind: usize) {
        let place = self.place(from, to, kind);
        self.lost.resize(self.sent.len(), 0);
        self.lost[place] += 1;
    }

    /// Counts a message of that kind that was sent and will arrive once more.
    pub fn doubled(&mut self, from: NodeId, to: NodeId, kind: usize) {
        let place = self.place(from, to, kind);
        self.doubled.resize(self.sent.len(), 0);
        self.doubled[place] += 1;
    }

    /// The rows of everything that was sent, when all that is neither lost nor one of these (from,
    /// to, kind) has arrived.
    pub fn rows(
        mut self,
        under_way: impl IntoIterator<Item = Link>,
    ) -> BTreeMap<(NodeId, Option<NodeId>, &'static str), MessageRow> {
        let mut missing = vec![0; self.sent.len()];
        for (from, to, kind) in under_way {
            missing[self.place(from, to, kind)] += 1;
        }
        let at = |counts: &[u64], place: usize| counts.get(place).copied().unwrap_or(0);
        let row = |place: usize| {
            let (sent, lost) = (self.sent[place], at(&self.lost, place));
            MessageRow {
                sent,
                received: sent + at(&self.doubled, place) - missing[place] - lost,
                lost,
                bytes: at(&self.bytes, place),
            }
        };
        let kinds = self.kinds;
        let named = |(from, to, kind): Link, place| ((from, Some(to), kinds[kind]), row(place));
        match &self.places {
            Places::Used(places) => {
                let places = places.iter();
                places.map(|(link, place)| named(*link, *place)).collect()
            }
            Places::Reserved { addressees } => (0..self.sent.len())
                .filter(|place| self.sent[*place] > 0)
                .map(|place| {
                    let link = place / kinds.len();
                    let from = NodeId((link / addressees) as u32);
                    let to = NodeId((link % addressees) as u32);
                    let ((from, to, kind), row) = named((from, to, place % kinds.len()), place);
                    ((from, to.filter(|_| *addressees > 1), kind), row)
                })
                .collect(),
        }
    }

    fn place(&mut self, from: NodeId, to: NodeId, kind: usize) -> usize {
        match &mut self.places {
            Places::Reserved { addressees } => {
                let to = match addressees {
                    1 => 0,
                    _ => to.index(),
                };
                (from.index() * *addressees + to) * self.kinds.len() + kind
            }
            Places::Used(places) => *places.entry((from, to, kind)).or_insert_with(|| {
                self.sent.push(0);
                self.sent.len() - 1
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: &[&str] = &["REQUEST", "TOKEN"];

    #[test]
    fn a_small_group_counts_by_link() {
        let mut tally = Tally::new(3, KINDS);
        for _ in 0..3 {
            tally.sent(NodeId(2), NodeId(0), 1, 8);
        }
        tally.sent(NodeId(2), NodeId(1), 0, 8);
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
    fn a_large_group_counts_by_link_if_it_is_to() {
        let mut tally = Tally::by_link(101, KINDS);
        tally.sent(NodeId(100), NodeId(8), 1, 5);
        tally.sent(NodeId(100), NodeId(7), 0, 2);
        tally.sent(NodeId(100), NodeId(8), 1, 6);
        tally.lost(NodeId(100), NodeId(8), 1);
        let rows = tally.rows([(NodeId(100), NodeId(7), 0)]);
        let row = |to, kind| {
            let row = rows[&(NodeId(100), Some(NodeId(to)), kind)];
            (row.sent, row.received, row.lost, row.bytes)
        };
        assert_eq!(row(8, "TOKEN"), (2, 1, 1, 11));
        assert_eq!(row(7, "REQUEST"), (1, 0, 0, 2));
        assert_eq!(rows.len(), 2);
    }

    #[test]
    fn a_large_group_counts_by_sender() {
        let mut tally = Tally::new(101, KINDS);
        tally.sent(NodeId(100), NodeId(7), 0, 0);
        tally.sent(NodeId(100), NodeId(8), 0, 0);
        let rows = tally.rows([]);
        assert_eq!(rows[&(NodeId(100), None, "REQUEST")].sent, 2);
        assert_eq!(rows.len(), 1);
    }
}
