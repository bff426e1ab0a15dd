//! The workload of a scenario: who asks, when, how often, and how long they stay.

use std::path::Path;

use algorithms::NodeId;
use algorithms::params::Params;
use algorithms::registry::AlgorithmInfo;
use chaos::span::LONGEST_NS;
use model::workload::{Arrivals, Ask, PerNode, Quota, Span, Urgency, Workload};

use super::resolve::{ScenarioError, node_of};
use super::values::{AskText, List, Weight};
use super::{Kind, Scenario, arrivals};

/// The most clients of all members together: each has an alarm of its own.
const MOST_CLIENTS: u64 = 10_000_000;

/// The workload that a scenario describes, checked.
pub(super) fn resolve(
    scenario: &Scenario,
    (info, params): (&AlgorithmInfo, &Params),
    nodes: u32,
    folder: &Path,
) -> Result<Workload, ScenarioError> {
    let kind = scenario.workload.unwrap_or_default();
    refuse_strays(scenario, kind)?;
    let weights = weights(scenario, nodes)?;
    let arrivals = match kind {
        Kind::Closed => Arrivals::Closed {
            think: per_node(scenario.think.as_ref(), Span::Exponential(10_000_000)),
        },
        Kind::Open => Arrivals::Open {
            mean_gap_ns: mean_gap_ns(scenario)?,
        },
        Kind::Batch => batch(scenario, (info, params), nodes)?,
        Kind::OneAtATime => Arrivals::OneAtATime,
        Kind::Window => window(scenario, nodes, &weights)?,
        Kind::Trace => Arrivals::Batch {
            asks: arrivals::read(scenario, nodes, folder)?,
            settled: false,
        },
    };
    let workload = Workload {
        quota: quota(scenario, kind, &arrivals, nodes)?,
        arrivals,
        hold: per_node(scenario.hold.as_ref(), Span::Constant(1_000_000)),
        priority: priority(scenario, nodes)?,
        weights,
        clients: match scenario.clients {
            Some(0) => {
                return Err(ScenarioError::new(
                    "clients",
                    "a member has at least one client",
                ));
            }
            Some(clients) if u64::from(clients) * u64::from(nodes) > MOST_CLIENTS => {
                let why = format!(
                    "{clients} clients at each of {nodes} nodes are too many; at most \
                     {MOST_CLIENTS} in all"
                );
                return Err(ScenarioError::new("clients", why));
            }
            clients => clients.unwrap_or(1),
        },
    };
    Ok(workload)
}

/// How many entries there will be, where that is known.
pub(super) fn entries(workload: &Workload, nodes: u32) -> Option<u64> {
    match workload.quota {
        Quota::PerNode(entries) => Some(entries.saturating_mul(nodes.into())),
        Quota::Total(entries) => Some(entries),
        Quota::Until(_) => None,
    }
}

/// The key that says how much there is to do.
pub(super) fn quota_key(workload: &Workload) -> &'static str {
    match workload.quota {
        Quota::PerNode(_) => "entries",
        Quota::Total(_) => "total",
        Quota::Until(_) => "duration",
    }
}

/// Refuses keys that mean nothing for this kind of workload.
fn refuse_strays(scenario: &Scenario, kind: Kind) -> Result<(), ScenarioError> {
    let drawn = [Kind::Closed, Kind::Open, Kind::OneAtATime];
    let weighed = [Kind::Closed, Kind::Open, Kind::OneAtATime, Kind::Window];
    let asked = [
        ("think", scenario.think.is_some(), &[Kind::Closed][..]),
        ("rate", scenario.rate.is_some(), &[Kind::Open]),
        ("gap", scenario.gap.is_some(), &[Kind::Open]),
        ("asks", scenario.asks.is_some(), &[Kind::Batch]),
        ("settled", scenario.settled.is_some(), &[Kind::Batch]),
        ("askers", scenario.askers.is_some(), &[Kind::Window]),
        ("within", scenario.within.is_some(), &[Kind::Window]),
        ("arrivals", scenario.arrivals.is_some(), &[Kind::Trace]),
        (
            "entries",
            scenario.entries.is_some(),
            &[Kind::Closed, Kind::Open],
        ),
        ("total", scenario.total.is_some(), &drawn),
        ("duration", scenario.duration.is_some(), &drawn),
        ("weights", scenario.weights.is_some(), &weighed),
    ];
    match asked
        .into_iter()
        .find(|(_, given, kinds)| *given && !kinds.contains(&kind))
    {
        None => Ok(()),
        Some((key, _, kinds)) => {
            let kinds = kinds
                .iter()
                .map(|&kind| kind_name(kind))
                .collect::<Vec<_>>();
            let why = format!(
                "this is for --workload {}, and this one is {}",
                kinds.join(", "),
                kind_name(kind)
            );
            Err(ScenarioError::new(key, why))
        }
    }
}

