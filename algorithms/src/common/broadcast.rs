//! What it costs to tell everybody and to get one token: Suzuki and Kasami's algorithm, and Ricart
//! and Agrawala's with a token.

use crate::registry::{Circumstances, ClosedForm, FormKind, Load, Metric};

pub(crate) const FORMS: &[ClosedForm] = &[
    ClosedForm::messages(
        FormKind::Mean,
        "N-1",
        "one request at a time, by a node drawn uniformly",
        light,
    ),
    ClosedForm::messages(
        FormKind::Exact,
        "N",
        "everybody asks again the moment it leaves, constant hold > constant delay, \
         whole cycles",
        saturated,
    ),
];

/// It is the holder once in n times, and then enters for nothing.
fn light(run: &Circumstances<'_>) -> Option<f64> {
    run.is_alone().then(|| f64::from(run.nodes - 1))
}

/// With a constant delay the request of the last to leave arrives together with the token it sent,
/// so at every exit somebody is known to wait and nobody ever enters for free. The hold must be the
/// longer, or the first holder begins with free entries before any request has reached it.
fn saturated(run: &Circumstances<'_>) -> Option<f64> {
    let long_enough = run.constant_hold? > run.constant_delay?;
    let fits = run.undisturbed && run.load == Load::Saturated && run.whole_cycles && long_enough;
    fits.then(|| match run.nodes {
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
        value: |run| {
            let fits = run.undisturbed && run.whole_requests;
            fits.then(|| 2.0 * f64::from(run.nodes - 1))
        },
        kind,
    }
}
