//! Voting among real processes that a partition keeps apart.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{Place, row, rows};

/// Six processes in three pairs, one candidate in each; inside for longer than the partition lasts.
const PAIRS: &str = "--workload batch --asks '0 at 200ms, 3 at 200ms, 5 at 200ms' --bound 10ms --param tau=1 \
                     --fault 'at 0s partition 0,1|2,5|3,4 for 1500ms'";

/// As printed every block elects a winner, and the kernel refuses all but one of them its lock.
#[test]
fn as_printed_the_kernel_meets_a_winner_of_every_block() {
    for name in ["nhme", "bmav"] {
        let place = Place::new();
        let line = format!("run {name} -n 6 {PAIRS} --hold 2s --as-printed=K3 --out run");
        place.line(&line).expect(1);
        let summary = row(&place.path().join("run/summary.csv"));
        assert_eq!(summary["max_inside"], "3", "{name}");
        assert_eq!(summary["witness_refusals"], "2", "{name}");
        assert_eq!(summary["safety"], "violated", "{name}");
    }
}

/// With votes that are handed over nobody enters before the heal, and then everybody does.
#[test]
fn the_same_partition_only_delays_votes_that_are_handed_over() {
    for name in ["nhme", "bmav"] {
        let place = Place::new();
        let line = format!("run {name} -n 6 {PAIRS} --hold 50ms --out run");
        place.line(&line).expect(0);
        let summary = row(&place.path().join("run/summary.csv"));
        assert_eq!((&*summary["max_inside"], &*summary["entries"]), ("1", "3"));
        let fences = rows(&place.path().join("run/entries.csv"));
        let mut fences: Vec<u64> = fences
            .iter()
            .map(|row| row["fence"].parse().unwrap())
            .collect();
        fences.sort_unstable();
        assert_eq!(fences, [1, 2, 3], "{name}");
    }
}

/// Partitions drawn by chance among real processes; the soak sets more with `TURNSTILE_PLANS`.
#[test]
fn random_partitions_among_processes_only_delay() {
    let plans = std::env::var("TURNSTILE_PLANS").map_or(2, |said| said.parse().unwrap());
    let (mut counted, mut seed) = (0, 0_u64);
    while counted < plans {
        seed += 1;
        assert!(seed < 10 * plans, "only {counted} of {seed} plans count");
        let name = ["nhme", "bmav"][seed as usize % 2];
        let block = |node: u64| (seed * 7 + node * node * (seed + 3)) % 3;
        let members = |of: u64| {
            let members = (0..6).filter(|&node| block(node) == of);
            members.map(|node| node.to_string()).collect::<Vec<_>>()
        };
        let blocks = (0..3).map(|of| members(of).join(","));
        let blocks: Vec<_> = blocks.filter(|block| !block.is_empty()).collect();
        if blocks.len() < 2 {
            continue;
        }
        let blocks = blocks.join("|");
        let place = Place::new();
        let line = format!(
            "run {name} -n 6 --entries 4 --think exp:20ms --hold 5ms --bound 20ms --seed {seed} \
             --fault 'at 40ms partition {blocks} for 400ms' --out run"
        );
        place.line(&line).expect(0);
        let summary = row(&place.path().join("run/summary.csv"));
        assert_eq!((&*summary["max_inside"], &*summary["entries"]), ("1", "24"));
        let counters = rows(&place.path().join("run/counters.csv"));
        let handed = counters.iter().filter(|row| row["name"] == "handed_over");
        let handed: u64 = handed.map(|row| row["sum"].parse::<u64>().unwrap()).sum();
        println!("{name}, seed {seed}: {blocks}, {handed} votes handed over");
        counted += u64::from(handed > 0);
    }
}
