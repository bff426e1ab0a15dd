//! The migrating-controller framework.
//!
//! S. Rana, K. Raman, V. Chaudhary, "Migrating controller based framework for mutual exclusion in
//! distributed systems", Wayne State University.
//!
//! One node is controller and decides who enters; the role may move. The paper's observation is that
//! two questions can be answered apart from each other: *where are the pending requests*
//! (REQUESTS_INFO) and *when and where does the role move* (MIGRATION_INFO). Each pair of answers is
//! an algorithm, and its table of them has 25 cells:
//!
//! ```text
//!                        never    static routing         dynamic routing
//!                                 each    counter, timer each    counter, timer     columns
//!     centralised queue                                          CDC                migration_info
//!     distributed queue                                          DDC
//!     hierarchical
//!     ring
//!     replicated queue
//!         rows
//!      requests_info
//! ```
//!
//! Here a row is a value behind [`requests_info::RequestsInfo`], a column one behind
//! [`migration_info::MigrationInfo`], and [`kernel`] runs any such pair. That is so for three rows;
//! the collections of the other two are spread over nodes that the role has to visit, and their
//! machines share only the columns with the kernel ([`rows`] says which).
//!
//! [`cdc`] and [`ddc`] are the two algorithms that the paper derives, [`martin`] is one that it
//! names, and [`framework`] is any pair, chosen by parameters; [`taxonomy`] lists the cells.

mod cdc;
mod chosen;
mod columns;
mod ddc;
mod defects;
mod forms;
mod framework;
mod invariants;
mod kernel;
mod martin;
mod members;
mod migration_info;
mod news;
mod numbers;
mod parameters;
mod ranks;
mod requests_info;
mod rows;
mod rules;
mod target;
pub mod taxonomy;
mod tenure;

pub(crate) use cdc::INFO as CDC;
pub(crate) use ddc::INFO as DDC;
pub(crate) use framework::INFO as FRAMEWORK;
pub(crate) use martin::INFO as MARTIN;
