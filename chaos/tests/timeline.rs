//! Timelines: what is left to decide is decided, and can be shown, stored and read again.

mod common;

use chaos::partition::Edges;
use chaos::sample::Source;
use chaos::timeline::{FaultAction, Group};
use chaos::{FaultSpec, Timeline};
use common::{MS, SEED, assert_distributed, timeline};

const FAULTS: &[&str] = &[
    "at 2s cut 3-4 for 1s",
    "at 1s partition halves until 3s",
    "at 1s partition ring",
    "partition majority deliver",
    "at 1s isolate holder for 500ms",
    "at 1s isolate 2 for 500ms",
    "when enter 3 kill 3",
    "at 4s pause 2 for 1s",
    "every 2s for 100ms loss 30% on all",
    "at 3s restart 5 after 500ms",
    "churn edges fail 5s repair 1s",
    "at 0s cut 4 random edges",
    "delay message REQ origin 3 by 4T",
    "preset 3g on 0->1",
    "delay matrix grid",
    "loss 0%",
    "at 10s every 5s heal until 30s",
];

#[test]
fn a_timeline_shows_what_was_decided() {
    insta::assert_snapshot!(timeline(9, FAULTS).to_string());
}

#[test]
fn when_links_are_reliable_again_is_known_where_it_can_be() {
    let until_ns = |faults: &[&str]| timeline(9, faults).harms_until_ns();
    assert_eq!(until_ns(&["delay 5ms", "at 4s pause 2 for 1s"]), None);
    let cut = "at 2s cut 3-4 for 1s";
    assert_eq!(until_ns(&[cut]), Some(3_000 * MS));
    assert_eq!(
        until_ns(&[cut, "at 0s loss 1% on all until 5s"]),
        Some(5_000 * MS)
    );
    for endless in ["at 0s cut 4 random edges", "when enter 3 cut 3-4 for 1s"] {
        assert_eq!(until_ns(&[cut, endless]), Some(u64::MAX), "{endless}");
    }
}

#[test]
fn a_timeline_can_be_stored() {
    let timeline = timeline(9, FAULTS);
    let json = serde_json::to_string(&timeline).unwrap();
    assert_eq!(serde_json::from_str::<Timeline>(&json).unwrap(), timeline);
}

#[test]
fn the_stacking_order_is_the_same_however_faults_are_listed() {
    let mut network = timeline(
        5,
        &[
            "reorder 5%",
            "delay 1ms",
            "rate 1mbit",
            "corrupt 1%",
            "truncate 1%",
            "duplicate 1%",
            "loss every 2",
            "loss 1%",
            "cut 0-1",
            "delay 2ms",
            "delay 3ms on 1->2",
        ],
    )
    .network();
    let stack = network
        .stack(0, 1)
        .map(|rule| rule.fault.to_string())
        .collect::<Vec<_>>();
    assert_eq!(
        stack,
        [
            "cut",
            "loss every 2",
            "loss 1%",
            "duplicate 1%",
            "truncate 1%",
            "corrupt 1%",
            "rate 1mbit",
            "delay 1ms",
            "delay 2ms",
            "reorder 5%",
        ]
    );
}

#[test]
fn random_edges_are_those_of_the_topology() {
    let path = Edges::Listed((0..8).map(|node| (node, node + 1)).collect());
    let group = Group {
        nodes: 9,
        edges: path,
        kinds: None,
        token: None,
        seed: SEED,
        read: &|_| unreachable!("no file"),
    };
    let specs = ["cut 3 random edges".parse::<FaultSpec>().unwrap()];
    let resolved = Timeline::resolve(&specs, &group).unwrap();
    let FaultAction::Links(bad) = &resolved.steps[0].action else {
        panic!("a cut is about links");
    };
    let cut = (0..9).flat_map(|from| (0..9).map(move |to| (from, to)));
    let cut = cut
        .filter(|(from, to)| bad[0].reach.covers(*from, *to))
        .collect::<Vec<_>>();
    assert_eq!(cut.len(), 6, "three edges, both ways: {cut:?}");
    assert!(cut.iter().all(|(from, to)| from.abs_diff(*to) == 1));
    let too_many = ["cut 9 random edges".parse::<FaultSpec>().unwrap()];
    let error = Timeline::resolve(&too_many, &group).unwrap_err();
    assert_eq!(error.wrong, "there are only 8 edges");
}

