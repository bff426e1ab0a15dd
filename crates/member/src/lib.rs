//! One member as a value: what it does on an event, and when a run is over.

pub mod conductor;
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
