//! The network between real processes misbehaves as it is told to, and as the simulator's does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{Place, Row, row, rows};

const ENGINES: [&str; 1] = ["cluster"];

/// What the faults did in a run, by the name of the fault.
fn acted(place: &Place, run: &str, fault: &str) -> u64 {
    let faults = rows(&place.path().join(run).join("faults.csv"));
    let named = faults.iter().filter(|row| row["fault"].starts_with(fault));
    named.map(|row| number(row, "acted")).sum()
}

fn number(row: &Row, column: &str) -> u64 {
    row[column].parse().unwrap()
}

#[test]
fn a_wild_network_is_survived_in_both_engines() {
    for engine in ENGINES {
        let place = Place::new();
        let wild = "--loss 20% --delay '20ms 5ms distribution normal' --duplicate 5% --reorder 10%";
        let line =
            format!("run ricart-agrawala -n 7 --entries 3 {wild} --engine {engine} --out run");
        place.line(&line).expect(0);
        let summary = row(&place.path().join("run/summary.csv"));
        assert_eq!(summary["entries"], "21");
        assert!(number(&summary, "retransmissions") > 0, "{engine}");
        for fault in ["loss", "duplicate", "reorder"] {
            assert!(acted(&place, "run", fault) > 0, "{fault} on {engine}");
        }
    }
}

/// Each fault of links does something in both engines, to about the same share of what it sees; the
/// algorithm holds all the same.
#[test]
fn both_engines_let_every_fault_act() {
    let faults = [
        "loss 20%",
        "loss gemodel 10% 40%",
        "loss every 5",
        "duplicate 20%",
        "corrupt 20%",
        "truncate 20%",
        "delay 3ms 1ms",
        "reorder 30%",
        "rate 200kbit limit 4",
    ];
    for fault in faults {
        for engine in ENGINES {
            let place = Place::new();
            let line = format!(
                "run naimi-trehel -n 3 --entries 20 --think 2ms --hold 100us --delay '1ms 500us' \
                 --fault 'at 0s {fault} on all' --engine {engine} --out run"
            );
            place.line(&line).expect(0);
            let name = fault.split(' ').next().unwrap();
            assert!(acted(&place, "run", name) > 0, "{fault} on {engine}");
        }
    }
}

/// Valid frames that were damaged, cut short or sent twice on their way are noticed, every one.
#[test]
fn no_damaged_frame_is_believed() {
    let place = Place::new();
    let line = "run naimi-trehel -n 4 --entries 150 --think 0 --hold 0 --out run \
                --fault 'at 0s corrupt 15% on all' --fault 'at 0s truncate 15% on all'";
    place.line(line).expect(0);
    let damaged = acted(&place, "run", "corrupt") + acted(&place, "run", "truncate");
    let transport = rows(&place.path().join("run/transport.csv"));
    let rejected: u64 = transport.iter().map(|row| number(row, "rejected")).sum();
    // One that was cut short and then damaged is one frame, and what was under way at the end was
    // never received.
    assert!(
        rejected > 100 && rejected <= damaged && rejected * 5 > damaged * 4,
        "{rejected} frames were rejected, {damaged} were damaged"
    );
}

#[test]
fn a_partition_that_heals_only_delays() {
    for engine in ENGINES {
        let place = Place::new();
        let line = format!(
            "run raymond -n 6 --entries 10 --think 5ms --engine {engine} --out run \
             --fault 'at 50ms partition halves for 500ms'"
        );
        place.line(&line).expect(0);
        assert!(acted(&place, "run", "partition") > 0, "{engine}");
    }
}

#[test]
fn a_partition_that_never_heals_is_inconclusive_and_says_who_waits() {
    for engine in ENGINES {
        let place = Place::new();
        let line = format!(
            "run raymond -n 6 --entries 50 --think 1ms --time-limit 1500ms --engine {engine} \
             --out run --fault 'at 20ms partition halves'"
        );
        let finished = place.line(&line).expect(3);
        assert!(finished.stdout.contains("wait"), "{}", finished.stdout);
    }
}

/// A fault that waits for an event comes into force at that event, in both engines, and before the
/// member's next message can leave.
#[test]
fn a_fault_waits_for_its_event_in_both_engines() {
    for engine in ENGINES {
        let place = Place::new();
        let line = format!(
            "run naimi-trehel -n 4 --entries 5 --think 2ms --hold 1ms --engine {engine} --out run \
             --fault 'when enter 3 #2 isolate 3 for 100ms'"
        );
        place.line(&line).expect(0);
        let faults = rows(&place.path().join("run/faults.csv"));
        assert_eq!(faults.len(), 1, "{engine}: {faults:?}");
        let entries = rows(&place.path().join("run/entries.csv"));
        let second = entries.iter().filter(|row| row["node"] == "3").nth(1);
        let entered_ns = number(second.unwrap(), "enter_ns");
        let left_ns = number(second.unwrap(), "exit_ns");
        let began_ns = number(&faults[0], "time_ns");
        assert!(began_ns >= entered_ns, "{engine}");
        // Whoever entered next had to wait until the links were whole again.
        let next = entries.iter().map(|row| number(row, "enter_ns"));
        let next_ns = next.filter(|ns| *ns > left_ns).min().unwrap();
        assert!(
            next_ns >= began_ns + 100_000_000,
            "{engine}: {next_ns} {began_ns}"
        );
        assert!(number(&faults[0], "acted") > 0, "{engine}");
    }
}

#[test]
fn the_holder_is_isolated_and_everybody_waits_for_it() {
    for engine in ENGINES {
        let place = Place::new();
        let line = format!(
            "run suzuki-kasami -n 4 --entries 5 --think 2ms --hold 20ms --engine {engine} \
             --out run --fault 'at 30ms isolate holder for 300ms'"
        );
        place.line(&line).expect(0);
        assert!(acted(&place, "run", "isolate") > 0, "{engine}");
    }
}
