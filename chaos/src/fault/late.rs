//! Delay: `delay 75ms 10ms 25% distribution normal`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Fault;
use crate::chance::Deviation;
use crate::delay::Delay;
use crate::percent::Percent;
use crate::sample::Sample;
use crate::{Datagram, Draw, Fate};

/// Each packet arrives later, by a time drawn for it. Several delays on one link add up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Late {
    /// How much later.
    pub law: Law,
    /// How much that depends on the packet before.
    pub correlation: Percent,
    /// Whether packets may overtake each other.
    pub order: Order,
}

/// How the delays are distributed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// By a formula.
    Formula(Delay),
    /// As they were once measured.
    Sample(Sample),
}

/// Whether packets of one link may overtake each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// A packet drawn a short delay overtakes one with a long delay: netem's way.
    #[default]
    Free,
    /// No packet arrives before one that was sent earlier; it waits for it.
    Fifo,
}

/// What the packets before leave behind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Before {
    deviation: Deviation,
    /// When the last of them arrives.
    last_ns: u64,
}

impl Fault for Late {
    type Memory = Before;

    fn apply(
        &self,
        memory: &mut Before,
        datagram: &Datagram,
        fate: &mut Fate,
        draw: &mut Draw,
    ) -> bool {
        let deviation = memory.deviation;
        // Drawn even if no copy is left, so that what others do changes nothing for the next packet.
        let mut later_ns = self.draw_ns(&mut memory.deviation, draw);
        let mut acted = false;
        for (number, copy) in fate.copies.iter_mut().enumerate() {
            if number > 0 {
                later_ns = self.draw_ns(&mut deviation.clone(), draw);
            }
            let drawn_ns = copy.delay_ns.saturating_add(later_ns);
            let delay_ns = match self.order {
                Order::Free => drawn_ns,
                Order::Fifo => drawn_ns.max(memory.last_ns.saturating_sub(datagram.sent_ns)),
            };
            memory.last_ns = memory
                .last_ns
                .max(datagram.sent_ns.saturating_add(delay_ns));
            acted |= delay_ns > copy.delay_ns;
            copy.delay_ns = delay_ns;
        }
        acted
    }
}

impl Late {
    /// Drawn by a formula, each alone, free to overtake.
    pub fn plain(delay: Delay) -> Self {
        Self {
            law: Law::Formula(delay),
            correlation: Percent::ZERO,
            order: Order::Free,
        }
    }

    fn draw_ns(&self, memory: &mut Deviation, draw: &mut Draw) -> u64 {
        match (&self.law, self.correlation.is_zero()) {
            (Law::Formula(delay), true) => delay.draw_ns(draw),
            (Law::Formula(delay), false) => {
                delay.at_deviation_ns(memory.next(self.correlation, draw))
            }
            (Law::Sample(sample), true) => sample.at_rank_ns(draw.unit()),
            (Law::Sample(sample), false) => {
                sample.at_deviation_ns(memory.next(self.correlation, draw))
            }
        }
    }
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("delay ")?;
        match &self.law {
            Law::Formula(delay) => delay.write(f, self.correlation)?,
            Law::Sample(sample) => {
                write!(f, "empirical {}", sample.source())?;
                if !self.correlation.is_zero() {
                    write!(f, " {}", self.correlation)?;
                }
            }
        }
        match self.order {
            Order::Free => Ok(()),
            Order::Fifo => f.write_str(" fifo"),
        }
    }
}
