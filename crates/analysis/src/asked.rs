//! What was asked of a run, in the words that tell its row from those of others.

use chaos::AnyFault;
use chaos::timeline::FaultAction;
use node::plan::Plan;
use node::workload::{Arrivals, PerNode};

use crate::Summary;
use crate::files::Provenance;

impl Summary {
    /// Adds what was asked for.
    pub(crate) fn ask(&mut self, plan: &Plan) {
        self.delay = plan.delay.to_string();
        self.hold = each(&plan.workload.hold);
        match &plan.workload.arrivals {
            Arrivals::Closed { think } => self.think = each(think),
            Arrivals::Open { mean_gap_ns } => self.rate = Some(1e9 / *mean_gap_ns as f64),
            Arrivals::Batch { .. } | Arrivals::OneAtATime | Arrivals::Window { .. } => {}
        }
        let steps = plan.faults.steps.iter();
        let losses = steps.clone().filter(|step| loses(&step.action));
        let losses = losses.map(|step| step.name.strip_prefix("loss ").unwrap_or(&step.name));
        self.loss = losses.collect::<Vec<_>>().join("; ");
        self.faults = steps
            .map(|step| step.text.as_str())
            .collect::<Vec<_>>()
            .join("; ");
        self.links = match plan.links {
            algorithms::registry::LinkOrder::Fifo => "fifo",
            algorithms::registry::LinkOrder::Any => "any",
        }
        .to_owned();
    }

    /// The same row with where it came from.
    pub fn stamped(&self, from: &Provenance) -> Self {
        Self {
            name: from.name.clone(),
            started: from.started.clone(),
            commit: from.commit.clone().unwrap_or_default(),
            ..self.clone()
        }
    }
}

/// The one value of all, or one for each node in turn.
fn each(values: &PerNode<impl ToString>) -> String {
    match values {
        PerNode::All(one) => one.to_string(),
        PerNode::Each(several) => {
            let several = several.iter().map(ToString::to_string);
            several.collect::<Vec<_>>().join(",")
        }
    }
}

/// Whether a step is a loss of datagrams by chance or by count.
fn loses(action: &FaultAction) -> bool {
    let FaultAction::Links(bad) = action else {
        return false;
    };
    bad.iter().any(|bad| {
        matches!(
            bad.fault,
            AnyFault::Loss(_) | AnyFault::Burst(_) | AnyFault::EveryNth(_)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{faults, plan};

    #[test]
    fn a_row_says_what_was_asked_for() {
        let mut plan = plan("raymond", 3);
        plan.delay = "5ms 1ms".parse().expect("a delay");
        plan.faults = faults(3, ["loss 5% on all", "at 1s kill 2"]);
        let mut row = Summary::default();
        row.ask(&plan);
        let words = [
            &row.delay,
            &row.hold,
            &row.think,
            &row.loss,
            &row.faults,
            &row.links,
        ];
        let expected = [
            "5ms 1ms",
            "1ms",
            "exp:10ms",
            "5%",
            "loss 5% on all; at 1s kill 2",
            "fifo",
        ];
        assert_eq!(words, expected);
        assert_eq!(row.rate, None);
        plan.workload.arrivals = Arrivals::Open {
            mean_gap_ns: 50_000_000,
        };
        let mut row = Summary::default();
        row.ask(&plan);
        assert_eq!((row.rate, row.think.as_str()), (Some(20.0), ""));
    }
}
