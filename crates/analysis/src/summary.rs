//! Every number of a run in one row: `summary.csv`.
//!
//! A column is one row of the table below. Its heading, its cell, its field of [`Summary`], its
//! place among the quantities that sweeps and claims may ask for, and its line in
//! `results/README.md` follow from it.

use model::plan::UseTransport;
use model::run::Engine;
use serde::Serialize;

use crate::certificate::Certified;
use crate::columns::{Column, Kind, columns};
use crate::files::Provenance;
use crate::judgement::{Status, Verdict};
use crate::observed::Observed;
use crate::{order, settings};

/// What the checks and theory say of a run.
pub(crate) struct Findings {
    pub verdict: Verdict,
    pub safety: Status,
    pub liveness: Status,
    pub certified: Certified,
    pub expected_messages_per_entry: Option<f64>,
}

columns! {
    /// The columns of `summary.csv`, in their order. Empty means unknown, or not defined here.
    ///
    /// `messages_per_entry`, all times, `throughput_per_s`, `jain` and `inside_mean` are over the
    /// measured window; everything else is over the whole run.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Summary, static COLUMNS, from (seen: &Observed<'_>, found: &Findings);

    /// The algorithm's name.
    algorithm: String [Setting, ""] = seen.plan.algorithm.name.to_owned();
    /// How many members there are.
    nodes: u32 [Setting, "members"] = seen.plan.nodes;
    /// What ran the members: `sim` or `cluster`.
    engine: Engine [Setting, ""] = seen.run.engine;
    /// The number that all chance comes from.
    seed: u64 [Setting, ""] = seen.plan.seed;
    /// The links between the members.
    topology: String [Setting, ""] = seen.plan.topology.to_string();
    /// When clients ask: `closed`, `open`, `batch` (also of a file of arrivals), `one-at-a-time` or `window`.
    workload: String [Setting, ""] = settings::workload(seen.plan);
    /// The algorithm's parameters.
    params: String [Setting, ""] = seen.plan.params.to_string();
    /// The defects of the printed text that were left unrepaired.
    as_printed: String [Setting, ""] = seen.plan.printed.to_string();
    /// All properties together: `holds`, `violated` or `inconclusive`.
    verdict: Verdict [Finding, ""] = found.verdict;
    /// Never more than k inside: `holds`, `violated`, `inconclusive` or `not exercised`.
    safety: Status [Finding, ""] = found.safety;
    /// Everybody who asks gets in: `holds`, `violated`, `inconclusive` or `not exercised`.
    liveness: Status [Finding, ""] = found.liveness;
    /// Requests that clients made.
    requests: u64 [Metric, "requests"] = seen.requests().count() as u64;
    /// Entries, also those that nobody asked for.
    entries: u64 [Metric, "entries"] = seen.stays.len() as u64;
    /// Satisfied requests as a share of all requests.
    success_rate: Option<f64> [Metric, ""] = seen.success_rate();
    /// The most members that were inside at once.
    max_inside: u32 [Metric, "members"] = seen.crowd.most.max(seen.run.most_inside.unwrap_or(0));
    /// Entries whose request arrived while another member waited or was inside.
    contended: u64 [Metric, "entries"] = seen.contention.contended;
    /// Algorithm messages: sends from one node to another, counted once where they are made. Acks, retransmissions and heartbeats are not among them.
    messages: u64 [Metric, "messages"] = seen.run.messages.values().map(|row| row.sent).sum();
    /// Algorithm messages per entry, over the measured window.
    messages_per_entry: Option<f64> [Metric, "messages"] = seen.messages_per_entry();
    /// Messages per entry as the closed form says, where one applies.
    expected_messages_per_entry: Option<f64> [Metric, "messages"] = found.expected_messages_per_entry;
    /// From the arrival of a request to its entry, the mean.
    wait_mean_us: Option<f64> [Metric, "µs"] = seen.waits.mean_us();
    /// From the arrival of a request to its entry, the median.
    wait_p50_us: Option<f64> [Metric, "µs"] = seen.waits.quantile_us(0.5);
    /// From the arrival of a request to its entry, what one in a hundred exceeds.
    wait_p99_us: Option<f64> [Metric, "µs"] = seen.waits.quantile_us(0.99);
    /// From the arrival of a request to its entry, the longest.
    wait_max_us: Option<f64> [Metric, "µs"] = seen.waits.max_us();
    /// From the arrival of a request to its exit, the mean.
    turnaround_mean_us: Option<f64> [Metric, "µs"] = seen.turnarounds().mean_us();
    /// From an exit to the next entry, where the next one was already waiting and only one may be inside, the mean.
    sync_delay_mean_us: Option<f64> [Metric, "µs"] = seen.sync_delays.mean_us();
    /// The mean sync delay in units of `link_delay_mean_us`.
    sync_delay_mean_t: Option<f64> [Metric, "T"] = seen.sync_delay_mean_t();
    /// From send to receipt of a message, outages included, the mean.
    link_delay_mean_us: Option<f64> [Metric, "µs"] = seen.link_delay_mean_us();
    /// The bound on message delays that the algorithm was told.
    bound_us: f64 [Metric, "µs"] = seen.plan.bound_ns as f64 / 1e3;
    /// Messages that took longer than the bound.
    bound_broken: u64 [Metric, "messages"] = seen.run.bound_broken;
    /// Entries per second.
    throughput_per_s: Option<f64> [Metric, "entries/s"] = seen.throughput_per_s();
    /// Jain's fairness index of entries per requesting node: 1 is even.
    jain: Option<f64> [Metric, ""] = seen.jain();
    /// Pairs of requests that entered in the other order than they arrived.
    overtakes: u64 [Metric, "pairs"] = order::overtakes(seen.run);
    /// Entries of a lower priority while a higher one waited.
    priority_inversions: u64 [Metric, "entries"] = order::priority_inversions(seen.run);
    /// The most entries of others between a request and its own.
    passed_over_max: Option<u64> [Metric, "entries"] = order::passed_over_max(seen.run);
    /// Pairs of requests that were registered in one order and entered in the other.
    registration_inversions: Option<u64> [Metric, "pairs"] = order::registration_inversions(seen.run);
    /// The number of members inside, averaged over time.
    inside_mean: Option<f64> [Metric, "members"] = seen.inside_mean();
    /// Messages that arrived and that the paper says cannot arrive.
    protocol_errors: u64 [Metric, "messages"] = seen.run.protocol_error_count;
    /// Entries at which the kernel saw somebody else inside (processes only).
    witness_refusals: Option<u64> [Metric, "entries"] = seen.witness_refusals();
    /// Encoded algorithm state of a member at the end, the mean.
    state_bytes_mean: Option<f64> [Metric, "bytes"] = seen.state_bytes_mean();
    /// Encoded algorithm state of a member at the end, the largest.
    state_bytes_max: Option<u64> [Metric, "bytes"] = Some(seen.run.state_bytes.max).filter(|&max| max > 0);
    /// Datagrams that were sent, where the reliable transport ran.
    datagrams: Option<u64> [Metric, "datagrams"] = seen.transported(|row| row.datagrams_sent);
    /// Segments that were sent again, where the reliable transport ran: messages, or parts of large ones. A datagram carries several.
    retransmissions: Option<u64> [Metric, "segments"] = seen.transported(|row| row.retransmissions);
    /// Faults that did something.
    faults_acted: u64 [Metric, "faults"] = seen.faults_acted();
    /// Whether messages went through the reliable transport: `always` or `never`.
    transport: UseTransport [Finding, ""] = seen.transport();
    /// The length of the run.
    duration_us: f64 [Metric, "µs"] = seen.run.ended_ns as f64 / 1e3;
    /// The most requests that were registered after another and entered before it; `overtaken` in `entries.csv` says it of each request.
    overtaken_max: Option<u64> [Metric, "requests"] = seen.priorities.iter().filter_map(|line| line.overtaken_max).max();
    /// The longest wait of the requests with the lowest priority; of those that still wait, up to the end of the run.
    wait_max_lowest_us: Option<f64> [Metric, "µs"] = seen.priorities.first().map(|line| line.wait_max_us);
    /// The longest wait of the requests with the highest priority; empty where all have the same.
    wait_max_highest_us: Option<f64> [Metric, "µs"] = seen.wait_max_highest_us();
    /// What a message takes where nothing disturbs the links: the measured mean of a run without faults, else the mean of `delay`; empty where that is 0. The table of a run tells the sync delay in this unit.
    link_delay_undisturbed_us: Option<f64> [Metric, "µs"] = seen.link_delay_undisturbed_us();
    /// The run's name, as in `results/NAME/`.
    name: String [Origin, ""] = String::new();
    /// When the run began, in UTC.
    started: String [Origin, ""] = String::new();
    /// The commit that the program was built from.
    commit: String [Origin, ""] = String::new();
    /// How long links take.
    delay: String [Setting, ""] = seen.plan.delay.to_string();
    /// How long clients stay inside.
    hold: String [Setting, ""] = settings::hold(seen.plan);
    /// How long clients think, in a closed workload.
    think: String [Setting, ""] = settings::think(seen.plan);
    /// Requests per second at one node, in an open workload.
    rate: Option<f64> [Setting, "requests/s"] = settings::rate(seen.plan);
    /// The share of datagrams that was to be lost.
    loss: String [Setting, ""] = settings::loss(seen.plan);
    /// All faults that were asked for, as `--dry-run` writes them, with `; ` between.
    faults: String [Setting, ""] = settings::faults(seen.plan);
    /// Whether links keep the order of messages: `fifo` or `any`.
    links: String [Setting, ""] = settings::links(seen.plan);
    /// Whether every entry knew of the exit of the one before it, by a chain of messages: `yes`, `no` or `not exercised`. Then no timing of the same messages puts two inside.
    certified: Certified [Finding, ""] = found.certified;
}

