//! The same members in virtual time, and every schedule of a small world.
//!
//! [`simulate`] runs a plan from its first event to its last without waiting for anything. What a
//! member does on an event is `node`'s, how long a link takes is `chaos`'s; the simulator keeps the
//! time. The same plan gives the same run, to the byte. [`explore`] tries every schedule instead.

pub mod bench;
pub mod explore;
mod links;
mod queue;
mod world;

use std::ops::ControlFlow;

use algorithms::Topology;
use algorithms::erased::Machine;
use chaos::span::show_ns;
use node::plan::Plan;
use node::run::Run;
use node::transport::Overflow;
use thiserror::Error;

/// Runs a plan on its topology. Now and then `watch` is told how far it has come, and may end it.
pub fn simulate(
    plan: &Plan,
    topology: Topology,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Run, Stuck> {
    simulate_machine(plan.machine(), plan, topology, watch)
}

/// The same with a machine that need not be registered.
pub fn simulate_machine(
    machine: &dyn Machine,
    plan: &Plan,
    topology: Topology,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Run, Stuck> {
    world::World::new(machine, plan, topology).run(watch)
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Its virtual time.
    pub now_ns: u64,
    /// Entries so far.
    pub entries: u64,
    /// Events so far: messages that arrived and alarms that went off.
    pub events: u64,
    /// Events that are certain to come: messages under way and alarms armed.
    pub in_flight: usize,
}

/// Why a run cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Stuck {
    /// Time no longer passes.
    #[error(
        "time stands still: more than {events} events at {}; give links, holds or thoughts some length",
        show_ns(*.at_ns)
    )]
    Standstill {
        /// When.
        at_ns: u64,
        /// How many events that moment had.
        events: u64,
    },
    /// A member has more to send than it may keep.
    #[error("a member must stop: {0}")]
    Overflow(#[from] Overflow),
}