fn kind_name(kind: Kind) -> String {
    use clap::ValueEnum;
    let value = kind.to_possible_value().expect("no kind is hidden");
    value.get_name().to_owned()
}

fn per_node<T: Clone>(given: Option<&List<T>>, default: T) -> PerNode<T> {
    match given.map(|List(values)| &values[..]) {
        None => PerNode::All(default),
        Some([one]) => PerNode::All(one.clone()),
        Some(several) => PerNode::Each(several.to_vec()),
    }
}

/// Fewer priorities than nodes are taken in turn; more would be for nobody.
fn priority(scenario: &Scenario, nodes: u32) -> Result<PerNode<Urgency>, ScenarioError> {
    match &scenario.priority {
        Some(List(given)) if given.len() > nodes as usize => {
            let given = given.len();
            let why = format!("{given} priorities for {nodes} nodes; write at most one for each");
            Err(ScenarioError::new("priority", why))
        }
        given => Ok(per_node(given.as_ref(), Urgency::Constant(0))),
    }
}

fn mean_gap_ns(scenario: &Scenario) -> Result<u64, ScenarioError> {
    match (scenario.rate, scenario.gap) {
        (Some(_), Some(_)) => Err(ScenarioError::new(
            "gap",
            "rate and gap say the same; keep one",
        )),
        (None, Some(gap)) if gap.0 == 0 => Err(ScenarioError::new(
            "gap",
            "requests would never stop coming; write 50ms",
        )),
        (None, Some(gap)) => Ok(gap.0),
        (None, None) => Ok(50_000_000),
        (Some(rate), None) => {
            let gap_ns = 1e9 / rate;
            if rate > 0.0 && (1.0..=LONGEST_NS as f64).contains(&gap_ns) {
                Ok(gap_ns.round() as u64)
            } else {
                let why = format!("{rate} requests per second cannot be; write 20 or 0.5");
                Err(ScenarioError::new("rate", why))
            }
        }
    }
}

fn batch(
    scenario: &Scenario,
    (info, params): (&AlgorithmInfo, &Params),
    nodes: u32,
) -> Result<Arrivals, ScenarioError> {
    let everyone = || (0..nodes).map(|node| AskText(Ask::at(0, NodeId(node))));
    let asks: Vec<Ask> = match &scenario.asks {
        None => everyone().map(|AskText(ask)| ask).collect(),
        Some(List(asks)) => asks.iter().map(|AskText(ask)| *ask).collect(),
    };
    for ask in &asks {
        node_of(ask.node.0, nodes).map_err(|why| ScenarioError::new("asks", why))?;
    }
    let settled = scenario.settled.unwrap_or(false);
    if settled && (info.more.retries)(params) {
        let why = format!(
            "who waits with {} tries again and again, so that the group never comes to rest and \
             nobody would ever leave; leave --settled out",
            info.name
        );
        return Err(ScenarioError::new("settled", why));
    }
    if let Some(ask) = asks.iter().find(|ask| settled && ask.at_ns > 0) {
        let why = format!(
            "'{}' names a time, but in a settled batch each asks when nothing is under way",
            AskText(*ask)
        );
        return Err(ScenarioError::new("asks", why));
    }
    Ok(Arrivals::Batch { asks, settled })
}

