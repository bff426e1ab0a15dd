//! `--workload trace`: the requests of a file, which then are a batch.

use super::{Batch, Kind};

/// The word: a plan has the requests themselves, so that the file is read once.
pub(super) const KIND: Kind = Kind {
    word: "trace",
    help: "The requests of a file",
    keys: &["arrivals"],
    shared_keys: &[],
    read: |_, group| {
        let asks = (group.requests_of_file)()?;
        let settled = false;
        Ok(Batch { asks, settled }.into())
    },
};
