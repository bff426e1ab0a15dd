//! `--workload one-at-a-time`: nobody ever asks while something is under way.

use algorithms::NodeId;
use algorithms::registry::Load;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::{
    Arrive, Conduct, Cue, Group, KeyError, Keys, Purpose, Quota, Rhythm, Settled, Weights, draw,
};
use crate::plan::Plan;

/// One request at a time, by a node drawn at random; the next when nothing is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneAtATime;

impl Arrive for OneAtATime {
    const WORD: &'static str = "one-at-a-time";
    const HELP: &'static str =
        "One request at a time, by a node drawn at random; the next when nothing is under way";
    const KEYS: &'static [&'static str] = &[];
    const SHARED_KEYS: &'static [&'static str] = &["total", "duration", "weights"];

    fn read(_: &Keys, _: &Group<'_>) -> Result<Self, KeyError> {
        Ok(Self)
    }

    fn write(&self) -> Table {
        Table::new()
    }

    fn quota(&self, _: u32) -> Quota {
        Quota::Total(1_000)
    }

    fn rhythm(&self) -> Rhythm {
        Rhythm::Conducted
    }

    fn conductor(&self, plan: &Plan) -> Option<Box<dyn Conduct>> {
        let (total, until_ns) = match plan.workload.quota {
            Quota::PerNode(share) => (share.saturating_mul(u64::from(plan.nodes)), u64::MAX),
            Quota::Total(total) => (total, u64::MAX),
            Quota::Until(moment_ns) => (u64::MAX, moment_ns),
        };
        Some(Box::new(Drawn {
            seed: plan.seed,
            weights: Weights::new(&plan.workload.weights, plan.nodes),
            total,
            until_ns,
            asked: 0,
        }))
    }

    fn load(&self) -> Load {
        Load::OneAtATime
    }
}

/// Nodes drawn by weight.
#[derive(Debug)]
struct Drawn {
    seed: u64,
    weights: Weights,
    total: u64,
    until_ns: u64,
    /// Requests made so far.
    asked: u64,
}

impl Conduct for Drawn {
    fn next(&mut self, world: Settled) -> Option<(NodeId, Cue)> {
        if self.asked >= self.total || world.now_ns >= self.until_ns || world.waiting {
            return None;
        }
        let mut draw = draw(self.seed, Purpose::Next, NodeId(0), self.asked);
        self.asked += 1;
        Some((self.weights.pick(&mut draw), Cue::Ask { stay: false }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tests::{plan, settled};

    #[test]
    fn one_at_a_time_asks_as_often_as_the_quota_says() {
        let mut plan = plan();
        plan.workload.quota = Quota::Total(3);
        let mut conductor = OneAtATime.conductor(&plan).unwrap();
        let next = || conductor.next(settled(0, false, false));
        let cues = std::iter::from_fn(next).collect::<Vec<_>>();
        assert_eq!(cues.len(), 3);
        plan.workload.quota = Quota::Until(10);
        let mut conductor = OneAtATime.conductor(&plan).unwrap();
        assert_eq!(conductor.next(settled(0, false, false)), Some(cues[0]));
        assert_eq!(conductor.next(settled(9, false, false)), Some(cues[1]));
        assert_eq!(conductor.next(settled(10, false, false)), None);
    }

    #[test]
    fn one_at_a_time_ends_when_the_one_waits_in_vain() {
        let mut conductor = OneAtATime.conductor(&plan()).unwrap();
        assert_eq!(conductor.next(settled(0, false, true)), None);
    }
}
