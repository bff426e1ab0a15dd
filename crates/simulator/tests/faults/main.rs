//! What goes wrong in a simulated world, and that every fault acted as it should.

mod banta;
mod cells;
#[path = "../common/variants.rs"]
mod common;
mod digraphs;
mod laws;
mod links;
mod members;
mod news;
mod recovery;
mod scenes;
mod silence;
mod variants;
mod votes;
