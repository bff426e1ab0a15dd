//! Parameters that say something of each member, by chance: who asks whom, and whose vote counts.
//!
//! What is drawn is of the right form and keeps the condition that makes it safe; an algorithm that asks
//! for more refuses it, and then the scenario does without.

use std::collections::BTreeSet;

use super::Drawing;

/// In larger groups the text would be longer than anybody reads.
const MOST_NODES: u32 = 12;

impl Drawing<'_> {
    /// A value for the parameter of that name, where it is one of these.
    pub(super) fn structure(&mut self, param: &str) -> Option<String> {
        if self.nodes > MOST_NODES {
            return None;
        }
        match param {
            "structure" => Some(self.information_structure()),
            "quorums" => Some(self.quorums()),
            "votes" => Some(self.votes()),
            _ => None,
        }
    }

    /// Some of the members, at least one; with this one among them, if it shall be.
    fn some_members(&mut self, with: Option<u32>) -> BTreeSet<u32> {
        let share = *self.dice.one_of(&[0.2, 0.5, 0.8]);
        let mut some = (0..self.nodes)
            .filter(|_| self.dice.chance(share))
            .collect::<BTreeSet<_>>();
        some.extend(with);
        if some.is_empty() {
            some.insert(self.member());
        }
        some
    }

    /// Whom each informs and asks: who have no arbiter in common ask each other.
    fn information_structure(&mut self) -> String {
        let all = 0..self.nodes as usize;
        let knows_itself = self.dice.chance(0.7);
        let inform = (0..self.nodes).map(|me| self.some_members(knows_itself.then_some(me)));
        let inform = inform.collect::<Vec<_>>();
        let mut ask = inform.clone();
        for i in all.clone() {
            for j in all.clone().filter(|j| *j != i) {
                if inform[i].is_disjoint(&inform[j]) || self.dice.chance(0.05) {
                    ask[i].insert(j as u32);
                }
            }
        }
        let nodes = all.map(|i| format!("{}/{}", listed(&inform[i]), listed(&ask[i])));
        nodes.collect::<Vec<_>>().join(";")
    }

    /// Sets of which every two meet, with each member in its own.
    fn quorums(&mut self) -> String {
        let mut quorums = Vec::<BTreeSet<u32>>::new();
        for me in 0..self.nodes {
            let mut quorum = self.some_members(Some(me));
            for earlier in &quorums {
                if earlier.is_disjoint(&quorum) {
                    quorum.extend(earlier.first());
                }
            }
            quorums.push(quorum);
        }
        let quorums = quorums.iter().map(listed);
        quorums.collect::<Vec<_>>().join(";")
    }

    fn votes(&mut self) -> String {
        let votes = (0..self.nodes).map(|_| self.dice.one_of(&["0", "1", "1", "1", "2", "5"]));
        votes.copied().collect::<Vec<_>>().join(",")
    }
}

fn listed(members: &BTreeSet<u32>) -> String {
    let members = members.iter().map(u32::to_string);
    members.collect::<Vec<_>>().join(",")
}
