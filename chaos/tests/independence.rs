//! What happens to the n-th packet of a link depends on the seed, the fault, the link and n alone.

mod common;

use chaos::{Fate, Network};
use common::{MS, fates, network, timeline};

/// What a fault does to a packet that no other took, as text; and the faults that do the same.
type Trace = fn(&Fate) -> String;

fn faults() -> Vec<(&'static [&'static str], Trace, &'static str)> {
    let lost: Trace = |fate| fate.is_lost().to_string();
    let copies: Trace = |fate| fate.copies.len().to_string();
    let length: Trace = |fate| format!("{:?}", fate.copies.first().map(|copy| copy.keep));
    let flips: Trace = |fate| format!("{:?}", fate.copies.first().map(|copy| copy.flips.clone()));
    let delay: Trace = |fate| format!("{:?}", fate.copies.first().map(|copy| copy.delay_ns));
    vec![
        (&["loss 20%"], lost, "loss"),
        (&["loss 20% 40%"], lost, "loss"),
        (&["loss gemodel 5% 20%"], lost, "loss"),
        (&["loss every 3"], lost, "loss"),
        (&["duplicate 20%"], copies, "copies"),
        (&["duplicate 20% 60%"], copies, "copies"),
        (&["truncate 20% 30%"], length, "length"),
        (&["corrupt 20% 30%"], flips, "flips"),
        (&["delay 10ms 5ms"], delay, "delay"),
        (&["delay 10ms 5ms 50% distribution normal"], delay, "delay"),
        (&["delay 10ms", "reorder 30% 30% gap 3"], delay, "delay"),
        (&["rate 1mbit"], delay, "delay"),
    ]
}

#[test]
fn adding_or_removing_a_fault_reshuffles_no_other() {
    let packets = 2_000;
    for (ours, trace, aspect) in faults() {
        let alone = fates(ours, packets);
        let busy = alone
            .iter()
            .filter(|fate| **fate != Fate::untouched())
            .count();
        assert!(busy > 100, "{ours:?} hardly does anything");
        for (others, _, other_aspect) in faults() {
            // A shorter or doubled packet changes the queue of a rate; the same aspect cannot be told
            // apart.
            if aspect == other_aspect || (ours == ["rate 1mbit"]) {
                continue;
            }
            // Before and behind: the order of the list must not matter.
            for list in [[ours, others].concat(), [others, ours].concat()] {
                for (number, (fate, before)) in fates(&list, packets).iter().zip(&alone).enumerate()
                {
                    let taken_by_other = fate.is_lost() && !before.is_lost();
                    // Corruption of what is left of a packet is not that of the whole.
                    let shortened = aspect == "flips" && other_aspect == "length";
                    if taken_by_other || before.is_lost() != fate.is_lost() || shortened {
                        continue;
                    }
                    assert_eq!(trace(fate), trace(before), "packet {number} of {list:?}");
                }
            }
        }
    }
}

#[test]
fn equal_faults_are_different_faults() {
    let twice = fates(&["loss 50%", "loss 50%"], 10_000);
    let lost = twice.iter().filter(|fate| fate.is_lost()).count();
    common::assert_binomial(lost, 10_000, 0.75);
}

#[test]
fn links_are_independent_and_do_not_disturb_each_other() {
    let text = ["loss 30%", "delay 10ms 5ms 40%"];
    let mut quiet = network(&text);
    let mut busy = network(&text);
    let mut other = Vec::new();
    for n in 0..2_000_u64 {
        let expected = quiet.fate(n * MS, 0, 1, 100);
        for to in 2..7 {
            busy.fate(n * MS, 0, to, 100);
        }
        other.push(busy.fate(n * MS, 1, 0, 100) == expected);
        assert_eq!(busy.fate(n * MS, 0, 1, 100), expected, "packet {n}");
    }
    let same = other.iter().filter(|same| **same).count();
    assert!(
        same < 300,
        "the way back is another link, yet {same} fates are the same"
    );
}

#[test]
fn the_same_seed_repeats_and_another_does_not() {
    let run = |seed| {
        let mut timeline = timeline(10, &["loss 30%", "delay 10ms 5ms"]);
        timeline.seed = seed;
        let mut network: Network = timeline.network();
        (0..500)
            .map(|n| network.fate(n * MS, 0, 1, 100))
            .collect::<Vec<_>>()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn when_a_fault_begins_changes_nothing_about_the_packets_it_sees() {
    let always = fates(&["loss 30%"], 1_000);
    let mut late = network(&["at 500ms loss 30%"]);
    // Its text is another, so its draws are; what is compared is the same rule at another time.
    let rule = late.rules().next().unwrap().0.clone();
    let mut same = Network::new(common::SEED, 10);
    let identity = network(&["loss 30%"]).rules().next().unwrap().0.identity;
    same.add(chaos::Rule { identity, ..rule });
    for n in 0..1_000 {
        let fate = same.fate(n * MS, 0, 1, 100);
        match n {
            0..500 => assert!(!fate.is_lost()),
            _ => assert_eq!(fate, always[n as usize], "packet {n}"),
        }
    }
    assert!((0..1_000).any(|n| late.fate(n * MS, 0, 1, 100).is_lost()));
}

#[test]
fn a_rule_added_in_the_middle_disturbs_no_memory() {
    let text = ["loss gemodel 5% 20%", "delay 10ms 5ms 80%"];
    let undisturbed = fates(&text, 1_000);
    let mut network = network(&text);
    for n in 0..1_000 {
        if n == 500 {
            let rule = timeline(10, &["duplicate 100% on 5->6"]).network();
            network.add(rule.rules().next().unwrap().0.clone());
        }
        assert_eq!(
            network.fate(n * MS, 0, 1, 100),
            undisturbed[n as usize],
            "packet {n}"
        );
    }
}

#[test]
fn a_fault_that_begins_again_begins_without_memory() {
    let mut network = network(&["at 0s every 100ms for 50ms loss every 3"]);
    let mut lost = Vec::new();
    for n in 0..200 {
        if network.fate(n * MS, 0, 1, 100).is_lost() {
            lost.push(n);
        }
    }
    assert_eq!(lost[..2], [2, 5]);
    assert_eq!(
        lost.iter().find(|n| **n >= 100),
        Some(&102),
        "counted from the beginning, not on from 50"
    );
    assert!(lost.iter().all(|n| n % 100 < 50));
}
