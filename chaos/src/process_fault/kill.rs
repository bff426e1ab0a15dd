//! A death: `kill 3`.

use super::ProcessEffect;

plain_fault! {
    /// The process dies, and nothing takes its place.
    Kill does ProcessEffect::End { start_after_ns: None };
    "kill WHO", as in "when enter 3 kill 3": "The process dies at once."
}
