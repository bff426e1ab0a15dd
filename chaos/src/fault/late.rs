//! Delay: `delay 75ms 10ms 25% distribution normal`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Fault, Packet};
use crate::chance::{CORRELATION, Deviation};
use crate::delay::Delay;
use crate::language::{Cursor, DelayLaw, FaultError, LinkFault};
use crate::matrix::Matrix;
use crate::percent::Percent;
use crate::sample::{Sample, Source};
use crate::{Datagram, Draw};

/// Each packet arrives later, by a time drawn for it. Several delays on one link add up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Late {
    /// How the delays are distributed.
    pub law: Law,
    /// How much a delay depends on that of the packet before.
    pub correlation: Percent,
    /// Whether packets may overtake each other.
    pub order: PacketOrder,
}

/// How the delays are distributed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// The delays follow a formula.
    Formula(Delay),
    /// The delays are those that were once measured.
    Sample(Sample),
    /// Each pair of members has its own delay.
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
pub(crate) struct Before {
    deviation: Deviation,
    /// When the last of them arrives.
    last_ns: u64,
}

impl Fault for Late {
    type Memory = Before;

    const HARMS: bool = false;

    fn is_idle(&self) -> bool {
        match &self.law {
            Law::Formula(delay) => delay.largest_ns() == Some(0),
            Law::Sample(sample) => sample.largest_ns() == 0,
            Law::Matrix(matrix) => matrix.largest_ns() == Some(0),
        }
    }

    fn apply(&self, memory: &mut Before, packet: &mut Packet<'_>) -> bool {
        let Packet {
            datagram,
            fate,
            draw,
        } = packet;
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

fault_info! { Late at Way also CORRELATION;
    "delay TIME [JITTER] [CORRELATION%] [distribution NAME] [fifo|free]",
        as in "delay 75ms 10ms 25% distribution normal on all", by parse_formula:
    "Each packet arrives later. NAME is uniform (TIME - JITTER to TIME + JITTER; the default), \
     normal (cut off at 0), pareto (netem's shape, 3) or lognormal, all with mean TIME and standard \
     deviation JITTER, or exponential with mean TIME and no JITTER. Packets overtake each other as \
     in netem (free), or wait for those sent earlier (fifo). Delays of several faults add up."

    "delay empirical FILE:COLUMN [CORRELATION%] [fifo|free]",
        as in "delay empirical pings.csv:rtt_ms on all", by parse_empirical:
    "Delays as they were measured: a column of a CSV file, whose name ends in its unit (_ns, _us, \
     _ms, _s). Stands for netem's distribution files."

    "delay matrix FILE [CORRELATION%] [fifo|free]",
        as in "delay matrix wan.csv on all", by parse_matrix:
    "For each pair of sites a delay of its own. The file is CSV: the first line is \
     site,NAME,NAME,… and each further line a site and the delays from it. Members are dealt to \
     the sites in turn."
}

fn parse_formula(cursor: &mut Cursor<'_>) -> Result<Late, FaultError> {
    let (delay, correlation) = cursor.delay()?;
    Ok(Late {
        law: Law::Formula(delay),
        correlation,
        order: parse_order(cursor),
    })
}

fn parse_empirical(cursor: &mut Cursor<'_>) -> Result<LinkFault, FaultError> {
    let law = DelayLaw::Empirical(parse_source(cursor)?);
    parse_rest(cursor, law)
}

fn parse_matrix(cursor: &mut Cursor<'_>) -> Result<LinkFault, FaultError> {
    let right = "write the name of the file with the delays, such as wan.csv";
    let law = DelayLaw::Matrix(cursor.path(right)?.to_owned());
    parse_rest(cursor, law)
}

/// What may follow delays that stand in a file.
fn parse_rest(cursor: &mut Cursor<'_>, law: DelayLaw) -> Result<LinkFault, FaultError> {
    Ok(LinkFault::Delay {
        law,
        correlation: cursor.maybe_percent()?.unwrap_or(Percent::ZERO),
        order: parse_order(cursor),
    })
}

fn parse_source(cursor: &mut Cursor<'_>) -> Result<Source, FaultError> {
    const RIGHT: &str = "write FILE:COLUMN, such as pings.csv:rtt_ms";
    let start = cursor.place().start;
    let path = cursor.path(RIGHT)?;
    match path.rsplit_once(':') {
        Some((file, column)) if !file.is_empty() && !column.is_empty() => Ok(Source {
            file: file.to_owned(),
            column: column.to_owned(),
        }),
        _ => {
            let wrong = format!("'{path}' names no column");
            Err(cursor.error(cursor.since(start), wrong, RIGHT))
        }
    }
}

fn parse_order(cursor: &mut Cursor<'_>) -> PacketOrder {
    if cursor.takes("fifo") {
        PacketOrder::Fifo
    } else {
        cursor.takes("free");
        PacketOrder::Free
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
