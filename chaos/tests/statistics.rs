//! Each fault does what its numbers say. One fixed seed; every threshold is a stated quantile.

mod common;

use chaos::{Delay, Draw, Fate};
use common::{
    MS, SEED, acted, assert_binomial, assert_distributed, fates, neighbour_correlation, network,
    ranks,
};
use statrs::distribution::{ContinuousCDF, Exp, LogNormal, Normal, Pareto, Uniform};

fn lost(fates: &[Fate]) -> Vec<f64> {
    fates
        .iter()
        .map(|fate| f64::from(u8::from(fate.is_lost())))
        .collect()
}

fn delays_ms(fates: &[Fate]) -> Vec<f64> {
    fates
        .iter()
        .map(|fate| fate.copies[0].delay_ns as f64 / MS as f64)
        .collect()
}

#[test]
fn loss_is_as_frequent_as_asked_and_independent() {
    for (text, share) in [("loss 0.1%", 0.001), ("loss 5%", 0.05), ("loss 30%", 0.3)] {
        let lost = lost(&fates(&[text], 100_000));
        assert_binomial(
            lost.iter().filter(|lost| **lost > 0.0).count(),
            100_000,
            share,
        );
        let correlation = neighbour_correlation(&lost);
        assert!(
            correlation.abs() < 4.0 / 100_000_f64.sqrt(),
            "{text}: {correlation}"
        );
    }
}

#[test]
fn all_or_nothing_is_lost_at_the_ends() {
    assert!(fates(&["loss 100%"], 1_000).iter().all(Fate::is_lost));
    let mut network = network(&["loss 0%"]);
    assert_eq!(network.rules().count(), 0, "what can do nothing is no rule");
    assert_eq!(network.fate(0, 0, 1, 100), Fate::untouched());
}

#[test]
fn correlated_loss_keeps_its_rate_and_comes_together() {
    // Two normal deviations with rank correlation ½ have correlation 2·sin(π/12), and are both below
    // the median with probability ¼ + asin(that)/2π.
    let packets = 200_000;
    let lost = lost(&fates(&["loss 50% 50%"], packets));
    let rate = lost.iter().sum::<f64>() / packets as f64;
    assert!((rate - 0.5).abs() < 0.01, "{rate}");
    let together = lost
        .windows(2)
        .filter(|pair| pair[0] + pair[1] > 1.5)
        .count();
    let together = together as f64 / packets as f64;
    let correlation = 2.0 * (std::f64::consts::PI / 12.0).sin();
    let expected = 0.25 + correlation.asin() / (2.0 * std::f64::consts::PI);
    assert!(
        (together - expected).abs() < 0.01,
        "{together} instead of {expected}"
    );
}

#[test]
fn bursts_are_as_long_and_as_frequent_as_the_model_says() {
    let (worsens, recovers) = (0.01, 0.1_f64);
    let packets = 400_000;
    let lost = lost(&fates(&["loss gemodel 1% 10%"], packets));
    let mut bursts: Vec<usize> = Vec::new();
    for pair in lost.windows(2) {
        match (pair[0] > 0.0, pair[1] > 0.0) {
            (false, true) => bursts.push(1),
            (true, true) => *bursts.last_mut().unwrap() += 1,
            (_, false) => {}
        }
    }
    let count = bursts.len() as f64;
    // A burst's length is geometric: mean 1/r, variance (1 − r)/r².
    let mean = bursts.iter().sum::<usize>() as f64 / count;
    let deviation = (1.0 - recovers).sqrt() / recovers / count.sqrt();
    assert!(
        (mean - 1.0 / recovers).abs() < 4.0 * deviation,
        "bursts last {mean}"
    );
    let longer = bursts.iter().filter(|length| **length > 10).count();
    assert_binomial(longer, bursts.len(), (1.0 - recovers).powi(10));
    // The share lost is p/(p + r); the number of bursts is what makes it uncertain.
    let rate = lost.iter().sum::<f64>() / packets as f64;
    let expected = worsens / (worsens + recovers);
    assert!(
        (rate / expected - 1.0).abs() < 6.0 / count.sqrt(),
        "{rate} instead of {expected}"
    );
}

#[test]
fn a_bad_link_need_not_lose_all_and_a_good_one_need_not_lose_nothing() {
    let packets = 400_000;
    let lost = lost(&fates(&["loss gemodel 10% 30% 70% 0.5%"], packets));
    let bad = 0.1 / 0.4;
    let expected = bad * 0.7 + (1.0 - bad) * 0.005;
    let rate = lost.iter().sum::<f64>() / packets as f64;
    assert!(
        (rate / expected - 1.0).abs() < 0.03,
        "{rate} instead of {expected}"
    );
}

