//! One member of a group: what it is told, what it does on an event, and what it records.

pub mod frame;
pub mod plan;
pub mod run;
pub mod workload;
