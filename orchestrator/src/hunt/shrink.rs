//! The smallest scenario that fails in the same way.
//!
//! One thing after the other is left out or made simpler, and stays so where the run still fails, with
//! its own seed or one of a few others. That is repeated until nothing more can go.

use algorithms::registry::AlgorithmInfo;
use chaos::FaultSpec;
use chaos::language::Start;
use model::run::Engine;
use model::workload::Span;

use super::failure::{Failure, What};
use super::trial;
use crate::scenario::{List, Scenario, Time, find_algorithm};

/// At most so many runs for one failure.
const MOST_RUNS: u64 = 4_000;

/// A run without an end takes as long as thousands of others.
const MOST_ENDLESS_RUNS: u64 = 40;

/// How many seeds a simpler scenario has to fail with.
const SEEDS: u64 = 12;

/// A scenario that fails, and how.
pub(super) struct Shrunk {
    pub(super) scenario: Scenario,
    pub(super) failure: Failure,
}

struct Shrinker<'a> {
    best: Scenario,
    failure: Failure,
    runs: u64,
    stopped: &'a dyn Fn() -> bool,
}

/// Makes a scenario that fails in the simulator as small as it gets.
pub(super) fn shrink(scenario: Scenario, failure: Failure, stopped: &dyn Fn() -> bool) -> Shrunk {
    let mut search = Shrinker {
        best: scenario,
        failure,
        runs: 0,
        stopped,
    };
    while search.pass() {}
    let Shrinker {
        best: scenario,
        failure,
        ..
    } = search;
    Shrunk { scenario, failure }
}

/// The keys that a scenario can do without; what comes first is simplest to miss.
const OPTIONAL: [&str; 30] = [
    "name",
    "warm-up",
    "trace",
    "time-limit",
    "clients",
    "weights",
    "priority",
    "detect-after",
    "detector",
    "silence",
    "transport",
    "schedule",
    "bound",
    "links",
    "holder",
    "topology",
    "loss",
    "duplicate",
    "reorder",
    "settled",
    "think",
    "hold",
    "delay",
    "gap",
    "rate",
    "within",
    "askers",
    "duration",
    "total",
    "entries",
];

