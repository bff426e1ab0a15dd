//! A pause: `pause 2 for 1s`.

use super::ProcessEffect;

plain_fault! {
    /// The process stops, and goes on when the fault is over.
    Pause does ProcessEffect::Stop;
    "pause WHO", as in "at 4s pause 2 for 1s": "The process stops, and goes on when the fault is over."
}
