//! Shares as people write them: `5%`, `0.1%`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A share between 0 % and 100 %, kept as it was written so that it is printed as it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Percent(f64);

impl Percent {
    /// 0 %.
    pub const ZERO: Self = Self(0.0);
    /// 100 %.
    pub const ALL: Self = Self(100.0);

    /// The share of that many percent, if it is between 0 and 100.
    pub fn new(hundredths: f64) -> Option<Self> {
        (0.0..=100.0)
            .contains(&hundredths)
            .then_some(Self(hundredths + 0.0)) // −0 becomes 0
    }

    /// The share as a number between 0 and 1.
    pub fn share(self) -> f64 {
        self.0 / 100.0
    }

    /// The rest up to 100 %.
    #[must_use]
    pub fn rest(self) -> Self {
        Self(100.0 - self.0)
    }

    /// Whether it is 0 %.
    pub fn is_zero(self) -> bool {
        self.0 == 0.0
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

impl TryFrom<f64> for Percent {
    type Error = String;

    fn try_from(hundredths: f64) -> Result<Self, String> {
        Self::new(hundredths).ok_or_else(|| format!("{hundredths} is not between 0 and 100 %"))
    }
}

impl From<Percent> for f64 {
    fn from(percent: Percent) -> f64 {
        percent.0
    }
}
