//! `--workload closed`: each client asks, enters, leaves, thinks, and asks again.

use algorithms::registry::Load;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Arrive, Group, KeyError, Keys, PerNode, Rhythm, Span, written};

/// Each client asks, enters, leaves, thinks, and asks again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Closed {
    /// How long a client thinks between leaving and asking again.
    pub think: PerNode<Span>,
}

impl Arrive for Closed {
    const WORD: &'static str = "closed";
    const HELP: &'static str = "Each client asks, enters, leaves, thinks, and asks again";
    const KEYS: &'static [&'static str] = &["think"];
    const SHARED_KEYS: &'static [&'static str] = &["entries", "total", "duration", "weights"];

    fn read(keys: &Keys, _: &Group<'_>) -> Result<Self, KeyError> {
        let usual = PerNode::All(Span::Exponential(10_000_000));
        let think = keys.get("think")?.unwrap_or(usual);
        Ok(Self { think })
    }

    fn write(&self) -> Table {
        Table::from_iter([written("think", &self.think)])
    }

    fn rhythm(&self) -> Rhythm {
        Rhythm::AfterLeaving {
            think: self.think.clone(),
        }
    }

    fn load(&self) -> Load {
        let never_thinks = match &self.think {
            PerNode::All(think) => *think == Span::Constant(0),
            PerNode::Each(thinks) => thinks.iter().all(|think| *think == Span::Constant(0)),
        };
        match never_thinks {
            true => Load::Saturated,
            false => Load::Other,
        }
    }
}
