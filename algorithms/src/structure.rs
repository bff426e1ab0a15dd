//! The token moves along the edges of a tree or of a directed graph.
//!
//! [`precedence`] is the order in which the algorithms with priorities serve.

/// A section of the book that MRA, FAPP and LFRT come from.
macro_rules! kanrar {
    ($section:literal) => {
        concat!(
            "S. Kanrar, N. Chaki, S. Chattopadhyay, \"Concurrency Control in Distributed System ",
            "Using Mutual Exclusion\", Springer 2018, ",
            $section
        )
    };
}

pub(crate) mod fapp;
pub(crate) mod lfrt;
pub(crate) mod mra;
pub(crate) mod precedence;
pub(crate) mod raymond;
