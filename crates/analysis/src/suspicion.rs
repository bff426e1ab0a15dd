//! False suspicions: somebody was taken for dead who was not.
//!
//! Where deaths are guessed from silence, the algorithm is promised less than it needs. What goes
//! wrong afterwards may be the detector's doing and not the algorithm's, so every violation says
//! whether it came after one.

use algorithms::NodeId;
use model::run::{FaultKind, Run};
use model::time::exact_ns;

use crate::prose;

/// A member took another for dead that was not.
struct Suspicion {
    at_ns: u64,
    by: NodeId,
    of: NodeId,
}

/// All false suspicions of a run, in order of time.
fn all(run: &Run) -> impl Iterator<Item = Suspicion> {
    run.faults.iter().filter_map(|fault| match fault.kind {
        FaultKind::FalseSuspicion { of } => Some(Suspicion {
            at_ns: fault.at_ns()?,
            by: fault.victim()?,
            of,
        }),
        _ => None,
    })
}

/// What is added to a violation that was seen at this moment; nothing if there was none before it.
pub(crate) fn before(run: &Run, at_ns: u64) -> String {
    match all(run).find(|suspicion| suspicion.at_ns <= at_ns) {
        None => String::new(),
        Some(first) => format!("; after a {}", sentence(&first)),
    }
}

/// What a reader should know of a run with false suspicions, whatever became of it.
pub(crate) fn warning(run: &Run) -> Option<String> {
    let first = all(run).next()?;
    let count = prose::count(
        all(run).count() as u64,
        "false suspicion",
        "false suspicions",
    );
    Some(format!(
        "{count}, the first a {}.\n\
         No algorithm here is promised to keep its properties after one.",
        sentence(&first)
    ))
}

/// `false suspicion of 2 by node 0 at 1.25 s`.
fn sentence(Suspicion { at_ns, by, of }: &Suspicion) -> String {
    format!(
        "false suspicion of {of} by node {by} at {}",
        exact_ns(*at_ns)
    )
}

#[cfg(test)]
mod tests {
    use model::run::FaultOutcome;

    use super::*;
    use crate::fixtures::served;

    #[test]
    fn a_violation_says_whether_it_came_after_one() {
        let mut run = served([(0, 0, 1, 5)]);
        assert_eq!((before(&run, 100), warning(&run)), (String::new(), None));
        run.faults = vec![FaultOutcome::false_suspicion(40, NodeId(0), NodeId(2))];
        assert_eq!(before(&run, 39), "");
        let after = "; after a false suspicion of 2 by node 0 at 40 ns";
        assert_eq!(before(&run, 40), after);
        let warning = warning(&run).expect("there was one");
        assert!(
            warning.starts_with("1 false suspicion, the first"),
            "{warning}"
        );
    }
}
