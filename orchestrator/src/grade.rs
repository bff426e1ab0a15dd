//! Graded exercises: a program of any author against a list of checks, each worth some points.
//!
//! ```text
//!   challenge (TOML) ──► checks ──► what became of each ──► text, JSON, JUnit
//! ```

mod challenge;
mod checking;
mod told;

pub(crate) use challenge::{Challenge, course};
pub(crate) use checking::{Answer, Checked, Graded, Terms, grade};
pub(crate) use told::{junit, object, table, text};
