//! Every number of a run in one row: `summary.csv`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use algorithms::NodeId;
use node::plan::Plan;
use node::run::{Engine, Run};
use node::workload::Arrivals;
use serde::{Deserialize, Serialize};

use crate::demand::Demand;
use crate::measured::Measured;
use crate::safety::Crowd;
use crate::stays::Stay;
use crate::times::{Handover, Times};
use crate::{order, priorities};

/// The columns of `summary.csv`, in their order. Empty means unknown, or not defined here.
///
/// `messages_per_entry`, all times, `throughput_per_s`, `jain` and `inside_mean` are over the
/// measured window; everything else is over the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The algorithm's name.
    pub algorithm: String,
    /// How many members.
    pub nodes: u32,
    /// What ran them.
    pub engine: String,
    /// What all chance came from.
    pub seed: u64,
    /// The links between the members.
    pub topology: String,
    /// When clients asked: `closed`, `open`, `batch`, `one-at-a-time` or `window`.
    pub workload: String,
    /// The algorithm's parameters.
    pub params: String,
    /// The defects left unrepaired.
    pub as_printed: String,
    /// Of all properties together.
    pub verdict: String,
    /// Never more than k inside.
    pub safety: String,
    /// Everybody who asks gets in.
    pub liveness: String,
    /// Requests made.
    pub requests: u64,
    /// Entries, uninvited ones too.
    pub entries: u64,
    /// Satisfied requests among those made.
    pub success_rate: Option<f64>,
    /// The most that were inside at once.
    pub max_inside: u32,
    /// Entries whose request arrived while another member waited or was inside.
    pub contended: u64,
    /// Algorithm messages sent.
    pub messages: u64,
    /// Algorithm messages per entry.
    pub messages_per_entry: Option<f64>,
    /// What a closed form says they should be.
    pub expected_messages_per_entry: Option<f64>,
    /// From arrival to entry.
    pub wait_mean_us: Option<f64>,
    /// The median.
    pub wait_p50_us: Option<f64>,
    /// What one in a hundred exceeds.
    pub wait_p99_us: Option<f64>,
    /// The longest.
    pub wait_max_us: Option<f64>,
    /// From arrival to exit.
    pub turnaround_mean_us: Option<f64>,
    /// From an exit to the next entry, where the next one was already waiting; k = 1 only.
    pub sync_delay_mean_us: Option<f64>,
    /// The same in units of `link_delay_mean_us`.
    pub sync_delay_mean_t: Option<f64>,
    /// From send to receipt of a message.
    pub link_delay_mean_us: Option<f64>,
    /// The bound on that which the algorithm was told.
    pub bound_us: f64,
    /// Messages that took longer.
    pub bound_broken: u64,
    /// Entries per second.
    pub throughput_per_s: Option<f64>,
    /// Jain's fairness index of entries per requesting node.
    pub jain: Option<f64>,
    /// Pairs that entered in the other order than they requested.
    pub overtakes: u64,
    /// Entries of a lower priority while a higher one was waiting.
    pub priority_inversions: u64,
    /// The most entries of others between a request and its own.
    pub passed_over_max: Option<u64>,
    /// Pairs registered in one order and entered in the other.
    pub registration_inversions: Option<u64>,
    /// The number inside, averaged over time.
    pub inside_mean: Option<f64>,
    /// Things that arrived and could not.
    pub protocol_errors: u64,
    /// Entries at which every witness lock was taken (cluster only).
    pub witness_refusals: Option<u64>,
    /// Encoded algorithm state, mean over the members, at rest.
    pub state_bytes_mean: Option<f64>,
    /// The largest.
    pub state_bytes_max: Option<u64>,
    /// Datagrams sent.
    pub datagrams: Option<u64>,
    /// Datagrams sent again.
    pub retransmissions: Option<u64>,
    /// Faults that did something.
    pub faults_acted: u64,
    /// Whether messages went through the reliable transport: `always` or `never`.
    pub transport: String,
    /// How long the run was.
    pub duration_us: f64,
    /// The most requests that were registered after another and entered before it.
    pub overtaken_max: Option<u64>,
    /// The longest wait of those with the lowest priority; of those who still wait, up to the end.
    pub wait_max_lowest_us: Option<f64>,
    /// The longest of those with the highest; empty where all have the same.
    pub wait_max_highest_us: Option<f64>,
    /// What a message takes where nothing disturbs the links: the measured mean of a run without
    /// faults, else the mean of the delay that was asked for.
    pub link_delay_undisturbed_us: Option<f64>,
    /// The run's name, as in `results/NAME/`.
    pub name: String,
    /// When it began, in UTC.
    pub started: String,
    /// The commit that the program was built from.
    pub commit: String,
    /// How long links take.
    pub delay: String,
    /// How long clients stay inside.
    pub hold: String,
    /// How long they think, in a closed workload.
    pub think: String,
    /// Requests per second at one node, in an open workload.
    pub rate: Option<f64>,
    /// What share of datagrams was to be lost.
    pub loss: String,
    /// All faults that were asked for.
    pub faults: String,
    /// Whether links keep the order of messages: `fifo` or `any`.
    pub links: String,
}

