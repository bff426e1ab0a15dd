//! The theory gate: where a closed form's conditions are met, it is compared with the measurement.

use std::time::Duration;

use algorithms::Topology;
use algorithms::external::Cost;
use algorithms::registry::{AlgorithmInfo, Circumstances, ClosedForm, FormKind, Load, Metric};
use model::plan::Plan;
use model::run::{End, Engine, Run, Window};
use model::workload::{PerNode, Span, Workload};
use serde::{Serialize, Serializer};

use crate::expression::Expression;
use crate::measured::Measured;
use crate::observed::Observed;
use crate::statistics::{self, Interval};
use crate::times::Handover;

/// How sure the interval of a mean is.
const LEVEL: f64 = 0.999;

/// Entries in a batch, at least: what one entry costs may depend on the one before.
const BATCH: u64 = 10;

/// One closed form and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TheoryLine {
    /// What it predicts: a column of the summary.
    pub metric: &'static str,
    /// The formula, as a reader would write it.
    pub formula: &'static str,
    /// The condition under which the formula holds, in words.
    pub condition: &'static str,
    /// Whether the formula is exact, a mean, or as printed.
    #[serde(serialize_with = "kind_in_words")]
    pub kind: FormKind,
    /// The value that the formula predicts.
    pub expected: f64,
    /// The value that was measured.
    pub measured: f64,
    /// For a mean, the 99.9 % interval of what was measured; empty where the run does not give one.
    pub interval: Option<Interval>,
    /// The measured value less the expected one.
    pub difference: f64,
    /// Whether the two agree; empty where the run does not decide.
    pub agrees: Option<bool>,
}

