//! Delay: `delay 75ms 10ms 25% distribution normal`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Fault;
use crate::chance::Deviation;
use crate::delay::Delay;
use crate::matrix::Matrix;
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
    pub order: PacketOrder,
}

/// How the delays are distributed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// By a formula.
    Formula(Delay),
    /// As they were once measured.
    Sample(Sample),
    /// For each pair of members its own.
    Matrix(Matrix),
}

/// Whether packets of one link may overtake each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PacketOrder {
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
        let mut later_ns = self.draw_ns(datagram, &mut memory.deviation, draw);
        let mut acted = false;
        for (number, copy) in fate.copies.iter_mut().enumerate() {
            if number > 0 {
                later_ns = self.draw_ns(datagram, &mut deviation.clone(), draw);
            }
            let drawn_ns = copy.delay_ns.saturating_add(later_ns);
            let delay_ns = match self.order {
                PacketOrder::Free => drawn_ns,
                PacketOrder::Fifo => drawn_ns.max(memory.last_ns.saturating_sub(datagram.sent_ns)),
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
            order: PacketOrder::Free,
        }
    }

    /// The delay of this packet. Without a correlation nothing is remembered.
    fn draw_ns(&self, datagram: &Datagram, memory: &mut Deviation, draw: &mut Draw) -> u64 {
        let delay = match &self.law {
            Law::Formula(delay) => delay,
            Law::Matrix(matrix) => matrix.delay(datagram.from, datagram.to),
            Law::Sample(sample) if self.correlation.is_zero() => {
                return sample.at_rank_ns(draw.unit());
            }
            Law::Sample(sample) => {
                return sample.at_deviation_ns(memory.next(self.correlation, draw));
            }
        };
        if self.correlation.is_zero() {
            delay.draw_ns(draw)
        } else {
            delay.at_deviation_ns(memory.next(self.correlation, draw))
        }
    }
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("delay ")?;
        let mut correlation = self.correlation;
        match &self.law {
            Law::Formula(delay) => {
                delay.write(f, correlation)?;
                correlation = Percent::ZERO;
            }
            Law::Sample(sample) => write!(f, "empirical {}", sample.source())?,
            Law::Matrix(matrix) => write!(f, "matrix {}", quoted(matrix.name()))?,
        }
        write_rest(f, correlation, self.order)
    }
}

/// What a delay may have at its end.
pub(crate) fn write_rest(
    f: &mut fmt::Formatter<'_>,
    correlation: Percent,
    order: PacketOrder,
) -> fmt::Result {
    if !correlation.is_zero() {
        write!(f, " {correlation}")?;
    }
    match order {
        PacketOrder::Free => Ok(()),
        PacketOrder::Fifo => f.write_str(" fifo"),
    }
}

/// A file's name, between quotation marks if it needs them.
pub(crate) fn quoted(name: &str) -> String {
    if name.contains(char::is_whitespace) {
        format!("\"{name}\"")
    } else {
        name.to_owned()
    }
}
