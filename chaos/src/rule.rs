//! A fault, on some links, at some times.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::churn::Churn;
use crate::fault::{AnyFault, Cut, InFlight, Working};
use crate::reach::Reach;
use crate::time_window::TimeWindow;

/// A fault, on some links, at some times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// What all its draws are made from. It comes from the fault's own text, never from its place
    /// in a list, so that other rules can come and go.
    pub identity: u64,
    /// The step of the timeline that it came from, if it came from one.
    pub step: Option<usize>,
    /// The fault that happens to packets.
    pub fault: AnyFault,
    /// The links that it is on.
    pub reach: Reach,
    /// When it is in force.
    pub window: TimeWindow,
    /// Within the window it comes and goes for each edge apart.
    pub churn: Option<Churn>,
}

/// A rule and its fault ready to work, shared by all links it is on.
#[derive(Clone, Debug)]
pub(crate) struct Posted {
    pub rule: Rule,
    /// The fault with nothing to remember yet.
    pub fresh: Working,
    /// If it is a cut: what it does to datagrams under way.
    pub cut: Option<InFlight>,
}

impl Posted {
    pub(crate) fn new(rule: Rule) -> Self {
        Self {
            fresh: rule.fault.begin(),
            cut: match rule.fault {
                AnyFault::Cut(Cut { in_flight }) => Some(in_flight),
                _ => None,
            },
            rule,
        }
    }
}

/// A rule that has made room for another, and what it did until then.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub rule: Rule,
    /// When the other rule took its place.
    pub gone_ns: u64,
    pub count: Count,
}

/// How many packets a rule saw and changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Packets that passed it while it was in force.
    pub seen: u64,
    /// Packets it made a difference to.
    pub acted: u64,
}

impl AddAssign for Count {
    fn add_assign(&mut self, more: Self) {
        self.seen += more.seen;
        self.acted += more.acted;
    }
}
