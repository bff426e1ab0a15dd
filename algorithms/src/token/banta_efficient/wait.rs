//! How long a new cycle waits for late requests: `2T`, `2.5T`, `30ms`, `0s`.

use std::time::Duration;

use crate::common::time;
use crate::params::{Param, Params};
use crate::setup::Setup;

/// The parameter, as both algorithms that wait have it.
pub(crate) const PARAM: Param = Param::text(
    "wait",
    "2T",
    "how long a new cycle waits for late requests, in bounds T or as a time: 2T, 2.5T, 30ms",
)
.such_as(&["0s", "1T", "2T", "2.5T", "5T", "3ms"]);

/// The wait of this run.
pub(crate) fn of(setup: &Setup<'_>) -> Duration {
    time::of(setup, PARAM.name)
}

/// Why the wait cannot be read, where it cannot.
pub(crate) fn refuses(params: &Params, _: u32) -> Option<String> {
    time::refuses(params, PARAM.name)
}
