//! `faults.csv`: what became of the faults, in words for people and scripts, and back.

use std::path::Path;

use algorithms::NodeId;
use model::plan::Plan;
use model::run::{FaultKind, FaultOutcome, FaultTarget, Happened, Run};

use super::FilesError;
use super::table::{Row, Table, known, maybe};
use crate::fault_lines;

const FAULTS: Table = Table {
    name: "faults.csv",
    columns: &[
        "time_ns", "fault", "target", "until_ns", "acted", "remark", "step",
    ],
};

pub(super) fn write(dir: &Path, plan: &Plan, run: &Run) -> Result<(), FilesError> {
    let outcomes = run.faults.iter().map(|fault| {
        [
            maybe(fault.at_ns()),
            known(&fault.name(&plan.faults)),
            known(&fault.target),
            maybe(fault.until_ns()),
            known(&fault.acted),
            fault.remark.clone(),
            maybe(fault.step),
        ]
    });
    // The delay of the links is no step of the timeline, but it is what a reader looks for here.
    let delay = fault_lines::delay(plan, run).map(|line| {
        [
            maybe(line.time_ns),
            Some(line.fault),
            Some(line.target),
            None,
            known(&line.acted),
            None,
            None,
        ]
    });
    FAULTS.write(dir, outcomes.chain(delay))
}

pub(super) fn read(dir: &Path, plan: &Plan) -> Result<Vec<FaultOutcome>, FilesError> {
    let delay = format!("delay {}", plan.delay);
    let rows = FAULTS.read(dir, |row| match row.has("step") {
        true if row.text("fault") == delay && row.text("step").is_empty() => Ok(None),
        true => outcome(row, plan).map(Some),
        false => outcome_without_step(row, plan).map(Some),
    })?;
    Ok(rows.into_iter().flatten().collect())
}

fn outcome(row: &Row<'_>, plan: &Plan) -> Result<FaultOutcome, FilesError> {
    let remark = Some(row.text("remark")).filter(|remark| !remark.is_empty());
    let outcome = FaultOutcome {
        happened: happened(row)?,
        acted: row.number("acted")?,
        remark: remark.map(str::to_owned),
        ..match row.optional("step")? {
            Some(step) => asked(row, plan, step)?,
            None => unasked(row, plan)?,
        }
    };
    match outcome.name(&plan.faults) == row.text("fault") {
        true => Ok(outcome),
        false => {
            let name = outcome.name(&plan.faults);
            Err(row.unfit("fault", format!("'{name}', as the plan in run.json says")))
        }
    }
}

/// Rows of versions before there was a step in them: a fault that never happened had all that was
/// asked for as its target, and was over at 0; a remark stood behind the fault.
fn outcome_without_step(row: &Row<'_>, plan: &Plan) -> Result<FaultOutcome, FilesError> {
    let acted = row.number("acted")?;
    let steps = &plan.faults.steps;
    let (name, target) = (row.text("fault"), row.text("target"));
    let never = steps.iter().position(|step| step.text == target);
    if let (Some(step), 0) = (never, acted) {
        return Ok(FaultOutcome::never(step, &plan.faults));
    }
    let (name, remark) = match name
        .strip_suffix(')')
        .and_then(|name| name.split_once(" ("))
    {
        Some((name, remark)) => (name, Some(remark.to_owned())),
        None => (name, None),
    };
    let aimed = |number: &usize| {
        FaultOutcome::never(*number, &plan.faults)
            .target
            .to_string()
    };
    let mut numbers = (0..steps.len()).filter(|number| steps[*number].name == name);
    let exactly = numbers.clone().find(|number| aimed(number) == target);
    let of = match exactly.or_else(|| numbers.next()) {
        Some(step) => asked(row, plan, step)?,
        None => unasked(row, plan)?,
    };
    Ok(FaultOutcome {
        happened: happened(row)?,
        acted,
        remark,
        ..of
    })
}

fn happened(row: &Row<'_>) -> Result<Happened, FilesError> {
    let until_ns = row.optional("until_ns")?;
    match (row.optional("time_ns")?, until_ns) {
        (None, None) => Ok(Happened::Never),
        (None, Some(_)) => Err(row.unfit("until_ns", "nothing, as time_ns says nothing")),
        (Some(at_ns), Some(until_ns)) if until_ns < at_ns => {
            Err(row.unfit("until_ns", format!("{at_ns}, its time_ns, or later")))
        }
        (Some(at_ns), until_ns) => Ok(Happened::from(at_ns, until_ns)),
    }
}

/// A fault that a step of the plan asked for.
fn asked(row: &Row<'_>, plan: &Plan, step: usize) -> Result<FaultOutcome, FilesError> {
    let Some(last) = plan.faults.steps.len().checked_sub(1) else {
        return Err(row.unfit("step", "nothing: the plan has no faults"));
    };
    if step > last {
        return Err(row.unfit("step", format!("a number from 0 to {last}, or nothing")));
    }
    let never = FaultOutcome::never(step, &plan.faults);
    // What is aimed at need not be read: the plan knows it.
    let aimed = never.target.to_string() == row.text("target");
    let target = match never.kind {
        _ if aimed => never.target.clone(),
        FaultKind::Links | FaultKind::Heal | FaultKind::ProxyFull => {
            let links = row.text("target").parse();
            let links = links.map_err(|_| row.unfit("target", "links, such as 3->4 or 0,1|2"))?;
            FaultTarget::Links(links)
        }
        FaultKind::Message => return Err(row.unfit("target", "messages")),
        FaultKind::Kill
        | FaultKind::Restart
        | FaultKind::Pause
        | FaultKind::Resume
        | FaultKind::FalseSuspicion { .. } => FaultTarget::Member(row.member("target", plan)?),
    };
    Ok(FaultOutcome { target, ..never })
}