fn window(scenario: &Scenario, nodes: u32, weights: &[f64]) -> Result<Arrivals, ScenarioError> {
    let silent = weights.iter().filter(|&&weight| weight == 0.0).count();
    let may_ask = nodes - u32::try_from(silent).expect("a weight is a node's");
    let askers = scenario.askers.unwrap_or(may_ask.div_ceil(2));
    if askers == 0 || askers > may_ask {
        let why = format!("{askers} of {may_ask} nodes cannot ask once each; write 1 to {may_ask}");
        return Err(ScenarioError::new("askers", why));
    }
    Ok(Arrivals::Window {
        nodes: askers,
        within_ns: scenario.within.map_or(10_000_000, |within| within.0),
    })
}

fn quota(
    scenario: &Scenario,
    kind: Kind,
    arrivals: &Arrivals,
    nodes: u32,
) -> Result<Quota, ScenarioError> {
    let given = [
        ("entries", scenario.entries.map(Quota::PerNode)),
        ("total", scenario.total.map(Quota::Total)),
        (
            "duration",
            scenario.duration.map(|time| Quota::Until(time.0)),
        ),
    ];
    let mut given = given
        .into_iter()
        .filter_map(|(key, quota)| Some((key, quota?)));
    let first = given.next();
    if let (Some((first, _)), Some((second, _))) = (first, given.next()) {
        let why = format!("{first} and {second} say how much there is to do; keep one");
        return Err(ScenarioError::new(second, why));
    }
    match (first, kind, arrivals) {
        (Some((key, Quota::PerNode(0) | Quota::Total(0) | Quota::Until(0))), ..) => Err(
            ScenarioError::new(key, "0 leaves nothing to do; a run has at least one entry"),
        ),
        (Some((_, quota)), ..) => Ok(quota),
        (None, Kind::OneAtATime, _) => Ok(Quota::Total(1_000)),
        (None, _, Arrivals::Batch { asks, .. }) => Ok(Quota::Total(asks.len() as u64)),
        (None, _, Arrivals::Window { nodes, .. }) => Ok(Quota::Total((*nodes).into())),
        (None, Kind::Closed | Kind::Open | Kind::Batch | Kind::Window | Kind::Trace, _) => {
            // Enough to look at, and soon over in large groups too.
            Ok(Quota::PerNode(u64::from((10_000 / nodes).clamp(1, 50))))
        }
    }
}

fn weights(scenario: &Scenario, nodes: u32) -> Result<Vec<f64>, ScenarioError> {
    let Some(List(given)) = &scenario.weights else {
        return Ok(Vec::new());
    };
    let wrong = |why: String| ScenarioError::new("weights", why);
    let in_turn = |weight: &Weight| match weight {
        Weight::InTurn(weight) => Some(*weight),
        Weight::Of(..) => None,
    };
    let weights = match given.iter().map(in_turn).collect::<Option<Vec<_>>>() {
        Some(weights) if weights.len() == nodes as usize => weights,
        Some(weights) => {
            let count = weights.len();
            return Err(wrong(format!(
                "{count} weights for {nodes} nodes; write one for each, or NODE=WEIGHT for some"
            )));
        }
        None => {
            let mut weights = vec![1.0; nodes as usize];
            for weight in given {
                let Weight::Of(node, weight) = *weight else {
                    return Err(wrong(
                        "either one weight for each node, or all NODE=WEIGHT".into(),
                    ));
                };
                weights[node_of(node.0, nodes).map_err(wrong)?.index()] = weight;
            }
            weights
        }
    };
    if weights.iter().all(|&weight| weight == 0.0) {
        return Err(wrong("all weights are 0, so nobody would ever ask".into()));
    }
    Ok(weights)
}

/// In virtual time, a closed loop that neither thinks nor holds would go round for ever at one
/// instant.
pub(super) fn time_passes(workload: &Workload, nodes: u32) -> Result<(), ScenarioError> {
    let Arrivals::Closed { think } = &workload.arrivals else {
        return Ok(());
    };
    let never = |span: Span| {
        matches!(
            span,
            Span::Constant(0) | Span::Uniform(0, 0) | Span::Exponential(0)
        )
    };
    let stuck = |node: &NodeId| never(think.of(*node)) && never(workload.hold.of(*node));
    match (0..nodes).map(NodeId).find(stuck) {
        None => Ok(()),
        Some(node) => {
            let why = format!(
                "node {node} thinks 0 and holds 0, so time would not pass; give it one of them"
            );
            Err(ScenarioError::new("think", why))
        }
    }
}
