//! What the faults of a run did, a line each, for tables that people read.

use model::plan::{Plan, usual_delay};
use model::run::{FaultOutcome, FaultTarget, Happened, Run};
use serde::Serialize;

/// What one fault did; of one that struck again and again, all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultLine {
    /// What it was: `loss 20%`, `kill`.
    pub fault: String,
    /// Whom or what it hit; of one that never happened, what it was aimed at.
    pub target: String,
    /// All that was asked for, where that says more: of one that never happened, and of one that
    /// picks messages.
    pub asked: Option<String>,
    /// When it first came into force, if it did.
    pub time_ns: Option<u64>,
    /// How often it did something.
    pub acted: u64,
    /// How often it came into force.
    pub times: u64,
    /// What else is known of it.
    pub remark: Option<String>,
}

/// A line for each fault that was asked for, and for each sort of what happened unasked.
pub(crate) fn of(plan: &Plan, run: &Run) -> Vec<FaultLine> {
    let mut lines: Vec<(&FaultOutcome, FaultLine)> = Vec::new();
    for fault in &run.faults {
        let same = |(first, line): &&mut (&FaultOutcome, FaultLine)| match fault.step {
            Some(_) => first.step == fault.step,
            None => first.step.is_none() && line.fault == fault.name(&plan.faults),
        };
        match lines.iter_mut().find(same) {
            None => lines.push((fault, line(plan, fault))),
            Some((_, line)) => {
                if line.target != fault.target.to_string() {
                    line.target = "several".to_owned();
                }
                line.acted += fault.acted;
                line.times += u64::from(fault.happened != Happened::Never);
                line.remark = None;
            }
        }
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

fn line(plan: &Plan, fault: &FaultOutcome) -> FaultLine {
    let says_more = fault.happened == Happened::Never || fault.target == FaultTarget::Messages;
    let step = fault.step.and_then(|step| plan.faults.steps.get(step));
    FaultLine {
        fault: fault.name(&plan.faults),
        target: fault.target.to_string(),
        asked: step.filter(|_| says_more).map(|step| step.text.clone()),
        time_ns: fault.at_ns(),
        acted: fault.acted,
        times: u64::from(fault.happened != Happened::Never),
        remark: fault.remark.clone(),
    }
}

/// The delay that all links have, where somebody chose it: every message that arrived took it.
pub(crate) fn delay(plan: &Plan, run: &Run) -> Option<FaultLine> {
    (plan.delay != usual_delay(run.engine)).then(|| FaultLine {
        fault: format!("delay {}", plan.delay),
        target: "all".to_owned(),
        asked: None,
        time_ns: Some(0),
        acted: run.link_delay_count,
        times: 1,
        remark: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{death, fault, faults, never, plan, run};

    #[test]
    fn each_fault_has_a_line_however_often_it_struck() {
        let mut plan = plan("raymond", 3);
        let texts = [
            "every 1ms until 3ms kill random",
            "at 1h kill 1",
            "loss 5% on 0->1",
        ];
        plan.faults = faults(3, texts);
        let mut run = run(vec![]);
        run.faults = vec![
            fault(&plan.faults, "loss", (0, None), 7),
            fault(&plan.faults, "every", (1_000, None), 1),
            fault(&plan.faults, "every", (2_000, None), 1),
            death(2, 2_500),
            never(&plan.faults, "kill 1"),
        ];
        run.link_delay_count = 30;
        let short = |line: &FaultLine| {
            let FaultLine {
                fault,
                acted,
                times,
                ..
            } = line;
            format!("{fault} {acted} {times}")
        };
        let lines = |plan: &Plan| of(plan, &run).iter().map(short).collect::<Vec<_>>();
        let expected = ["loss 5% 7 1", "kill 2 2", "unasked death 1 1", "kill 0 0"];
        assert_eq!(lines(&plan), expected);
        assert_eq!(of(&plan, &run)[3].asked.as_deref(), Some("at 1h kill 1"));
        plan.delay = usual_delay(run.engine);
        assert_eq!(delay(&plan, &run), None);
        plan.delay = "5ms".parse().expect("a delay");
        let chosen = delay(&plan, &run).expect("somebody chose it");
        assert_eq!(short(&chosen), "delay 5ms 30 1");
    }
}