#[test]
fn measured_delays_come_back_as_they_were_measured() {
    // Two humps, in a file with another column and a remark.
    let value = |n: u64| {
        if n.is_multiple_of(3) {
            50.0 + (n % 100) as f64 / 10.0
        } else {
            10.0 + (n % 50) as f64 / 10.0
        }
    };
    let rows = (0..3_000).map(|n| format!("{n},{}\n", value(n)));
    let text = format!("# pings\nseq,rtt_ms\n{}", rows.collect::<String>());
    let group = Group {
        read: &|file| match file {
            "pings.csv" => Ok(text.clone()),
            "few.csv" => Ok("rtt_us\n0\n10\n".to_owned()),
            _ => Err("there is no such file".to_owned()),
        },
        ..Group::complete(2, SEED)
    };
    let resolve = |fault: &str| Timeline::resolve(&[fault.parse().unwrap()], &group);
    let mut network = resolve("delay empirical pings.csv:rtt_ms")
        .unwrap()
        .network();
    let delays =
        (0..50_000).map(|n| network.fate(n * MS, 0, 1, 100).copies[0].delay_ns as f64 / MS as f64);
    let delays = delays.collect::<Vec<_>>();
    let mut measured = (0..3_000).map(value).collect::<Vec<_>>();
    measured.sort_by(f64::total_cmp);
    let cdf =
        |ms: f64| measured.partition_point(|value| *value < ms) as f64 / measured.len() as f64;
    // The sample itself has steps of 1/50 of two thirds, so it is known only that well.
    assert_distributed(delays, (1.628_f64 / 0.02).powi(2), cdf);

    let mut network = resolve("delay empirical few.csv:rtt_us").unwrap().network();
    let delays = (0..50_000).map(|n| network.fate(n * MS, 0, 1, 100).copies[0].delay_ns as f64);
    assert_distributed(delays.collect(), 50_000.0, |ns| ns / 10_000.0);

    let missing = resolve("delay empirical pongs.csv:rtt_ms").unwrap_err();
    assert_eq!(missing.wrong, "pongs.csv: there is no such file");
    assert_eq!(&missing.text[missing.place.clone()], "pongs.csv");
    let column = resolve("delay empirical pings.csv:seq").unwrap_err();
    assert!(
        column
            .wrong
            .contains("line 2, column 1: the name 'seq' does not end in its unit"),
        "{column}"
    );
    let source = Source {
        file: String::new(),
        column: "rtt_ms".to_owned(),
    };
    let bad = chaos::sample::Sample::read(&source, "rtt_ms\n1\nfast\n").unwrap_err();
    assert_eq!(
        bad.to_string(),
        "line 3, column 1: this is not a delay; write a number such as 12.5"
    );
}

#[test]
fn what_is_wrong_with_a_file_never_quotes_it() {
    let texts = [
        "root:secret:20228:0:99999:7:::\n",
        "secret\n1\n",
        "rtt_ms,secret\nsecret,1\n",
        "site,secret\n",
        "site,secret\nhidden,secret\n",
        "site,a,b\na,,secret\nb,1ms 2ms 3% distribution secret,\n",
        "site,a\na,\nsecret,\n",
    ];
    for text in texts {
        let group = Group {
            read: &|_| Ok(text.to_owned()),
            ..Group::complete(3, SEED)
        };
        for fault in ["delay empirical f:rtt_ms", "delay matrix f"] {
            let wrong = Timeline::resolve(&[fault.parse().unwrap()], &group).unwrap_err();
            let said = wrong.to_string();
            assert!(said.contains("line "), "{said}");
            assert!(
                !said.contains("secret") && !said.contains("hidden"),
                "{said}"
            );
        }
    }
}

#[test]
fn every_preset_makes_a_network() {
    for preset in chaos::preset::PRESETS {
        let text = format!("preset {}", preset.name);
        let mut network = timeline(20, &[&text]).network();
        let arrived = (0..1_000).map(|n| network.fate(n * 10 * MS, 0, 1, 100));
        let delays = arrived
            .filter(|fate| !fate.is_lost())
            .map(|fate| fate.copies[0].delay_ns);
        let delays = delays.collect::<Vec<_>>();
        assert!(
            delays.len() > 900,
            "{}: only {} arrived",
            preset.name,
            delays.len()
        );
        assert!(
            delays.iter().all(|ns| (10_000..2_000 * MS).contains(ns)),
            "{}",
            preset.name
        );
    }
}

#[test]
fn random_members_are_drawn_from_those_at_hand() {
    let timeline = timeline(9, &["every 1s kill random"]);
    let picks = (0..200)
        .map(|nth| timeline.random(0, nth, &[2, 5, 7]))
        .collect::<Vec<_>>();
    for member in [2, 5, 7] {
        assert!(picks.contains(&member));
    }
    assert!(picks.iter().all(|member| [2, 5, 7].contains(member)));
    assert_eq!(timeline.random(0, 3, &[2, 5, 7]), picks[3]);
}
