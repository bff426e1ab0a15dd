//! How long a link takes.
//!
//! Written in netem's words: `5ms` is constant, `5ms 1ms` is uniform between 4 and 6 ms, and
//! `5ms 1ms distribution normal` has mean 5 ms and standard deviation 1 ms. In all distributions with
//! two times the first is the mean and the second the standard deviation (for uniform: the largest
//! deviation). `pareto` has netem's shape, α = 3: a sharp lower edge and a heavy upper tail. Two that
//! netem lacks: `5ms 1ms distribution lognormal`, and `5ms distribution exponential` with mean 5 ms.

use std::fmt;

use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::draw::Draw;
use crate::language::FaultError;
use crate::percent::Percent;
use crate::span::{LONGEST_NS, show_ns};

/// How long a link takes to carry a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Delay {
    /// The delay is always the same.
    Constant {
        /// How long the delay is.
        ns: u64,
    },
    /// Anything between mean − jitter and mean + jitter.
    Uniform {
        /// The mean delay, in nanoseconds.
        mean_ns: u64,
        /// How far from the mean a delay may be.
        jitter_ns: u64,
    },
    /// The distribution is bell-shaped and cut off at zero.
    Normal {
        /// The mean delay, in nanoseconds.
        mean_ns: u64,
        /// The standard deviation.
        jitter_ns: u64,
    },
    /// The distribution is exponential: mostly short delays, sometimes long ones.
    Exponential {
        /// The mean delay, in nanoseconds.
        mean_ns: u64,
    },
    /// Hardly ever below a sharp edge, rarely very long (α = 3).
    Pareto {
        /// The mean delay, in nanoseconds.
        mean_ns: u64,
        /// The standard deviation.
        jitter_ns: u64,
    },
    /// The logarithm of the delay is bell-shaped.
    Lognormal {
        /// The mean delay, in nanoseconds.
        mean_ns: u64,
        /// The standard deviation.
        jitter_ns: u64,
    },
}

impl Delay {
    /// No delay at all.
    pub const NONE: Self = Delay::Constant { ns: 0 };

    /// The delay of one packet, in nanoseconds; no longer than a text can say.
    pub fn draw_ns(&self, draw: &mut Draw) -> u64 {
        let ns = match *self {
            Delay::Constant { ns } => ns,
            Delay::Uniform { mean_ns, jitter_ns } => {
                mean_ns - jitter_ns + draw.below(2 * jitter_ns + 1)
            }
            Delay::Normal { .. } | Delay::Lognormal { .. } => {
                self.at_deviation_ns(StandardNormal.sample(draw))
            }
            Delay::Exponential { .. } | Delay::Pareto { .. } => self.at_rank_ns(draw.unit()),
        };
        ns.min(LONGEST_NS)
    }

    /// The delay that is as far up in this distribution as `deviation` is in the standard normal
    /// one. Correlated delays are drawn this way, so that each alone is distributed as asked.
    pub fn at_deviation_ns(&self, deviation: f64) -> u64 {
        let ns = match *self {
            Delay::Constant { ns } => ns,
            Delay::Normal { mean_ns, jitter_ns } => {
                (mean_ns as f64 + deviation * jitter_ns as f64).max(0.0) as u64
            }
            Delay::Lognormal { mean_ns, jitter_ns } => {
                let (mean, jitter) = (mean_ns as f64, jitter_ns as f64);
                let variance = (jitter / mean).powi(2).ln_1p();
                (mean.ln() - variance / 2.0 + deviation * variance.sqrt()).exp() as u64
            }
            Delay::Uniform { .. } | Delay::Exponential { .. } | Delay::Pareto { .. } => {
                self.at_rank_ns(normal_rank(deviation))
            }
        };
        ns.min(LONGEST_NS)
    }

    /// How long a packet takes on average, but for a bell that zero cuts off.
    pub fn mean_ns(&self) -> u64 {
        match *self {
            Delay::Constant { ns } => ns,
            Delay::Uniform { mean_ns, .. }
            | Delay::Normal { mean_ns, .. }
            | Delay::Exponential { mean_ns }
            | Delay::Pareto { mean_ns, .. }
            | Delay::Lognormal { mean_ns, .. } => mean_ns,
        }
    }

