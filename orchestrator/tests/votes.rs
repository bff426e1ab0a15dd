//! Voting among real processes that a partition keeps apart.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use common::{Place, Row, row, rows};

/// Six processes in three pairs, one candidate in each; inside for longer than the partition lasts.
const PAIRS: &str = "--workload batch --asks '0 at 200ms, 3 at 200ms, 5 at 200ms' --bound 10ms --param tau=1 \
                     --fault 'at 0s partition 0,1|2,5|3,4 for 1500ms'";

/// Runs the six processes, and reads the run's summary.
fn in_pairs(name: &str, flags: &str, code: i32) -> (Place, Row) {
    let place = Place::new();
    let line = format!("run {name} -n 6 {PAIRS} {flags} --out run");
    place.line(&line).expect(code);
    let summary = row(&place.path().join("run/summary.csv"));
    (place, summary)
}

/// As printed every block elects a winner, and the kernel refuses all but one of them its lock.
#[test]
fn as_printed_the_kernel_meets_a_winner_of_every_block() {
    for name in ["nhme", "bmav"] {
        let (_, summary) = in_pairs(name, "--hold 2s --as-printed=K3", 1);
        assert_eq!(summary["max_inside"], "3", "{name}");
        assert_eq!(summary["witness_refusals"], "2", "{name}");
        assert_eq!(summary["safety"], "violated", "{name}");
    }
}

/// With votes that are handed over nobody enters before the heal, and then everybody does.
#[test]
fn the_same_partition_only_delays_votes_that_are_handed_over() {
    for name in ["nhme", "bmav"] {
        let (place, summary) = in_pairs(name, "--hold 50ms", 0);
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

/// A partition of six processes that are cut off from each other after 40 ms, for 400 ms.
struct Cut {
    /// The block of each process.
    block: Vec<u64>,
}

const CUT: &str = "at 40ms partition";

impl Cut {
    /// Each process goes to one of two to six blocks by chance; drawn again if all are in one.
    fn draw(seed: u64) -> Self {
        let mut draw = chaos::Draw::new([seed]);
        loop {
            let blocks = 2 + draw.below(5);
            let block: Vec<_> = (0..6).map(|_| draw.below(blocks)).collect();
            if block.iter().any(|&of| of != block[0]) {
                return Self { block };
            }
        }
    }

    /// The partition as a fault writes it: `0,3|1,2,4|5`.
    fn groups(&self) -> String {
        let mut blocks = BTreeMap::<u64, Vec<String>>::new();
        for (node, &block) in self.block.iter().enumerate() {
            blocks.entry(block).or_default().push(node.to_string());
        }
        let blocks = blocks.values().map(|members| members.join(","));
        blocks.collect::<Vec<_>>().join("|")
    }

    /// In how many blocks somebody waited while they were apart.
    fn blocks_with_a_candidate(&self, run: &Path) -> usize {
        let cut = rows(&run.join("faults.csv"));
        let cut = cut.iter().find(|row| row["fault"] == "partition").unwrap();
        let ns = |row: &Row, column: &str| row[column].parse::<u64>().ok();
        let (from, until) = (ns(cut, "time_ns"), ns(cut, "until_ns"));
        let entries = rows(&run.join("entries.csv"));
        let waited = entries.iter().filter(|row| {
            let asked = ns(row, "asked_ns").is_some_and(|asked| Some(asked) < until);
            asked && ns(row, "enter_ns").is_none_or(|entered| Some(entered) > from)
        });
        let blocks = waited.map(|row| self.block[row["node"].parse::<usize>().unwrap()]);
        blocks.collect::<BTreeSet<_>>().len()
    }
}

/// Partitions drawn by chance among real processes. How many votes are handed over is up to the
/// processes: here a few plans are tried and nothing is asked of that; the soak sets
/// `TURNSTILE_PLANS` and goes on until so many count, by votes that were handed over and somebody
/// who waited in a block.
#[test]
fn random_partitions_among_processes_only_delay() {
    let wanted = std::env::var("TURNSTILE_PLANS").map(|number| number.parse().unwrap());
    let wanted = wanted.ok();
    let (mut counted, mut seed, mut seen) = (0, 0_u64, BTreeSet::new());
    while wanted.map_or(seed < 3, |wanted| counted < wanted) {
        seed += 1;
        let most = 10 * wanted.unwrap_or(1);
        assert!(seed < most, "only {counted} of {seed} plans count");
        let name = ["nhme", "bmav"][seed as usize % 2];
        let (cut, place) = (Cut::draw(seed), Place::new());
        let blocks = cut.groups();
        let line = format!(
            "run {name} -n 6 --entries 4 --think exp:5ms --hold 5ms --bound 20ms --seed {seed} \
             --delay '4ms 4ms' --fault '{CUT} {blocks} for 400ms' --out run"
        );
        place.line(&line).expect(0);
        let run = place.path().join("run");
        let summary = row(&run.join("summary.csv"));
        assert_eq!(
            (&*summary["max_inside"], &*summary["entries"]),
            ("1", "24"),
            "{line}"
        );
        let counters = rows(&run.join("counters.csv"));
        let handed = counters.iter().filter(|row| row["name"] == "handed_over");
        let handed: u64 = handed.map(|row| row["sum"].parse::<u64>().unwrap()).sum();
        let parted = cut.blocks_with_a_candidate(&run);
        println!(
            "{name}, seed {seed}: {blocks}: {handed} votes handed over, {parted} blocks with a \
             candidate"
        );
        counted += u64::from(handed > 0 && parted > 0);
        seen.insert(blocks);
    }
    println!("{counted} plans count, {} different partitions", seen.len());
}
