//! The token moves along the edges of a tree or of a directed graph.
//!
//! [`precedence`] is the order in which the algorithms with priorities serve.

pub(crate) mod fapp;
pub(crate) mod lfrt;
pub(crate) mod mra;
pub(crate) mod precedence;
pub(crate) mod raymond;
