//! What was asked of a run, in the words of `summary.csv`.

use algorithms::registry::LinkOrder;
use chaos::fault::Stage;
use chaos::timeline::FaultAction;
use model::plan::Plan;
use model::workload::{PerNode, Rhythm};

/// When clients ask: the name of the workload.
pub(crate) fn workload(plan: &Plan) -> String {
    plan.workload.arrivals.kind().word.to_owned()
}

/// How long clients stay inside.
pub(crate) fn hold(plan: &Plan) -> String {
    each(&plan.workload.hold)
}

/// How long clients think, where they ask again after they have left.
pub(crate) fn think(plan: &Plan) -> String {
    match plan.workload.arrivals.rhythm() {
        Rhythm::AfterLeaving { think } => each(&think),
        _ => String::new(),
    }
}

/// Requests per second at one node, where they come whether or not others are served.
pub(crate) fn rate(plan: &Plan) -> Option<f64> {
    match plan.workload.arrivals.rhythm() {
        Rhythm::AfterArriving { mean_gap_ns } => Some(1e9 / mean_gap_ns as f64),
        _ => None,
    }
}

/// The losses of datagrams by chance or by count.
pub(crate) fn loss(plan: &Plan) -> String {
    let losses = plan.faults.steps.iter().filter(|step| loses(&step.action));
    let losses = losses.map(|step| step.name.strip_prefix("loss ").unwrap_or(&step.name));
    losses.collect::<Vec<_>>().join("; ")
}

/// All faults that were asked for.
pub(crate) fn faults(plan: &Plan) -> String {
    let texts = plan.faults.steps.iter().map(|step| step.text.as_str());
    texts.collect::<Vec<_>>().join("; ")
}

/// Whether links keep the order of messages.
pub(crate) fn links(plan: &Plan) -> String {
    match plan.links {
        LinkOrder::Fifo => "fifo",
        LinkOrder::Any => "any",
    }
    .to_owned()
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

fn loses(action: &FaultAction) -> bool {
    let FaultAction::Links(bad) = action else {
        return false;
    };
    bad.iter().any(|bad| bad.fault.stage() == Stage::Loss)
}

#[cfg(test)]
mod tests {
    use model::workload::Open;

    use super::*;
    use crate::fixtures;

    #[test]
    fn a_row_says_what_was_asked_for() {
        let mut plan = fixtures::plan("raymond", 3);
        plan.faults = fixtures::faults(3, ["loss 5% on all", "at 1s kill 2"]);
        assert_eq!(
            (hold(&plan), think(&plan)),
            ("1ms".into(), "exp:10ms".into())
        );
        assert_eq!(loss(&plan), "5%");
        assert_eq!(faults(&plan), "loss 5% on all; at 1s kill 2");
        assert_eq!((links(&plan), rate(&plan)), ("fifo".into(), None));
        plan.workload.arrivals = Open {
            mean_gap_ns: 50_000_000,
        }
        .into();
        assert_eq!((rate(&plan), think(&plan)), (Some(20.0), String::new()));
    }
}
