//! The explorer, on toys that are wrong on purpose, on everything in the registry, and against an
//! independent model of the same worlds.

mod banta;
mod cells;
mod chosen;
mod cross_check;
mod events;
mod links;
mod maps;
mod registry;
mod replays;
mod structures;
mod toys;
mod variants;
mod votes;
mod wrong;
