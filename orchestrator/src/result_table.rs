//! What a person sees when a run is over.

use std::iter;
use std::path::Path;

use algorithms::NodeId;
use algorithms::registry::FormKind;
use analysis::files::State;
use analysis::{
    Certified, FaultLine, Judgement, PriorityLine, Property, Summary, TheoryLine, Verdict,
};
use model::plan::Plan;
use model::time::rounded_us;
use model::workload::{PerNode, Urgency};
use safe_io::to_stderr;
use serde_json::json;

use crate::numbers::{count, decimal, many, significant};
use crate::table::indented;
use crate::{Exit, Failure, print};

/// Where the results of a run are, and how to repeat it.
pub(crate) struct Where<'a> {
    /// The directory of the run.
    pub(crate) directory: &'a Path,
    /// The command line that repeats the run.
    pub(crate) again: Option<String>,
}

/// Warnings on stderr, and on stdout the table or one JSON object.
pub(crate) fn tell(
    plan: &Plan,
    judgement: &Judgement,
    state: &State,
    place: &Where<'_>,
    exit: Exit,
    json: bool,
) -> Result<(), Failure> {
    judgement.warnings.iter().for_each(|text| warn(text));
    let directory = place.directory.display();
    if json {
        let mut object = serde_json::to_value(judgement).expect("a judgement is plain data");
        object["state"] = serde_json::to_value(state).expect("a state is plain data");
        object["exit_code"] = exit.code().into();
        object["directory"] = directory.to_string().into();
        object["again"] = place.again.clone().into();
        return print(&format!("{object:#}\n"));
    }
    let mut text = format!("{}\nfiles: {directory}\n", show(plan, judgement));
    if let Some(again) = &place.again {
        text.push_str(&format!("again: {again}\n"));
    }
    print(&text)
}

/// Prints the JSON object of a run that failed without results.
pub(crate) fn tell_failure(failure: &Failure) -> Result<(), Failure> {
    let why = failure.to_string();
    let object = json!({
        "state": State::Failed { why },
        "exit_code": failure.exit().code(),
        "directory": null,
    });
    print(&format!("{object:#}\n"))
}

/// The table, the verdict and its reasons.
fn show(plan: &Plan, judgement: &Judgement) -> String {
    let mut text = headline(plan, &judgement.summary);
    text.push_str(&blocks(&rows(judgement)));
    text.push_str(&format!("\nverdict: {}\n", judgement.summary.verdict));
    let lead = match judgement.verdict {
        Verdict::Holds => "  but ",
        Verdict::Violated | Verdict::Inconclusive => "  because ",
    };
    for reason in &judgement.reasons {
        text.push_str(&indented(lead, reason));
    }
    text
}

/// What was measured, what faults did, how each priority fared, what theory says, and what was
/// checked.
pub(crate) fn rows(judgement: &Judgement) -> [Vec<Row>; 5] {
    [
        measured(&judgement.summary),
        faults(judgement),
        priorities(judgement),
        theory(&judgement.theory),
        checked(judgement),
    ]
}

/// Blocks of rows, all aligned, an empty line before each.
pub(crate) fn blocks(blocks: &[Vec<Row>]) -> String {
    let width = |cell: fn(&Row) -> &str| {
        let cells = blocks.iter().flatten().map(cell);
        cells.map(|text| text.chars().count()).max().unwrap_or(0)
    };
    let widths = [width(|row| &row.label), width(|row| &row.value)];
    let mut text = String::new();
    for block in blocks.iter().filter(|block| !block.is_empty()) {
        text.push('\n');
        for row in block {
            text.push_str(&row.show(widths));
        }
    }
    text
}

/// Prints a warning on stderr.
pub(crate) fn warn(text: &str) {
    to_stderr(&indented("warning: ", text));
}

/// What ran, in one line; holder and priorities only where somebody chose them.
pub(crate) fn headline(plan: &Plan, summary: &Summary) -> String {
    let Summary {
        algorithm,
        nodes,
        engine,
        seed,
        topology,
        workload,
        ..
    } = summary;
    let mut more = String::new();
    if plan.holder != NodeId(0) {
        more.push_str(&format!(" · holder {}", plan.holder));
    }
    let priorities = match &plan.workload.priority {
        PerNode::All(Urgency::Constant(0)) => &[][..],
        PerNode::All(one) => std::slice::from_ref(one),
        PerNode::Each(several) => several,
    };
    if !priorities.is_empty() {
        more.push_str(&format!(" · priority {}", first_few(priorities)));
    }
    if !summary.params.is_empty() {
        more.push_str(&format!(" · {}", summary.params));
    }
    if !summary.as_printed.is_empty() {
        more.push_str(&format!(" · as printed: {}", summary.as_printed));
    }
    let nodes = many((*nodes).into(), "node", "nodes");
    format!("{algorithm} · {nodes} · {topology} · {workload}{more} · {engine} · seed {seed}\n")
}

/// A list of numbers: `1,2,3`, or of many the first few and how many there are.
pub(crate) fn first_few(numbers: &[impl ToString]) -> String {
    const FEW: usize = 12;
    let words = numbers.iter().take(FEW).map(ToString::to_string);
    let words = words.collect::<Vec<_>>().join(",");
    match numbers.len() {
        0..=FEW => words,
        all => format!("{words},… ({all})"),
    }
}