/// The headings and the cells of a summary's table.
fn records(summary: &Summary) -> (Vec<String>, Vec<String>) {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = writer.serialize(summary).and_then(|()| Ok(writer.flush()?));
    written.expect("a summary is one row of plain cells");
    let bytes = writer.into_inner().expect("it was flushed");
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(&bytes[..]);
    let mut rows = reader.records().map(|row| {
        let row = row.expect("it was written just now");
        row.iter().map(str::to_owned).collect::<Vec<_>>()
    });
    let (headings, cells) = (rows.next(), rows.next());
    (headings.unwrap_or_default(), cells.unwrap_or_default())
}

/// What the numbers are made from.
pub(crate) struct Observations<'a> {
    pub plan: &'a Plan,
    pub run: &'a Run,
    pub measured: &'a Measured,
    pub stays: &'a [Stay],
    pub crowd: &'a Crowd,
    pub demand: &'a Demand,
    pub handovers: &'a [Handover],
}

static COLUMNS: LazyLock<Vec<String>> = LazyLock::new(|| records(&Summary::default()).0);

impl Summary {
    /// The names of its columns.
    pub fn columns() -> impl Iterator<Item = &'static str> {
        COLUMNS.iter().map(String::as_str)
    }

    /// Its values as they stand in a file, in the order of the columns.
    pub fn cells(&self) -> Vec<String> {
        records(self).1
    }

    /// The summary of which these are the values.
    pub fn from_cells<'a>(cells: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let headings = csv::StringRecord::from_iter(Self::columns());
        let record = csv::StringRecord::from_iter(cells);
        if record.len() != headings.len() {
            let (there, wanted) = (record.len(), headings.len());
            return Err(format!("{there} columns where a summary has {wanted}"));
        }
        let read = record.deserialize(Some(&headings));
        read.map_err(|error| error.to_string())
    }

    /// All numbers but those that come with the verdict and with theory.
    pub(crate) fn new(seen: &Observations<'_>) -> Self {
        let Observations {
            plan,
            run,
            measured,
            ..
        } = *seen;
        let requests = run.requests.iter().filter(|row| !row.uninvited).count() as u64;
        let satisfied = run.requests.iter();
        let satisfied = satisfied
            .filter(|row| !row.uninvited && row.entered_ns.is_some())
            .count() as u64;
        let waits = Times::waits(run, measured);
        let sync_delays = seen
            .handovers
            .iter()
            .filter(|handover| measured.contains(&run.requests[handover.row]))
            .map(|handover| handover.delay_ns)
            .collect::<Times>();
        let sync_delay_mean_us = sync_delays.mean_us();
        let link_delay_mean_us =
            ratio(run.link_delay_sum_ns, run.link_delay_count).map(|mean_ns| mean_ns / 1e3);
        let sync_delay_in_t = || {
            let unit = link_delay_mean_us.filter(|&unit| unit > 0.0)?;
            Some(sync_delay_mean_us? / unit)
        };
        let witnessed = run.engine == Engine::Cluster;
        let refusals = run.requests.iter().filter(|row| row.witness_refused);
        let sent = |count: fn(&node::run::TransportRow) -> u64| {
            let rows = run.transport.values().map(count);
            (!run.transport.is_empty()).then(|| rows.sum())
        };
        let disturbed = !plan.faults.steps.is_empty();
        let asked_us = Some(plan.delay.mean_ns() as f64 / 1e3).filter(|&mean| mean > 0.0);
        let priorities = priorities::lines(run);
        let state_known = run.state_bytes.max > 0;
        let mut summary = Self {
            algorithm: plan.algorithm.clone(),
            nodes: plan.nodes,
            engine: run.engine.to_string(),
            seed: plan.seed,
            topology: plan.topology.clone(),
            workload: workload(&plan.workload.arrivals).to_owned(),
            params: plan.params.to_string(),
            as_printed: plan.printed.to_string(),
            requests,
            entries: seen.stays.len() as u64,
            success_rate: ratio(satisfied, requests),
            max_inside: seen.crowd.most.max(run.most_inside.unwrap_or(0)),
            contended: seen.demand.contended,
            messages: run.messages.values().map(|row| row.sent).sum(),
            messages_per_entry: ratio(measured.messages, measured.entries),
            wait_mean_us: waits.mean_us(),
            wait_p50_us: waits.quantile_us(0.5),
            wait_p99_us: waits.quantile_us(0.99),
            wait_max_us: waits.max_us(),
            turnaround_mean_us: Times::turnarounds(run, measured).mean_us(),
            sync_delay_mean_us,
            sync_delay_mean_t: sync_delay_in_t(),
            link_delay_mean_us,
            bound_us: plan.bound_ns as f64 / 1e3,
            bound_broken: run.bound_broken,
            throughput_per_s: ratio(measured.entries, measured.length_ns()).map(|rate| rate * 1e9),
            jain: jain(run, measured),
            overtakes: order::overtakes(run),
            priority_inversions: order::priority_inversions(run),
            passed_over_max: order::passed_over_max(run),
            registration_inversions: order::registration_inversions(run),
            inside_mean: inside_mean(seen.stays, measured),
            protocol_errors: run.protocol_error_count,
            witness_refusals: witnessed.then(|| refusals.count() as u64),
            state_bytes_mean: ratio(run.state_bytes.sum, u64::from(plan.nodes))
                .filter(|_| state_known),
            state_bytes_max: state_known.then_some(run.state_bytes.max),
            datagrams: sent(|row| row.datagrams_sent),
            retransmissions: sent(|row| row.retransmissions),
            faults_acted: run.faults.iter().filter(|fault| !fault.is_idle()).count() as u64,
            transport: if run.transport.is_empty() {
                "never"
            } else {
                "always"
            }
            .to_owned(),
            duration_us: run.ended_ns as f64 / 1e3,
            overtaken_max: priorities
                .iter()
                .filter_map(|line| line.overtaken_max)
                .max(),
            wait_max_lowest_us: priorities.first().map(|line| line.wait_max_us),
            wait_max_highest_us: match priorities.as_slice() {
                [] | [_] => None,
                [.., highest] => Some(highest.wait_max_us),
            },
            link_delay_undisturbed_us: match disturbed {
                false => link_delay_mean_us.or(asked_us),
                true => asked_us,
            },
            ..Self::default()
        };
        summary.ask(plan);
        summary
    }

    /// The mean sync delay in units of what an undisturbed link takes.
    pub fn sync_delay_in_link_delays(&self) -> Option<f64> {
        let unit = self.link_delay_undisturbed_us.filter(|&unit| unit > 0.0)?;
        Some(self.sync_delay_mean_us? / unit)
    }
}