impl Summary {
    /// Its columns, in the order of the file.
    pub fn columns() -> &'static [Column<Self>] {
        COLUMNS
    }

    /// The columns that are numbers to average.
    pub fn metrics() -> impl Iterator<Item = &'static Column<Self>> {
        let columns = COLUMNS.iter();
        columns.filter(|column| column.kind == Kind::Metric)
    }

    /// The metric of that name.
    pub fn metric(name: &str) -> Option<&'static Column<Self>> {
        Self::metrics().find(|column| column.name == name)
    }

    /// Its values as they stand in a file, in the order of the columns.
    pub fn cells(&self) -> impl Iterator<Item = String> {
        COLUMNS.iter().map(|column| (column.of)(self).to_string())
    }

    /// The same row with where it came from.
    pub fn stamped(&self, from: &Provenance) -> Self {
        Self {
            name: from.name.clone(),
            started: from.started.clone(),
            commit: from.commit.clone().unwrap_or_default(),
            ..self.clone()
        }
    }

    /// The mean sync delay in units of what an undisturbed link takes.
    pub fn sync_delay_in_link_delays(&self) -> Option<f64> {
        let unit = self.link_delay_undisturbed_us.filter(|&unit| unit > 0.0)?;
        Some(self.sync_delay_mean_us? / unit)
    }
}

