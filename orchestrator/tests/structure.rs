//! `orchestrator structure`, and runs with structures, as a user types them.

mod common;

use std::fs;
use std::path::Path;

use common::Place;
use serde_json::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../experiments/structures");

#[test]
fn a_good_structure_is_shown_with_its_costs_and_drawn() {
    let place = Place::new();
    let done = place
        .line("structure two-hot -n 4 --svg figure2.svg")
        .expect(0);
    for shown in [
        "2     6 to 14   0,1,2      2        0,1,2",
        "leaves, until 0      0   1   2   2",
        "on average D = 1.50 (the paper's formula gives 1.83)",
        "theorem: safe",
    ] {
        assert!(done.stdout.contains(shown), "{shown}:\n{}", done.stdout);
    }
    let drawn = fs::read_to_string(place.path().join("figure2.svg")).expect("it is drawn");
    assert!(drawn.contains("<title>2 informs 0</title>"));
    assert!(drawn.contains("<title>0 asks 1</title>"));
}

#[test]
fn exploring_decides_whatever_the_theorem_says() {
    let place = Place::new();
    let unsafe_one = place.line("structure fig3a --explore").expect(1);
    assert!(
        unsafe_one
            .stdout
            .contains("theorem: not safe. property b is broken by 0 and 1")
    );
    assert!(
        unsafe_one
            .stdout
            .contains("basic rules: not safe: 0 and 1 are inside")
    );
    // Property a is broken, and nothing bad ever happens.
    let needless = place
        .line("structure '0/0;0,1,2/0,1;0,2/0,2' --explore")
        .expect(0);
    assert!(
        needless
            .stdout
            .contains("theorem: not safe. property a is broken")
    );
    assert!(
        needless
            .stdout
            .contains("deadlock-free rules: safe and live in all")
    );
    let basic = place.line("structure fig4 --explore --json").expect(0);
    let object: Value = serde_json::from_str(&basic.stdout).expect("one JSON object");
    assert_eq!(object["safe_by_the_theorem"], true);
    let stuck = object["explored"][0]["report"]["stuck"].as_u64();
    assert!(stuck.is_some_and(|stuck| stuck > 0), "{object:#}");
    assert_eq!(object["explored"][1]["report"]["trapped"], 0);
}

#[test]
fn structures_come_from_files_too() {
    let place = Place::new();
    let file = format!("{FOLDER}/fig4.toml");
    let done = place.line(&format!("structure {file}")).expect(0);
    assert!(done.stdout.contains("2     6 to 8"), "{}", done.stdout);
    let line = format!("run sanders --engine sim --param structure={file} --seed 1 --json");
    let done = place.line(&line).expect(0);
    let object: Value = serde_json::from_str(&done.stdout).expect("one JSON object");
    assert_eq!(object["summary"]["nodes"], 3);
    let params = object["summary"]["params"].as_str().unwrap_or_default();
    assert!(
        params.contains("structure=0/0,1;1/0,1;0,1,2/0,1,2"),
        "{params}"
    );
}

#[test]
fn every_structure_file_is_safe() {
    let files = fs::read_dir(Path::new(FOLDER)).expect("the structures are there");
    for file in files {
        let path = file.expect("a readable folder").path();
        let path = path.to_str().expect("a path in UTF-8");
        Place::new().run(["structure", path]).expect(0);
    }
}

