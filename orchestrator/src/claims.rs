//! The sources' claims: data in `experiments/claims/`, one file for each source.
//!
//! `docs/claims.md` has every key, with an example.
//!
//! Everything in a file is checked before anything runs, and an expectation that cannot fail is a
//! mistake like any other.

mod expected;
mod file;
mod published;
mod report;
mod search;
mod table;
mod trial;

pub(crate) use file::{Book, Claim, books, check_papers};
pub(crate) use report::{Picture, Questions, counted, page};
pub(crate) use table::{Real, Tried, csv, markdown};
pub(crate) use trial::Trial;
#[cfg(test)]
pub(crate) use {
    expected::Words as TestKeys, file::ClaimWords as ClaimKeys, file::Words as FileKeys,
    published::Words as PublishedKeys,
};

/// Where the claim files are, in the repository.
pub(crate) const CLAIMS: &str = "experiments/claims";
/// Where the published numbers are.
pub(crate) const PAPERS: &str = "results/papers";
