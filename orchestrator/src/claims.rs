//! The sources' claims: data in `experiments/claims/`, one file for each source.
//!
//! `docs/claims.md` has every key, with an example.
//!
//! Everything in a file is checked before anything runs, and an expectation that cannot fail is a
//! mistake like any other.

mod expected;
mod file;
mod findings;
mod pages;
mod published;
mod report;
mod runner;
mod search;
mod table;

pub(crate) use expected::TestKeys;
pub(crate) use file::{Claim, ClaimFile, check_papers, claim_files, numbers_of};
pub(crate) use findings::Findings;
pub(crate) use pages::{of_sources, overview};
pub(crate) use published::Published;
pub(crate) use report::{Picture, Questions, counted, page};
pub(crate) use runner::{ClaimRunner, apart};
pub(crate) use table::{ClaimResult, ClusterResult, csv};
#[cfg(test)]
pub(crate) use {file::ClaimKeys, file::FileKeys, published::PublishedKeys};

/// Where the claim files are, in the repository.
pub(crate) const CLAIMS: &str = "experiments/claims";
/// Where the published numbers are.
pub(crate) const PAPERS: &str = "results/papers";
