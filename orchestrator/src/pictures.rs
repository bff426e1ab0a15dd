//! Pictures as SVG: charts of sweeps and comparisons, and what happened in one run.
//!
//! ```text
//!   palette ─┐
//!   axis ────┼─► canvas ─┬─► line_chart, heat_map (sweep), dot_chart (compare)
//!            │           └─► waits, order, occupancy, messages, priorities, space_time (one run)
//!            └─────────────► structure (Sanders' information structures)
//! ```
//!
//! Colours are written as they are on white paper; the style of a page replaces them where it is
//! dark. A picture shows no more than its pixels, and of very many requests every n-th; its caption
//! says what is left out, so a page stays small however long its run was.

mod axis;
mod canvas;
pub(crate) mod dot_chart;
mod faults;
pub(crate) mod heat_map;
pub(crate) mod line_chart;
mod messages;
mod occupancy;
mod order;
pub(crate) mod palette;
mod pixels;
mod priorities;
mod space_time;
mod structure;
mod waits;

pub(crate) use faults::lasts_throughout;
pub(crate) use messages::by_kind;
pub(crate) use occupancy::occupancy;
pub(crate) use order::order;
#[cfg(test)]
pub(crate) use palette::COLOURS;
pub(crate) use priorities::{overtaking_by_priority, wait_by_priority};
pub(crate) use space_time::space_time;
pub(crate) use structure::information_structure;
pub(crate) use waits::{wait_over_time, wait_percentiles};

/// A picture as SVG, and what it shows.
pub(crate) struct Picture {
    pub(crate) svg: String,
    pub(crate) caption: String,
}

/// The width of every picture; a page scales it.
const WIDTH: f64 = 900.0;
/// Room for the numbers and the label below an axis.
const BELOW: f64 = 50.0;
/// The lower edge, and the height, of a picture that has no lanes.
const BOTTOM: f64 = 258.0;
const HEIGHT: f64 = BOTTOM + BELOW;
/// The edges of what is drawn along a run's time.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 880.0;
const TOP: f64 = 52.0;
