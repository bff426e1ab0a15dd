//! How a run of processes begins: no member acts before moment zero, so times are true and every
//! trace replays; and as many files may be open as that many members need.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use algorithms::registry;
use common::{Finished, Place, row, rows, words};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

/// A request at time 0 comes when the clock starts, not while some members are still being told of it.
#[test]
fn a_batch_at_time_zero_is_timed_from_zero() {
    for algorithm in ["raymond", "suzuki-kasami", "ricart-agrawala"] {
        let place = Place::new();
        let line = format!("run {algorithm} -n 8 --workload batch --hold 0 --seed 1 --out run");
        place.line(&line).expect(0);
        let run = place.path().join("run");
        // The first holder of a token may enter at once; nobody else has an answer without waiting.
        let at_zero = rows(&run.join("entries.csv"))
            .into_iter()
            .filter(|entry| entry["enter_ns"].parse::<u64>().unwrap() == 0)
            .count();
        assert_eq!(at_zero, 0, "{line}");
        let longest: f64 = row(&run.join("summary.csv"))["wait_max_us"]
            .parse()
            .unwrap();
        assert!(longest > 1.0, "{line}: {longest}");
    }
}

/// Random algorithms, sizes, loads and links: every trace of processes replays. `TURNSTILE_RUNS` asks
/// for so many, as `scripts/soak` does.
#[test]
fn traces_of_random_clusters_replay() {
    let runs = std::env::var("TURNSTILE_RUNS").map_or(10, |runs| runs.parse().unwrap());
    for seed in 0..runs {
        let place = Place::new();
        let line = random_run(seed);
        println!("{line}");
        place.line(&line).expect_one_of(&[0, 1, 3]);
        nothing_is_received_before_it_is_sent(&place.path().join("run"), &line);
        place.line("replay run").expect(0);
    }
    println!("{runs} traced runs of processes, and all of them replay");
}

fn random_run(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let info = registry::ALL.choose(&mut random).unwrap();
    let sizes: Vec<u32> = (2..=9).filter(|&nodes| info.admits_size(nodes)).collect();
    let nodes = sizes.choose(&mut random).unwrap();
    let entries = random.random_range(1..=5);
    let think = ["0s", "exp:1ms", "2ms"].choose(&mut random).unwrap();
    let hold = ["1us", "100us", "exp:500us"].choose(&mut random).unwrap();
    let links = [
        "",
        "",
        "--loss 10%",
        "--delay '1ms 500us'",
        "--duplicate 20%",
    ];
    let links = links.choose(&mut random).unwrap();
    let name = info.name;
    format!(
        "run {name} -n {nodes} --entries {entries} --think {think} --hold {hold} {links} \
         --seed {seed} --time-limit 20s --trace --out run"
    )
}

fn nothing_is_received_before_it_is_sent(run: &Path, line: &str) {
    let text = fs::read_to_string(run.join("events.jsonl")).unwrap();
    let mut under_way: BTreeMap<(u64, u64, u64), i64> = BTreeMap::new();
    for event in text.lines() {
        let event: Value = serde_json::from_str(event).unwrap();
        let field = |name: &str| event[name].as_u64().unwrap();
        match event["what"].as_str().unwrap() {
            "send" => {
                *under_way
                    .entry((field("node"), field("to"), field("number")))
                    .or_default() += 1;
            }
            "receive" if event["from"] != event["node"] => {
                let message = (field("from"), field("node"), field("number"));
                let copies = under_way.entry(message).or_default();
                *copies -= 1;
                assert!(*copies >= 0, "{line}: {event} comes before it is sent");
            }
            _ => {}
        }
    }
}

/// A member whose clients ask again at once always has something to do, and still hears the other.
#[test]
fn a_busy_member_hears_the_others() {
    let place = Place::new();
    let line = "run naimi-trehel -n 2 --think 0 --hold 0 --duration 500ms --out run";
    place.line(line).expect(0);
    let mut entries: BTreeMap<String, u32> = BTreeMap::new();
    for entry in rows(&place.path().join("run/entries.csv")) {
        *entries.entry(entry["node"].clone()).or_default() += 1;
    }
    // One that is not heard gets in once, when the other has stopped asking.
    assert!(entries.values().all(|&times| times > 10), "{entries:?}");
    assert_eq!(entries.len(), 2);
}

