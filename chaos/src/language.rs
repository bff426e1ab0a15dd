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
//! say what would be right there. A [`FaultSpec`] prints itself in one canonical way, which reads back as
//! the same value. The words are netem's where netem has one; [`glossary`] lists them all with their
//! meaning, and where it differs from netem's.

mod actions;
mod cursor;
mod delays;
mod error;
pub mod glossary;
mod hosts;
mod links;
mod members;
mod schedule;
mod scope;
mod spec;
mod triggers;

pub(crate) use cursor::{Cursor, Token};
pub use error::FaultError;
pub(crate) use glossary::Word;
pub use hosts::HostFault;
pub(crate) use links::Form;
pub use members::Who;
pub use schedule::{Schedule, Start};
pub use scope::Scope;
pub(crate) use scope::{Part, Print, Printer, display_as_printed};
pub use spec::{Action, Choice, DelayLaw, FaultSpec, FaultText, LinkFault, PartitionGroups};
pub use triggers::{By, MessageFault, Selector, Trigger};
