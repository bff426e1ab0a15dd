//! The same members in virtual time, and every schedule of a small world.
//!
//! [`run`] takes a plan from its first event to its last without waiting for anything. What a member
//! does on an event is `member`'s, what a link does to a packet is `chaos`'s; the simulator keeps the
//! time. The same plan gives the same run, to the byte. [`explore`] tries every schedule instead.
//!
//! ```
//! use algorithms::registry;
//! use model::engine::Silent;
//! use model::plan::Plan;
//!
//! let raymond = registry::find("raymond").expect("it is registered");
//! let plan = Plan::usual(raymond, 5, 1);
//! let run = simulator::run(&plan, &mut Silent)?;
//! assert!(run.requests.iter().all(|request| request.left_ns.is_some()));
//! assert_eq!(run, simulator::run(&plan, &mut Silent)?);
//! # Ok::<(), model::engine::EngineError>(())
//! ```

pub mod explore;
mod links;
mod queue;
mod world;

use algorithms::Topology;
use algorithms::erased::Machine;
use algorithms::registry::{AlgorithmInfo, LinkContract};
use chaos::span::show_ns;
use model::engine::{EngineError, Observer};
use model::plan::Plan;
use model::run::Run;
use thiserror::Error;
use transport::Overflow;

/// Runs a plan in virtual time.
pub fn run(plan: &Plan, observer: &mut dyn Observer) -> Result<Run, EngineError> {
    let topology = plan.build_topology();
    let topology = topology.map_err(|error| EngineError::Plan(error.to_string()))?;
    Ok(simulate(plan, topology, observer)?)
}

/// Runs a plan on a topology that is already built.
pub fn simulate(
    plan: &Plan,
    topology: Topology,
    observer: &mut dyn Observer,
) -> Result<Run, Stuck> {
    simulate_machine(plan.machine(), plan, topology, observer)
}

/// Like [`simulate`], with a machine that need not be registered and needs what the plan's
/// algorithm needs.
pub fn simulate_machine(
    machine: &dyn Machine,
    plan: &Plan,
    topology: Topology,
    observer: &mut dyn Observer,
) -> Result<Run, Stuck> {
    simulate_needy(machine, Needs::of(plan.info()), plan, topology, observer)
}

/// Like [`simulate_machine`], with a machine that needs something else.
pub fn simulate_needy(
    machine: &dyn Machine,
    needs: Needs,
    plan: &Plan,
    topology: Topology,
    observer: &mut dyn Observer,
) -> Result<Run, Stuck> {
    world::World::new(machine, needs, plan, topology, observer).run()
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

/// Why a run cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Stuck {
    /// Time no longer passes.
    #[error(
        "time stands still: more than {events} events at {}; give links, holds or thoughts some length",
        show_ns(*.at_ns)
    )]
    Standstill {
        /// The moment at which time stands still.
        at_ns: u64,
        /// How many events happened at that moment.
        events: u64,
    },
    /// A member has more to send than it may keep.
    #[error("a member must stop: {0}")]
    Overflow(#[from] Overflow),
}

impl From<Stuck> for EngineError {
    fn from(stuck: Stuck) -> Self {
        match stuck {
            // Time stands still because the scenario says so.
            Stuck::Standstill { .. } => Self::Plan(stuck.to_string()),
            Stuck::Overflow(_) => Self::Testbed(stuck.to_string()),
        }
    }
}
