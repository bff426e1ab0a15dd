//! One member of a group: what it is told, what it does on an event, and what it records.

pub mod agenda;
pub mod conductor;
pub mod control;
mod demand;
pub mod frame;
pub mod ledger;
pub mod lookout;
mod mail;
mod measure;
mod meddler;
pub mod members;
pub mod mischief;
pub mod plan;
pub mod record;
pub mod referee;
pub mod run;
pub mod runtime;
pub mod stamp;
pub mod tally;
mod timers;
pub mod trace;
pub mod transport;
pub mod workload;

pub use meddler::HeldId;
pub use timers::TimerId;
