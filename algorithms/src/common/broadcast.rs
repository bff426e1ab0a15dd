//! What it costs to tell everybody and to get one token: Suzuki and Kasami's algorithm, and Ricart
//! and Agrawala's with a token.

use crate::registry::{ALONE, Circumstances, ClosedForm, FormKind, Metric, SATURATED};

pub(crate) const FORMS: &[ClosedForm] = &[
    ClosedForm::messages(FormKind::Mean, "N-1", ALONE, light),
    ClosedForm::messages(FormKind::Exact, "N", SATURATED, saturated),
];

/// It is the holder once in n times, and then enters for nothing.
fn light(run: &Circumstances<'_>) -> Option<f64> {
    run.is_alone().then(|| f64::from(run.nodes - 1))
}

/// With a constant delay the request of the last to leave arrives together with the token it sent,
/// so at every exit somebody is known to wait and nobody ever enters for free. The hold must be the
/// longer, or the first holder begins with free entries before any request has reached it.
fn saturated(run: &Circumstances<'_>) -> Option<f64> {
    let (hold, delay) = run.saturated()?;
    (hold > delay).then(|| match run.nodes {
        1 => 0.0,
        nodes => f64::from(nodes),
    })
}

/// Two messages for each of the others, as where everybody is asked and answers.
pub(crate) const fn two_each(kind: FormKind) -> ClosedForm {
    ClosedForm {
        metric: Metric::MessagesPerEntry,
        formula: "2(N-1)",
        condition: "without faults, where the window cuts no request in two",
        value: |run| run.is_whole().then(|| 2.0 * f64::from(run.nodes - 1)),
        kind,
    }
}