#[test]
fn an_unsafe_structure_is_refused_and_can_be_watched() {
    let place = Place::new();
    let refused = place.line("run sanders --param structure=fig3b").expect(2);
    assert!(
        refused.stderr.contains("'fig3b' is not safe"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("broken by 0 and 1"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("unsafe=yes"), "{}", refused.stderr);
    let watched = "run sanders --engine sim --param structure=fig3b --param unsafe=yes \
                   --delay '20ms 20ms' --think exp:60ms --hold 20ms --weights 2=0,3=0 --total 100 --seed 1";
    let done = place.line(watched).expect(1);
    assert!(done.stdout.contains("violated"), "{}", done.stdout);
}

#[test]
fn what_is_wrong_is_said() {
    let place = Place::new();
    place.file("odd.toml", "[[node]]\ninform = [0]\n");
    for (line, expected) in [
        (
            "structure gird",
            "there is no structure 'gird'; there are centralised",
        ),
        ("structure plane -n 8", "there is no plane of 8 nodes here"),
        (
            "structure fig4 -n 4",
            "fig4 is a structure of 3 nodes, not of 4",
        ),
        ("structure none.toml", "none.toml: No such file"),
        ("structure odd.toml", "missing field `request`"),
        (
            "structure grid -n 5 --explore",
            "5 nodes have too many schedules; at most 4",
        ),
        ("structure centralised --holder 9", "there is no node 9"),
        (
            "run sanders --param structure=fig4 -n 5",
            "'fig4' is a structure of 3 nodes, not of 5",
        ),
        (
            "run sanders --param structure=none.toml",
            "none.toml: No such file",
        ),
        (
            "run sanders --param structure=complete --param rules=deadlock-free --param self=late",
            "self=late is for rules=basic",
        ),
        ("run sanders --param rules=no-fail", "use deadlock-free"),
        (
            "run sanders --param rules=basic --param recovery=on",
            "recovery=on needs rules=deadlock-free",
        ),
        (
            "run maekawa --param quorums=0,1;1,2;2",
            "those of 0 and 2 do not meet",
        ),
    ] {
        let done = place.line(line).expect(2);
        let said = done.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(expected), "{line}: {said}");
    }
}

/// Each request passes the other's informant first, on real links: both enter, and the kernel, which
/// gives a lock to one only, says so.
#[test]
fn on_a_cluster_the_kernel_witnesses_an_unsafe_structure() {
    let place = Place::new();
    let line = "run sanders --param structure=fig3b --param unsafe=yes --workload batch \
                --asks 0,1 --hold 400ms --fault 'at 0s delay 150ms on 0->2' \
                --fault 'at 0s delay 150ms on 1->3' --seed 1 --out here";
    let done = place.line(line).expect(1);
    assert!(
        done.stdout.contains("safety violated: nodes 0 and 1"),
        "{}",
        done.stdout
    );
    let summary = common::row(&place.path().join("here/summary.csv"));
    assert_eq!(summary["max_inside"], "2");
    assert_ne!(summary["witness_refusals"], "0");
}

#[test]
fn on_a_cluster_a_plane_survives_loss_delay_and_a_death() {
    let place = Place::new();
    let line = "run sanders -n 7 --param structure=plane --param recovery=on --loss 5% \
                --delay '4ms 2ms' --fault 'at 300ms kill 3' --detect-after 20ms..200ms \
                --think exp:10ms --hold 2ms --entries 8 --seed 1 --out here";
    place.line(line).expect(0);
    let summary = common::row(&place.path().join("here/summary.csv"));
    assert_eq!(
        (summary["safety"].as_str(), summary["liveness"].as_str()),
        ("holds", "holds")
    );
    assert_eq!(summary["witness_refusals"], "0");
    assert_ne!(summary["retransmissions"], "0");
}

/// Whoever needs the consent of the dead waits until its silence has lasted long enough.
#[test]
fn on_a_cluster_silence_gives_a_death_away() {
    let place = Place::new();
    let line = "run sanders -n 4 --param structure=complete --param recovery=on --detector timeout:1s \
                --fault 'when enter 3 kill 3' --think exp:2ms --entries 5 --seed 1 --out here";
    let done = place.line(line);
    // On a machine that stands still for a second, somebody else may be taken for dead as well.
    let blamed = done.stdout.contains("false suspicion");
    assert!(done.code == 0 || blamed, "{}", done.stdout);
    assert!(
        blamed || done.stdout.contains("verdict: holds"),
        "{}",
        done.stdout
    );
}

/// The one inside stands still, the others take it for dead, and the kernel sees two inside.
#[test]
fn on_a_cluster_a_violation_after_a_false_suspicion_is_reported_as_that() {
    let place = Place::new();
    let line = "run sanders -n 3 --param structure=complete --param recovery=on --detector timeout:200ms \
                --fault 'when enter 2 pause 2 for 2s' --think exp:2ms --duration 2s --seed 1 --out here";
    let done = place.line(line).expect(1);
    let said = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("safety violated"), "{said}");
    assert!(said.contains("; after a false suspicion of"), "{said}");
    let faults = common::rows(&place.path().join("here/faults.csv"));
    let suspected = faults
        .iter()
        .any(|row| row["fault"] == "false suspicion of 2");
    assert!(suspected, "{faults:?}");
    // Who judges the files again sees the same.
    let again = place.line("check here").expect(1);
    assert!(
        again.stdout.contains("false suspicion of"),
        "{}",
        again.stdout
    );
}
