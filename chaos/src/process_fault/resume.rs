//! The end of a pause: `resume 2`.

use super::ProcessEffect;

plain_fault! {
    /// A paused process goes on.
    Resume does ProcessEffect::Continue;
    "resume WHO", as in "at 5s resume 2": "A paused process goes on."
}
