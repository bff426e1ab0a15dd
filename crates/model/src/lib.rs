//! The vocabulary of a run: what is planned, what happens, and what is known when it is over.

pub mod engine;
pub mod event;
pub mod plan;
pub mod run;
pub mod time;
pub mod workload;
