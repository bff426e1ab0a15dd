//! Loss in bursts: `loss gemodel 1% 10% 70% 0.1%`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Fault, Packet};
use crate::language::{Cursor, FaultError};
use crate::percent::Percent;

/// The Gilbert–Elliott model, with netem's parameters `p r 1-h 1-k`. A link is good or bad; it begins
/// good. Bad stretches last 1/r packets on average, good ones 1/p.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// p: how likely a good link turns bad after a packet.
    pub worsens: Percent,
    /// r: how likely a bad link turns good after a packet; by default 1 − p.
    pub recovers: Percent,
    /// 1 − h: how likely a packet is lost while the link is bad; by default 100 %.
    pub bad_loss: Percent,
    /// 1 − k: how likely a packet is lost while the link is good; by default 0 %.
    pub good_loss: Percent,
}

/// Whether the link is bad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bad(bool);

impl Fault for Burst {
    type Memory = Bad;

    fn is_idle(&self) -> bool {
        self.good_loss.is_zero() && (self.bad_loss.is_zero() || self.worsens.is_zero())
    }

    fn apply(&self, bad: &mut Bad, packet: &mut Packet<'_>) -> bool {
        let (turns, loses) = match bad.0 {
            false => (self.worsens, self.good_loss),
            true => (self.recovers, self.bad_loss),
        };
        // As in netem the packet suffers what the link was before this packet turned it.
        bad.0 ^= packet.draw.chance(turns.share());
        packet.draw.chance(loses.share()) && packet.fate.lose()
    }
}

fault_info! { Burst at Loss;
    "loss gemodel P% [R% [1-H% [1-K%]]]", as in "loss gemodel 1% 10% 70% 0.1% on 0->1", by parse:
    "Losses in bursts, as netem does (Gilbert and Elliott): after each packet a good link turns \
     bad with probability P and a bad one good with R (by default 100% - P); a packet is lost with \
     1-H (by default 100%) on a bad link and 1-K (by default 0%) on a good one. A link begins \
     good. Bursts last 1/R packets."
}

fn parse(cursor: &mut Cursor<'_>) -> Result<Burst, FaultError> {
    let worsens = cursor.percent()?;
    Ok(Burst {
        worsens,
        recovers: cursor.maybe_percent()?.unwrap_or(worsens.rest()),
        bad_loss: cursor.maybe_percent()?.unwrap_or(Percent::ALL),
        good_loss: cursor.maybe_percent()?.unwrap_or(Percent::ZERO),
    })
}

impl fmt::Display for Burst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "loss gemodel {} {} {} {}",
            self.worsens, self.recovers, self.bad_loss, self.good_loss
        )
    }
}
