//! What a scenario says of its workload, key by key.

use algorithms::NodeId;
use algorithms::params::Params;
use algorithms::registry::AlgorithmInfo;
use chaos::span::parse_ns;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::Ask;

/// The keys of a scenario and their values, as a scenario file writes them.
#[derive(Clone, Debug)]
pub struct Keys(pub Table);

impl Keys {
    /// The value of the key, if it is given.
    pub fn get<T: DeserializeOwned>(&self, key: &'static str) -> Result<Option<T>, KeyError> {
        let value = self.0.get(key).map(|value| value.clone().try_into());
        let value = value.transpose();
        value.map_err(|error: toml::de::Error| KeyError::new(key, error.message()))
    }

    /// The length of time of the key, in nanoseconds, if it is given.
    pub fn time_ns(&self, key: &'static str) -> Result<Option<u64>, KeyError> {
        let time_ns = self.get::<String>(key)?.map(|text| parse_ns(&text));
        let wrong = |error| KeyError::new(key, format!("{error}"));
        time_ns.transpose().map_err(wrong)
    }
}

/// A key with its value, as a scenario file writes it.
pub(super) fn written(key: &str, value: impl Serialize) -> (String, Value) {
    let value = Value::try_from(value).expect("the values of a workload are plain data");
    (key.to_owned(), value)
}

/// The group that a workload is for.
#[derive(Clone, Copy)]
pub struct Group<'a> {
    /// What the registry says of its algorithm.
    pub info: &'a AlgorithmInfo,
    /// The parameters of the algorithm.
    pub params: &'a Params,
    /// How many nodes there are.
    pub nodes: u32,
    /// How often each node asks, relative to the others; empty if all alike.
    pub weights: &'a [f64],
    /// Reads the requests of the file that the scenario names.
    pub requests_of_file: &'a dyn Fn() -> Result<Vec<Ask>, KeyError>,
}

/// A key of a scenario whose value cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyError {
    /// The key that says it, even if its value is the default.
    pub key: &'static str,
    /// What is wrong, and what would be right.
    pub why: String,
}

impl KeyError {
    /// The error of this key.
    pub fn new(key: &'static str, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { key, why }
    }
}

/// The node of that number, if there is one.
pub fn node_of(number: u32, nodes: u32) -> Result<NodeId, String> {
    if number < nodes {
        Ok(NodeId(number))
    } else {
        let last = nodes - 1;
        Err(format!(
            "there is no node {number}; the {nodes} nodes are numbered 0 to {last}"
        ))
    }
}
