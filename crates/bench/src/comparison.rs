//! A ratio of the product to a limit measured in the same run.
//!
//! Product and limit take turns, at least five times, so that whatever else the machine does hits
//! both; what counts is the median of the ratios.

use tempfile::TempDir;

use orchestrator::Failure;
use orchestrator::numbers::count;
use orchestrator::table::Table;

/// The product against a limit, measured several times.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// The name of what was measured.
    pub(crate) what: String,
    /// The unit of the measurements, such as `hand-offs/s`.
    pub(crate) unit: &'static str,
    /// The measured pairs of product and limit, each taken right after the other.
    pub(crate) pairs: Vec<(f64, f64)>,
    /// The wanted ratio of product to limit.
    pub(crate) wanted: Wanted,
}

/// The bound on a ratio.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    AtLeast(f64),
    AtMost(f64),
}

impl Comparison {
    /// The median of the ratios, and the smallest and the largest.
    pub(crate) fn ratio(&self) -> (f64, f64, f64) {
        let ratios = sorted(self.pairs.iter().map(|(product, limit)| product / limit));
        (median(&ratios), ratios[0], ratios[ratios.len() - 1])
    }

    pub(crate) fn is_met(&self) -> bool {
        match self.wanted {
            Wanted::AtLeast(least) => self.ratio().0 >= least,
            Wanted::AtMost(most) => self.ratio().0 <= most,
        }
    }
}

/// The comparisons as a table that a person reads.
pub(crate) fn show(comparisons: &[Comparison]) -> String {
    shown(comparisons, false)
}

/// The same as text, or as Markdown.
pub(crate) fn shown(comparisons: &[Comparison], markdown: bool) -> String {
    let mut table = Table::new(["what", "product", "limit", "ratio", "range", "wanted", ""]);
    for comparison in comparisons {
        let product = median(&sorted(comparison.pairs.iter().map(|pair| pair.0)));
        let limit = median(&sorted(comparison.pairs.iter().map(|pair| pair.1)));
        let (ratio, least, most) = comparison.ratio();
        let wanted = match comparison.wanted {
            Wanted::AtLeast(least) => format!("≥ {least}"),
            Wanted::AtMost(most) => format!("≤ {most}"),
        };
        table.row([
            &comparison.what,
            &format!("{} {}", count(product as u64), comparison.unit),
            &count(limit as u64),
            &format!("{ratio:.2}"),
            &format!("{least:.2}..{most:.2}"),
            &wanted,
            if comparison.is_met() { "met" } else { "missed" },
        ]);
    }
    table.shown(markdown)
}

/// The directory in which measured runs leave their files.
pub(crate) fn directory() -> Result<TempDir, Failure> {
    let made = tempfile::Builder::new()
        .prefix("turnstile-bench-")
        .tempdir();
    made.map_err(|error| Failure::Testbed(format!("no temporary directory: {error}")))
}

pub(crate) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values = values.collect::<Vec<_>>();
    values.sort_by(f64::total_cmp);
    values
}

/// The middle of sorted values.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    let (low, high) = ((sorted.len() - 1) / 2, sorted.len() / 2);
    f64::midpoint(sorted[low], sorted[high])
}