#[test]
fn with_one_share_the_model_is_independent_loss() {
    let lost = lost(&fates(&["loss gemodel 5%"], 100_000));
    assert_binomial(
        lost.iter().filter(|lost| **lost > 0.0).count(),
        100_000,
        0.05,
    );
    assert!(neighbour_correlation(&lost).abs() < 4.0 / 100_000_f64.sqrt());
}

#[test]
fn every_seventh_is_lost_and_no_other() {
    let fates = fates(&["loss every 7"], 70);
    for (number, fate) in (1..).zip(&fates) {
        assert_eq!(fate.is_lost(), number % 7 == 0, "packet {number}");
    }
}

/// The share of values below this one.
type Cdf = Box<dyn Fn(f64) -> f64>;

/// The distributions, and what the netem words ask for.
fn distributions() -> Vec<(&'static str, Cdf)> {
    let normal = Normal::new(75.0, 10.0).expect("sound");
    let uniform = Uniform::new(65.0, 85.0).expect("sound");
    let exponential = Exp::new(1.0 / 75.0).expect("sound");
    // Standardised: mean 3/2 and deviation √3/2 for a scale of 1.
    let pareto = Pareto::new(1.0, 3.0).expect("sound");
    let pareto = move |ms: f64| pareto.cdf((ms - 75.0) / 10.0 * 0.75_f64.sqrt() + 1.5);
    let variance = (1.0 + 10.0_f64.powi(2) / 75.0_f64.powi(2)).ln();
    let lognormal = LogNormal::new(75.0_f64.ln() - variance / 2.0, variance.sqrt()).expect("sound");
    vec![
        ("75ms 10ms", Box::new(move |ms| uniform.cdf(ms))),
        (
            "75ms 10ms distribution normal",
            Box::new(move |ms| normal.cdf(ms)),
        ),
        (
            "75ms distribution exponential",
            Box::new(move |ms| exponential.cdf(ms)),
        ),
        ("75ms 10ms distribution pareto", Box::new(pareto)),
        (
            "75ms 10ms distribution lognormal",
            Box::new(move |ms| lognormal.cdf(ms)),
        ),
    ]
}

#[test]
fn drawn_delays_are_distributed_as_asked() {
    for (text, cdf) in distributions() {
        let delays = delays_ms(&fates(&[&format!("delay {text}")], 100_000));
        assert_distributed(delays, 100_000.0, cdf);
        // And so they are for those who draw without a network.
        let delay: Delay = text.parse().unwrap();
        let draw = |n| delay.draw_ns(&mut Draw::new([SEED, n])) as f64 / MS as f64;
        let (_, cdf) = distributions()
            .into_iter()
            .find(|(other, _)| *other == text)
            .unwrap();
        assert_distributed((0..100_000).map(draw).collect(), 100_000.0, cdf);
    }
}

#[test]
fn pareto_and_lognormal_have_the_asked_moments() {
    for shape in ["pareto", "lognormal", "normal"] {
        let delays = delays_ms(&fates(
            &[&format!("delay 75ms 10ms distribution {shape}")],
            400_000,
        ));
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        let variance = delays.iter().map(|ms| (ms - mean).powi(2)).sum::<f64>();
        let deviation = (variance / delays.len() as f64).sqrt();
        assert!((mean - 75.0).abs() < 0.1, "{shape}: mean {mean}");
        // A Pareto's fourth moment is infinite, so its deviation settles slowly.
        assert!(
            (deviation - 10.0).abs() < 0.7,
            "{shape}: deviation {deviation}"
        );
    }
}

#[test]
fn correlated_delays_have_that_rank_correlation_and_keep_their_distribution() {
    let packets = 100_000;
    for (text, cdf) in distributions() {
        for (percent, correlation) in [("25%", 0.25), ("80%", 0.8)] {
            let text = match text.split_once(" distribution") {
                Some((times, name)) => format!("delay {times} {percent} distribution{name}"),
                None => format!("delay {text} {percent}"),
            };
            let delays = delays_ms(&fates(&[&text], packets));
            let measured = neighbour_correlation(&ranks(&delays));
            assert!((measured - correlation).abs() < 0.01, "{text}: {measured}");
            // So many correlated values say as much as this many independent ones.
            let independent = packets as f64 * (1.0 - correlation) / (1.0 + correlation);
            assert_distributed(delays, independent, &cdf);
        }
    }
}

