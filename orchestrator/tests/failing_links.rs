//! Links between real processes that fail while the book's algorithms run on them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{Place, Row, row, rows};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn number(row: &Row, column: &str) -> u64 {
    row[column].parse().unwrap()
}

/// The links of the book's digraph.
const LINKS: [&str; 8] = ["3-5", "3-2", "2-5", "5-1", "5-4", "1-2", "0-4", "4-2"];

/// The only link of node 0: what it waits for has no other way.
const BRIDGE: &str = "0-4";

/// How long a run takes in which no link fails.
const UNDISTURBED_MS: u64 = 1_000;

/// Any link of the six-node digraph fails at any moment, for good, or for a while where there is no
/// other way. Nobody is left waiting, no token is lost, and over many runs messages were lost with
/// their sessions and tokens were relayed. `TURNSTILE_CUTS` asks for so many, as `scripts/soak` does.
#[test]
fn a_link_of_the_digraph_may_fail_at_any_moment() {
    let cuts = std::env::var("TURNSTILE_CUTS").map_or(3, |cuts| cuts.parse().unwrap());
    let mut chance = ChaCha8Rng::seed_from_u64(cuts as u64);
    let (mut lost, mut relays) = (0, 0);
    let (mut met, mut nth) = (0, 0);
    while met < cuts {
        nth += 1;
        assert!(nth <= 10 * cuts, "only {met} cuts ever met anything");
        let place = Place::new();
        let link = LINKS[chance.random_range(0..LINKS.len())];
        let at_ms = chance.random_range(0..UNDISTURBED_MS);
        let for_good = link != BRIDGE && chance.random();
        let until = if for_good { "" } else { " for 3s" };
        let algorithm = ["lfrt", "lfrt-p"][nth % 2];
        let line = format!(
            "run {algorithm} -n 6 --topology kanrar:4.2 --holder 4 --entries 6 --think 5ms \
             --hold 10ms --delay '10ms 5ms' --priority 1,3,4,3,5,2 --seed {nth} --time-limit 60s \
             --fault 'at {at_ms}ms cut {link}{until}' --out run"
        );
        let finished = place.line(&line);
        let faults = rows(&place.path().join("run/faults.csv"));
        let mut cuts_seen = faults.iter().filter(|row| row["fault"] == "cut");
        let acted = cuts_seen.any(|row| number(row, "acted") > 0);
        // A cut that met nothing, because all had been said, shows nothing.
        let finished = finished.expect(if acted { 0 } else { 3 });
        let summary = row(&place.path().join("run/summary.csv"));
        assert_eq!(summary["entries"], "36", "{line}\n{}", finished.stdout);
        if !acted {
            continue;
        }
        met += 1;
        let messages = rows(&place.path().join("run/messages.csv"));
        let sum = |column, kinds: fn(&str) -> bool| -> u64 {
            let rows = messages.iter().filter(|row| kinds(&row["kind"]));
            rows.map(|row| number(row, column)).sum()
        };
        let (gone, relayed) = (sum("lost", |_| true), sum("sent", |kind| kind == "RELAY"));
        println!("{algorithm}, cut {link} at {at_ms} ms{until}: {gone} lost, {relayed} relays");
        (lost, relays) = (lost + gone, relays + relayed);
    }
    println!("{cuts} cuts: {lost} messages lost with their sessions, {relays} relays");
    // A few may find nothing on their links; fifty do not.
    if cuts >= 50 {
        assert!(lost > 0, "no session's end lost anything");
        assert!(relays > 0, "no token was in doubt");
    }
}

/// The token is on a link that fails: the same hop goes to the same addressee by another way.
#[test]
fn a_token_on_a_failing_link_goes_another_way() {
    for engine in ["cluster", "sim"] {
        let place = Place::new();
        let line = format!(
            "run lfrt -n 6 --topology kanrar:4.2 --holder 4 --entries 3 --think 5ms --hold 5ms \
             --delay 20ms --engine {engine} --time-limit 60s --out run \
             --fault 'when message TOKEN from 4 to 5 cut 4-5 for 2500ms'"
        );
        place.line(&line).expect(0);
        let summary = row(&place.path().join("run/summary.csv"));
        assert_eq!(summary["entries"], "18", "{engine}");
        let messages = rows(&place.path().join("run/messages.csv"));
        let of = |kind: &str, column: &str| -> u64 {
            let rows = messages.iter().filter(|row| row["kind"] == kind);
            rows.map(|row| number(row, column)).sum()
        };
        assert!(of("TOKEN", "lost") > 0, "{engine}: no token was lost");
        assert!(
            of("RELAY", "received") > 0,
            "{engine}: no token was relayed"
        );
    }
}

