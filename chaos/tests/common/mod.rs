//! A group of members that send packets, and some statistics.
#![allow(dead_code, reason = "each test file uses its own part")]

use chaos::timeline::Group;
use chaos::{Fate, FaultSpec, Network, Timeline};

/// The seed of all tests: fixed, and not chosen for its results.
pub(crate) const SEED: u64 = 20_260_101;

/// The timeline of these faults in a complete group.
pub(crate) fn timeline(nodes: u32, faults: &[&str]) -> Timeline {
    let specs = faults.iter().map(|text| {
        let spec: Result<FaultSpec, _> = text.parse();
        spec.unwrap_or_else(|error| panic!("{error}"))
    });
    let group = Group::complete(nodes, SEED);
    let timeline = Timeline::resolve(&specs.collect::<Vec<_>>(), &group);
    timeline.unwrap_or_else(|error| panic!("{error}"))
}

/// A network of ten members with these faults.
pub(crate) fn network(faults: &[&str]) -> Network {
    timeline(10, faults).network()
}

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000 * MS;

/// The fates of so many packets of 100 bytes from 0 to 1, a millisecond apart.
pub(crate) fn fates(faults: &[&str], packets: u64) -> Vec<Fate> {
    let mut network = network(faults);
    (0..packets)
        .map(|n| network.fate(n * MS, 0, 1, 100))
        .collect()
}

/// How many packets the only rule saw, and to how many it made a difference.
pub(crate) fn acted(network: &Network) -> (u64, u64) {
    let mut rules = network.rules();
    let (_, count) = rules.next().expect("there is a rule");
    (count.seen, count.acted)
}

/// Whether so many of so many is what this probability gives, within four standard deviations.
#[track_caller]
pub(crate) fn assert_binomial(hits: usize, trials: usize, probability: f64) {
    let mean = trials as f64 * probability;
    let deviation = (mean * (1.0 - probability)).sqrt();
    let off = (hits as f64 - mean) / deviation;
    assert!(
        off.abs() < 4.0,
        "{hits} of {trials} is {off:.1} deviations from {mean}"
    );
}

/// Kolmogorov and Smirnov: the largest gap between the values' distribution and the asked one lies
/// below its 1 % critical value for so many independent values.
#[track_caller]
pub(crate) fn assert_distributed(mut values: Vec<f64>, independent: f64, cdf: impl Fn(f64) -> f64) {
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let gaps = values.iter().enumerate().map(|(place, value)| {
        let share = cdf(*value);
        (share - place as f64 / count).max((place + 1) as f64 / count - share)
    });
    let gap = gaps.fold(0.0, f64::max);
    let limit = 1.628 / independent.sqrt();
    assert!(
        gap < limit,
        "the distributions are {gap:.5} apart, more than {limit:.5}"
    );
}

/// The correlation of each value with the next.
pub(crate) fn neighbour_correlation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let covariance = values
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean));
    let variance = values.iter().map(|value| (value - mean).powi(2));
    covariance.sum::<f64>() / variance.sum::<f64>()
}

/// The values' ranks, from 0 to 1.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order = (0..values.len()).collect::<Vec<_>>();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    for (rank, place) in order.into_iter().enumerate() {
        ranks[place] = rank as f64 / values.len() as f64;
    }
    ranks
}
