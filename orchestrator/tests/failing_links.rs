//! Links between real processes that fail while the book's algorithms run on them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{Place, Row, row, rows};

fn number(row: &Row, column: &str) -> u64 {
    row[column].parse().unwrap()
}

/// The links of the book's digraph.
const LINKS: [&str; 8] = ["3-5", "3-2", "2-5", "5-1", "5-4", "1-2", "0-4", "4-2"];

/// One link of the six-node digraph fails at some moment, and comes back or does not. Nobody is
/// left waiting, and over all runs messages were lost with their sessions and tokens were relayed.
/// `TURNSTILE_CUTS` asks for more runs, as `scripts/soak` does.
#[test]
fn a_link_of_the_digraph_may_fail_at_any_moment() {
    let cuts = std::env::var("TURNSTILE_CUTS").map_or(3, |cuts| cuts.parse().unwrap());
    let (mut lost, mut relays) = (0, 0);
    for nth in 0..cuts {
        let place = Place::new();
        // 0-4 is the only link of node 0, and the others are on some cycle: it must come back.
        let link = LINKS[(nth * 5 + 4) % LINKS.len()];
        let at_ms = 40 + nth * 97 % 500;
        let algorithm = ["lfrt", "lfrt-p"][nth % 2];
        let line = format!(
            "run {algorithm} -n 6 --topology kanrar:4.2 --holder 4 --entries 6 --think 5ms \
             --hold 10ms --delay '10ms 5ms' --priority 1,3,4,3,5,2 --seed {nth} --time-limit 60s \
             --fault 'at {at_ms}ms cut {link} for 3s' --out run"
        );
        let finished = place.line(&line).expect(0);
        let summary = row(&place.path().join("run/summary.csv"));
        assert_eq!(summary["entries"], "36", "{line}\n{}", finished.stdout);
        for row in rows(&place.path().join("run/messages.csv")) {
            lost += number(&row, "lost");
            if row["kind"] == "RELAY" {
                relays += number(&row, "sent");
            }
        }
    }
    println!("{cuts} cuts: {lost} messages lost with their sessions, {relays} relays");
    assert!(lost > 0, "no session's end lost anything");
    assert!(relays > 0, "no token was in doubt");
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
    let far = |row: &&Row| number(row, "node") >= 2;
    let entered = entries
        .iter()
        .filter(far)
        .map(|row| number(row, "enter_ns"));
    let near = entries
        .iter()
        .filter(|row| !far(row))
        .map(|row| number(row, "enter_ns"));
    // Either side may have had the token when the link was cut; the other had to wait.
    let during = |ns: &u64| (began_ns + 200_000_000..over_ns).contains(ns);
    let (far, near) = (entered.filter(during).count(), near.filter(during).count());
    assert!(
        far == 0 || near == 0,
        "{far} and {near} entries on both sides of a cut tree"
    );
}
