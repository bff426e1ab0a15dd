//! The transport over networks that misbehave, in virtual time.

mod history;
mod patient;
mod restarts;
mod sessions;
mod world;
