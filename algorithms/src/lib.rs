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
pub mod sanders;
pub mod setup;
pub mod topology;

mod attempts;
mod banta_efficient;
mod banta_k;
mod banta_simple;
mod bmav;
mod broadcast;
mod carvalho_roucairol;
mod centralised;
mod controller;
mod fapp;
mod lamport;
mod lfrt;
mod maekawa;
mod mra;
mod naimi_trehel;
mod naimi_trehel_queue;
mod nhme;
mod precedence;
mod quorums;
mod raymond;
mod raymond_k;
mod ricart_agrawala;
mod ricart_agrawala_token;
mod singhal_dynamic;
mod singhal_heuristic;
mod stamp;
mod suzuki_kasami;
mod tb_dva;
mod thomas;
mod votes;

pub use contract::{After, Algorithm, Change, Effect, Message, NodeId, Outbox, Request, Timer};
pub use controller::taxonomy;
pub use setup::{Setting, Setup};
pub use topology::Topology;
