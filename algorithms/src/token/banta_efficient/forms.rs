//! What entries cost by the run's own notes, for both algorithms that work in cycles.

use crate::registry::Circumstances;

/// What both of them note.
pub(crate) const NOTES: &[(&str, &str)] = &[
    ("idle", "entries of a holder that nobody else wanted in"),
    ("cycle", "sites on the queue when a cycle began: m"),
    ("late", "requests that came during the wait"),
    (
        "registered",
        "a request's place in line, counted from the first of all",
    ),
    (
        "own",
        "own requests with the token in hand, which need no message",
    ),
    ("stray", "requests that came too late and were passed on"),
    ("stale", "updates that came after a newer one"),
];

/// The closed forms of an algorithm that works in cycles: what its notes say, in runs `where` that holds,
/// and what the thesis says.
macro_rules! in_cycles {
    (
        $formula:literal, each: $each:literal, where $fits:expr, $when:literal,
        printed $theorem:literal, $source:literal $(,)?
    ) => {{
        use $crate::registry::{Circumstances, ClosedForm, FormKind};
        use $crate::token::banta_efficient::forms;

        const FITS: fn(&Circumstances<'_>) -> bool = $fits;
        [
            ClosedForm::messages(
                FormKind::Exact,
                $formula,
                concat!(
                    $when,
                    "m entries per cycle, z idle, s own and f stray requests, as noted"
                ),
                |run| (FITS(run) && run.whole_requests).then(|| forms::noted(run, $each))?,
            ),
            ClosedForm::messages(
                FormKind::Mean,
                $formula,
                concat!($when, "the same in a window that cuts cycles"),
                |run| (FITS(run) && !run.whole_requests).then(|| forms::noted(run, $each))?,
            ),
            ClosedForm::messages(FormKind::Printed, $theorem, $source, |run| {
                forms::theorem(run, $each)
            }),
        ]
    }};
}
pub(crate) use in_cycles;

/// `(1-z)(each + (n-each)/m) - s + f` with m the entries per cycle: each entry takes a REQUEST, a
/// TOKEN and, with k inside, a RELEASE; a cycle sends UPDATEs to all that are neither on its queue
/// nor begin it, and where there are releases the good site sends none.
pub(crate) fn noted(run: &Circumstances<'_>, each: f64) -> Option<f64> {
    let (_, cycles) = (run.note)("cycle").filter(|_| run.undisturbed)?;
    let sum = |name| (run.note)(name).map_or(0.0, |(sum, _)| sum as f64);
    let entries = run.entries as f64;
    let paid = entries - sum("idle");
    let updates = (f64::from(run.nodes) - each) * cycles as f64;
    Some((each * paid + updates - sum("own") + sum("stray")) / entries)
}

/// What the thesis says: `n/m + each`.
pub(crate) fn theorem(run: &Circumstances<'_>, each: f64) -> Option<f64> {
    let (_, cycles) = (run.note)("cycle").filter(|_| run.undisturbed)?;
    let idle = (run.note)("idle").map_or(0, |(sum, _)| sum);
    let paid = run.entries.checked_sub(idle).filter(|&paid| paid > 0)?;
    Some(f64::from(run.nodes) * cycles as f64 / paid as f64 + each)
}
