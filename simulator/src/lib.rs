//! simulator

pub mod explore;
