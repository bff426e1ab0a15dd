//! Delays: `75ms 10ms 25% distribution normal`.

use std::str::FromStr;

use super::cursor::{Cursor, Token};
use super::error::FaultError;
use super::scope::Scope;
use crate::delay::Delay;
use crate::percent::Percent;

impl Cursor<'_> {
    /// A delay in netem's words, and its correlation.
    pub(crate) fn delay(&mut self) -> Result<(Delay, Percent), FaultError> {
        const NAMES: &str = "write uniform, normal, pareto, lognormal or exponential";
        let mean_ns = self.time_ns()?;
        let jitter_place = self.place();
        let jitter_ns = match self.peek() {
            Token::Number(_, unit) if unit != "%" => Some(self.time_ns()?),
            _ => None,
        };
        let correlation_place = self.place();
        let correlation = self.maybe_percent()?;
        let mut name_place = self.place();
        let name = if self.takes("distribution") {
            name_place = self.place();
            match self.peek() {
                Token::Word(
                    name @ ("uniform" | "normal" | "pareto" | "lognormal" | "exponential"),
                ) => {
                    self.take();
                    Some(name)
                }
                _ => return Err(self.unfit(NAMES)),
            }
        } else {
            None
        };
        let delay = match (name, jitter_ns) {
            (None, None) => Delay::Constant { ns: mean_ns },
            (None | Some("uniform"), Some(jitter_ns)) => Delay::Uniform { mean_ns, jitter_ns },
            (Some("normal"), Some(jitter_ns)) => Delay::Normal { mean_ns, jitter_ns },
            (Some("pareto"), Some(jitter_ns)) => Delay::Pareto { mean_ns, jitter_ns },
            (Some("lognormal"), Some(jitter_ns)) => Delay::Lognormal { mean_ns, jitter_ns },
            (Some("exponential"), None) => Delay::Exponential { mean_ns },
            (Some("exponential"), Some(_)) => {
                let wrong = "an exponential delay has no jitter: its mean says everything";
                return Err(self.error(jitter_place, wrong, "leave the second time out"));
            }
            (Some(name), _) => {
                let wrong = format!("a {name} delay needs a jitter");
                let right = "write a second time: delay 75ms 10ms distribution …";
                return Err(self.error(name_place, wrong, right));
            }
        };
        if delay.reaches_below_zero() {
            let wrong = "with so much jitter some packets would arrive before they are sent";
            return Err(self.error(jitter_place, wrong, "make it smaller than the delay"));
        }
        match correlation {
            Some(_) if delay.constant_ns().is_some() => {
                let wrong = "a delay that is always the same has no correlation";
                let right = "write a jitter before it: delay 75ms 10ms 25%";
                Err(self.error(correlation_place, wrong, right))
            }
            _ => Ok((delay, correlation.unwrap_or(Percent::ZERO))),
        }
    }
}

impl FromStr for Delay {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let scope = Scope::default();
        let mut cursor = Cursor::new(text, &scope);
        let (delay, correlation) = cursor.delay()?;
        cursor.end("end here, or write distribution and its name")?;
        if !correlation.is_zero() {
            let wrong = "there is no correlation here";
            return Err(cursor.error(0..text.len(), wrong, "leave the percentage out"));
        }
        Ok(delay)
    }
}