fn workload(arrivals: &Arrivals) -> &'static str {
    match arrivals {
        Arrivals::Closed { .. } => "closed",
        Arrivals::Open { .. } => "open",
        Arrivals::Batch { .. } => "batch",
        Arrivals::OneAtATime => "one-at-a-time",
        Arrivals::Window { .. } => "window",
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Jain's index over the nodes that made a request: 1 if all entered equally often, 1/n if one did
/// it all; `None` without entries.
fn jain(run: &Run, measured: &Measured) -> Option<f64> {
    let mut entries = BTreeMap::<NodeId, u64>::new();
    for row in run.requests.iter().filter(|row| !row.uninvited) {
        *entries.entry(row.node).or_default() += u64::from(measured.contains(row));
    }
    let sum = entries.values().map(|&n| n as f64).sum::<f64>();
    let squares = entries.values().map(|&n| (n as f64).powi(2)).sum::<f64>();
    (squares > 0.0).then(|| sum * sum / (entries.len() as f64 * squares))
}

fn inside_mean(stays: &[Stay], measured: &Measured) -> Option<f64> {
    let length_ns = measured.length_ns();
    let inside_ns = stays
        .iter()
        .map(|stay| u128::from(measured.overlap_ns(stay.enter_ns, stay.exit_ns)))
        .sum::<u128>();
    (length_ns > 0).then(|| inside_ns as f64 / length_ns as f64)
}

#[cfg(test)]
mod tests {
    use algorithms::Topology;
    use node::run::{MessageRow, StateBytes, TransportRow};

    use super::*;
    use crate::sample::{entry, fault, faults, plan, run, waiting};

    const US: u64 = 1_000;

    /// Four entries of three nodes in 40 µs, in order of arrival; the second is overtaken.
    fn four_entries() -> Run {
        let mut run = run(vec![
            entry(0, 0, 0, 10 * US),
            entry(2, US, 21 * US, 30 * US),
            entry(1, 2 * US, 12 * US, 20 * US),
            entry(0, 25 * US, 33 * US, 40 * US),
        ]);
        let row = MessageRow {
            sent: 14,
            received: 14,
            ..MessageRow::default()
        };
        run.messages
            .insert((NodeId(0), Some(NodeId(1)), "REQUEST"), row);
        run.link_delay_sum_ns = 16 * US;
        run.link_delay_count = 8;
        run
    }

    fn summary(plan: &Plan, run: &Run) -> Summary {
        crate::judge(plan, &Topology::complete(plan.nodes), run).summary
    }

    fn close(a: Option<f64>, b: f64) {
        let a = a.expect("it is known");
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn every_number_is_the_one_a_reader_works_out() {
        let summary = summary(&plan("raymond", 3), &four_entries());
        assert_eq!((summary.requests, summary.entries), (4, 4));
        close(summary.success_rate, 1.0);
        assert_eq!((summary.max_inside, summary.contended), (1, 3));
        assert_eq!(summary.messages, 14);
        close(summary.messages_per_entry, 3.5);
        close(summary.wait_mean_us, 9.5);
        close(summary.wait_p50_us, 8.0);
        close(summary.wait_p99_us, 20.0);
        close(summary.wait_max_us, 20.0);
        close(summary.turnaround_mean_us, 18.0);
        close(summary.sync_delay_mean_us, 2.0);
        close(summary.link_delay_mean_us, 2.0);
        close(summary.sync_delay_mean_t, 1.0);
        close(summary.throughput_per_s, 100_000.0);
        close(summary.jain, 16.0 / 18.0);
        assert_eq!((summary.overtakes, summary.priority_inversions), (1, 0));
        assert_eq!(summary.passed_over_max, Some(1));
        assert_eq!(summary.registration_inversions, None);
        close(summary.inside_mean, 0.85);
        assert_eq!((summary.bound_us, summary.duration_us), (1_000.0, 40.0));
        assert_eq!(summary.transport, "never");
    }

    #[test]
    fn what_is_measured_is_measured_in_the_window_and_what_happened_is_counted_in_all() {
        let mut plan = plan("raymond", 3);
        plan.warm_up_entries = 1;
        let mut run = four_entries();
        run.window.from_ns = 10 * US;
        run.window.until_ns = 30 * US;
        run.window.entries = 2;
        run.window.messages = 6;
        let summary = summary(&plan, &run);
        close(summary.messages_per_entry, 3.0);
        close(summary.wait_mean_us, 15.0);
        close(summary.turnaround_mean_us, 23.5);
        close(summary.sync_delay_mean_us, 1.5);
        close(summary.throughput_per_s, 100_000.0);
        close(summary.jain, 4.0 / 6.0);
        close(summary.inside_mean, 17.0 / 20.0);
        assert_eq!(
            (summary.entries, summary.messages, summary.contended),
            (4, 14, 3)
        );
        assert_eq!((summary.overtakes, summary.duration_us), (1, 40.0));
    }

    #[test]
    fn unserved_requests_lower_the_success_rate_and_uninvited_entries_do_not_raise_it() {
        let mut run = run(vec![
            entry(0, 0, 0, 10),
            waiting(1, 5),
            entry(2, 20, 20, 21),
        ]);
        run.requests[2].uninvited = true;
        let summary = summary(&plan("raymond", 3), &run);
        assert_eq!((summary.requests, summary.entries), (2, 2));
        close(summary.success_rate, 0.5);
        close(summary.jain, 0.5);
    }

    #[test]
    fn nothing_is_made_up_where_nothing_happened() {
        let summary = summary(&plan("raymond", 3), &Run::default());
        assert_eq!(summary.success_rate, None);
        assert_eq!(summary.messages_per_entry, None);
        assert_eq!(summary.wait_mean_us, None);
        assert_eq!(summary.sync_delay_mean_us, None);
        assert_eq!(summary.link_delay_mean_us, None);
        assert_eq!(summary.throughput_per_s, None);
        assert_eq!(summary.jain, None);
        assert_eq!(summary.inside_mean, None);
        assert_eq!(summary.passed_over_max, None);
        assert_eq!(summary.state_bytes_mean, None);
        assert_eq!(summary.datagrams, None);
        assert_eq!(summary.witness_refusals, None);
    }

    #[test]
    fn sums_over_members_and_faults_are_taken() {
        let mut run = four_entries();
        let row = TransportRow {
            datagrams_sent: 5,
            retransmissions: 2,
            ..TransportRow::default()
        };
        run.transport.insert(NodeId(0), row);
        run.transport.insert(NodeId(1), row);
        run.state_bytes = StateBytes { sum: 90, max: 40 };
        let mut plan = plan("raymond", 3);
        plan.faults = faults(3, ["cut 0-1", "cut 1-2"]);
        run.faults = vec![
            fault(&plan.faults, "cut 0-1", (0, Some(1)), 3),
            fault(&plan.faults, "cut 1-2", (0, Some(1)), 0),
        ];
        run.engine = Engine::Cluster;
        run.requests[0].witness_refused = true;
        run.most_inside = Some(2);
        let summary = summary(&plan, &run);
        assert_eq!(
            (summary.datagrams, summary.retransmissions),
            (Some(10), Some(4))
        );
        close(summary.state_bytes_mean, 30.0);
        assert_eq!(summary.state_bytes_max, Some(40));
        assert_eq!(summary.faults_acted, 1);
        assert_eq!((summary.witness_refusals, summary.max_inside), (Some(1), 2));
        assert_eq!(
            (summary.engine.as_str(), summary.transport.as_str()),
            ("cluster", "always")
        );
    }

    #[test]
    fn the_sync_delay_is_told_in_units_of_a_link_that_nothing_disturbs() {
        let mut plan = plan("raymond", 3);
        let mut run = four_entries();
        run.link_delay_count = 1;
        run.link_delay_sum_ns = 2_000_000;
        let undisturbed = |plan: &Plan, run: &Run| summary(plan, run).link_delay_undisturbed_us;
        assert_eq!(undisturbed(&plan, &run), Some(2_000.0));
        // An outage is in the measured mean, and not in the unit.
        plan.faults = faults(3, ["cut 0-1 for 1s"]);
        assert_eq!(undisturbed(&plan, &run), Some(1_000.0));
        plan.delay = chaos::Delay::NONE;
        assert_eq!(undisturbed(&plan, &run), None);
        let told = summary(&plan, &run);
        assert!(
            told.sync_delay_mean_t.is_some(),
            "the column keeps its meaning"
        );
        assert_eq!(told.sync_delay_in_link_delays(), None);
    }

    #[test]
    fn the_columns_are_those_that_scripts_rely_on() {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.serialize(Summary::default()).unwrap();
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        assert_eq!(
            text.lines().next().unwrap(),
            "algorithm,nodes,engine,seed,topology,workload,params,as_printed,verdict,safety,\
             liveness,requests,entries,success_rate,max_inside,contended,messages,\
             messages_per_entry,expected_messages_per_entry,wait_mean_us,wait_p50_us,wait_p99_us,\
             wait_max_us,turnaround_mean_us,sync_delay_mean_us,sync_delay_mean_t,\
             link_delay_mean_us,bound_us,bound_broken,throughput_per_s,jain,overtakes,\
             priority_inversions,passed_over_max,registration_inversions,inside_mean,\
             protocol_errors,witness_refusals,state_bytes_mean,state_bytes_max,datagrams,\
             retransmissions,faults_acted,transport,duration_us,overtaken_max,\
             wait_max_lowest_us,wait_max_highest_us,link_delay_undisturbed_us,name,started,commit,\
             delay,hold,think,rate,loss,faults,links"
        );
    }
}
