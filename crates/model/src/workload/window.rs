//! `--workload window`: some nodes, drawn at random, ask once within a window of time.

use std::borrow::Cow;

use algorithms::NodeId;
use chaos::span::show_ns;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Arrive, Ask, Group, KeyError, Keys, Purpose, Quota, Rhythm, Weights, draw, written};
use crate::plan::Plan;

/// A number of different nodes, drawn at random, ask once each within a window from time 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// How many nodes ask.
    pub nodes: u32,
    /// How long the window is, in nanoseconds.
    pub within_ns: u64,
}

impl Arrive for Window {
    const WORD: &'static str = "window";
    const HELP: &'static str = "Some nodes, drawn at random, ask once within a window of time";
    const KEYS: &'static [&'static str] = &["askers", "within"];
    const SHARED_KEYS: &'static [&'static str] = &["weights"];

    fn read(keys: &Keys, group: &Group<'_>) -> Result<Self, KeyError> {
        let silent = group
            .weights
            .iter()
            .filter(|&&weight| weight == 0.0)
            .count();
        let may_ask = group.nodes - u32::try_from(silent).expect("a weight is a node's");
        let nodes = keys.get("askers")?.unwrap_or(may_ask.div_ceil(2));
        if nodes == 0 || nodes > may_ask {
            let why =
                format!("{nodes} of {may_ask} nodes cannot ask once each; write 1 to {may_ask}");
            return Err(KeyError::new("askers", why));
        }
        let within_ns = keys.time_ns("within")?.unwrap_or(10_000_000);
        Ok(Self { nodes, within_ns })
    }

    fn write(&self) -> Table {
        Table::from_iter([
            written("askers", self.nodes),
            written("within", show_ns(self.within_ns)),
        ])
    }

    fn quota(&self, _: u32) -> Quota {
        Quota::Total(self.nodes.into())
    }

    fn last_request_ns(&self) -> Option<u64> {
        Some(self.within_ns)
    }

    fn rhythm(&self) -> Rhythm {
        Rhythm::Scripted
    }

    fn asks(&self, plan: &Plan) -> Cow<'_, [Ask]> {
        let weights = Weights::new(&plan.workload.weights, plan.nodes);
        // Efraimidis and Spirakis: with these keys, the smallest are a weighted sample.
        let mut keyed = (0..plan.nodes)
            .map(NodeId)
            .filter(|&node| weights.of(node) > 0.0)
            .map(|node| {
                let mut draw = draw(plan.seed, Purpose::Window, node, 0);
                let key = -(1.0 - draw.unit()).ln() / weights.of(node);
                (key, node, draw)
            })
            .collect::<Vec<_>>();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        keyed.truncate(self.nodes as usize);
        keyed
            .into_iter()
            .map(|(_, node, mut draw)| Ask::at(draw.below(self.within_ns.max(1)), node))
            .collect()
    }
}
