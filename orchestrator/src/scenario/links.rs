//! The links of a scenario, built and checked.

use algorithms::registry::AlgorithmInfo;
use algorithms::topology::{Shape, TopologyError};
use algorithms::{NodeId, Topology};

/// The links of that shape, if the algorithm can run on them.
pub(super) fn build(
    shape: &Shape,
    info: &AlgorithmInfo,
    nodes: u32,
    holder: NodeId,
    seed: u64,
) -> Result<Topology, String> {
    let topology = shape
        .build(nodes, seed)
        .map_err(|error| error.to_string())?;
    topology
        .fits(info.graph, holder)
        .map_err(|error| format!("{} {}", info.name, unfit(shape, info, &topology, error)))?;
    Ok(topology)
}

/// Why they do not fit. Where only the holder is the wrong one, the advice is a holder that is not.
fn unfit(shape: &Shape, info: &AlgorithmInfo, topology: &Topology, error: TopologyError) -> String {
    let suits = |holder: &NodeId| topology.fits(info.graph, *holder).is_ok();
    let of_the_shape = Some(shape.holder()).filter(suits);
    let holder = of_the_shape.or_else(|| topology.reached_by_all().filter(suits));
    match (error, holder) {
        (TopologyError::Unfit { needs, why, .. }, Some(holder)) => {
            format!("needs {needs}, but {why}; use --holder {holder}")
        }
        (error, _) => error.to_string(),
    }
}
