//! What the person may want, as the page says it.

use serde::Deserialize;

/// Something that the person wants.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "act", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Act {
    /// Stop the time of the run.
    Stop,
    /// Let the time of the run go on.
    GoOn,
    /// One more event happens, and time stands still then (simulator).
    Step,
    /// So many times as fast as before.
    Faster {
        /// Below 1 it is slower.
        times: f64,
    },
    /// A client at this node wants in.
    Ask {
        /// The node of the client.
        node: u32,
    },
    /// The client inside at this node leaves.
    Leave {
        /// The node of the client.
        node: u32,
    },
    /// A fault, in the words of `--fault` without a time.
    Fault {
        /// Such as `kill 3`.
        words: String,
    },
    /// Nothing more will be done.
    Finish,
}