fn measured(summary: &Summary) -> Vec<Row> {
    let mut rows = vec![Row::new(
        "entries",
        count(summary.entries),
        format!(
            "in {}{}",
            rounded_us(summary.duration_us),
            remark(summary.throughput_per_s, |rate| format!(
                ", {} per second",
                significant(rate)
            )),
        ),
    )];
    if summary.entries < summary.requests {
        let unserved = summary.requests - summary.entries;
        rows.push(Row::new("unserved", count(unserved), "requests"));
    }
    if let Some(messages) = summary.messages_per_entry {
        let in_all = format!("{} in all", count(summary.messages));
        rows.push(Row::new("messages per entry", decimal(messages, 3), in_all));
    }
    if let (Some(p50), Some(p99), Some(longest)) = (
        summary.wait_p50_us,
        summary.wait_p99_us,
        summary.wait_max_us,
    ) {
        let tail = format!("p99 {}, longest {}", rounded_us(p99), rounded_us(longest));
        rows.push(Row::new("wait, median", rounded_us(p50), tail));
    }
    if let Some(delay) = summary.sync_delay_mean_us {
        let in_t = remark(summary.sync_delay_in_link_delays(), |t| {
            format!("{} link delays", decimal(t, 2))
        });
        rows.push(Row::new("sync delay, mean", rounded_us(delay), in_t));
    }
    if let Some(jain) = summary.jain {
        rows.push(Row::new(
            "fairness",
            decimal(jain, 3),
            "Jain's index, 1 is even",
        ));
    }
    let contended = format!("of {} entries", count(summary.entries));
    rows.push(Row::new("contended", count(summary.contended), contended));
    let passed_over = summary.passed_over_max.filter(|&most| most > 0);
    let passed_over = remark(passed_over, |most| {
        format!(
            "pairs; at most {} entered before one that waited",
            count(most)
        )
    });
    rows.push(Row::new("overtakes", count(summary.overtakes), passed_over));
    if let Some(inversions) = summary.registration_inversions {
        rows.push(Row::new(
            "out of order",
            count(inversions),
            "pairs that entered in another order than they were registered",
        ));
    }
    rows
}

/// How many faults have a line of their own.
const MOST_FAULTS: usize = 8;

/// What each fault did, and what of it members noticed.
fn faults(judgement: &Judgement) -> Vec<Row> {
    let (lines, summary) = (&judgement.faults, &judgement.summary);
    let row = |line: &FaultLine| {
        let FaultLine { fault, target, .. } = line;
        let on_target = || format!("{fault} on {target}");
        let what = line.asked.clone().unwrap_or_else(on_target);
        let remark = remark(line.remark.as_ref(), |remark| format!(" ({remark})"));
        match line.times {
            0 => Row::new("fault", "never", what),
            1 => Row::new("fault", count(line.acted), what + &remark),
            times => {
                let times = format!("{what}, {} times", count(times));
                Row::new("fault", count(line.acted), times)
            }
        }
    };
    let mut rows = lines.iter().take(MOST_FAULTS).map(row).collect::<Vec<_>>();
    let more = lines.len().saturating_sub(MOST_FAULTS);
    if more > 0 {
        let acted = lines[MOST_FAULTS..].iter().map(|line| line.acted).sum();
        rows.push(Row::new(
            "faults",
            count(acted),
            format!("of {more} more; see faults.csv"),
        ));
    }
    if let Some(mean) = summary.link_delay_mean_us.filter(|_| !lines.is_empty()) {
        let undisturbed = remark(summary.link_delay_undisturbed_us, |_| {
            format!("on average; {} was asked for", summary.delay)
        });
        rows.push(Row::new("link delay", rounded_us(mean), undisturbed));
    }
    if let Some(again) = summary.retransmissions.filter(|_| !lines.is_empty()) {
        let of = remark(summary.datagrams, |all| {
            format!("segments; {} datagrams in all", count(all))
        });
        rows.push(Row::new("sent again", count(again), of));
    }
    rows
}

/// Where there are several priorities, how often the order was against them, and a row for each.
fn priorities(judgement: &Judgement) -> Vec<Row> {
    let lines = &judgement.priorities;
    if lines.len() < 2 {
        return Vec::new();
    }
    let against = Row::new(
        "against priority",
        count(judgement.summary.priority_inversions),
        "entries while somebody more urgent waited",
    );
    let row = |line: &PriorityLine| {
        let label = format!("priority {}", line.priority);
        let served = format!("{} of {}", count(line.entries), count(line.requests));
        let mean = remark(line.wait_mean_us, |mean| {
            format!(", mean {}", rounded_us(mean))
        });
        let overtaken = remark(line.overtaken_max, |most| {
            format!("; overtaken by {} at most", count(most))
        });
        let longest = rounded_us(line.wait_max_us);
        Row::new(
            &label,
            served,
            format!("longest wait {longest}{mean}{overtaken}"),
        )
    };
    iter::once(against).chain(lines.iter().map(row)).collect()
}

