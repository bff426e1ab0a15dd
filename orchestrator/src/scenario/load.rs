//! The workload of a scenario: who asks, when, how often, and how long they stay.

use std::path::Path;

use algorithms::NodeId;
use algorithms::params::Params;
use algorithms::registry::AlgorithmInfo;
use model::workload::{
    Arrivals, Group, KINDS, KeyError, Keys, Kind, PerNode, Quota, Rhythm, Span, Urgency, Workload,
    node_of,
};
use toml::Table;

use super::values::{List, Weight};
use super::workload_word::WorkloadWord;
use super::{Scenario, arrivals};

/// The most clients of all members together: each has an alarm of its own.
const MOST_CLIENTS: u64 = 10_000_000;

/// The workload that a scenario describes, checked.
pub(super) fn resolve(
    scenario: &Scenario,
    (info, params): (&AlgorithmInfo, &Params),
    nodes: u32,
    folder: &Path,
) -> Result<Workload, KeyError> {
    let WorkloadWord(kind) = scenario.workload.unwrap_or_default();
    refuse_strays(scenario, kind)?;
    let weights = weights(scenario, nodes)?;
    // A seed may be larger than a file can say, and a path need not be text; no workload reads them.
    let keys = scenario.clone().without(&["seed", "arrivals"]);
    let keys = Table::try_from(keys).expect("a scenario is plain data");
    let group = Group {
        info,
        params,
        nodes,
        weights: &weights,
        requests_of_file: &|| arrivals::read(scenario, nodes, folder),
    };
    let arrivals = (kind.read)(&Keys(keys), &group)?;
    let workload = Workload {
        quota: quota(scenario, &arrivals, nodes)?,
        arrivals,
        hold: per_node(scenario.hold.as_ref(), Span::Constant(1_000_000)),
        priority: priority(scenario, nodes)?,
        weights,
        clients: match scenario.clients {
            Some(0) => {
                return Err(KeyError::new("clients", "a member has at least one client"));
            }
            Some(clients) if u64::from(clients) * u64::from(nodes) > MOST_CLIENTS => {
                let why = format!(
                    "{clients} clients at each of {nodes} nodes are too many; at most \
                     {MOST_CLIENTS} in all"
                );
                return Err(KeyError::new("clients", why));
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
fn refuse_strays(scenario: &Scenario, kind: &Kind) -> Result<(), KeyError> {
    let takes = |kind: &Kind, key| kind.keys.contains(&key) || kind.shared_keys.contains(&key);
    let given = scenario.keys();
    let shared = KINDS.iter().flat_map(|kind| kind.shared_keys);
    let mut keys = own_keys().chain(shared.copied());
    match keys.find(|&key| given.contains(key) && !takes(kind, key)) {
        None => Ok(()),
        Some(key) => {
            let kinds = KINDS.iter().filter(|kind| takes(kind, key));
            let kinds = kinds.map(|kind| kind.word).collect::<Vec<_>>().join(", ");
            let this = kind.word;
            let why = format!("this is for --workload {kinds}, and this one is {this}");
            Err(KeyError::new(key, why))
        }
    }
}

/// The keys that belong to one workload each.
pub(super) fn own_keys() -> impl Iterator<Item = &'static str> {
    KINDS.iter().flat_map(|kind| kind.keys).copied()
}

fn per_node<T: Clone>(given: Option<&List<T>>, default: T) -> PerNode<T> {
    match given.map(|List(values)| &values[..]) {
        None => PerNode::All(default),
        Some([one]) => PerNode::All(one.clone()),
        Some(several) => PerNode::Each(several.to_vec()),
    }
}

/// Fewer priorities than nodes are taken in turn; more would be for nobody.
fn priority(scenario: &Scenario, nodes: u32) -> Result<PerNode<Urgency>, KeyError> {
    match &scenario.priority {
        Some(List(given)) if given.len() > nodes as usize => {
            let given = given.len();
            let why = format!("{given} priorities for {nodes} nodes; write at most one for each");
            Err(KeyError::new("priority", why))
        }
        given => Ok(per_node(given.as_ref(), Urgency::Constant(0))),
    }
}

fn quota(scenario: &Scenario, arrivals: &Arrivals, nodes: u32) -> Result<Quota, KeyError> {
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
        return Err(KeyError::new(second, why));
    }
    match first {
        Some((key, Quota::PerNode(0) | Quota::Total(0) | Quota::Until(0))) => Err(KeyError::new(
            key,
            "0 leaves nothing to do; a run has at least one entry",
        )),
        Some((_, quota)) => Ok(quota),
        None => Ok(arrivals.quota(nodes)),
    }
}

fn weights(scenario: &Scenario, nodes: u32) -> Result<Vec<f64>, KeyError> {
    let Some(List(given)) = &scenario.weights else {
        return Ok(Vec::new());
    };
    let wrong = |why: String| KeyError::new("weights", why);
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
pub(super) fn time_passes(workload: &Workload, nodes: u32) -> Result<(), KeyError> {
    let Rhythm::AfterLeaving { think } = workload.arrivals.rhythm() else {
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
            Err(KeyError::new("think", why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_workloads_are_keys_of_scenarios() {
        let shared = KINDS.iter().flat_map(|kind| kind.shared_keys).copied();
        for key in own_keys().chain(shared) {
            let table = Table::from_iter([(key.to_owned(), false.into())]);
            let refused = table.try_into::<Scenario>();
            let unknown = refused.is_err_and(|error| error.message().starts_with("unknown field"));
            assert!(!unknown, "{key}");
        }
    }

    #[test]
    fn a_key_belongs_to_one_workload_or_is_shared() {
        let shared = KINDS.iter().flat_map(|kind| kind.shared_keys);
        let shared = shared.collect::<std::collections::BTreeSet<_>>();
        let own = own_keys().collect::<Vec<_>>();
        for (place, key) in own.iter().enumerate() {
            assert!(
                !shared.contains(key) && !own[..place].contains(key),
                "{key}"
            );
        }
    }
}