/// Something that nobody asked for.
fn unasked(row: &Row<'_>, plan: &Plan) -> Result<FaultOutcome, FilesError> {
    let name = row.text("fault");
    let suspicion = name.strip_prefix("false suspicion of ");
    let suspicion = suspicion.and_then(|of| of.parse().ok()).map(NodeId);
    let mut kinds = [
        FaultKind::Kill,
        FaultKind::Pause,
        FaultKind::Resume,
        FaultKind::ProxyFull,
    ]
    .into_iter();
    let kind = match suspicion {
        Some(of) => Some(FaultKind::FalseSuspicion { of }),
        None => kinds.find(|kind| kind.unasked_name() == name),
    };
    let kind = kind.ok_or_else(|| {
        let expected = "a fault of the plan in run.json, or what happens unasked: a false \
                        suspicion, an unasked death or pause";
        row.unfit("fault", expected)
    })?;
    if kind == FaultKind::ProxyFull {
        let full = FaultOutcome::proxy_full(Happened::Never, 0);
        return match row.text("target") == full.target.to_string() {
            true => Ok(full),
            false => Err(row.unfit("target", full.target.to_string())),
        };
    }
    let node = row.member("target", plan)?;
    Ok(FaultOutcome::unasked(kind, node, Happened::Never))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::fixtures::{death, fault, faults, never, plan, run};

    /// A plan with faults of every sort.
    fn eventful() -> Plan {
        let mut plan = plan("raymond", 5);
        plan.faults = faults(
            5,
            [
                "at 1us loss 5% on 0->1",
                "at 1us loss 5% on 2->3",
                "at 2us partition ring",
                "at 3us isolate holder for 1us",
                "at 4us kill token",
                "at 5us kill 3",
                "at 6us restart 4 after 1s",
                "lose message REQUEST from 1 #1",
                "lose message REQUEST from 2 #1",
                "when enter 1 heal 0-1",
            ],
        );
        plan
    }

    fn outcomes(plan: &Plan) -> Vec<FaultOutcome> {
        let all = &plan.faults;
        let mut isolated = fault(all, "isolate", (3_000, Some(4_000)), 9);
        isolated.target = FaultTarget::Links("2|0,1,3,4".parse().unwrap());
        let mut killed = fault(all, "kill token", (4_000, None), 1);
        killed.target = FaultTarget::Member(NodeId(1));
        killed.remark = Some("the token was with it".to_owned());
        let mut told_late = death(2, 9_000);
        told_late.remark = Some("of a signal, by hand".to_owned());
        vec![
            fault(all, "loss 5% on 0->1", (1_000, None), 7),
            fault(all, "loss 5% on 2->3", (1_000, None), 0),
            fault(all, "partition ring", (2_000, Some(3_000)), 5),
            isolated,
            killed,
            fault(all, "from 2", (5_000, Some(5_000)), 1),
            FaultOutcome::false_suspicion(6_000, NodeId(0), NodeId(2)),
            FaultOutcome::unasked(
                FaultKind::Pause,
                NodeId(0),
                Happened::from(7_000, Some(8_000)),
            ),
            told_late,
            FaultOutcome::proxy_full(Happened::from(9_500, Some(9_700)), 12),
            never(all, "kill 3"),
            never(all, "restart"),
            never(all, "from 1"),
            never(all, "heal"),
        ]
    }

    #[test]
    fn every_sort_of_outcome_is_read_back_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let mut plan = eventful();
        plan.delay = "5ms 1ms".parse().unwrap();
        let mut run = run(vec![]);
        run.link_delay_count = 42;
        run.faults = outcomes(&plan);
        write(dir.path(), &plan, &run).unwrap();
        assert_eq!(read(dir.path(), &plan).unwrap(), run.faults);
        let text = fs::read_to_string(dir.path().join(FAULTS.name)).unwrap();
        for line in [
            "4000,kill,1,,1,the token was with it,",
            "6000,false suspicion of 2,0,6000,1,,",
            "9500,proxy full,all,9700,12,,",
            ",kill,3,,0,,",
            "0,delay 5ms 1ms,all,,42,,\n",
        ] {
            assert!(text.contains(&format!("\n{line}")), "{line}: {text}");
        }
    }

    #[test]
    fn rows_from_before_there_was_a_step_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let plan = eventful();
        let text = "time_ns,fault,target,until_ns,acted\n\
                    1000,loss 5%,2->3,,7\n\
                    4000,kill (the token was with 2),1,,1\n\
                    5000,kill,at 5us kill 3,0,0\n\
                    6000,false suspicion of 2,0,6000,1\n";
        fs::write(dir.path().join(FAULTS.name), text).unwrap();
        let all = &plan.faults;
        let mut killed = fault(all, "kill token", (4_000, None), 1);
        killed.target = FaultTarget::Member(NodeId(1));
        killed.remark = Some("the token was with 2".to_owned());
        let expected = [
            fault(all, "loss 5% on 2->3", (1_000, None), 7),
            killed,
            never(all, "kill 3"),
            FaultOutcome::false_suspicion(6_000, NodeId(0), NodeId(2)),
        ];
        assert_eq!(read(dir.path(), &plan).unwrap(), expected);
    }
}
