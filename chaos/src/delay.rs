//! How long a link takes.
//!
//! Written in netem's words: `5ms` is constant, `5ms 1ms` is uniform between 4 and 6 ms, and
//! `5ms 1ms distribution normal` has mean 5 ms and standard deviation 1 ms. One distribution netem
//! lacks: `5ms distribution exponential`, with mean 5 ms.

use std::fmt;
use std::str::FromStr;

use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::draw::Draw;
use crate::span::{SpanError, parse_ns, show_ns};

/// How long a link takes to carry a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Delay {
    /// Always the same.
    Constant {
        /// How long.
        ns: u64,
    },
    /// Anything between mean − jitter and mean + jitter.
    Uniform {
        /// The middle.
        mean_ns: u64,
        /// How far from it, at most.
        jitter_ns: u64,
    },
    /// Bell-shaped, never below zero.
    Normal {
        /// The middle.
        mean_ns: u64,
        /// The standard deviation.
        jitter_ns: u64,
    },
    /// Mostly short, sometimes long.
    Exponential {
        /// The mean.
        mean_ns: u64,
    },
}

/// Why a text is no delay.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DelayError {
    /// One of its times is none.
    #[error(transparent)]
    Span(#[from] SpanError),
    /// The words do not make a delay.
    #[error(
        "'{0}' is not a delay; write TIME, TIME JITTER, TIME JITTER distribution normal|uniform, \
         or TIME distribution exponential"
    )]
    Form(String),
    /// Some packets would arrive before they were sent.
    #[error("the jitter of '{0}' is larger than the delay, so some delays would be negative")]
    Negative(String),
}

impl Delay {
    /// The delay of one packet, in nanoseconds.
    pub fn draw_ns(&self, draw: &mut Draw) -> u64 {
        match *self {
            Delay::Constant { ns } => ns,
            Delay::Uniform { mean_ns, jitter_ns } => {
                mean_ns - jitter_ns + draw.below(2 * jitter_ns + 1)
            }
            Delay::Normal { mean_ns, jitter_ns } => {
                let deviation: f64 = StandardNormal.sample(draw);
                (mean_ns as f64 + deviation * jitter_ns as f64).max(0.0) as u64
            }
            Delay::Exponential { mean_ns } => (-(1.0 - draw.unit()).ln() * mean_ns as f64) as u64,
        }
    }

    /// The longest it can be, where there is such a thing.
    pub fn largest_ns(&self) -> Option<u64> {
        match *self {
            Delay::Constant { ns } => Some(ns),
            Delay::Uniform { mean_ns, jitter_ns } => Some(mean_ns + jitter_ns),
            Delay::Normal { .. } | Delay::Exponential { .. } => None,
        }
    }

    /// The delay itself, where it is always the same.
    pub fn constant_ns(&self) -> Option<u64> {
        match *self {
            Delay::Constant { ns } => Some(ns),
            Delay::Uniform { .. } | Delay::Normal { .. } | Delay::Exponential { .. } => None,
        }
    }
}

impl FromStr for Delay {
    type Err = DelayError;

    fn from_str(text: &str) -> Result<Self, DelayError> {
        let words = text.split_whitespace().collect::<Vec<_>>();
        let delay = match words[..] {
            [time] => Delay::Constant {
                ns: parse_ns(time)?,
            },
            [time, jitter] | [time, jitter, "distribution", "uniform"] => Delay::Uniform {
                mean_ns: parse_ns(time)?,
                jitter_ns: parse_ns(jitter)?,
            },
            [time, jitter, "distribution", "normal"] => Delay::Normal {
                mean_ns: parse_ns(time)?,
                jitter_ns: parse_ns(jitter)?,
            },
            [time, "distribution", "exponential"] => Delay::Exponential {
                mean_ns: parse_ns(time)?,
            },
            _ => return Err(DelayError::Form(text.to_owned())),
        };
        match delay {
            Delay::Uniform { mean_ns, jitter_ns } if jitter_ns > mean_ns => {
                Err(DelayError::Negative(text.to_owned()))
            }
            _ => Ok(delay),
        }
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Delay::Constant { ns } => f.write_str(&show_ns(ns)),
            Delay::Uniform { mean_ns, jitter_ns } => {
                write!(f, "{} {}", show_ns(mean_ns), show_ns(jitter_ns))
            }
            Delay::Normal { mean_ns, jitter_ns } => {
                write!(
                    f,
                    "{} {} distribution normal",
                    show_ns(mean_ns),
                    show_ns(jitter_ns)
                )
            }
            Delay::Exponential { mean_ns } => {
                write!(f, "{} distribution exponential", show_ns(mean_ns))
            }
        }
    }
}

impl TryFrom<String> for Delay {
    type Error = DelayError;

    fn try_from(text: String) -> Result<Self, DelayError> {
        text.parse()
    }
}

impl From<Delay> for String {
    fn from(delay: Delay) -> String {
        delay.to_string()
    }
}
