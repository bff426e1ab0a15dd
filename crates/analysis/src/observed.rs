//! What checks, theory and the columns of `summary.csv` are computed from.

use std::collections::BTreeMap;

use algorithms::NodeId;
use model::plan::{Plan, UseTransport};
use model::run::{Engine, RequestRow, Run, TransportRow};

use crate::clocks::Clocks;
use crate::contention::Contention;
use crate::measured::Measured;
use crate::occupancy::{Stay, stays};
use crate::priorities::{self, PriorityLine};
use crate::safety::Crowd;
use crate::times::{self, Handover, Times};

/// A plan, its run, and everything that more than one check or column needs of them.
pub(crate) struct Observed<'a> {
    pub plan: &'a Plan,
    pub run: &'a Run,
    pub measured: Measured,
    pub stays: Vec<Stay>,
    pub crowd: Crowd,
    pub contention: Contention,
    pub handovers: Vec<Handover>,
    /// From the arrival of a measured request to its entry.
    pub waits: Times,
    /// From an exit to the next entry, where both are measured.
    pub sync_delays: Times,
    pub priorities: Vec<PriorityLine>,
}

impl<'a> Observed<'a> {
    pub(crate) fn new(plan: &'a Plan, run: &'a Run, admitted: u32) -> Self {
        let stays = stays(run);
        let measured = Measured::of(plan, run);
        let handovers = times::handovers(run, &stays, admitted);
        let in_window = handovers
            .iter()
            .filter(|handover| measured.contains(&run.requests[handover.row]));
        Self {
            plan,
            run,
            measured,
            crowd: Crowd::by_clocks(&stays, admitted, &Clocks::of(plan, run)),
            contention: Contention::of(run),
            waits: Times::waits(run, &measured),
            sync_delays: in_window.map(|handover| handover.delay_ns).collect(),
            priorities: priorities::lines(run),
            stays,
            handovers,
        }
    }

    /// The requests that a client made.
    pub(crate) fn requests(&self) -> impl Iterator<Item = &'a RequestRow> {
        self.run.requests.iter().filter(|row| !row.uninvited)
    }

    pub(crate) fn turnarounds(&self) -> Times {
        Times::turnarounds(self.run, &self.measured)
    }

    pub(crate) fn success_rate(&self) -> Option<f64> {
        let satisfied = self.requests().filter(|row| row.entered_ns.is_some());
        ratio(satisfied.count() as u64, self.requests().count() as u64)
    }

    pub(crate) fn messages_per_entry(&self) -> Option<f64> {
        ratio(self.measured.messages, self.measured.entries)
    }

    pub(crate) fn link_delay_mean_us(&self) -> Option<f64> {
        let mean_ns = ratio(self.run.link_delay_sum_ns, self.run.link_delay_count);
        mean_ns.map(|mean_ns| mean_ns / 1e3)
    }

    pub(crate) fn link_delay_undisturbed_us(&self) -> Option<f64> {
        let planned_us = Some(self.plan.delay.mean_ns() as f64 / 1e3).filter(|&mean| mean > 0.0);
        match self.plan.faults.steps.is_empty() {
            true => self.link_delay_mean_us().or(planned_us),
            false => planned_us,
        }
    }

    /// The mean sync delay in units of the mean link delay.
    pub(crate) fn sync_delay_mean_t(&self) -> Option<f64> {
        let unit = self.link_delay_mean_us().filter(|&unit| unit > 0.0)?;
        Some(self.sync_delays.mean_us()? / unit)
    }

    pub(crate) fn throughput_per_s(&self) -> Option<f64> {
        ratio(self.measured.entries, self.measured.length_ns()).map(|rate| rate * 1e9)
    }

    /// Jain's index over the nodes that made a request: 1 if all entered equally often, 1/n if one
    /// did it all; `None` without entries.
    pub(crate) fn jain(&self) -> Option<f64> {
        let mut entries = BTreeMap::<NodeId, u64>::new();
        for row in self.requests() {
            *entries.entry(row.node).or_default() += u64::from(self.measured.contains(row));
        }
        let sum = entries.values().map(|&n| n as f64).sum::<f64>();
        let squares = entries.values().map(|&n| (n as f64).powi(2)).sum::<f64>();
        (squares > 0.0).then(|| sum * sum / (entries.len() as f64 * squares))
    }

    pub(crate) fn inside_mean(&self) -> Option<f64> {
        let length_ns = self.measured.length_ns();
        let overlap_ns = |stay: &Stay| self.measured.overlap_ns(stay.enter_ns, stay.exit_ns);
        let inside_ns = self.stays.iter().map(|stay| u128::from(overlap_ns(stay)));
        let inside_ns = inside_ns.sum::<u128>();
        (length_ns > 0).then(|| inside_ns as f64 / length_ns as f64)
    }

    /// Entries at which every witness lock was taken; only members that are processes have them.
    pub(crate) fn witness_refusals(&self) -> Option<u64> {
        let refused = self.run.requests.iter().filter(|row| row.witness_refused);
        (self.run.engine == Engine::Cluster).then(|| refused.count() as u64)
    }

    pub(crate) fn faults_acted(&self) -> u64 {
        let acted = self.run.faults.iter().filter(|fault| !fault.is_idle());
        acted.count() as u64
    }

    pub(crate) fn wait_max_highest_us(&self) -> Option<f64> {
        match self.priorities.as_slice() {
            [] | [_] => None,
            [.., highest] => Some(highest.wait_max_us),
        }
    }

    pub(crate) fn transport(&self) -> UseTransport {
        match self.run.transport.is_empty() {
            true => UseTransport::Never,
            false => UseTransport::Always,
        }
    }

    pub(crate) fn state_bytes_mean(&self) -> Option<f64> {
        let known = self.run.state_bytes.max > 0;
        ratio(self.run.state_bytes.sum, u64::from(self.plan.nodes)).filter(|_| known)
    }

    /// A count summed over the members, where the reliable transport ran.
    pub(crate) fn transported(&self, count: fn(&TransportRow) -> u64) -> Option<u64> {
        let rows = self.run.transport.values().map(count);
        (!self.run.transport.is_empty()).then(|| rows.sum())
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
