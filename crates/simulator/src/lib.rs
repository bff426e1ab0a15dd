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
use algorithms::registry::{AlgorithmInfo, LinkContract};
use chaos::span::show_ns;
use model::event::Event;
use model::plan::Plan;
use model::run::Run;
use thiserror::Error;
use transport::Overflow;

/// Runs a plan on its topology. Now and then `watch` is told how far it has come, and may end it.
pub fn simulate(
    plan: &Plan,
    topology: Topology,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Run, Stuck> {
    simulate_machine(plan.machine(), plan, topology, watch)
}

/// The same for a plan that asks for a trace: whoever is given is told of every event.
pub fn simulate_traced(
    plan: &Plan,
    topology: Topology,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    tracer: Tracer<'_>,
) -> Result<Run, Stuck> {
    let world = world::World::new(plan.machine(), Needs::of(plan.info()), plan, topology);
    world.traced(tracer).run(watch)
}

/// Whoever is told of every event of a run.
pub type Tracer<'a> = &'a mut dyn FnMut(&Event);

/// The same with a machine that need not be registered and needs what the plan's algorithm needs.
pub fn simulate_machine(
    machine: &dyn Machine,
    plan: &Plan,
    topology: Topology,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Run, Stuck> {
    simulate_needy(machine, Needs::of(plan.info()), plan, topology, watch)
}

/// The same with a machine that needs something else.
pub fn simulate_needy(
    machine: &dyn Machine,
    needs: Needs,
    plan: &Plan,
    topology: Topology,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Run, Stuck> {
    world::World::new(machine, needs, plan, topology).run(watch)
}

/// What an algorithm needs of the world around it, besides messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// What a cut link does to messages.
    pub links: LinkContract,
    /// Whether it wants to know of links that go down or come up.
    pub link_events: bool,
    /// Whether it wants to know of members that died.
    pub peer_events: bool,
}

impl Needs {
    /// What a registered algorithm needs.
    pub fn of(info: &AlgorithmInfo) -> Self {
        Self {
            links: info.link_contract,
            link_events: info.wants_link_events(),
            peer_events: info.wants_peer_events(),
        }
    }
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
