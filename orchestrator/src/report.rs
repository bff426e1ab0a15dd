//! Pages for people: what came out, with pictures, in one file that opens anywhere.

#[allow(
    dead_code,
    reason = "the pictures of runs and the links of sweeps use the rest"
)]
pub(crate) mod page;
mod run;

pub(crate) use run::page as of_run;
