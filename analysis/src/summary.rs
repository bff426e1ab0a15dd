//! Every number of a run in one row: `summary.csv`.

use std::collections::BTreeMap;

use algorithms::NodeId;
use node::plan::Plan;
use node::run::{Engine, Run};
use node::workload::Arrivals;
use serde::{Deserialize, Serialize};

use crate::demand::Demand;
use crate::measured::Measured;
use crate::order;
use crate::safety::Crowd;
use crate::stays::Stay;
use crate::times::{Handover, Times};

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

impl Summary {
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
        let state_known = run.state_bytes.max > 0;
        Self {
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
            faults_acted: run.faults.iter().filter(|fault| fault.acted > 0).count() as u64,
            transport: if run.transport.is_empty() {
                "never"
            } else {
                "always"
            }
            .to_owned(),
            duration_us: run.ended_ns as f64 / 1e3,
            ..Self::default()
        }
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
