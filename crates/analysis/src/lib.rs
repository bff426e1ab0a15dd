//! From the records of a run to checks, metrics, theory and a verdict.
//!
//! Everything here is a function of a [`Plan`] and a [`Run`], whichever engine made it; only
//! [`files`] touches the disk. Start with [`judge`]:
//!
//! ```
//! use algorithms::registry;
//! use analysis::{Verdict, judge};
//! use model::engine::Silent;
//! use model::plan::Plan;
//!
//! let raymond = registry::find("raymond").expect("it is registered");
//! let plan = Plan::usual(raymond, 5, 1);
//! let topology = plan.build_topology().expect("five nodes make a tree");
//! let run = simulator::run(&plan, &mut Silent).expect("time passes");
//!
//! let judgement = judge(&plan, &topology, &run);
//! assert_eq!(judgement.verdict, Verdict::Holds);
//! assert_eq!((judgement.summary.entries, judgement.summary.max_inside), (25, 1));
//! ```
//!
//! Each of the three properties has a module: `safety`, `liveness` and `well_formedness`. A number
//! is a row of a table: a column of `summary.csv` in `summary`, what only claims and sweeps ask for in
//! [`quantity`].

#![warn(unreachable_pub)]

pub mod aggregate;
pub mod claims;
pub mod expression;
pub mod files;
pub mod quantity;
pub mod replay;
pub mod statistics;
pub mod view;

mod certificate;
mod clocks;
mod columns;
mod contention;
mod fault_lines;
mod judgement;
mod liveness;
mod measured;
mod observed;
mod occupancy;
mod order;
mod priorities;
mod prose;
mod safety;
mod settings;
mod summary;
mod suspicion;
mod theory;
mod times;
mod well_formedness;
mod wire;

#[cfg(test)]
mod fixtures;

pub use certificate::Certified;
pub use columns::{Column, Kind, Value};
pub use fault_lines::FaultLine;
pub use files::{Recheck, recheck};
pub use judgement::{Judgement, Property, Status, Verdict};
pub use priorities::PriorityLine;
pub use summary::Summary;
pub use theory::{TheoryLine, cost_of};

use algorithms::Topology;
use model::plan::Plan;
use model::run::Run;

/// How long each measured request waited, in nanoseconds, ascending.
pub fn waits(plan: &Plan, run: &Run) -> Vec<u64> {
    times::Times::waits(run, &measured::Measured::of(plan, run)).into_ascending()
}

/// Checks and measures a run.
///
/// # Panics
/// If the plan was not made from the registry.
pub fn judge(plan: &Plan, topology: &Topology, run: &Run) -> Judgement {
    judgement::judge(plan.info(), plan, topology, run)
}
