//! BMaV's resources: who holds which instances while it waits for the critical section.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::contract::NodeId;

/// The resources of a run: `R1:2=0,3;R2:3=0,3,5` says that 0 and 3 have the two instances of R1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Resources {
    all: Vec<Resource>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Resource {
    name: String,
    instances: u32,
    /// Once for each instance.
    holders: Vec<NodeId>,
}

impl Resources {
    /// The resources that a text says, for a group of so many.
    pub(crate) fn read(text: &str, nodes: u32) -> Result<Self, String> {
        let words = text.split(';').filter(|word| !word.trim().is_empty());
        let all = words.map(|word| Resource::read(word.trim(), nodes));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        for (place, resource) in all.iter().enumerate() {
            if all[..place].iter().any(|other| other.name == resource.name) {
                return Err(format!("resources: {} is there twice", resource.name));
            }
        }
        Ok(Self { all })
    }

    /// How many instances a process holds.
    pub(crate) fn held(&self, by: NodeId) -> u32 {
        let holders = self.all.iter().flat_map(|resource| &resource.holders);
        holders.filter(|holder| **holder == by).count() as u32
    }

    /// A resource of which `but` has none and the others in `waiting` have every instance.
    pub(crate) fn taken_by(&self, waiting: &BTreeSet<NodeId>, but: NodeId) -> Option<&str> {
        let taken = |resource: &&Resource| {
            let all = resource.holders.len() as u32 == resource.instances;
            let wait = |holder: &NodeId| *holder != but && waiting.contains(holder);
            all && resource.instances > 0 && resource.holders.iter().all(wait)
        };
        let taken = self.all.iter().find(taken);
        taken.map(|resource| resource.name.as_str())
    }
}

impl Resource {
    fn read(word: &str, nodes: u32) -> Result<Self, String> {
        let why = |what: &str| {
            format!("resources: '{word}' {what}; write NAME:INSTANCES=HOLDERS, as in R1:2=0,3")
        };
        let (name, rest) = word.split_once(':').ok_or_else(|| why("has no ':'"))?;
        let (instances, holders) = rest.split_once('=').ok_or_else(|| why("has no '='"))?;
        let instances = instances.trim().parse::<u32>();
        let instances = instances.map_err(|_| why("does not say how many instances"))?;
        let holders = holders.split(',').map(str::trim);
        let holders = holders.filter(|holder| !holder.is_empty());
        let holders = holders.map(|holder| match holder.parse() {
            Ok(id) if id < nodes => Ok(NodeId(id)),
            Ok(id) => Err(why(&format!("names {id}; there are {nodes} nodes, from 0"))),
            Err(_) => Err(why(&format!("names '{holder}', which is no node"))),
        });
        let holders = holders.collect::<Result<Vec<_>, _>>()?;
        match (name.trim(), holders.len() as u32 <= instances) {
            ("", _) => Err(why("has no name")),
            (_, false) => Err(why("has more holders than instances")),
            (name, true) => Ok(Self {
                name: name.to_owned(),
                instances,
                holders,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The book's: A and D hold R1 and R2, F holds R2.
    const BOOK: &str = "R1:2=0,3; R2:3=0,3,5";

    #[test]
    fn the_book_says_who_holds_what() {
        let resources = Resources::read(BOOK, 6).expect("it is well written");
        let held = (0..6).map(|id| resources.held(NodeId(id)));
        assert_eq!(held.collect::<Vec<_>>(), [2, 0, 0, 2, 0, 1]);
        assert_eq!(Resources::read("", 6), Ok(Resources::default()));
        let twice = Resources::read("disk:5=1,1,2", 3).expect("it is well written");
        assert_eq!(twice.held(NodeId(1)), 2);
    }

    #[test]
    fn a_resource_is_taken_when_all_who_have_it_wait() {
        let resources = Resources::read(BOOK, 6).expect("it is well written");
        let waiting = |ids: &[u32]| ids.iter().copied().map(NodeId).collect::<BTreeSet<_>>();
        let taken = |ids, but| resources.taken_by(&waiting(ids), NodeId(but));
        assert_eq!(taken(&[0, 3, 5], 5), Some("R1"));
        assert_eq!(taken(&[0, 5], 5), None, "3 does not wait");
        assert_eq!(taken(&[0, 3, 5], 0), None, "0 has some itself");
        assert_eq!(taken(&[0, 3, 5], 1), Some("R1"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let cases = [
            ("R1", "'R1' has no ':'"),
            ("R1:2", "'R1:2' has no '='"),
            ("R1:two=0", "does not say how many instances"),
            ("R1:2=0,6", "names 6; there are 6 nodes, from 0"),
            ("R1:2=x", "names 'x', which is no node"),
            ("R1:2=0,1,2", "has more holders than instances"),
            (":2=0", "has no name"),
            ("R1:2=0;R1:1=1", "R1 is there twice"),
        ];
        for (text, expected) in cases {
            let why = Resources::read(text, 6).expect_err(text);
            assert!(why.contains(expected), "{text}: {why}");
        }
    }
}
