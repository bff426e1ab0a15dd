//! What `--fault "…"` and a scenario's faults say, and how it is read.
//!
//! ```text
//! at 2s cut 3-4 for 1s
//! every 2s for 100ms loss 30% on all
//! when enter 3 kill 3
//! delay message REQ origin 3 by 4T
//! ```
//!
//! A text is read by hand, token by token, so that every [`FaultError`] can point at the place and
//! say what would be right there. An [`Entry`] prints itself in one canonical way, which reads back as
//! the same entry. The words are netem's where netem has one; [`words`] lists them all with their
//! meaning, and where it differs from netem's.

mod actions;
mod cursor;
mod delays;
mod entry;
mod error;
mod events;
mod links;
mod members;
mod schedule;
pub mod words;

pub use cursor::Scope;
pub use entry::{Action, Choice, DelayLaw, Entry, FaultText, LinkFault, Parting};
pub use error::FaultError;
pub use events::{By, Event, MessageFault, Selector};
pub use members::Who;
pub use schedule::{Schedule, Start};
