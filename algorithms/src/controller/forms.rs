//! What the cells cost, as far as there are formulas.
//!
//! Three kinds. The account holds in every finished run to the message: what a run noted says what
//! it must have sent, and that a migration with everybody informed costs N-1. Alone, one request at
//! a time, the average is known. Saturated, the formulas need links that keep order and a constant
//! delay, and a window that ends with a tenure.

use super::chosen::Chosen;
use super::parameters::Shape;
use crate::params::Params;
use crate::registry::{Circumstances, ClosedForm, FormKind, LinkOrder, Load, Metric};

const ACCOUNT: &str = "every run that finished, counted from its beginning";
const ALONE: &str = "one request at a time, by a node drawn uniformly";
const SATURATED: &str = "everybody asks again the moment it leaves, constant delay and hold, links \
                         that keep order, whole cycles and whole tenures";

const fn messages(
    formula: &'static str,
    condition: &'static str,
    value: fn(&Circumstances<'_>) -> Option<f64>,
    kind: FormKind,
) -> ClosedForm {
    ClosedForm {
        metric: Metric::MessagesPerEntry,
        formula,
        condition,
        value,
        kind,
    }
}

const fn sync(formula: &'static str, value: fn(&Circumstances<'_>) -> Option<f64>) -> ClosedForm {
    ClosedForm {
        metric: Metric::SyncDelay,
        formula,
        condition: SATURATED,
        value,
        kind: FormKind::Mean,
    }
}

/// The closed forms of CDC.
pub(super) const CDC: &[ClosedForm] = &[
    messages(CDC_ACCOUNT, ACCOUNT, cdc_account, FormKind::Exact),
    messages(MOVING_ALONE, ALONE, cdc_alone, FormKind::Mean),
    messages(CDC_CROWD, SATURATED, cdc_saturated, FormKind::Mean),
    sync("3 for m = 1, else 2 - 1/m, m <= N", cdc_sync),
];

/// The closed forms of DDC.
pub(super) const DDC: &[ClosedForm] = &[
    messages(DDC_ACCOUNT, ACCOUNT, ddc_account, FormKind::Exact),
    messages(MOVING_ALONE, ALONE, ddc_alone, FormKind::Mean),
    messages(DDC_CROWD, SATURATED, ddc_saturated, FormKind::Mean),
    sync("2 + 1/m, m < N-1", ddc_sync),
];

/// The closed forms of Martin's ring.
pub(super) const MARTIN: &[ClosedForm] = &[
    messages(
        "N-1",
        ALONE,
        |run| run.is_alone().then(|| others(run)),
        FormKind::Mean,
    ),
    messages("2", MARTIN_CROWD, martin_saturated, FormKind::Exact),
];

/// Those of the framework, each where the parameters say its cell.
pub(super) const FRAMEWORK: &[ClosedForm] = &[
    messages(CDC_ACCOUNT, ACCOUNT, cdc_account, FormKind::Exact),
    messages(DDC_ACCOUNT, ACCOUNT, ddc_account, FormKind::Exact),
    messages(MOVING_ALONE, ALONE, cdc_alone, FormKind::Mean),
    messages(MOVING_ALONE, ALONE, ddc_alone, FormKind::Mean),
    messages("3(N-1)/N", ALONE, fixed_alone, FormKind::Mean),
    messages("(N+1)(N-1)/N", ALONE, fixed_copies_alone, FormKind::Mean),
    messages("N-1", ALONE, token_alone, FormKind::Mean),
    messages("(N+1)(N-1)/N + 1/m", ALONE, copies_alone, FormKind::Mean),
    messages(CDC_CROWD, SATURATED, cdc_saturated, FormKind::Mean),
    messages(DDC_CROWD, SATURATED, ddc_saturated, FormKind::Mean),
];

const CDC_ACCOUNT: &str = "3 - (asked_here + 2 granted_here - forwards)/E + (N-1)(moves + \
                           broadcasts)/E";
const DDC_ACCOUNT: &str = "3 - (asked_here + 2 granted_here - forwards - links)/E + (N-1)(moves + \
                           broadcasts)/E";
const MOVING_ALONE: &str = "3(N-1)/N + (N-1)/m";
const CDC_CROWD: &str = "c + (N-1)/m, c = 4 for m = 1, else 3 - 2/m, m <= N";
const DDC_CROWD: &str = "4 + (N-1)/m, m < N-1";
const MARTIN_CROWD: &str = "everybody asks again the moment it leaves, constant hold >= constant \
                            delay, whole cycles";

fn cdc_account(run: &Circumstances<'_>) -> Option<f64> {
    is_cell(run.params, "centralised").then(|| account(run))?
}

fn ddc_account(run: &Circumstances<'_>) -> Option<f64> {
    is_cell(run.params, "distributed").then(|| account(run))?
}

/// Nothing may be cut through at the edges of the window, not even an exit from what it leads to.
fn account(run: &Circumstances<'_>) -> Option<f64> {
    let fits = run.is_whole() && run.load != Load::OneAtATime;
    let noted = |name: &str| (run.note)(name).map_or(0.0, |(sum, _)| sum as f64);
    let hops = noted("forwards") + noted("links");
    let saved = noted("asked_here") + 2.0 * noted("granted_here");
    let told = others(run) * (noted("moves") + noted("broadcasts"));
    fits.then(|| 3.0 + (hops - saved + told) / run.entries as f64)
}