#[test]
fn uniform_delays_have_the_asked_correlation_itself() {
    let delays = delays_ms(&fates(&["delay 75ms 10ms 25%"], 100_000));
    let measured = neighbour_correlation(&delays);
    assert!(
        (measured - 0.25).abs() < 4.0 / 100_000_f64.sqrt(),
        "{measured}"
    );
}

#[test]
fn a_constant_delay_is_constant() {
    assert!(
        delays_ms(&fates(&["delay 75ms"], 1_000))
            .iter()
            .all(|ms| *ms == 75.0)
    );
}

#[test]
fn jitter_overtakes_unless_order_is_kept() {
    let arrivals = |text| {
        let fates = fates(&[text], 10_000);
        let arrival = |(n, fate): (u64, &Fate)| n * MS + fate.copies[0].delay_ns;
        (0..).zip(&fates).map(arrival).collect::<Vec<_>>()
    };
    assert!(!arrivals("delay 10ms 8ms").is_sorted());
    assert!(!arrivals("delay 10ms 8ms free").is_sorted());
    assert!(arrivals("delay 10ms 8ms fifo").is_sorted());
}

#[test]
fn duplicates_are_as_frequent_as_asked_and_have_delays_of_their_own() {
    let fates = fates(&["duplicate 10%", "delay 10ms 5ms"], 100_000);
    let doubled = fates
        .iter()
        .filter(|fate| fate.copies.len() == 2)
        .collect::<Vec<_>>();
    assert_binomial(doubled.len(), 100_000, 0.1);
    assert!(
        fates
            .iter()
            .all(|fate| (1..=2).contains(&fate.copies.len()))
    );
    let alike = doubled
        .iter()
        .filter(|fate| fate.copies[0] == fate.copies[1])
        .count();
    assert!(alike < 5, "{alike} pairs took equally long");
}

#[test]
fn a_lost_datagram_cannot_be_duplicated() {
    let fates = fates(&["duplicate 100%", "loss 50%"], 10_000);
    let arrived = fates.iter().filter(|fate| !fate.is_lost()).count();
    assert_binomial(arrived, 10_000, 0.5);
    assert!(fates.iter().all(|fate| [0, 2].contains(&fate.copies.len())));
}

#[test]
fn what_is_lost_is_lost_to_the_rule_that_took_it() {
    let fates = fates(&["loss every 3", "loss every 2", "delay 1ms"], 6);
    let takers = fates.iter().map(|fate| fate.lost_to).collect::<Vec<_>>();
    assert_eq!(takers, [None, Some(1), Some(0), Some(1), None, Some(0)]);
}

#[test]
fn reordered_packets_are_sent_at_once_and_keep_their_gap() {
    let packets = 100_000;
    let at_once = |faults: &[&str]| {
        let fates = fates(faults, packets as u64);
        let at_once = fates
            .iter()
            .enumerate()
            .filter(|(_, fate)| fate.copies[0].delay_ns == 0);
        at_once.map(|(number, _)| number).collect::<Vec<_>>()
    };
    let free = at_once(&["delay 10ms", "reorder 25%"]);
    assert_binomial(free.len(), packets, 0.25);

    let apart = at_once(&["delay 10ms", "reorder 25% gap 5"]);
    let gaps = apart
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .collect::<Vec<_>>();
    assert_eq!(gaps.iter().min(), Some(&5));
    // Four are skipped, then it is geometric with mean 4.
    let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
    let deviation = 0.75_f64.sqrt() / 0.25 / (gaps.len() as f64).sqrt();
    assert!(
        (mean - 8.0).abs() < 4.0 * deviation,
        "every {mean}-th on average"
    );

    let regular = at_once(&["delay 10ms", "reorder 100% gap 5"]);
    assert_eq!(regular[..3], [4, 9, 14]);
}

#[test]
fn reordering_without_a_delay_does_nothing_and_says_so() {
    let mut network = network(&["reorder 50%"]);
    for n in 0..1_000 {
        network.fate(n, 0, 1, 100);
    }
    assert_eq!(acted(&network), (1_000, 0));
}

