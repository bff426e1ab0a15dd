//! The theory gate: where a closed form's conditions are met, it is compared with the measurement.

use std::time::Duration;

use algorithms::Topology;
use algorithms::registry::{Circumstances, ClosedForm, Entry, FormKind, Load, Metric};
use node::plan::Plan;
use node::run::{End, Engine, Run};
use node::workload::{Arrivals, PerNode, Span, Workload};
use serde::{Serialize, Serializer};

use crate::measured::Measured;
use crate::statistics::{self, Interval};
use crate::summary::Summary;
use crate::times::Handover;

/// How sure the interval of a mean is.
const LEVEL: f64 = 0.999;

/// One closed form and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TheoryLine {
    /// What it predicts: a column of the summary.
    pub metric: &'static str,
    /// As a reader would write it.
    pub formula: &'static str,
    /// When it holds, in words.
    pub condition: &'static str,
    /// How it holds.
    #[serde(serialize_with = "kind_in_words")]
    pub kind: FormKind,
    /// What it says.
    pub expected: f64,
    /// What was measured.
    pub measured: f64,
    /// Measured − expected.
    pub difference: f64,
    /// For a mean, the 99.9 % interval of what was measured; empty where the run does not give one.
    pub interval: Option<Interval>,
    /// Whether the two agree; empty where the run does not decide.
    pub agrees: Option<bool>,
}

impl TheoryLine {
    /// Whether an expectation that has no exceptions was missed.
    pub fn missed(&self) -> bool {
        match self.kind {
            FormKind::Exact | FormKind::AtMost | FormKind::AtLeast => self.agrees == Some(false),
            // Even a true mean lies outside one interval in a thousand.
            FormKind::Mean => false,
        }
    }

    /// What is wrong, in a sentence.
    pub(crate) fn reason(&self) -> String {
        let Self {
            metric,
            formula,
            expected,
            measured,
            ..
        } = self;
        let says = match self.kind {
            FormKind::Exact => "exactly",
            FormKind::Mean => "on average",
            FormKind::AtMost => "at most",
            FormKind::AtLeast => "at least",
        };
        let interval = match self.interval {
            Some((low, high)) => format!(" (99.9 % interval {low:.4} to {high:.4})"),
            None => String::new(),
        };
        format!("{metric} is {measured}{interval}, but {formula} says {says} {expected}")
    }
}

/// A line for every closed form of the algorithm that applies to this run.
pub(crate) fn lines(
    entry: &Entry,
    plan: &Plan,
    topology: &Topology,
    run: &Run,
    measured: &Measured,
    handovers: &[Handover],
    summary: &Summary,
) -> Vec<TheoryLine> {
    // The forms are about the algorithm, not about what is left of it without some of its rules.
    if !plan.printed.is_repaired() {
        return Vec::new();
    }
    let note = |name: &str| run.window.notes.get(name).map(|row| (row.sum, row.count));
    let circumstances = circumstances(plan, topology, run, measured, &note);
    let line = |form: &ClosedForm| {
        let expected = (form.value)(&circumstances)?;
        let (value, interval) = match form.metric {
            Metric::MessagesPerEntry => (
                summary.messages_per_entry?,
                messages_interval(run, measured, form.kind),
            ),
            Metric::SyncDelay => (
                summary.sync_delay_mean_t?,
                sync_interval(run, measured, handovers, form.kind),
            ),
        };
        // How far apart two numbers are that differ only by rounding: where messages are counted,
        // less than half a message in the whole window.
        let rounding = match form.metric {
            Metric::MessagesPerEntry => 0.5 / measured.entries as f64,
            Metric::SyncDelay => 1e-9 * expected.abs().max(1.0),
        };
        let agrees = match form.kind {
            FormKind::Exact => Some((value - expected).abs() < rounding),
            FormKind::AtMost => Some(value < expected + rounding),
            FormKind::AtLeast => Some(value > expected - rounding),
            FormKind::Mean => {
                interval.map(|(low, high)| expected > low - 1e-9 && expected < high + 1e-9)
            }
        };
        Some(TheoryLine {
            metric: match form.metric {
                Metric::MessagesPerEntry => "messages_per_entry",
                Metric::SyncDelay => "sync_delay_mean_t",
            },
            formula: form.formula,
            condition: form.condition,
            kind: form.kind,
            expected,
            measured: value,
            difference: value - expected,
            interval,
            agrees,
        })
    };
    entry.forms.iter().filter_map(line).collect()
}

/// What the summary's column says: the first form that gives a number and not only a bound.
pub(crate) fn expected_messages_per_entry(lines: &[TheoryLine]) -> Option<f64> {
    let is_number = |kind| match kind {
        FormKind::Exact | FormKind::Mean => true,
        FormKind::AtMost | FormKind::AtLeast => false,
    };
    let line = lines
        .iter()
        .find(|line| line.metric == "messages_per_entry" && is_number(line.kind))?;
    Some(line.expected)
}

