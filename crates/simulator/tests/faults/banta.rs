//! Banta's bound T, broken by a message that is four times too late.

use algorithms::NodeId;
use model::plan::Plan;
use model::run::End;
use model::workload::{Ask, Batch, Quota};

use crate::scenes::{entries, fault, judge, plan, simulate};

/// 1 and 2 ask at once, and 2's request comes when the token has long left 0.
fn too_late(algorithm: &str, printed: &[&str]) -> Plan {
    let mut plan = plan(algorithm, 3, 1, &["delay message REQUEST from 2 #1 by 4T"]);
    let ask = |node| Ask::at(0, NodeId(node));
    plan.workload.arrivals = Batch {
        asks: vec![ask(1), ask(2)],
        settled: false,
    }
    .into();
    plan.workload.quota = Quota::PerNode(1);
    plan.printed = plan.info().as_printed(printed).expect("they go together");
    plan
}

#[test]
fn as_printed_a_request_that_breaks_the_bound_is_lost_and_named() {
    for (algorithm, defect) in [("banta-efficient", "E5"), ("banta-k", "K7")] {
        let plan = too_late(algorithm, &[defect]);
        let run = simulate(&plan);
        assert_eq!(fault(&plan, &run, "delay").acted, 1, "{algorithm}");
        assert_eq!(run.bound_broken, 1, "{algorithm}");
        assert_eq!(run.end, End::Deadlock, "{algorithm}");
        assert_eq!(entries(&run, 1).len(), 1, "{algorithm}");
        let judgement = format!("{:?}", judge(&plan, &run));
        assert!(
            judgement.contains("2 still waited"),
            "{algorithm}: {judgement}"
        );
    }
}

#[test]
fn repaired_a_request_that_breaks_the_bound_is_served() {
    for algorithm in ["banta-efficient", "banta-k"] {
        let plan = too_late(algorithm, &[]);
        let run = simulate(&plan);
        assert_eq!(
            (run.bound_broken, run.end),
            (1, End::Finished),
            "{algorithm}"
        );
        assert_eq!(entries(&run, 2).len(), 1, "{algorithm}");
        let stray = run.window.notes.get("stray").map(|note| note.sum);
        assert_eq!(stray, Some(1), "{algorithm}");
    }
}
