//! `--workload manual`: nobody asks but the person at the live page.

use super::{KeyError, Kind};

/// The word: no plan has it. What the person asked for is a batch then, so that the run can be repeated.
pub(super) const KIND: Kind = Kind {
    word: "manual",
    help: "Nobody asks but the person at the page of run --live",
    keys: &[],
    shared_keys: &[],
    read: |_, _| {
        let why = "nobody asks but the person at the page of `orchestrator run … --live`";
        Err(KeyError::new("workload", why))
    },
};
