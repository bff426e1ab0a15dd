//! The framework's parameters as they were chosen. An algorithm with a fixed row or column does not list
//! the parameters that it fixes; they have the values that its cell has.

use std::time::Duration;

use crate::contract::NodeId;
use crate::params::{Params, Value};

/// How long a request may look for the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HopLimit {
    /// It is passed on as often as there are nodes.
    Nodes,
    /// It is passed on as often as this number says.
    Hops(u64),
    /// It is passed on for ever.
    None,
}

/// The values of the parameters.
pub(super) struct Chosen<'a>(pub(super) &'a Params);

impl<'a> Chosen<'a> {
    /// The value of a parameter that is a word, or this where the algorithm does not list it.
    pub(super) fn word(&self, name: &str, default: &'a str) -> &'a str {
        match self.value(name) {
            Some(Value::Word(word)) => word,
            Some(Value::Integer(_)) | None => default,
        }
    }

    pub(super) fn max_req(&self) -> u64 {
        self.integer("max_req", 1)
    }

    pub(super) fn max_time(&self) -> Duration {
        Duration::from_micros(self.integer("max_time", 1))
    }

    pub(super) fn recent(&self) -> usize {
        self.integer("recent", 0) as usize
    }

    /// How many nodes have a part of their own in the row, where the parameters say so.
    pub(super) fn groups(&self) -> Option<u32> {
        match self.integer("groups", 0) {
            0 => None,
            groups => Some(u32::try_from(groups).unwrap_or(u32::MAX)),
        }
    }

    /// The children of each node of the tree, at most.
    pub(super) fn arity(&self) -> u32 {
        self.integer("arity", 2) as u32
    }

    /// Token style: the migration condition is also tested when a request finds the role idle.
    pub(super) fn tests_on_wake(&self) -> bool {
        self.word("test", "exit") == "wake"
    }

    pub(super) fn is_static(&self) -> bool {
        self.word("routing", "dynamic") == "static"
    }

    /// How long a request may look for the controller, if that is what it says.
    pub(super) fn hop_limit(&self) -> Option<HopLimit> {
        match self.word("hop_limit", "n") {
            "n" => Some(HopLimit::Nodes),
            "none" => Some(HopLimit::None),
            number => number.parse().ok().map(HopLimit::Hops),
        }
    }

    /// `candidate_controllers`; empty if all are.
    pub(super) fn candidates(&self) -> Vec<NodeId> {
        self.candidate_numbers().unwrap_or_default()
    }

    /// The same, if it is a list of numbers.
    pub(super) fn candidate_numbers(&self) -> Option<Vec<NodeId>> {
        match self.word("candidates", "all") {
            "all" => Some(Vec::new()),
            list => {
                let numbers = list.split(',').map(|number| number.trim().parse());
                numbers.map(|number| number.ok().map(NodeId)).collect()
            }
        }
    }

    fn integer(&self, name: &str, unless: u64) -> u64 {
        match self.value(name) {
            Some(Value::Integer(number)) => *number,
            Some(Value::Word(_)) | None => unless,
        }
    }

    fn value(&self, name: &str) -> Option<&'a Value> {
        let Chosen(params) = self;
        params
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }
}