impl TheoryLine {
    /// Whether an expectation that has no exceptions was missed.
    pub fn missed(&self) -> bool {
        match self.kind {
            FormKind::Exact | FormKind::AtMost | FormKind::AtLeast => self.agrees == Some(false),
            // Even a true mean lies outside one interval in a thousand.
            FormKind::Mean | FormKind::Printed => false,
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
            FormKind::Printed => "in print",
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
    info: &AlgorithmInfo,
    topology: &Topology,
    seen: &Observed<'_>,
) -> Vec<TheoryLine> {
    let Observed {
        plan,
        run,
        measured,
        handovers,
        ..
    } = seen;
    // The forms are about the algorithm, not about what is left of it without some of its rules.
    if !plan.printed.is_repaired() {
        return Vec::new();
    }
    let note = |name: &str| run.window.notes.get(name).map(|row| (row.sum, row.count));
    let circumstances = circumstances(plan, topology, run, measured, &note);
    let line = |form: &ClosedForm, expected: f64| {
        let (value, interval) = match form.metric {
            Metric::MessagesPerEntry => {
                let value = seen.messages_per_entry()?;
                (value, messages_interval(&run.window, value, form.kind))
            }
            Metric::SyncDelay => (
                seen.sync_delay_mean_t()?,
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
            FormKind::Printed => None,
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
    let forms = info.more.forms.iter();
    let forms = forms.filter_map(|form| line(form, (form.value)(&circumstances)?));
    let declared = declared(info, &circumstances);
    let declared = declared.and_then(|(form, expected)| line(&form, expected));
    forms.chain(declared).collect()
}

/// What a program says that an entry costs, where the run can be held against it.
fn declared(info: &AlgorithmInfo, circumstances: &Circumstances<'_>) -> Option<(ClosedForm, f64)> {
    let cost = info.program()?.declares.messages_per_entry.as_ref()?;
    let (kind, formula) = match cost {
        Cost::Exactly(formula) => (FormKind::Exact, formula),
        Cost::AtMost(formula) => (FormKind::AtMost, formula),
    };
    if !circumstances.undisturbed || !circumstances.whole_requests {
        return None;
    }
    let expected = cost_of(
        formula,
        circumstances.nodes,
        (info.more.admits)(circumstances.params),
    );
    let form = ClosedForm::messages(
        kind,
        formula,
        "without faults, as the program declares",
        |_| None,
    );
    Some((form, expected.ok()?))
}

/// What a formula over `nodes` and `k` comes to.
pub fn cost_of(formula: &str, nodes: u32, k: u32) -> Result<f64, String> {
    let formula = Expression::parse(formula)?;
    let known = |name: &str| match name {
        "nodes" => Some(f64::from(nodes)),
        "k" => Some(f64::from(k)),
        _ => None,
    };
    let value = formula.evaluate(&known);
    value.ok_or_else(|| format!("'{formula}' is no number over nodes and k, which is all there is"))
}

/// What the summary's column says: the first form that gives a number and not only a bound.
pub(crate) fn expected_messages_per_entry(lines: &[TheoryLine]) -> Option<f64> {
    let is_number = |kind| match kind {
        FormKind::Exact | FormKind::Mean => true,
        FormKind::AtMost | FormKind::AtLeast | FormKind::Printed => false,
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
        Engine::Sim => plan.constant_delay_ns(),
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
        constant_hold: constant_hold(plan).map(Duration::from_nanos),
        order: plan.links,
        undisturbed: plan.faults.steps.is_empty()
            && run.faults.is_empty()
            && nothing_lost
            && measured.entries > 0,
        whole_cycles: measured.cut
            && measured.entries > 0
            && measured.entries.is_multiple_of(u64::from(plan.nodes)),
        cut: measured.cut,
        whole_requests: finished && (!measured.cut || load == Load::OneAtATime),
        note,
        entries: measured.entries,
    }
}

fn load(workload: &Workload) -> Load {
    let alike = workload.weights.windows(2).all(|pair| pair[0] == pair[1]);
    match alike {
        true => workload.arrivals.load(),
        false => Load::Other,
    }
}

/// The time everybody stays inside, where it is always the same.
fn constant_hold(plan: &Plan) -> Option<u64> {
    let constant = |hold: &Span| match *hold {
        Span::Constant(ns) => Some(ns),
        Span::Uniform(..) | Span::Exponential(_) => None,
    };
    let hold = match &plan.workload.hold {
        PerNode::All(hold) => constant(hold)?,
        PerNode::Each(holds) => {
            let first = constant(holds.first()?)?;
            holds
                .iter()
                .all(|hold| constant(hold) == Some(first))
                .then_some(first)?
        }
    };
    let asks = plan.workload.arrivals.asks(plan);
    let own_hold = asks
        .iter()
        .any(|ask| ask.hold_ns.is_some_and(|ns| ns != hold));
    (!own_hold).then_some(hold)
}

/// The interval of messages per entry, laid around the measured value: from how the number of
/// messages grew from one mark of the window to the next.
fn messages_interval(window: &Window, measured: f64, kind: FormKind) -> Option<Interval> {
    if kind != FormKind::Mean || window.stride == 0 {
        return None;
    }
    let marks = std::iter::once(0).chain(window.marks.iter().copied());
    let grown = marks.zip(&window.marks).map(|(last, next)| next - last);
    let rates = grown.map(|messages| messages as f64 / window.stride as f64);
    let length = BATCH.div_ceil(window.stride) as usize;
    let half = statistics::batch_half_width(&rates.collect::<Vec<_>>(), length, LEVEL)?;
    Some((measured - half, measured + half))
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
        .map(|handover| handover.delay_ns as f64 / unit_ns)
        .collect::<Vec<_>>();
    let mean = statistics::Moments::of(series.iter().copied()).mean;
    let half = statistics::batch_half_width(&series, BATCH as usize, LEVEL)?;
    Some((mean - half, mean + half))
}

fn kind_in_words<S: Serializer>(kind: &FormKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match kind {
        FormKind::Exact => "exact",
        FormKind::Mean => "mean",
        FormKind::AtMost => "at-most",
        FormKind::AtLeast => "at-least",
        FormKind::Printed => "printed",
    })
}

#[cfg(test)]
mod tests {
    use algorithms::NodeId;
    use model::run::{MessageRow, NoteRow};
    use model::workload::{Closed, OneAtATime};

    use super::*;
    use crate::fixtures::{death, entry, faults, plan, run, served, toy};
    use crate::judgement::judge;

    /// An algorithm with one closed form.
    fn with_form(
        kind: FormKind,
        metric: Metric,
        value: fn(&Circumstances<'_>) -> Option<f64>,
    ) -> AlgorithmInfo {
        let form = ClosedForm {
            metric,
            formula: "x",
            condition: "always",
            value,
            kind,
        };
        toy(1, Box::leak(Box::new([form])))
    }

    fn lines(info: &AlgorithmInfo, plan: &Plan, run: &Run) -> Vec<TheoryLine> {
        judge(info, plan, &Topology::complete(plan.nodes), run).theory
    }

    /// A thousand entries one after the other that cost 1, 2 or 3 messages, 2 on average.
    fn thousand() -> Run {
        let rows = (0..1_000).map(|i| entry((i % 2) as u32, 10 * i, 10 * i + 1, 10 * i + 2));
        let mut run = run(rows.collect());
        let costs = (0..1_000).map(|i| [1, 2, 3, 2][i * 7 / 3 % 4]);
        let sent = costs.scan(0, |sent, cost| {
            *sent += cost;
            Some(*sent)
        });
        let sent = sent.collect::<Vec<u64>>();
        run.window.stride = 8;
        run.window.marks = sent.chunks_exact(8).map(|eight| eight[7]).collect();
        send(&mut run, sent[999]);
        run
    }

    fn send(run: &mut Run, sent: u64) {
        let row = MessageRow {
            sent,
            received: sent,
            ..MessageRow::default()
        };
        run.messages
            .insert((NodeId(0), Some(NodeId(1)), "REQUEST"), row);
        run.window.messages = sent;
    }

    fn agrees(kind: FormKind, sent: u64, expected: fn(&Circumstances<'_>) -> Option<f64>) -> bool {
        let mut run = thousand();
        send(&mut run, sent);
        let form = with_form(kind, Metric::MessagesPerEntry, expected);
        let lines = lines(&form, &plan("raymond", 2), &run);
        lines[0].agrees.expect("it is decided")
    }

    #[test]
    fn exact_means_to_the_message() {
        let two = |_: &Circumstances<'_>| Some(2.0);
        assert!(agrees(FormKind::Exact, 2_000, two));
        assert!(!agrees(FormKind::Exact, 2_001, two));
        assert!(!agrees(FormKind::Exact, 1_999, two));
        // Rounding must not matter: this sum is not the double nearest to 0.3.
        assert!(agrees(FormKind::Exact, 300, |_| Some(0.1 + 0.2)));
    }

    #[test]
    fn bounds_bind_on_one_side() {
        let two = |_: &Circumstances<'_>| Some(2.0);
        assert!(agrees(FormKind::AtMost, 2_000, two));
        assert!(agrees(FormKind::AtMost, 1_500, two));
        assert!(!agrees(FormKind::AtMost, 2_001, two));
        assert!(agrees(FormKind::AtLeast, 2_000, two));
        assert!(agrees(FormKind::AtLeast, 2_500, two));
        assert!(!agrees(FormKind::AtLeast, 1_999, two));
    }

    #[test]
    fn a_mean_agrees_within_its_interval_and_is_never_missed_outright() {
        let line = |value| {
            let form = with_form(FormKind::Mean, Metric::MessagesPerEntry, value);
            lines(&form, &plan("raymond", 2), &thousand()).remove(0)
        };
        let near = line(|_| Some(2.0));
        let (low, high) = near.interval.expect("every message is charged");
        assert!(low < near.measured && near.measured < high);
        assert!(low > 1.8 && high < 2.2, "{low} {high}");
        assert_eq!(near.agrees, Some(true));
        let far = line(|_| Some(2.5));
        assert_eq!((far.agrees, far.missed()), (Some(false), false));
        assert!((far.difference - (far.measured - 2.5)).abs() < 1e-12);
    }

    #[test]
    fn a_doubtful_mean_is_a_warning_and_no_failure() {
        let form = with_form(FormKind::Mean, Metric::MessagesPerEntry, |_| Some(2.5));
        let plan = plan("raymond", 2);
        let judgement = judge(&form, &plan, &Topology::complete(2), &thousand());
        assert_eq!(judgement.conclusion(), crate::Verdict::Holds);
        assert!(
            judgement
                .warnings
                .iter()
                .any(|warning| warning.contains("99.9 % interval"))
        );
    }

    #[test]
    fn without_marks_a_mean_is_not_decided() {
        let form = with_form(FormKind::Mean, Metric::MessagesPerEntry, |_| Some(2.0));
        let mut run = thousand();
        run.window.marks.truncate(19);
        let line = lines(&form, &plan("raymond", 2), &run).remove(0);
        assert_eq!((line.interval, line.agrees), (None, None));
        run.window = Window {
            entries: 1_000,
            ..Window::default()
        };
        let line = lines(&form, &plan("raymond", 2), &run).remove(0);
        assert_eq!((line.interval, line.agrees), (None, None));
    }

    #[test]
    fn the_interval_is_students_over_the_rates_between_marks() {
        let window = Window {
            stride: 10,
            marks: (1..=10).map(|i| 20 * i + 10 * (i % 2)).collect(),
            ..Window::default()
        };
        // The rates are 3, 1, 3, 1, …: their standard deviation is √(10/9), Student's quantile for
        // nine degrees of freedom 4.781.
        let (low, high) = messages_interval(&window, 2.0, FormKind::Mean).unwrap();
        assert!((high - 2.0 - 4.781 / 3.0).abs() < 1e-3, "{high}");
        assert!((low + high - 4.0).abs() < 1e-12);
    }

    #[test]
    fn the_synchronisation_delay_is_measured_in_link_delays() {
        let mut run = served([(0, 0, 1, 5), (1, 0, 9, 12), (0, 7, 16, 20)]);
        run.link_delay_sum_ns = 20;
        run.link_delay_count = 5;
        let form = with_form(FormKind::Exact, Metric::SyncDelay, |_| Some(1.0));
        let line = lines(&form, &plan("raymond", 2), &run).remove(0);
        assert_eq!((line.metric, line.measured), ("sync_delay_mean_t", 1.0));
        assert_eq!(line.agrees, Some(true));
        run.link_delay_count = 10;
        let line = lines(&form, &plan("raymond", 2), &run).remove(0);
        assert_eq!((line.measured, line.agrees), (2.0, Some(false)));
    }

    #[test]
    fn only_a_number_is_expected_in_the_summary() {
        let expected = |kind| {
            let form = with_form(kind, Metric::MessagesPerEntry, |_| Some(2.0));
            expected_messages_per_entry(&lines(&form, &plan("raymond", 2), &thousand()))
        };
        assert_eq!(expected(FormKind::Exact), Some(2.0));
        assert_eq!(expected(FormKind::Mean), Some(2.0));
        assert_eq!(expected(FormKind::AtMost), None);
        assert_eq!(expected(FormKind::AtLeast), None);
    }

    /// What the gate tells a form about a run.
    fn seen(plan: &Plan, run: &Run, look: fn(&Circumstances<'_>) -> bool) -> bool {
        let measured = Measured::of(plan, run);
        let topology = Topology::complete(plan.nodes);
        let note = |name: &str| run.window.notes.get(name).map(|row| (row.sum, row.count));
        look(&circumstances(plan, &topology, run, &measured, &note))
    }

    #[test]
    fn a_form_sees_the_load() {
        let mut plan = plan("raymond", 2);
        let run = thousand();
        assert!(seen(&plan, &run, |c| c.load == Load::Other));
        plan.workload.arrivals = Closed {
            think: PerNode::Each(vec![Span::Constant(0); 2]),
        }
        .into();
        assert!(seen(&plan, &run, |c| c.load == Load::Saturated));
        plan.workload.weights = vec![1.0, 2.0];
        assert!(seen(&plan, &run, |c| c.load == Load::Other));
        plan.workload.arrivals = OneAtATime.into();
        assert!(seen(&plan, &run, |c| c.load == Load::Other));
        plan.workload.weights = vec![2.0, 2.0];
        assert!(seen(&plan, &run, |c| c.load == Load::OneAtATime));
    }

    #[test]
    fn a_form_sees_what_is_constant() {
        let mut plan = plan("raymond", 2);
        let mut run = thousand();
        let hold = |c: &Circumstances<'_>| c.constant_hold == Some(Duration::from_millis(1));
        let delay = |c: &Circumstances<'_>| c.constant_delay == Some(Duration::from_millis(1));
        assert!(seen(&plan, &run, hold) && seen(&plan, &run, delay));
        plan.workload.hold = PerNode::Each(vec![Span::Constant(1_000_000), Span::Constant(2)]);
        assert!(!seen(&plan, &run, hold));
        plan.workload.hold = PerNode::All(Span::Exponential(1_000_000));
        assert!(!seen(&plan, &run, hold));
        plan.delay = "1ms 1us".parse().unwrap();
        assert!(!seen(&plan, &run, delay));
        plan.delay = "1ms".parse().unwrap();
        run.engine = Engine::Cluster;
        assert!(!seen(&plan, &run, delay), "a real link is never constant");
    }

    #[test]
    fn a_form_sees_disturbances() {
        let plan = plan("raymond", 2);
        let undisturbed = |run: &Run| seen(&plan, run, |c| c.undisturbed);
        let mut run = thousand();
        assert!(undisturbed(&run));
        run.faults = vec![death(0, 0)];
        assert!(!undisturbed(&run));
        let mut run = thousand();
        run.messages.values_mut().for_each(|row| row.lost = 1);
        assert!(!undisturbed(&run));
        let mut disturbed = plan.clone();
        disturbed.faults = faults(2, ["at 0s loss 1% on all"]);
        assert!(!seen(&disturbed, &thousand(), |c| c.undisturbed));
    }

    #[test]
    fn a_form_sees_whether_the_window_cuts_anything() {
        let mut plan = plan("raymond", 2);
        let mut run = thousand();
        let cycles = |c: &Circumstances<'_>| c.whole_cycles;
        let requests = |c: &Circumstances<'_>| c.whole_requests;
        assert!(!seen(&plan, &run, cycles) && seen(&plan, &run, requests));
        run.end = End::TimeLimit;
        assert!(!seen(&plan, &run, requests));
        run.end = End::Finished;
        plan.warm_up_entries = 10;
        run.window.entries = 8;
        assert!(seen(&plan, &run, cycles) && !seen(&plan, &run, requests));
        run.window.entries = 9;
        assert!(!seen(&plan, &run, cycles));
        plan.workload.arrivals = OneAtATime.into();
        assert!(seen(&plan, &run, requests));
    }

    #[test]
    fn a_form_sees_the_notes_of_the_window() {
        let mut run = thousand();
        let mut hops = NoteRow::default();
        hops.add(4);
        hops.add(3);
        run.window.notes.insert("hops".to_owned(), hops);
        let plan = plan("raymond", 2);
        assert!(seen(&plan, &run, |c| (c.note)("hops") == Some((7, 2))));
        assert!(seen(&plan, &run, |c| (c.note)("jumps").is_none()));
    }

    #[test]
    fn the_gate_is_silent_about_a_text_that_is_run_unrepaired() {
        let form = with_form(FormKind::Exact, Metric::MessagesPerEntry, |_| Some(2.0));
        let mut plan = plan("raymond", 2);
        assert_eq!(lines(&form, &plan, &thousand()).len(), 1);
        plan.printed = serde_json::from_str(r#"{"defects":["toy-T1"],"rules":["t1"]}"#).unwrap();
        assert_eq!(lines(&form, &plan, &thousand()), []);
    }
}