#[test]
fn corruption_flips_so_many_different_bits_anywhere() {
    let fates = fates(&["corrupt 20% bits 3"], 100_000);
    let flips = fates.iter().map(|fate| &fate.copies[0].flips);
    let hit = flips.filter(|flips| !flips.is_empty()).collect::<Vec<_>>();
    assert_binomial(hit.len(), 100_000, 0.2);
    let mut by_bit = vec![0; 800];
    for flips in &hit {
        assert_eq!(flips.len(), 3);
        assert!(flips[0] != flips[1] && flips[1] != flips[2] && flips[0] != flips[2]);
        flips.iter().for_each(|bit| by_bit[*bit as usize] += 1);
    }
    // Chi-squared with 799 degrees of freedom is below 899 with probability 99 %.
    let expected = 3.0 * hit.len() as f64 / 800.0;
    let squares = by_bit
        .iter()
        .map(|count| (f64::from(*count) - expected).powi(2) / expected);
    let squares = squares.sum::<f64>();
    assert!(squares < 899.0, "{squares}");
}

#[test]
fn corruption_has_nothing_to_do_on_an_empty_packet() {
    let mut network = network(&["corrupt 100%"]);
    assert_eq!(network.fate(0, 0, 1, 0), Fate::untouched());
    assert_eq!(acted(&network), (1, 0));
}

#[test]
fn truncation_leaves_any_shorter_length_or_the_asked_one() {
    let drawn = fates(&["truncate 100%"], 100_000);
    let lengths = drawn
        .iter()
        .map(|fate| fate.copies[0].length(100))
        .collect::<Vec<_>>();
    for length in 0..100 {
        assert_binomial(
            lengths.iter().filter(|l| **l == length).count(),
            100_000,
            0.01,
        );
    }
    let asked = fates(&["truncate 100% to 20"], 100);
    assert!(asked.iter().all(|fate| fate.copies[0].length(100) == 20));
    let mut network = network(&["truncate 100% to 20"]);
    assert_eq!(network.fate(0, 0, 1, 20), Fate::untouched());
    assert_eq!(acted(&network), (1, 0), "nothing was cut off");
}

#[test]
fn every_flipped_bit_of_a_truncated_packet_arrives() {
    for fate in fates(&["truncate 100%", "corrupt 100% bits 4"], 10_000) {
        let copy = &fate.copies[0];
        let bits = copy.length(100) * 8;
        assert!(copy.flips.iter().all(|bit| *bit < bits));
        assert_eq!(copy.flips.len() as u32, bits.min(4));
    }
}

#[test]
fn a_narrow_link_paces_packets_and_drops_what_its_queue_cannot_hold() {
    // 125 bytes at 1 Mbit/s take a millisecond.
    let mut network = network(&["rate 1mbit limit 100"]);
    let burst = (0..150)
        .map(|_| network.fate(0, 0, 1, 125))
        .collect::<Vec<_>>();
    for (number, fate) in (1..).zip(&burst[..100]) {
        assert_eq!(fate.copies[0].delay_ns, number * MS);
    }
    assert!(burst[100..].iter().all(Fate::is_lost));
    assert!(
        network.fate(MS - 1, 0, 1, 125).is_lost(),
        "the first is still being sent"
    );
    assert_eq!(network.fate(MS, 0, 1, 125).copies[0].delay_ns, 100 * MS);
    assert_eq!(
        network.fate(500 * MS, 0, 1, 250).copies[0].delay_ns,
        2 * MS,
        "idle again"
    );
    assert_eq!(
        network.fate(500 * MS, 1, 0, 125).copies[0].delay_ns,
        MS,
        "each link is its own"
    );
}

#[test]
fn a_saturated_link_carries_exactly_its_rate() {
    let mut network = network(&["rate 10mbit limit 50"]);
    // 1250 bytes take 1 ms; one is offered every 0.4 ms.
    let offered = (0..25_000_u64).map(|n| (n * 400_000, network.fate(n * 400_000, 0, 1, 1_250)));
    let left = offered.filter(|(_, fate)| !fate.is_lost());
    let left = left.map(|(sent_ns, fate)| sent_ns + fate.copies[0].delay_ns);
    let within = left
        .filter(|ns| (1_000 * MS..9_000 * MS).contains(ns))
        .count();
    assert_eq!(within, 8_000);
}

#[test]
fn the_way_comes_after_the_queue() {
    let mut network = network(&["delay 10ms", "rate 1mbit"]);
    assert_eq!(network.fate(0, 0, 1, 125).copies[0].delay_ns, 11 * MS);
    assert_eq!(network.fate(0, 0, 1, 125).copies[0].delay_ns, 12 * MS);
}

#[test]
fn several_delays_add_up() {
    let delays = delays_ms(&fates(
        &["delay 10ms", "delay 5ms on 0->1", "delay 7ms on 1->0"],
        1,
    ));
    assert_eq!(delays, [15.0]);
}
