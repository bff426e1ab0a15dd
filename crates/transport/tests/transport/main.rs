//! The transport over networks that misbehave, in virtual time.

mod history;
mod hostile;
mod limits;
mod patient;
mod restarts;
mod sessions;
mod timing;
mod world;
