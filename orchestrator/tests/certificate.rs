//! Printed defects that break exclusion: in how many runs two members are seen inside at the same time,
//! and in how many nothing kept two apart, which timing may hide.

use std::fmt::Write as _;
use std::path::Path;

use algorithms::printed::{Defect, Fails, Shows, World};
use algorithms::registry::{self, AlgorithmInfo, LinkOrder};
use analysis::Certified;
use model::engine::Silent;
use orchestrator::scenario::{Layers, Scenario};

/// Runs of each defect, with the seeds 1, 2, 3, …
const RUNS: u64 = 200;

/// Every defect that lets too many in where one may be inside, with the world that shows it.
fn unsafe_defects() -> impl Iterator<Item = (&'static AlgorithmInfo, &'static Defect, World)> {
    let all = registry::ALL.iter();
    let all = all.flat_map(|info| info.more.defects.iter().map(move |defect| (*info, defect)));
    all.filter_map(|(info, defect)| match defect.shows {
        Shows::World(world) if world.fails == Fails::Exclusion && !defect.rules.is_empty() => {
            Some((info, defect, world))
        }
        Shows::World(_) | Shows::Run(_) | Shows::Nothing => None,
    })
}

/// The flags of a run of as many nodes as the smallest world that shows the defect, in which everybody
/// asks again and again for a short stay.
fn flags(info: &AlgorithmInfo, defect: &Defect, world: World) -> Vec<String> {
    let mut flags = vec![
        format!("-n={}", world.wants.len().max(2)),
        format!("--as-printed={}", defect.id),
        "--engine=sim".to_owned(),
        "--entries=10".to_owned(),
        "--think=exp:3ms".to_owned(),
        "--hold=200us".to_owned(),
        "--time-limit=60s".to_owned(),
    ];
    if info.link_order == LinkOrder::Any {
        flags.push("--links=any".to_owned());
    }
    if !world.topology.is_empty() {
        flags.push(format!("--topology={}", world.topology));
    }
    let params = defect.with.iter();
    flags.extend(params.map(|(name, value)| format!("--param={name}={value}")));
    if world.crash > 0 {
        flags.push("--fault=when enter 1 #2 kill 1".to_owned());
        flags.push("--detect-after=1ms..5ms".to_owned());
    }
    if world.cut > 0 {
        flags.push("--silence=5ms".to_owned());
        flags.push("--fault=every 20ms for 10ms cut 1 random edges".to_owned());
    }
    flags
}

/// What was found in runs of one defect.
#[derive(Default)]
struct Found {
    overlaps: u64,
    certificates: u64,
    hidden: u64,
}

fn found(info: &AlgorithmInfo, flags: &[String]) -> Found {
    let mut found = Found::default();
    for seed in 1..=RUNS {
        let seed = format!("--seed={seed}");
        let words = flags.iter().chain([&seed]).map(String::as_str);
        let words = words.collect::<Vec<_>>();
        let scenario = Scenario::from_flags(&words).expect("flags that fit");
        let resolved = Layers::new(info.name, scenario).and_then(|layers| layers.resolve());
        let resolved = resolved.unwrap_or_else(|why| panic!("{} {words:?}: {why}", info.name));
        let run = simulator::run(&resolved.plan, &mut Silent).expect("time passes");
        let judgement = analysis::judge(&resolved.plan, &resolved.topology, &run);
        let overlap = judgement.summary.max_inside > judgement.admits;
        let unordered = judgement.summary.certified == Certified::No;
        assert!(
            unordered || !overlap,
            "two were inside and each entry knew of the exit before: {} {words:?}",
            info.name
        );
        if unordered {
            let why = judgement.safety.why().unwrap_or_default();
            let word = match overlap {
                true => "were inside at the same time",
                false => "nothing kept them apart",
            };
            assert!(why.contains(word), "{why}");
        }
        found.overlaps += u64::from(overlap);
        found.certificates += u64::from(unordered);
        found.hidden += u64::from(unordered && !overlap);
    }
    found
}

/// The table is made again and compared; `UPDATE=1` writes it.
#[test]
fn the_certificate_finds_at_least_what_timing_shows() {
    let mut text = format!(
        "# What timing hides\n\n\
         For people who ask what the certificate adds. Every defect of a printed text that breaks exclusion, in \
         {RUNS} simulated runs\n(seeds 1 to {RUNS}): in how many two members were inside at the same time, in how \
         many nothing kept two apart (no chain of\nmessages from one's exit to the other's entry), and how many \
         of those only the certificate found. Everybody asks ten times\nfor 200 µs, in as many nodes as the \
         smallest world has that shows the defect. Made by\n\
         `UPDATE=1 cargo test -p orchestrator --test certificate`.\n\n\
         | algorithm | defect | inside at the same time | nothing kept apart | only the certificate |\n\
         |---|---|---|---|---|\n"
    );
    let mut total = Found::default();
    let mut defects = 0;
    for (info, defect, world) in unsafe_defects() {
        let Found {
            overlaps,
            certificates,
            hidden,
        } = found(info, &flags(info, defect, world));
        let (name, id) = (info.name, defect.id);
        writeln!(
            text,
            "| `{name}` | `{id}` | {overlaps} | {certificates} | {hidden} |"
        )
        .expect("a text takes everything");
        total.overlaps += overlaps;
        total.certificates += certificates;
        total.hidden += hidden;
        defects += 1;
    }
    assert!(defects >= 10, "only {defects}");
    assert!(total.hidden > 0, "timing hid nothing");
    let Found {
        overlaps,
        certificates,
        hidden,
    } = total;
    writeln!(
        text,
        "| all | {defects} | {overlaps} | {certificates} | {hidden} |"
    )
    .expect("a text takes everything");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/reference/certificate.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &text).expect("the table can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, committed, "UPDATE=1 writes the table again");
}
