//! `--workload batch`: given nodes ask in a given order.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use algorithms::NodeId;
use chaos::span::{parse_ns, show_ns};
use serde::{Deserialize, Serialize};
use toml::Table;

use super::{
    Arrive, Conduct, Cue, Group, KeyError, Keys, PerNode, Quota, Rhythm, Settled, node_of, written,
};
use crate::plan::Plan;

/// Given requests at given moments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Who asks, in this order.
    pub asks: Vec<Ask>,
    /// Whether the next one asks only when nothing is under way; the first to enter then stays
    /// inside until all have asked.
    pub settled: bool,
}

/// One request of a batch or of a trace file: `3 at 5ms priority 2 hold 1ms`, of which only the node
/// must be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// The node that asks.
    pub node: NodeId,
    /// The moment of the request, in nanoseconds from the start.
    pub at_ns: u64,
    /// How urgent the request is, if not as the workload says for that node.
    pub priority: Option<u32>,
    /// How long the client stays inside, if not as the workload says for that node.
    pub hold_ns: Option<u64>,
}

impl Ask {
    /// A request as urgent, and for as long, as the workload says for that node.
    pub fn at(at_ns: u64, node: NodeId) -> Self {
        Self {
            node,
            at_ns,
            priority: None,
            hold_ns: None,
        }
    }
}

impl FromStr for Ask {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not NODE [at TIME] [priority NUMBER] [hold TIME]");
        let time = |text: &str| parse_ns(text).map_err(|error| error.to_string());
        let mut words = text.split_whitespace();
        let node = words.next().and_then(|word| word.parse().ok());
        let mut ask = Ask::at(0, NodeId(node.ok_or_else(wrong)?));
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(wrong)?;
            match word {
                "at" => ask.at_ns = time(value)?,
                "priority" => ask.priority = Some(value.parse().map_err(|_| wrong())?),
                "hold" => ask.hold_ns = Some(time(value)?),
                _ => return Err(wrong()),
            }
        }
        Ok(ask)
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.node)?;
        if self.at_ns > 0 {
            write!(f, " at {}", show_ns(self.at_ns))?;
        }
        if let Some(priority) = self.priority {
            write!(f, " priority {priority}")?;
        }
        if let Some(hold_ns) = self.hold_ns {
            write!(f, " hold {}", show_ns(hold_ns))?;
        }
        Ok(())
    }
}

impl Arrive for Batch {
    const WORD: &'static str = "batch";
    const HELP: &'static str = "Given nodes ask in a given order";
    const KEYS: &'static [&'static str] = &["asks", "settled"];

    fn read(keys: &Keys, group: &Group<'_>) -> Result<Self, KeyError> {
        let wrong = |why: String| KeyError::new("asks", why);
        let read = |text: &String| text.parse::<Ask>();
        let asks = match keys.get::<PerNode<String>>("asks")? {
            None => (0..group.nodes)
                .map(|node| Ok(Ask::at(0, NodeId(node))))
                .collect(),
            Some(PerNode::All(one)) => read(&one).map(|ask| vec![ask]),
            Some(PerNode::Each(several)) => several.iter().map(read).collect(),
        };
        let asks: Vec<Ask> = asks.map_err(wrong)?;
        for ask in &asks {
            node_of(ask.node.0, group.nodes).map_err(wrong)?;
        }
        let settled = keys.get("settled")?.unwrap_or(false);
        if settled && (group.info.more.retries)(group.params) {
            let why = format!(
                "who waits with {} tries again and again, so that the group never comes to rest \
                 and nobody would ever leave; leave --settled out",
                group.info.name
            );
            return Err(KeyError::new("settled", why));
        }
        if let Some(ask) = asks.iter().find(|ask| settled && ask.at_ns > 0) {
            return Err(wrong(format!(
                "'{ask}' names a time, but in a settled batch each asks when nothing is under way"
            )));
        }
        Ok(Self { asks, settled })
    }

    fn write(&self) -> Table {
        let asks = self.asks.iter().map(Ask::to_string).collect::<Vec<_>>();
        Table::from_iter([written("asks", asks), written("settled", self.settled)])
    }

    fn quota(&self, _: u32) -> Quota {
        Quota::Total(self.asks.len() as u64)
    }

    fn last_request_ns(&self) -> Option<u64> {
        Some(self.asks.iter().map(|ask| ask.at_ns).max().unwrap_or(0))
    }

    fn rhythm(&self) -> Rhythm {
        match self.settled {
            true => Rhythm::Conducted,
            false => Rhythm::Scripted,
        }
    }

    fn asks(&self, _: &Plan) -> Cow<'_, [Ask]> {
        Cow::Borrowed(&self.asks)
    }

    fn conductor(&self, _: &Plan) -> Option<Box<dyn Conduct>> {
        let order = self.asks.iter().map(|ask| ask.node);
        let order = order.collect::<Vec<_>>().into_iter();
        let staying = Vec::new();
        self.settled
            .then(|| Box::new(InOrder { order, staying }) as Box<dyn Conduct>)
    }
}

/// These nodes ask in this order, the first to enter staying inside until all have asked.
#[derive(Debug)]
struct InOrder {
    order: std::vec::IntoIter<NodeId>,
    /// The nodes told to stay, if they enter before somebody else does.
    staying: Vec<NodeId>,
}

impl Conduct for InOrder {
    fn next(&mut self, world: Settled) -> Option<(NodeId, Cue)> {
        let Some(node) = self.order.next() else {
            return self.staying.pop().map(|node| (node, Cue::Leave));
        };
        if !world.inside {
            self.staying.push(node);
        }
        let stay = !world.inside;
        Some((node, Cue::Ask { stay }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tests::{plan, settled};

    #[test]
    fn a_settled_batch_asks_in_order_then_lets_the_first_one_go() {
        let asks = [4, 1, 4].map(|node| Ask::at(0, NodeId(node)));
        let batch = Batch {
            asks: asks.to_vec(),
            settled: true,
        };
        let mut conductor = batch.conductor(&plan()).unwrap();
        let ask = |node, stay| Some((NodeId(node), Cue::Ask { stay }));
        assert_eq!(conductor.next(settled(0, false, false)), ask(4, true));
        assert_eq!(conductor.next(settled(5, true, false)), ask(1, false));
        assert_eq!(conductor.next(settled(6, true, true)), ask(4, false));
        let leave = Some((NodeId(4), Cue::Leave));
        assert_eq!(conductor.next(settled(7, true, true)), leave);
        assert_eq!(conductor.next(settled(9, false, false)), None);
    }
}
