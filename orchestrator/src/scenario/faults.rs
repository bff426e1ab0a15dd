//! What a scenario lets go wrong.

use std::path::Path;

use algorithms::Topology;
use algorithms::registry::{self, AlgorithmInfo, LinkContract};
use chaos::language::{By, FaultError, MessageFault};
use chaos::partition::Edges;
use chaos::span::{LONGEST_NS, show_ns};
use chaos::timeline::{FaultAction, Group, Step, Timeline};
use chaos::{FaultSpec, Reach};
use model::plan::{Detector, Placement, UseTransport};
use model::run::Engine;
use safe_io::input;

use super::Scenario;
use super::values::{Detecting, DuplicateSpec, LossSpec, ReorderSpec, Time};
use model::workload::KeyError;

/// The group in which things go wrong.
pub(super) struct FaultContext<'a> {
    pub(super) info: &'a AlgorithmInfo,
    /// All links that there are, whether the algorithm uses them or not.
    pub(super) links: &'a Topology,
    pub(super) kinds: &'a [&'a str],
    pub(super) seed: u64,
    /// What file names are relative to.
    pub(super) folder: &'a Path,
    /// Which member is on which host, where there are several.
    pub(super) placement: Option<&'a Placement>,
}

/// The most faults of a scenario: each looks at every packet or message of its links.
const MOST_FAULTS: usize = 10_000;

/// Refuses a message's delay, given in bounds, that is longer than the longest delay.
pub(super) fn within_reason(timeline: &Timeline, bound_ns: u64) -> Result<(), KeyError> {
    let too_late = |step: &&Step| match &step.action {
        FaultAction::Message(MessageFault::Delay(_, By::Bounds(bounds))) => {
            bounds * bound_ns as f64 > LONGEST_NS as f64
        }
        _ => false,
    };
    match timeline.steps.iter().find(too_late) {
        None => Ok(()),
        Some(step) => {
            let why = format!(
                "'{}' is a delay of more than a year: T is {}",
                step.text,
                show_ns(bound_ns)
            );
            Err(KeyError::new("fault", why))
        }
    }
}

/// All faults that were asked for, with nothing left to decide.
pub(super) fn resolve(scenario: &Scenario, group: &FaultContext<'_>) -> Result<Timeline, KeyError> {
    let links = group.links;
    let read =
        |file: &str| input::read_text(&group.folder.join(file)).map_err(|error| error.to_string());
    let specs = of_members(&specs(scenario), group.placement)
        .map_err(|error| KeyError::new("fault", error.to_string()))?;
    let group = Group {
        nodes: group.links.nodes(),
        edges: edges(group.links),
        kinds: Some(group.kinds),
        token: Some(group.info.token.is_some()),
        seed: group.seed,
        read: &read,
    };
    if specs.len() > MOST_FAULTS {
        let why = format!("{} faults are too many; at most {MOST_FAULTS}", specs.len());
        return Err(KeyError::new("fault", why));
    }
    let timeline = Timeline::resolve(&specs, &group);
    let timeline = timeline.map_err(|error| KeyError::new("fault", error.to_string()))?;
    // A failure detector asks every member, whatever the links are.
    let only_links = !matches!(scenario.detector, Some(Detecting(Detector::Timeout(_))));
    match timeline
        .steps
        .iter()
        .find(|step| only_links && strays(step, links))
    {
        None => Ok(timeline),
        Some(step) => Err(KeyError::new("fault", not_a_link(step, links))),
    }
}

/// Whether it names links, and none of them is one on which anything is ever sent.
fn strays(step: &Step, links: &Topology) -> bool {
    let FaultAction::Links(bad) = &step.action else {
        return false;
    };
    // What is sent one way is acknowledged the other way.
    let is_hit = |reach: &Reach| {
        let mut edges = links.edges();
        edges.any(|(a, b)| reach.covers(a.0, b.0) || reach.covers(b.0, a.0))
    };
    let named = |reach: &Reach| matches!(reach, Reach::Between(_));
    // Of all links in a complete graph none is missing, and there are too many to look at.
    !links.is_complete()
        && bad
            .iter()
            .all(|bad| named(&bad.reach) && !is_hit(&bad.reach))
}

fn not_a_link(step: &Step, links: &Topology) -> String {
    const FEW: usize = 8;
    let some = links.edges().take(FEW).map(|(a, b)| format!("{a}-{b}"));
    let mut some = some.collect::<Vec<_>>();
    if links.edge_count() > FEW as u64 {
        some.push(format!("… ({} in all)", links.edge_count()));
    }
    format!(
        "'{}' names no link of this topology, so it could never do anything; there are {}",
        step.text,
        some.join(", ")
    )
}