fn circumstances<'a>(
    plan: &'a Plan,
    topology: &'a Topology,
    run: &Run,
    measured: &Measured,
    note: &'a dyn Fn(&str) -> Option<(u64, u64)>,
) -> Circumstances<'a> {
    let load = load(&plan.workload);
    let finished = run.end == End::Finished;
    let nothing_lost = run.messages.values().all(|row| row.lost == 0);
    let constant_delay = match run.engine {
        Engine::Sim => plan.delay.constant_ns(),
        // Real links are never constant.
        Engine::Cluster => None,
    };
    Circumstances {
        nodes: plan.nodes,
        topology,
        holder: plan.holder,
        params: &plan.params,
        load,
        constant_delay: constant_delay.map(Duration::from_nanos),
        constant_hold: constant_hold(&plan.workload).map(Duration::from_nanos),
        order: plan.links,
        undisturbed: run.faults.is_empty() && nothing_lost && measured.entries > 0,
        whole_cycles: measured.cut
            && measured.entries > 0
            && measured.entries.is_multiple_of(u64::from(plan.nodes)),
        whole_requests: finished && (!measured.cut || load == Load::OneAtATime),
        note,
        entries: measured.entries,
    }
}

fn load(workload: &Workload) -> Load {
    let alike = workload.weights.windows(2).all(|pair| pair[0] == pair[1]);
    let never_thinks = |think: &PerNode<Span>| match think {
        PerNode::All(think) => *think == Span::Constant(0),
        PerNode::Each(thinks) => thinks.iter().all(|think| *think == Span::Constant(0)),
    };
    match &workload.arrivals {
        Arrivals::OneAtATime if alike => Load::OneAtATime,
        Arrivals::Closed { think } if alike && never_thinks(think) => Load::Saturated,
        Arrivals::OneAtATime
        | Arrivals::Closed { .. }
        | Arrivals::Open { .. }
        | Arrivals::Batch { .. }
        | Arrivals::Window { .. } => Load::Other,
    }
}

/// The time everybody stays inside, where it is always the same.
fn constant_hold(workload: &Workload) -> Option<u64> {
    let constant = |hold: &Span| match *hold {
        Span::Constant(ns) => Some(ns),
        Span::Uniform(..) | Span::Exponential(_) => None,
    };
    let hold = match &workload.hold {
        PerNode::All(hold) => constant(hold)?,
        PerNode::Each(holds) => {
            let first = constant(holds.first()?)?;
            holds
                .iter()
                .all(|hold| constant(hold) == Some(first))
                .then_some(first)?
        }
    };
    let own_hold = match &workload.arrivals {
        Arrivals::Batch { asks, .. } => asks
            .iter()
            .any(|ask| ask.hold_ns.is_some_and(|ns| ns != hold)),
        Arrivals::Closed { .. }
        | Arrivals::Open { .. }
        | Arrivals::OneAtATime
        | Arrivals::Window { .. } => false,
    };
    (!own_hold).then_some(hold)
}

/// The interval of messages per entry, from the messages charged to each request in order of
/// entering. `None` unless every message of the window is charged to a request in it.
fn messages_interval(run: &Run, measured: &Measured, kind: FormKind) -> Option<Interval> {
    if kind != FormKind::Mean {
        return None;
    }
    let rows = run.requests.iter().filter(|row| measured.contains(row));
    // A request that nothing was charged to cost nothing, if all messages are accounted for.
    let mut charged = rows
        .filter_map(|row| Some((row.entered_ns?, row.messages.unwrap_or(0))))
        .collect::<Vec<_>>();
    let sum = charged.iter().map(|&(_, messages)| messages).sum::<u64>();
    if sum != measured.messages {
        return None;
    }
    charged.sort_by_key(|&(entered_ns, _)| entered_ns);
    let series = charged.into_iter().map(|(_, messages)| messages as f64);
    statistics::batch_means(&series.collect::<Vec<_>>(), LEVEL)
}

/// The interval of the synchronisation delay in units of the mean link delay.
fn sync_interval(
    run: &Run,
    measured: &Measured,
    handovers: &[Handover],
    kind: FormKind,
) -> Option<Interval> {
    if kind != FormKind::Mean || run.link_delay_sum_ns == 0 {
        return None;
    }
    let unit_ns = run.link_delay_sum_ns as f64 / run.link_delay_count as f64;
    let series = handovers
        .iter()
        .filter(|handover| measured.contains(&run.requests[handover.row]))
        .map(|handover| handover.delay_ns as f64 / unit_ns);
    statistics::batch_means(&series.collect::<Vec<_>>(), LEVEL)
}

fn kind_in_words<S: Serializer>(kind: &FormKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match kind {
        FormKind::Exact => "exact",
        FormKind::Mean => "mean",
        FormKind::AtMost => "at-most",
        FormKind::AtLeast => "at-least",
    })
}