fn theory(lines: &[TheoryLine]) -> Vec<Row> {
    lines.iter().map(theory_row).collect()
}

fn theory_row(line: &TheoryLine) -> Row {
    let how = match line.kind {
        FormKind::Exact => "exactly",
        FormKind::Mean => "on average",
        FormKind::AtMost => "at most",
        FormKind::AtLeast => "at least",
        FormKind::Printed => "in print",
    };
    let is_bound = matches!(line.kind, FormKind::AtMost | FormKind::AtLeast);
    let agrees = match (line.kind, line.agrees) {
        (FormKind::Printed, _) => "beside",
        (_, Some(true)) if is_bound => "within",
        (_, Some(false)) if is_bound => "beyond",
        (_, Some(true)) => "agrees",
        (_, Some(false)) => "differs",
        (_, None) => "undecided",
    };
    let interval = remark(line.interval, |(low, high)| {
        format!(
            " (99.9 % interval {} to {})",
            decimal(low, 3),
            decimal(high, 3)
        )
    });
    let what = match line.metric {
        "messages_per_entry" => "messages per entry",
        "sync_delay_mean_t" => "sync delay in link delays",
        other => other,
    };
    let compared = match is_bound {
        true => beside_bound(line).to_owned(),
        false => format!("difference {}", decimal(line.difference, 3)),
    };
    let expected = format!(
        "{what} {how} {} = {}; measured {}{interval}, {compared}",
        line.formula,
        decimal(line.expected, 3),
        decimal(line.measured, 3),
    );
    Row::new("theory", agrees, expected)
}

/// Where the measurement lies, seen from a bound; how far from it says nothing.
fn beside_bound(line: &TheoryLine) -> &'static str {
    let shown = |number: f64| decimal(number, 3);
    match line.difference {
        _ if shown(line.measured) == shown(line.expected) => "just it",
        above if above > 0.0 => "above it",
        _ => "below it",
    }
}

fn checked(judgement: &Judgement) -> Vec<Row> {
    let summary = &judgement.summary;
    let most = match summary.max_inside {
        0 => "nobody was inside".to_owned(),
        most if most > judgement.admits => {
            let verb = if most == 1 { "was" } else { "were" };
            format!("{most} {verb} inside at once; {} may be", judgement.admits)
        }
        most => {
            let certified = match summary.certified {
                Certified::Yes => ", certified",
                Certified::No | Certified::NotExercised => "",
            };
            format!("at most {most} inside at once{certified}")
        }
    };
    let served = format!(
        "{} of {} requests served",
        count(summary.requests.min(summary.entries)),
        count(summary.requests)
    );
    let property = |label: &str, property: &Property, remark: String| {
        Row::new(label, property.to_string(), remark)
    };
    let errors = match summary.protocol_errors {
        0 => "no protocol error".to_owned(),
        1 => "1 protocol error".to_owned(),
        errors => format!("{} protocol errors", count(errors)),
    };
    vec![
        property("safety", &judgement.safety, most),
        property("liveness", &judgement.liveness, served),
        property("well-formedness", &judgement.well_formedness, errors),
    ]
}

/// A line of the table: what, how much, and what to think of it.
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) value: String,
    pub(crate) remark: String,
}

impl Row {
    pub(crate) fn new(label: &str, value: impl Into<String>, remark: impl Into<String>) -> Self {
        Self {
            label: label.to_owned(),
            value: value.into(),
            remark: remark.into(),
        }
    }

    fn show(&self, [label, value]: [usize; 2]) -> String {
        let lead = format!("  {:<label$}  {:<value$}  ", self.label, self.value);
        indented(&lead, &self.remark)
    }
}

fn remark<T>(value: Option<T>, say: impl FnOnce(T) -> String) -> String {
    value.map(say).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(kind: FormKind, expected: f64, measured: f64, agrees: bool) -> (String, String) {
        let line = TheoryLine {
            metric: "messages_per_entry",
            formula: "3(K-1)",
            condition: "always",
            kind,
            expected,
            measured,
            difference: measured - expected,
            interval: None,
            agrees: Some(agrees),
        };
        let row = theory_row(&line);
        (row.value, row.remark)
    }

    #[test]
    fn how_far_it_is_from_a_bound_is_not_told() {
        let (value, remark) = shown(FormKind::AtLeast, 54.0, 72.02, true);
        let expected = "messages per entry at least 3(K-1) = 54.000; measured 72.020, above it";
        assert_eq!((value.as_str(), remark.as_str()), ("within", expected));
        let (value, remark) = shown(FormKind::AtMost, 54.0, 72.02, false);
        assert_eq!(value, "beyond");
        assert!(remark.ends_with("at most 3(K-1) = 54.000; measured 72.020, above it"));
        let (_, remark) = shown(FormKind::AtMost, 54.0, 54.0, true);
        assert!(remark.ends_with("measured 54.000, just it"), "{remark}");
        let (value, remark) = shown(FormKind::Exact, 54.0, 54.0, true);
        assert_eq!(value, "agrees");
        assert!(remark.ends_with("difference 0.000"), "{remark}");
    }
}