/// Every fault that was asked for: those that have a flag of their own, then the others.
fn specs(scenario: &Scenario) -> Vec<FaultSpec> {
    let loss = scenario.loss.iter().map(|LossSpec(fault)| fault);
    let duplicate = scenario.duplicate.iter().map(|DuplicateSpec(fault)| fault);
    let reorder = scenario.reorder.iter().map(|ReorderSpec(fault)| fault);
    let common = loss.chain(duplicate).chain(reorder);
    common.chain(&scenario.fault).cloned().collect()
}

/// The faults of hosts written out as faults of the members there.
fn of_members(
    specs: &[FaultSpec],
    placement: Option<&Placement>,
) -> Result<Vec<FaultSpec>, FaultError> {
    let names = placement.iter().flat_map(|placement| {
        let names = placement.hosts.iter().enumerate();
        names.map(|(host, name)| {
            let members = placement.members(host).map(|node| node.0);
            (name.clone(), members.collect())
        })
    });
    let hosts = names.collect::<Vec<(String, Vec<u32>)>>();
    let mut all = Vec::new();
    for spec in specs {
        all.extend(spec.of_members(&hosts)?);
    }
    Ok(all)
}

fn edges(links: &Topology) -> Edges {
    match links.is_complete() {
        true => Edges::Complete {
            nodes: links.nodes(),
        },
        false => Edges::Listed(links.edges().map(|(a, b)| (a.0, b.0)).collect()),
    }
}

/// Where the reliable transport runs.
pub(super) fn transport(scenario: &Scenario, engine: Engine) -> Result<UseTransport, KeyError> {
    let transport = scenario.transport.unwrap_or_default();
    if (engine, transport) == (Engine::Cluster, UseTransport::Never) {
        let why = "on a cluster every message travels through it; use --engine sim";
        return Err(KeyError::new("transport", why));
    }
    Ok(transport)
}

/// The shortest silence that may be taken for a death, or for the end of a link. An answer may wait
/// 5 ms for a message that it can travel with, and a message must have been sent twice before silence
/// means anything.
const LEAST_SILENCE_NS: u64 = 20_000_000;
/// The longest such silence. It is well below the time after which the simulator gives up a run in
/// which nothing happens.
const MOST_SILENCE_NS: u64 = 20_000_000_000;

/// Silence after which a link has failed.
pub(super) fn silence_ns(scenario: &Scenario, info: &AlgorithmInfo) -> Result<u64, KeyError> {
    let Some(Time(silence_ns)) = scenario.silence else {
        return Ok(model::plan::default_silence_ns());
    };
    if info.link_contract != LinkContract::Sessions {
        let why = format!(
            "links of {} never fail, however long they are silent; those of {} do",
            info.name,
            names(|info| info.link_contract == LinkContract::Sessions)
        );
        return Err(KeyError::new("silence", why));
    }
    tells_something("silence", silence_ns, "the end of a link")?;
    Ok(silence_ns)
}

/// Refuses a silence from which what it should tell cannot be guessed.
fn tells_something(key: &'static str, silence_ns: u64, what: &str) -> Result<(), KeyError> {
    if (LEAST_SILENCE_NS..=MOST_SILENCE_NS).contains(&silence_ns) {
        return Ok(());
    }
    let why = format!(
        "{} is no silence from which {what} can be guessed here; use {} to {}",
        show_ns(silence_ns),
        show_ns(LEAST_SILENCE_NS),
        show_ns(MOST_SILENCE_NS)
    );
    Err(KeyError::new(key, why))
}

/// The algorithms of which that is so.
fn names(is: impl Fn(&AlgorithmInfo) -> bool) -> String {
    let such = registry::ALL.iter().filter(|info| is(info));
    let such = such.map(|info| info.name).collect::<Vec<_>>();
    such.join(", ")
}

/// How members learn that another has died.
pub(super) fn detector(scenario: &Scenario, info: &AlgorithmInfo) -> Result<Detector, KeyError> {
    let Some(Detecting(detector)) = scenario.detector else {
        return Ok(Detector::default());
    };
    let Detector::Timeout(silence_ns) = detector else {
        return Ok(detector);
    };
    let wrong = |why: String| Err(KeyError::new("detector", why));
    if !info.wants_peer_events() {
        return wrong(format!(
            "{} does nothing about a death, so nobody would listen to it; {} do",
            info.name,
            names(AlgorithmInfo::wants_peer_events)
        ));
    }
    tells_something("detector", silence_ns, "a death")?;
    if scenario.detect_after.is_some() {
        return wrong(
            "detect-after is for the detector that is told; leave one of them out".into(),
        );
    }
    if scenario.transport == Some(UseTransport::Never) {
        return wrong(
            "it is the transport that asks who is there; leave out transport = never".into(),
        );
    }
    Ok(detector)
}
