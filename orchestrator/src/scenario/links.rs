//! The links of a scenario, built and checked.

use std::fs;
use std::path::Path;

use algorithms::registry::Entry;
use algorithms::topology::Shape;
use algorithms::{NodeId, Topology};

/// The shape that was said, or the usual one for the algorithm; a file's edges are read.
pub(super) fn shape(
    said: Option<&str>,
    entry: &Entry,
    nodes: u32,
    folder: &Path,
) -> Result<Shape, String> {
    match said {
        None => Ok(Shape::default_for(entry.graph, nodes)),
        Some(text) => match text.strip_prefix("file:") {
            None => text.parse::<Shape>().map_err(|error| error.to_string()),
            Some(file) => {
                let path = folder.join(file);
                let path_is = |why: String| format!("{}: {why}", path.display());
                let edges =
                    fs::read_to_string(&path).map_err(|error| path_is(error.to_string()))?;
                Shape::from_edge_list(&edges).map_err(|error| path_is(error.to_string()))
            }
        },
    }
}

/// The links of that shape, if the algorithm can run on them.
pub(super) fn build(
    shape: &Shape,
    entry: &Entry,
    nodes: u32,
    holder: NodeId,
    seed: u64,
) -> Result<Topology, String> {
    let topology = shape
        .build(nodes, seed)
        .map_err(|error| error.to_string())?;
    topology
        .fits(entry.graph, holder)
        .map_err(|error| format!("{} {error}", entry.name))?;
    Ok(topology)
}
