//! The explorer, on toys that are wrong on purpose, on everything in the registry, and against an
//! independent model of the same worlds.

mod banta;
mod cells;
mod chosen;
mod cross_check;
mod events;
mod links;
mod registry;
mod replays;
mod structures;
mod toys;
mod votes;
mod wrong;