/// Both ends of a link are told that it failed once it has been silent for so long, not before.
#[test]
fn a_link_is_given_up_after_the_silence_that_is_stated() {
    for silence_ms in [60, 300] {
        let place = Place::new();
        let line = format!(
            "run lfrt -n 6 --topology kanrar:4.2 --holder 4 --entries 20 --think 5ms --hold 5ms \
             --engine sim --silence {silence_ms}ms --trace --seed 1 --out run \
             --fault 'at 100ms cut 4-5 for 2s'"
        );
        place.line(&line).expect(0);
        let events = place.read("run/events.jsonl");
        let told = |line: &&str| line.contains("\"link-down\"");
        let event = |line| serde_json::from_str::<serde_json::Value>(line).unwrap();
        let told = events.lines().filter(told).map(event);
        let first_ns = told.map(|event| event["time_ns"].as_u64().unwrap()).min();
        let waited_ms = first_ns.expect("somebody is told") / 1_000_000 - 100;
        // It counts from a message that is not answered, which may have left just before the cut.
        let stated = silence_ms - 20..2 * silence_ms;
        assert!(stated.contains(&waited_ms), "{waited_ms} ms, {stated:?}");
    }
}

/// Links that have sessions do not keep a deadlock from being called one, once those that were cut
/// are whole again.
#[test]
fn a_deadlock_over_sessions_is_called_one() {
    for faults in ["", "--fault 'at 5ms cut 0-1 for 50ms'"] {
        let place = Place::new();
        let line = format!(
            "run lfrt -n 3 --as-printed=kanrar-L1 --topology 'edges:0>1,1>2,2>0' --entries 2 \
             {faults} --time-limit 60s --out run"
        );
        let finished = place.line(&line).expect(1);
        let told = &finished.stdout;
        assert!(told.contains("deadlock, nothing moves any more"), "{told}");
    }
}

/// A link that is cut for good leaves somebody waiting: both engines see that nothing moves any more, long
/// before the time limit, and say the same of it.
#[test]
fn a_cut_for_good_ends_alike_on_both_engines() {
    for (engine, algorithm) in [("sim", "lfrt"), ("cluster", "lfrt"), ("cluster", "lfrt-p")] {
        let place = Place::new();
        // The token is at 0, and 2 has no way to it.
        let line = format!(
            "run {algorithm} -n 3 --topology path --entries 2 --engine {engine} --silence 40ms \
             --time-limit 40s --seed 1 --out run --fault 'at 0s cut 1-2'"
        );
        place.line(&line).expect(3);
        let record = std::fs::read_to_string(place.path().join("run/run.json")).unwrap();
        let record: serde_json::Value = serde_json::from_str(&record).unwrap();
        assert_eq!(record["run"]["end"], "deadlock", "{engine}, {algorithm}");
        let summary = row(&place.path().join("run/summary.csv"));
        assert_eq!(summary["entries"], "4", "{engine}, {algorithm}");
        let ended_ns = record["run"]["ended_ns"].as_u64().unwrap();
        assert!(ended_ns < 20_000_000_000, "{engine}: {ended_ns}");
    }
}

/// A tree has no other way: everybody waits, and goes on when the link is back.
#[test]
fn a_cut_tree_waits_and_goes_on() {
    let place = Place::new();
    let line = "run fapp -n 5 --topology path --entries 8 --think 2ms --hold 2ms --priority 1,5 \
                --fault 'at 30ms cut 1-2 for 700ms' --out run";
    place.line(line).expect(0);
    let faults = rows(&place.path().join("run/faults.csv"));
    assert!(number(&faults[0], "acted") > 0);
    let entries = rows(&place.path().join("run/entries.csv"));
    assert_eq!(entries.len(), 40);
    let began_ns = number(&faults[0], "time_ns");
    let over_ns = number(&faults[0], "until_ns");
    // Who enters when, beyond the link or before it.
    let enters = entries
        .iter()
        .map(|row| (number(row, "node") >= 2, number(row, "enter_ns")));
    let between = |from_ns, to_ns, side| {
        let there = |&(beyond, ns): &(bool, u64)| beyond == side && (from_ns..to_ns).contains(&ns);
        enters.clone().filter(there).count()
    };
    // Either side may have had the token when the link was cut; the other had to wait.
    let during = |side| between(began_ns + 200_000_000, over_ns, side);
    let (far, near) = (during(true), during(false));
    assert!(
        far == 0 || near == 0,
        "{far} and {near} entries on both sides of a cut tree"
    );
    // And goes on when it is whole.
    let waited = far == 0;
    assert!(between(over_ns, u64::MAX, waited) > 0);
}
