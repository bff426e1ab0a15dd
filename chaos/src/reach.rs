//! Which links a fault is on.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fate::Member;
use crate::language::{Part, Print, Printer, display_as_printed};

/// A set of directed links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// Every link: `all`.
    All,
    /// Those between some and some others: `3->4`, `3-4`, `0,1->all and 2-3`.
    Between(Vec<Pair>),
    /// Those from one group to another: `0,1|2,3,4`. A member of no group is beyond no border.
    Across(Vec<Members>),
    /// Those between members too far apart on a ring in number order; see
    /// [`ring`](crate::partition::Named::Ring).
    Apart {
        /// How many stand on the ring.
        nodes: u32,
        /// The farthest that still see each other.
        sight: u32,
    },
}

/// Links from some members to others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// The members that send.
    pub from: Members,
    /// The members that are sent to.
    pub to: Members,
    /// Whether the links back are meant as well.
    pub both: bool,
}

/// A set of members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Members {
    /// All members: `all`.
    All,
    /// Those from the first to the last of each pair, both included: `0,2,5..9`.
    Listed(Vec<(Member, Member)>),
}

impl Reach {
    /// The links between two members, both ways.
    pub fn edge(a: Member, b: Member) -> Self {
        Reach::Between(vec![Pair::edge(a, b)])
    }

    /// Whether the link from one member to another is among them.
    pub fn covers(&self, from: Member, to: Member) -> bool {
        match self {
            Reach::All => from != to,
            Reach::Between(pairs) => from != to && pairs.iter().any(|pair| pair.covers(from, to)),
            Reach::Across(groups) => {
                let group = |member| groups.iter().position(|group| group.contains(member));
                matches!((group(from), group(to)), (Some(a), Some(b)) if a != b)
            }
            Reach::Apart { nodes, sight } => {
                let apart = from.abs_diff(to);
                from < *nodes && to < *nodes && apart.min(nodes - apart) > *sight
            }
        }
    }
}

impl Pair {
    /// Both links between two members.
    pub fn edge(a: Member, b: Member) -> Self {
        Self {
            from: Members::one(a),
            to: Members::one(b),
            both: true,
        }
    }

    fn covers(&self, from: Member, to: Member) -> bool {
        (self.from.contains(from) && self.to.contains(to))
            || (self.both && self.from.contains(to) && self.to.contains(from))
    }
}

impl Members {
    /// The set of one member.
    pub fn one(member: Member) -> Self {
        Members::Listed(vec![(member, member)])
    }

    /// The set of these members.
    pub fn these(members: impl IntoIterator<Item = Member>) -> Self {
        Self::runs(members.into_iter().map(|member| (member, member)).collect())
    }

    /// Those from the first to the last of each pair, in the one way to write them.
    pub fn runs(mut given: Vec<(Member, Member)>) -> Self {
        given.sort_unstable();
        let mut runs: Vec<(Member, Member)> = Vec::new();
        for (first, last) in given {
            match runs.last_mut() {
                Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                _ => runs.push((first, last)),
            }
        }
        Members::Listed(runs)
    }

    /// Whether the member is one of them.
    pub fn contains(&self, member: Member) -> bool {
        match self {
            Members::All => true,
            Members::Listed(runs) => runs
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&member)),
        }
    }
}

impl Print for Reach {
    fn print(&self, out: &mut dyn Printer) -> fmt::Result {
        match self {
            Reach::All => out.write_str("all"),
            Reach::Between(pairs) => print_list(out, pairs, " and "),
            Reach::Across(groups) => print_list(out, groups, "|"),
            Reach::Apart { nodes, sight } => {
                let last = nodes - 1;
                write!(out, "members more than {sight} apart on the ring 0..{last}")
            }
        }
    }
}

impl Print for Pair {
    fn print(&self, out: &mut dyn Printer) -> fmt::Result {
        self.from.print(out)?;
        out.write_str(if self.both { "-" } else { "->" })?;
        self.to.print(out)
    }
}

impl Print for Members {
    fn print(&self, out: &mut dyn Printer) -> fmt::Result {
        match self {
            Members::All => out.write_str("all"),
            Members::Listed(runs) => print_list(out, runs, ","),
        }
    }
}

/// Members from the first to the last.
impl Print for (Member, Member) {
    fn print(&self, out: &mut dyn Printer) -> fmt::Result {
        let (first, last) = *self;
        out.part(Part::Member(first))?;
        match last.saturating_sub(first) {
            0 => return Ok(()),
            1 => out.write_str(",")?,
            _ => out.write_str("..")?,
        }
        out.part(Part::Member(last))
    }
}

display_as_printed!(Reach, Pair, Members);

fn print_list(out: &mut dyn Printer, items: &[impl Print], between: &str) -> fmt::Result {
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            out.write_str(between)?;
        }
        item.print(out)?;
    }
    Ok(())
}
