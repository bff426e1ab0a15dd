//! `--workload open`: requests come by chance, served or not.

use chaos::span::{LONGEST_NS, show_ns};
use serde::{Deserialize, Serialize};
use toml::Table;

use super::{Arrive, Group, KeyError, Keys, Rhythm, written};

/// Requests come to each node as a Poisson process, whether or not earlier ones are served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Open {
    /// The mean time between two requests at one node, in nanoseconds.
    pub mean_gap_ns: u64,
}

impl Arrive for Open {
    const WORD: &'static str = "open";
    const HELP: &'static str = "Requests come to each node as a Poisson process, served or not";
    const KEYS: &'static [&'static str] = &["rate", "gap"];
    const SHARED_KEYS: &'static [&'static str] = &["entries", "total", "duration", "weights"];

    fn read(keys: &Keys, _: &Group<'_>) -> Result<Self, KeyError> {
        let mean_gap_ns = match (keys.get::<f64>("rate")?, keys.time_ns("gap")?) {
            (Some(_), Some(_)) => {
                return Err(KeyError::new("gap", "rate and gap say the same; keep one"));
            }
            (None, Some(0)) => {
                let why = "requests would never stop coming; write 50ms";
                return Err(KeyError::new("gap", why));
            }
            (None, Some(gap_ns)) => gap_ns,
            (None, None) => 50_000_000,
            (Some(rate), None) => {
                let gap_ns = 1e9 / rate;
                if !(rate > 0.0 && (1.0..=LONGEST_NS as f64).contains(&gap_ns)) {
                    let why = format!("{rate} requests per second cannot be; write 20 or 0.5");
                    return Err(KeyError::new("rate", why));
                }
                gap_ns.round() as u64
            }
        };
        Ok(Self { mean_gap_ns })
    }

    fn write(&self) -> Table {
        Table::from_iter([written("gap", show_ns(self.mean_gap_ns))])
    }

    fn rhythm(&self) -> Rhythm {
        Rhythm::AfterArriving {
            mean_gap_ns: self.mean_gap_ns,
        }
    }
}
