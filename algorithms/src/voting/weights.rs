//! Gifford's weights: some have more votes than others.

use std::collections::BTreeSet;

use crate::contract::NodeId;
use crate::params::Param;

/// The parameter, as every algorithm with weights has it.
pub(crate) const PARAM: Param = Param::text(
    "votes",
    "",
    "how many votes each node has, such as 3,1,1; by default one each",
)
.such_as(&[
    "2,1,1",
    "3,1,1",
    "0,1,1",
    "1,0,2",
    "2,2,1,1",
    "0,1,0,3",
    "1,2,3,4,5",
]);

/// How many votes each node has.
pub(crate) fn weights(text: &str, nodes: u32) -> Result<Vec<u32>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(vec![1; nodes as usize]);
    }
    let weight = |word: &str| match word.trim().parse::<u32>() {
        Ok(weight) if weight <= 1_000_000 => Ok(weight),
        Ok(_) | Err(_) => Err(format!(
            "votes: '{}' is no number of votes up to 1000000",
            word.trim()
        )),
    };
    let weights = text.split(',').map(weight).collect::<Result<Vec<_>, _>>()?;
    match weights.len() {
        count if count != nodes as usize => Err(format!(
            "votes: {count} numbers for {nodes} nodes; give one for each"
        )),
        _ if weights.iter().all(|weight| *weight == 0) => {
            Err("votes: nobody has any; give somebody one".to_owned())
        }
        _ => Ok(weights),
    }
}

/// Whether these nodes have more than half of all votes.
pub(super) fn is_majority(weights: &[u32], voters: &BTreeSet<NodeId>) -> bool {
    let votes = |id: &NodeId| u64::from(weights[id.index()]);
    let all: u64 = weights.iter().copied().map(u64::from).sum();
    2 * voters.iter().map(votes).sum::<u64>() > all
}
