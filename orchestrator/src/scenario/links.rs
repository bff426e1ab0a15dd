//! The links of a scenario, built and checked.

use algorithms::registry::{Entry, Graph};
use algorithms::{NodeId, Topology};
use node::plan::Plan;

/// The shape an algorithm gets unless said otherwise.
pub(super) fn shape_of(entry: &Entry) -> &'static str {
    match entry.graph {
        Graph::Complete => "complete",
        Graph::Tree => "tree:2",
        Graph::Digraph => "ring",
    }
}

/// The links that a plan's words mean.
pub fn topology_of(plan: &Plan) -> Result<Topology, String> {
    build(
        &plan.topology,
        plan.entry(),
        plan.nodes,
        plan.holder,
        plan.seed,
    )
}

/// The links of that shape, if the algorithm can run on them.
pub(super) fn build(
    shape: &str,
    _entry: &Entry,
    nodes: u32,
    _holder: NodeId,
    _seed: u64,
) -> Result<Topology, String> {
    match shape {
        "complete" => Ok(Topology::complete(nodes)),
        "tree:2" => {
            let edges: Vec<_> = (1..nodes)
                .map(|i| (NodeId((i - 1) / 2), NodeId(i)))
                .collect();
            Ok(Topology::undirected(nodes, &edges))
        }
        _ => Err(format!(
            "'{shape}' is unknown; there are complete and tree:2"
        )),
    }
}
