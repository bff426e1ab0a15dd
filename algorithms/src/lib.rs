//! Distributed mutual exclusion algorithms as pure state machines.
//!
//! An algorithm is a value that reacts to events and says what to do; it never does it itself. It
//! knows no clock, no socket, no thread and no random source, so the same value runs under the
//! transcript tests, in the simulator, in the explorer and in a process that speaks UDP.
//!
//! Start with [`contract`], then open any algorithm's file beside its paper. [`registry`] says what
//! there is; [`erased`] hides the types so that the engines are compiled once.

pub mod contract;
pub mod erased;
pub mod params;
pub mod printed;
pub mod registry;
pub mod setup;
pub mod topology;

mod common;
mod controller;
mod coordinator;
mod permission;
mod structure;
mod token;
mod voting;

pub use contract::{After, Algorithm, Change, Effect, Message, NodeId, Outbox, Request, Timer};
pub use controller::taxonomy;
pub use permission::sanders;
pub use setup::{Setting, Setup};
pub use topology::Topology;
