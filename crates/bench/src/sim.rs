//! How fast the simulator is, as a ratio to a limit measured in the same run.
//!
//! The limit is a loop that does nothing but take the next event out of a binary heap and put one
//! in, with as many events in flight as the simulated run has on average: what a discrete-event
//! simulator could do if members, links and books cost nothing and its queue were the obvious one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use algorithms::printed::Printed;
use algorithms::registry;
use algorithms::{NodeId, Setting, Topology};
use chaos::{Delay, Draw};
use model::engine::Progress;
use model::plan::Plan;
use model::workload::{Closed, PerNode, Quota, Span, Workload};

use simulator::explore::{Options, explore};
use simulator::simulate;

/// Events per second, measured one right after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// Events per second of the simulator.
    pub(crate) simulated: f64,
    /// Events per second of the bare loop.
    pub(crate) bare: f64,
}

/// A run in which everybody enters once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd {
    /// How many members entered.
    pub(crate) entries: u64,
    /// How long it took, from making the members to the finished run.
    pub(crate) took: Duration,
}

/// Every schedule of a small world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Explored {
    /// The number of distinct states that were visited.
    pub(crate) states: u64,
    /// How long the search took.
    pub(crate) took: Duration,
    /// Whether all states were visited and nothing was found.
    pub(crate) complete: bool,
}

/// Races a simulated run of about `events` events against the bare loop, after one run to warm up.
pub(crate) fn race(nodes: u32, events: u64, pairs: usize) -> Vec<Pair> {
    let plan = plan(nodes, entries_of(nodes, events));
    let warm = run(&plan);
    let pairs = (0..pairs).map(|nth| Pair {
        simulated: run(&plan).per_second(),
        bare: bare(nth as u64, warm.in_flight, warm.events),
    });
    pairs.collect()
}

/// Races a simulated run of about `events` events with the certificate against the same without it: events
/// per second, in turns.
pub(crate) fn certificate(nodes: u32, events: u64, pairs: usize) -> Vec<(f64, f64)> {
    let with = plan(nodes, entries_of(nodes, events));
    let without = Plan {
        certificate: false,
        ..with.clone()
    };
    run(&with);
    let pairs = (0..pairs).map(|_| (run(&with).per_second(), run(&without).per_second()));
    pairs.collect()
}

/// How many entries of each node make about so many events: an entry takes about ln N messages, one arrival
/// and one exit.
fn entries_of(nodes: u32, events: u64) -> u64 {
    let per_entry = f64::from(nodes).ln() + 2.0;
    (events as f64 / per_entry / f64::from(nodes)).ceil() as u64
}

/// Lets everybody in once.
pub(crate) fn crowd(nodes: u32) -> Crowd {
    let run = run(&plan(nodes, 1));
    Crowd {
        entries: run.entries,
        took: run.took,
    }
}

/// Explores Ricart and Agrawala's algorithm: three nodes, three entries each, with a search for
/// trapped states.
pub(crate) fn search() -> Explored {
    let entry = registry::find("ricart-agrawala").expect("it is registered");
    let nodes = 3;
    let setting = Setting::new(
        Topology::complete(nodes),
        NodeId(0),
        entry.defaults(),
        Printed::repaired(),
        Duration::from_millis(50),
    );
    let mut options = Options::new(entry, nodes);
    options.wants = vec![3; nodes as usize];
    let start = Instant::now();
    let report = explore(
        entry,
        &setting,
        &options,
        &mut |_| ControlFlow::Continue(()),
    )
    .expect("three nodes fit");
    Explored {
        states: report.states,
        took: start.elapsed(),
        complete: report.complete && report.finding.is_none(),
    }
}

impl Explored {
    /// Distinct states per second, on the one core it used.
    pub(crate) fn per_second(&self) -> f64 {
        self.states as f64 / self.took.as_secs_f64()
    }
}

/// Half as many requests as could be served, so that the events in flight are about one per node.
pub(crate) fn plan(nodes: u32, entries_per_node: u64) -> Plan {
    let hold_ns = 1_000_000;
    let delay_ns = 5_000_000;
    let think_ns = 2 * (hold_ns + delay_ns) * u64::from(nodes);
    let entry = registry::find("naimi-trehel").expect("a registered algorithm");
    let usual = Plan::usual(entry, nodes, 1);
    Plan {
        workload: Workload {
            arrivals: Closed {
                think: PerNode::All(Span::Exponential(think_ns)),
            }
            .into(),
            hold: PerNode::All(Span::Constant(hold_ns)),
            quota: Quota::PerNode(entries_per_node),
            ..usual.workload
        },
        delay: Delay::Uniform {
            mean_ns: delay_ns,
            jitter_ns: delay_ns / 5,
        },
        bound_ns: delay_ns + delay_ns / 5,
        ..usual
    }
}

/// A simulated run, measured.
struct Measured {
    events: u64,
    in_flight: usize,
    entries: u64,
    took: Duration,
}

impl Measured {
    fn per_second(&self) -> f64 {
        self.events as f64 / self.took.as_secs_f64()
    }
}

fn run(plan: &Plan) -> Measured {
    let (mut reports, mut in_flight) = (0, 0);
    let mut watch = |progress: Progress| {
        reports += 1;
        in_flight += progress.in_flight;
        ControlFlow::Continue(())
    };
    let start = Instant::now();
    let run = simulate(plan, Topology::complete(plan.nodes), &mut watch);
    let took = start.elapsed();
    let run = run.expect("links take time, so time passes");
    let arrivals = run.messages.values().map(|row| row.received).sum::<u64>();
    let entries = run.requests.len() as u64;
    Measured {
        // Each message arrives, and each client arrives and leaves.
        events: arrivals + 2 * entries,
        in_flight: in_flight / reports.max(1),
        entries,
        took,
    }
}

/// Takes `events` events out of a binary heap and puts each back in at a random later moment.
fn bare(seed: u64, in_flight: usize, events: u64) -> f64 {
    let mut draw = Draw::new([seed]);
    let mut sequence = 0_u64;
    let mut heap = BinaryHeap::with_capacity(in_flight + 1);
    for _ in 0..in_flight.max(1) {
        heap.push(Reverse((draw.below(GAP_NS), sequence)));
        sequence += 1;
    }
    let start = Instant::now();
    for _ in 0..events {
        let Reverse((at_ns, _)) = heap.pop().expect("what was taken out is put back in");
        heap.push(Reverse((at_ns + draw.below(GAP_NS), sequence)));
        sequence += 1;
    }
    let took = start.elapsed();
    black_box(heap);
    events as f64 / took.as_secs_f64()
}

/// The longest time to the next event in the bare loop.
const GAP_NS: u64 = 1_000_000_000;