impl Shrinker<'_> {
    /// Tries everything once; whether something went.
    fn pass(&mut self) -> bool {
        let mut smaller = false;
        for nth in (0..self.best.fault.len()).rev() {
            smaller |= self.try_out(|scenario| {
                (nth < scenario.fault.len()).then(|| {
                    scenario.fault.remove(nth);
                })
            });
        }
        for key in OPTIONAL {
            smaller |= self.try_out(|scenario| {
                scenario.keys().contains(key).then(|| {
                    *scenario = scenario.clone().without(&[key]);
                })
            });
        }
        for nth in (0..self.best.params.len()).rev() {
            smaller |= self.try_out(|scenario| {
                (nth < scenario.params.len()).then(|| {
                    scenario.params.remove(nth);
                })
            });
        }
        smaller |= self.fewer_nodes();
        smaller |= self.fewer_entries();
        smaller |= self.simpler();
        smaller |= self.simpler_faults();
        smaller | self.smaller_seed()
    }

    /// Makes the change, if there is one to make, and keeps it if the run still fails.
    fn try_out(&mut self, change: impl FnOnce(&mut Scenario) -> Option<()>) -> bool {
        let mut changed = self.best.clone();
        if change(&mut changed).is_none() || changed == self.best {
            return false;
        }
        let own = changed.seed;
        let seeds = own
            .into_iter()
            .chain((1..=SEEDS).filter(|seed| own != Some(*seed)));
        for seed in seeds {
            let scenario = Scenario {
                seed: Some(seed),
                ..changed.clone()
            };
            if let Some(failure) = self.fails(&scenario) {
                self.best = scenario;
                self.failure = failure;
                return true;
            }
        }
        false
    }

    /// How the scenario fails, if it does and in the same way.
    fn fails(&mut self, scenario: &Scenario) -> Option<Failure> {
        let most = match self.failure.what {
            What::Endless => MOST_ENDLESS_RUNS,
            _ => MOST_RUNS,
        };
        if self.runs >= most || (self.stopped)() {
            return None;
        }
        let resolved = scenario.resolve().ok()?;
        self.runs += 1;
        let twice = matches!(self.failure.what, What::Repeat | What::Files);
        let done = trial::simulated(scenario, &resolved, twice, self.stopped);
        done.failure
            .filter(|failure| failure.is_like(&self.failure))
    }

    fn fewer_nodes(&mut self) -> bool {
        let Some(nodes) = self.best.nodes else {
            return false;
        };
        let Some(info) = self.info() else {
            return false;
        };
        let sizes = [1, 2, 3, 4, 5, 6, nodes / 2, nodes - nodes.min(1)];
        let sizes = sizes
            .into_iter()
            .filter(|&size| size < nodes && info.admits_size(size));
        for size in sizes.collect::<Vec<_>>() {
            // Those who are gone neither ask nor fail.
            let of_the_rest = |scenario: &mut Scenario| {
                scenario.nodes = Some(size);
                if let Some(List(asks)) = &mut scenario.asks {
                    asks.retain(|ask| ask.0.node.0 < size);
                }
                if let Some(List(weights)) = &mut scenario.weights {
                    weights.truncate(size as usize);
                }
                if let Some(List(priority)) = &mut scenario.priority {
                    priority.truncate(size as usize);
                }
                scenario.askers = scenario.askers.map(|askers| askers.min(size));
                Some(())
            };
            if self.try_out(of_the_rest) {
                return true;
            }
        }
        false
    }

    fn info(&self) -> Option<&'static AlgorithmInfo> {
        find_algorithm(self.best.algorithm.as_deref()?).ok()
    }

    fn fewer_entries(&mut self) -> bool {
        let mut fewer = false;
        for less in [less_at_once, less_by_half, less_by_one] {
            fewer |= self.try_out(|scenario| {
                scenario.entries = scenario.entries.map(less);
                scenario.total = scenario.total.map(less);
                scenario.askers = scenario.askers.map(|askers| less(askers.into()) as u32);
                Some(())
            });
        }
        let asks = self.best.asks.as_ref().map_or(0, |List(asks)| asks.len());
        for nth in (0..asks).rev() {
            fewer |= self.try_out(|scenario| {
                let List(asks) = scenario.asks.as_mut()?;
                (asks.len() > 1 && nth < asks.len()).then(|| {
                    asks.remove(nth);
                })
            });
        }
        fewer
    }

    fn simpler(&mut self) -> bool {
        const MS: u64 = 1_000_000;
        let constant = |ns| Some(List(vec![Span::Constant(ns)]));
        let mut simpler = false;
        simpler |= self.try_out(|scenario| {
            let usual = "1ms".parse().ok();
            scenario
                .delay
                .and(usual)
                .map(|delay| scenario.delay = Some(delay))
        });
        for ns in [0, MS] {
            simpler |= self.try_out(|scenario| {
                let differs = scenario.hold.is_some() && scenario.hold != constant(MS);
                differs.then(|| scenario.hold = constant(ns))
            });
            simpler |= self.try_out(|scenario| {
                let differs = scenario.think.is_some() && scenario.think != constant(0);
                differs.then(|| scenario.think = constant(ns))
            });
        }
        simpler
    }

    fn simpler_faults(&mut self) -> bool {
        let mut simpler = false;
        for nth in 0..self.best.fault.len() {
            let changes: [fn(&mut FaultSpec) -> bool; 3] = [once, from_the_start, for_long];
            for change in changes {
                simpler |= self.try_out(|scenario| {
                    let fault = scenario.fault.get_mut(nth)?;
                    change(fault).then_some(())
                });
            }
        }
        simpler
    }

    /// A small seed is easier to type.
    fn smaller_seed(&mut self) -> bool {
        let Some(seed) = self.best.seed.filter(|seed| *seed > SEEDS) else {
            return false;
        };
        (1..=SEEDS.min(seed)).any(|seed| {
            let scenario = Scenario {
                seed: Some(seed),
                ..self.best.clone()
            };
            match self.fails(&scenario) {
                None => false,
                Some(failure) => {
                    self.best = scenario;
                    self.failure = failure;
                    true
                }
            }
        })
    }
}

fn less_at_once(_: u64) -> u64 {
    1
}

fn less_by_half(number: u64) -> u64 {
    number.div_ceil(2)
}

fn less_by_one(number: u64) -> u64 {
    number.saturating_sub(1).max(1)
}

/// Not again and again.
fn once(fault: &mut FaultSpec) -> bool {
    let Start::Every { .. } = fault.schedule.start else {
        return false;
    };
    fault.schedule.start = Start::At(0);
    fault.schedule.until_ns = None;
    true
}

fn from_the_start(fault: &mut FaultSpec) -> bool {
    match &fault.schedule.start {
        Start::At(0) | Start::Every { .. } => false,
        Start::At(_) | Start::When(_) => {
            fault.schedule.start = Start::At(0);
            true
        }
    }
}

fn for_long(fault: &mut FaultSpec) -> bool {
    const LONG: u64 = 1_000_000_000;
    let is_short = fault.schedule.for_ns.is_some_and(|ns| ns != LONG);
    if is_short && !matches!(fault.schedule.start, Start::Every { .. }) {
        fault.schedule.for_ns = Some(LONG);
        return true;
    }
    false
}

/// The scenario of processes, where it fails in the same way in the simulator, with its seed or another.
pub(super) fn found_in_simulator(
    scenario: &Scenario,
    failure: &Failure,
    stopped: &dyn Fn() -> bool,
) -> Option<Shrunk> {
    let mut search = Shrinker {
        best: in_simulator(scenario),
        failure: failure.clone(),
        runs: 0,
        stopped,
    };
    let own = scenario.seed;
    own.into_iter().chain(1..=SEEDS).find_map(|seed| {
        let scenario = Scenario {
            seed: Some(seed),
            ..search.best.clone()
        };
        let failure = search.fails(&scenario)?;
        Some(Shrunk { scenario, failure })
    })
}

/// Where a hunt looks is a time limit of processes; a simulated run needs none.
pub(super) fn in_simulator(scenario: &Scenario) -> Scenario {
    Scenario {
        engine: Some(Engine::Sim),
        time_limit: None::<Time>,
        ..scenario.clone()
    }
}
