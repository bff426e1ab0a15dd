//! What is true of every algorithm in the registry, under every workload and on many seeds, and
//! what the simulator owes to all of them. A failure prints the plan, seed included.

mod always;
mod bursts;
mod cells;
#[path = "../common/variants.rs"]
mod common;
mod costs;
mod ends;
mod orders;
mod repeats;
mod replays;
mod structures;
mod tables;
mod token_queues;
mod toys;
mod trees;
mod variants;
mod views;
mod workloads;
mod worlds;