/// A shell's soft limit is only a suggestion: what thirty members need is more than 64.
#[test]
fn members_start_under_a_low_soft_limit_of_open_files() {
    let place = Place::new();
    let limited = |limit: &str| {
        let line = "exec \"$0\" run raymond -n 30 --entries 1 --out run";
        let output = Command::new("sh")
            .args(["-c", &format!("ulimit {limit} && {line}")])
            .arg(env!("CARGO_BIN_EXE_orchestrator"))
            .current_dir(place.path())
            .output();
        Finished::new(output.unwrap())
    };
    let refused = limited("-n 100").expect(2);
    refused.warns("30 members need 154 open files, and this user may have 100");
    limited("-Sn 64").expect(0);
}

/// What a run says at a level: the orchestrator on stderr, member 1 and the proxy in their logs. The
/// run cannot end before the loss does, which meets the first requests.
fn logged(level: &str, engine: &str) -> [String; 3] {
    let place = Place::new();
    let line = format!(
        "run raymond -n 3 --entries 2 --engine {engine} --fault 'at 1ms pause 2 for 1ms' \
         --fault 'at 0s loss 100% for 300ms' --think 0 --out run"
    );
    let mut command = place.command(words(&line));
    let output = command.env("TURNSTILE_LOG", level).output();
    let finished = Finished::new(output.unwrap());
    assert!([0, 3].contains(&finished.code), "{}", finished.stderr);
    let log = |name: &str| {
        let file = place.path().join("run/members").join(name);
        fs::read_to_string(file).unwrap_or_default()
    };
    [finished.stderr, log("1.0.log"), log("chaos.log")]
}

fn has(text: &str, words: &[&str]) -> bool {
    words.iter().all(|word| text.contains(word))
}

#[test]
fn each_level_of_the_log_tells_what_the_readme_says() {
    let life = ["starts", "'pause' on 2", "ended"];
    let own_life = ["started", "begins", "done"];
    let doings = [
        "a request arrives",
        "enters",
        "leaves",
        "sends",
        "receives",
        "kind=\"REQUEST\"",
    ];
    let frames = ["a frame leaves", "a frame arrives"];
    let proxys_life = [
        "the proxy starts",
        "a fault begins",
        "a fault ends",
        "loss 100% on all for 300ms",
        "the proxy is done",
    ];
    let [printed, own, proxys] = logged("info", "cluster");
    assert!(
        has(&printed, &life) && has(&printed, &["a fault strikes", "resumes a member"]),
        "{printed}"
    );
    assert!(has(&own, &own_life), "{own}");
    assert!(!doings.iter().any(|word| own.contains(word)), "{own}");
    assert!(has(&proxys, &proxys_life), "{proxys}");
    assert!(!proxys.contains("drops"), "{proxys}");
    let [_, own, proxys] = logged("debug", "cluster");
    let dropped = proxys
        .lines()
        .find(|line| line.contains("drops a datagram"));
    assert!(has(dropped.unwrap_or(""), &["loss 100%"]), "{proxys}");
    assert!(has(&own, &own_life) && has(&own, &doings), "{own}");
    assert!(!frames.iter().any(|word| own.contains(word)), "{own}");
    let [_, own, _] = logged("trace", "cluster");
    assert!(has(&own, &doings) && has(&own, &frames), "{own}");
    let [printed, ..] = logged("info", "sim");
    assert!(
        has(&printed, &life) && !printed.contains("\"what\""),
        "{printed}"
    );
    let [printed, ..] = logged("debug", "sim");
    let events = ["request", "enter", "release", "send", "receive"];
    let events = events.map(|what| format!("\"what\":\"{what}\""));
    assert!(
        events.iter().all(|what| printed.contains(what)) && printed.contains("REQUEST"),
        "{printed}"
    );
    let [printed, own, proxys] = logged("off", "cluster");
    assert!(!has(&printed, &["starts"]), "{printed}");
    assert!(own.is_empty() && proxys.is_empty(), "{own}{proxys}");
}
