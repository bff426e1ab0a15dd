//! A member as a value: it turns events into effects. The rules that both engines share are here
//! too: whom a fault strikes, what a run's account says, and when a run is over.
//!
//! There is no socket, no file and no clock here. An engine says what happens and at which
//! nanosecond, and carries out the effects; so a run in virtual time and a run of processes decide
//! alike.
//!
//! ```
//! use algorithms::{NodeId, registry};
//! use member::members::{Effect, Input, Members};
//! use model::plan::Plan;
//!
//! let info = registry::find("naimi-trehel").expect("it is registered");
//! let plan = Plan::usual(info, 3, 1);
//! let setting = plan.setting(plan.build_topology()?);
//! let mut members = Members::new(&plan, &setting, 0..3);
//! // The first client of member 1 arrives. Member 0 has the token, so member 1 asks it.
//! let (now_ns, alarm) = members.opening()[1];
//! let mut effects = Vec::new();
//! members.handle(now_ns, NodeId(1), Input::Alarm(alarm), &mut effects);
//! assert!(matches!(effects.last(), Some(Effect::Send { to: NodeId(0), .. })));
//! # Ok::<(), algorithms::topology::TopologyError>(())
//! ```

pub mod faults;
pub mod ledger;
mod mail;
mod measure;
pub mod members;
pub mod referee;
mod requests;
#[cfg(test)]
mod sample;
pub mod tally;
pub mod timer_queue;
mod timers;
pub mod trace;

pub use faults::messages::HeldId;
pub use timers::TimerId;