#[cfg(test)]
mod tests {
    use algorithms::{NodeId, Topology};
    use model::plan::Plan;
    use model::run::{MessageRow, Run, StateBytes, TransportRow};

    use super::*;
    use crate::fixtures::{entry, fault, faults, plan, run, served, waiting};

    const US: u64 = 1_000;

    /// Four entries of three nodes in 40 µs, in order of arrival; the second is overtaken.
    fn four_entries() -> Run {
        let mut run = served([
            (0, 0, 0, 10 * US),
            (2, US, 21 * US, 30 * US),
            (1, 2 * US, 12 * US, 20 * US),
            (0, 25 * US, 33 * US, 40 * US),
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
        assert_eq!(summary.transport, UseTransport::Never);
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
        run.state_bytes = StateBytes {
            sum: 90,
            max: 40,
            peak: None,
        };
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
            (summary.engine, summary.transport),
            (Engine::Cluster, UseTransport::Always)
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
        let names = COLUMNS.iter().map(|column| column.name);
        assert_eq!(
            names.collect::<Vec<_>>().join(","),
            "algorithm,nodes,engine,seed,topology,workload,params,as_printed,verdict,safety,\
             liveness,requests,entries,success_rate,max_inside,contended,messages,\
             messages_per_entry,expected_messages_per_entry,wait_mean_us,wait_p50_us,wait_p99_us,\
             wait_max_us,turnaround_mean_us,sync_delay_mean_us,sync_delay_mean_t,\
             link_delay_mean_us,bound_us,bound_broken,throughput_per_s,jain,overtakes,\
             priority_inversions,passed_over_max,registration_inversions,inside_mean,\
             protocol_errors,witness_refusals,state_bytes_mean,state_bytes_max,datagrams,\
             retransmissions,faults_acted,transport,duration_us,overtaken_max,\
             wait_max_lowest_us,wait_max_highest_us,link_delay_undisturbed_us,name,started,commit,\
             delay,hold,think,rate,loss,faults,links,certified"
        );
    }

    #[test]
    fn a_row_is_read_back_from_its_cells() {
        let mut run = four_entries();
        run.engine = Engine::Cluster;
        let summary = summary(&plan("raymond", 3), &run);
        let cells = summary.cells().collect::<Vec<_>>();
        let read = |cells: &[String]| Summary::from_cells(cells.iter().map(String::as_str));
        assert_eq!(read(&cells), Ok(summary));
        let wrong = |column: &str, text: &str| {
            let mut cells = cells.clone();
            let place = COLUMNS.iter().position(|known| known.name == column);
            cells[place.unwrap()] = text.to_owned();
            read(&cells).unwrap_err()
        };
        assert_eq!(
            wrong("jain", "much"),
            "jain is 'much', expected a number or nothing"
        );
        assert_eq!(
            wrong("verdict", "perhaps"),
            "verdict is 'perhaps', expected one of holds violated inconclusive"
        );
        let short = read(&cells[1..]).unwrap_err();
        assert!(short.starts_with("nodes is 'cluster'"), "{short}");
        let long = [cells.clone(), vec![String::new()]].concat();
        assert_eq!(
            read(&long),
            Err("more columns than the 60 there are".to_owned())
        );
    }

    #[test]
    fn the_numbers_in_json_are_those_of_the_cells() {
        let summary = summary(&plan("raymond", 3), &four_entries());
        let json = serde_json::to_value(&summary).unwrap();
        let fields = json.as_object().unwrap();
        assert_eq!(fields.len(), COLUMNS.len());
        for (column, cell) in COLUMNS.iter().zip(summary.cells()) {
            let text = match &fields[column.name] {
                serde_json::Value::Null => String::new(),
                serde_json::Value::String(word) => word.clone(),
                other => other.to_string(),
            };
            assert_eq!(text, cell, "{}", column.name);
        }
    }
}
