//! How likely something is, and how much that depends on the packet before.
//!
//! netem's second percentage says how much each decision depends on the one before it. netem mixes
//! the two random numbers, which draws them towards the middle and so changes how often the thing
//! happens (`loss 1% 25%` loses almost nothing). Here the numbers are correlated and yet each alone is
//! evenly spread: a normal deviation `z = r·z' + √(1−r²)·e` is carried from packet to packet and looked
//! up in the asked distribution. The percentage is the rank correlation of neighbours.

use std::f64::consts::PI;
use std::fmt;

use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::delay::normal_rank;
use crate::draw::Draw;
use crate::fate::Carried;
use crate::fault::Packet;
use crate::language::Word;
use crate::percent::Percent;

/// What the glossary says of the second percentage.
pub(crate) const CORRELATION: Word = Word {
    word: "correlation",
    form: "… P% CORRELATION%",
    meaning: "How much a decision or delay depends on that of the packet before: the rank \
              correlation of neighbours. Unlike netem's it leaves probability and distribution as \
              they are.",
    example: "duplicate 1% 30% on all",
};

/// How likely something is: `5%`, or `5% 25%` with a correlation between neighbouring packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chance {
    /// How likely it is for one packet.
    pub percent: Percent,
    /// How much it depends on whether it happened to the packet before.
    pub correlation: Percent,
}

/// The normal deviation of the packet before, if there was one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Deviation(Option<f64>);

impl Deviation {
    /// The deviation of the next packet, which is remembered.
    pub(crate) fn next(&mut self, correlation: Percent, draw: &mut Draw) -> f64 {
        let fresh: f64 = StandardNormal.sample(draw);
        // A normal pair with correlation 2·sin(πr/6) has rank correlation r.
        let weight = 2.0 * (PI * correlation.share() / 6.0).sin();
        let deviation = match self.0 {
            None => fresh,
            Some(before) => weight * before + (1.0 - weight * weight).sqrt() * fresh,
        };
        self.0 = Some(deviation);
        deviation
    }
}

impl Chance {
    /// A chance that does not depend on the packet before.
    pub fn independent(percent: Percent) -> Self {
        Self {
            percent,
            correlation: Percent::ZERO,
        }
    }

    /// Whether it happens to this packet.
    pub(crate) fn happens(&self, memory: &mut Deviation, draw: &mut Draw) -> bool {
        if self.correlation.is_zero() {
            draw.chance(self.percent.share())
        } else {
            normal_rank(memory.next(self.correlation, draw)) < self.percent.share()
        }
    }

    /// Does something to each copy that it happens to, given its length, and says whether that did
    /// anything.
    ///
    /// The memory moves by one packet, however many copies there are, even if none is left; so what
    /// other faults do to a packet changes nothing for the next.
    pub(crate) fn strike(
        &self,
        memory: &mut Deviation,
        packet: &mut Packet<'_>,
        mut act: impl FnMut(&mut Carried, u32, &mut Draw) -> bool,
    ) -> bool {
        let Packet {
            datagram,
            fate,
            draw,
        } = packet;
        let before = *memory;
        let mut happens = self.happens(memory, draw);
        let mut acted = false;
        for (number, copy) in fate.copies.iter_mut().enumerate() {
            if number > 0 {
                happens = self.happens(&mut before.clone(), draw);
            }
            acted |= happens && act(copy, copy.length(datagram.size), draw);
        }
        acted
    }
}

impl fmt::Display for Chance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.percent)?;
        if !self.correlation.is_zero() {
            write!(f, " {}", self.correlation)?;
        }
        Ok(())
    }
}