fn cdc_alone(run: &Circumstances<'_>) -> Option<f64> {
    let fits = run.is_alone() && is_cell(run.params, "centralised");
    fits.then(|| moving_alone(run))
}

fn ddc_alone(run: &Circumstances<'_>) -> Option<f64> {
    let fits = run.is_alone() && is_cell(run.params, "distributed");
    fits.then(|| moving_alone(run))
}

fn moving_alone(run: &Circumstances<'_>) -> f64 {
    3.0 * others(run) / f64::from(run.nodes) + others(run) / max_req(run)
}

/// Nothing moves: a coordinator.
fn fixed_alone(run: &Circumstances<'_>) -> Option<f64> {
    let at_controller = [Shape::Centralised, Shape::Distributed].contains(&Shape::of(run.params));
    let fits = run.is_alone() && at_controller && never_moves(run.params);
    fits.then(|| 3.0 * others(run) / f64::from(run.nodes))
}

/// The same where everybody hears every request but the coordinator's own.
fn fixed_copies_alone(run: &Circumstances<'_>) -> Option<f64> {
    let copies = Shape::of(run.params) == Shape::Replicated;
    let fits = run.is_alone() && copies && never_moves(run.params);
    fits.then(|| (others(run) + 2.0) * others(run) / f64::from(run.nodes))
}

fn never_moves(params: &Params) -> bool {
    Chosen(params).word("migrate", "") == "never"
}

/// A request for everybody and the role for the node that asks; nothing for the one that has it.
fn token_alone(run: &Circumstances<'_>) -> Option<f64> {
    let chosen = Chosen(run.params);
    let copies = chosen.word("queue", "") == "replicated" || chosen.word("seek", "") == "broadcast";
    let ring =
        chosen.word("queue", "") == "ring" && chosen.is_static() && chosen.groups().is_none();
    let token = copies && !chosen.is_static() && chosen.tests_on_wake();
    let fits = run.is_alone() && chosen.word("migrate", "") == "each" && (ring || token);
    let plain = chosen.candidates().is_empty();
    (fits && plain).then(|| others(run))
}

fn copies_alone(run: &Circumstances<'_>) -> Option<f64> {
    let fits = run.is_alone() && is_cell(run.params, "replicated");
    let nodes = f64::from(run.nodes);
    (fits && run.nodes > 1).then(|| (nodes + 1.0) * others(run) / nodes + 1.0 / max_req(run))
}

fn cdc_saturated(run: &Circumstances<'_>) -> Option<f64> {
    let fits = saturated(run) && is_cell(run.params, "centralised");
    let m = max_req(run);
    (fits && m <= f64::from(run.nodes)).then(|| match m {
        1.0 => 4.0 + others(run),
        m => 3.0 - 2.0 / m + others(run) / m,
    })
}

fn cdc_sync(run: &Circumstances<'_>) -> Option<f64> {
    let m = max_req(run);
    let fits = saturated(run) && is_cell(run.params, "centralised");
    (fits && m <= f64::from(run.nodes)).then(|| match m {
        1.0 => 3.0,
        m => 2.0 - 1.0 / m,
    })
}

fn ddc_saturated(run: &Circumstances<'_>) -> Option<f64> {
    let fits = saturated(run) && is_cell(run.params, "distributed");
    let m = max_req(run);
    (fits && m < others(run)).then(|| 4.0 + others(run) / m)
}

fn ddc_sync(run: &Circumstances<'_>) -> Option<f64> {
    let m = max_req(run);
    let fits = saturated(run) && is_cell(run.params, "distributed");
    (fits && m < others(run)).then(|| 2.0 + 1.0 / m)
}

/// The role goes round and stops at everybody; each entry is one move and one signal.
fn martin_saturated(run: &Circumstances<'_>) -> Option<f64> {
    let (hold, delay) = run.saturated()?;
    (hold >= delay).then_some(if run.nodes == 1 { 0.0 } else { 2.0 })
}

fn saturated(run: &Circumstances<'_>) -> bool {
    let constant = run.constant_delay.is_some() && run.constant_hold.is_some();
    let whole = run.whole_cycles && run.entries.is_multiple_of(Chosen(run.params).max_req());
    let load = run.undisturbed && run.load == Load::Saturated && run.order == LinkOrder::Fifo;
    load && constant && whole && run.nodes > 2
}

/// The row with the counter column, dynamic routing and all other parameters at their defaults. An
/// algorithm that has fixed a parameter does not list it.
fn is_cell(params: &Params, queue: &str) -> bool {
    let chosen = Chosen(params);
    let usual = [
        ("queue", queue),
        ("migrate", "counter"),
        ("test", "exit"),
        ("inform", "all"),
        ("target", "usual"),
        ("lazy", "no"),
        ("candidates", "all"),
    ];
    !chosen.is_static()
        && usual
            .iter()
            .all(|(name, value)| chosen.word(name, value) == *value)
}

fn others(run: &Circumstances<'_>) -> f64 {
    f64::from(run.nodes - 1)
}

fn max_req(run: &Circumstances<'_>) -> f64 {
    Chosen(run.params).max_req() as f64
}