    /// The longest that the delay can be, if there is a bound.
    pub fn largest_ns(&self) -> Option<u64> {
        match *self {
            Delay::Constant { ns } => Some(ns),
            Delay::Uniform { mean_ns, jitter_ns } => Some(mean_ns + jitter_ns),
            Delay::Normal { .. }
            | Delay::Exponential { .. }
            | Delay::Pareto { .. }
            | Delay::Lognormal { .. } => None,
        }
    }

    /// The delay itself, where it is always the same.
    pub fn constant_ns(&self) -> Option<u64> {
        match *self {
            Delay::Constant { ns } => Some(ns),
            Delay::Uniform { .. }
            | Delay::Normal { .. }
            | Delay::Exponential { .. }
            | Delay::Pareto { .. }
            | Delay::Lognormal { .. } => None,
        }
    }

    /// The delay with this share of all others below it, where that has a short form.
    fn at_rank_ns(&self, rank: f64) -> u64 {
        match *self {
            Delay::Constant { ns } => ns,
            Delay::Uniform { mean_ns, jitter_ns } => {
                mean_ns - jitter_ns + (rank * (2 * jitter_ns) as f64) as u64
            }
            Delay::Exponential { mean_ns } => (-(-rank).ln_1p() * mean_ns as f64) as u64,
            Delay::Pareto { mean_ns, jitter_ns } => {
                let shape = (1.0 - rank).powf(-1.0 / PARETO_SHAPE);
                let deviation = (shape - PARETO_MEAN) / PARETO_DEVIATION;
                (mean_ns as f64 + deviation * jitter_ns as f64).max(0.0) as u64
            }
            Delay::Normal { .. } | Delay::Lognormal { .. } => {
                unreachable!("these are drawn by their deviation")
            }
        }
    }

    /// Whether some packets would arrive before they were sent.
    pub(crate) fn reaches_below_zero(&self) -> bool {
        match *self {
            Delay::Uniform { mean_ns, jitter_ns } => jitter_ns > mean_ns,
            Delay::Pareto { mean_ns, jitter_ns } => {
                let lowest = (1.0 - PARETO_MEAN) / PARETO_DEVIATION;
                (mean_ns as f64 + lowest * jitter_ns as f64) < 0.0
            }
            Delay::Lognormal { mean_ns, jitter_ns } => mean_ns == 0 && jitter_ns > 0,
            // The bell is cut off at zero, as in netem: `5ms 5ms distribution normal` passes.
            Delay::Normal { .. } | Delay::Constant { .. } | Delay::Exponential { .. } => false,
        }
    }
}

/// The share of a standard normal distribution below this deviation.
pub(crate) fn normal_rank(deviation: f64) -> f64 {
    libm::erfc(-deviation * std::f64::consts::FRAC_1_SQRT_2) / 2.0
}

/// netem's Pareto table has this shape, and so these moments for a scale of 1.
const PARETO_SHAPE: f64 = 3.0;
const PARETO_MEAN: f64 = 1.5;
const PARETO_DEVIATION: f64 = 0.866_025_403_784_438_6;

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Percent::ZERO)
    }
}

impl Delay {
    /// The delay in netem's words, with the correlation where netem has it.
    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>, correlation: Percent) -> fmt::Result {
        let (mean_ns, jitter_ns, distribution) = match *self {
            Delay::Constant { ns } => (ns, None, None),
            Delay::Uniform { mean_ns, jitter_ns } => (mean_ns, Some(jitter_ns), None),
            Delay::Normal { mean_ns, jitter_ns } => (mean_ns, Some(jitter_ns), Some("normal")),
            Delay::Exponential { mean_ns } => (mean_ns, None, Some("exponential")),
            Delay::Pareto { mean_ns, jitter_ns } => (mean_ns, Some(jitter_ns), Some("pareto")),
            Delay::Lognormal { mean_ns, jitter_ns } => {
                (mean_ns, Some(jitter_ns), Some("lognormal"))
            }
        };
        f.write_str(&show_ns(mean_ns))?;
        if let Some(jitter_ns) = jitter_ns {
            write!(f, " {}", show_ns(jitter_ns))?;
        }
        if !correlation.is_zero() {
            write!(f, " {correlation}")?;
        }
        match distribution {
            Some(name) => write!(f, " distribution {name}"),
            None => Ok(()),
        }
    }
}

impl TryFrom<String> for Delay {
    type Error = FaultError;

    fn try_from(text: String) -> Result<Self, FaultError> {
        text.parse()
    }
}

impl From<Delay> for String {
    fn from(delay: Delay) -> String {
        delay.to_string()
    }
}
