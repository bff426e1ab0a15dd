//! Loss in bursts: `loss gemodel 1% 10% 70% 0.1%`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Fault;
use crate::percent::Percent;
use crate::{Datagram, Draw, Fate};

/// The Gilbert–Elliott model, with netem's parameters `p r 1-h 1-k`. A link is good or bad; it begins
/// good. Bad stretches last 1/r packets on average, good ones 1/p.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// p: how likely a good link turns bad after a packet.
    pub worsens: Percent,
    /// r: how likely a bad link turns good after a packet; 1 − p unless said.
    pub recovers: Percent,
    /// 1 − h: how likely a packet is lost while the link is bad; all unless said.
    pub bad_loss: Percent,
    /// 1 − k: how likely a packet is lost while the link is good; none unless said.
    pub good_loss: Percent,
}

/// Whether the link is bad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bad(bool);

impl Fault for Burst {
    type Memory = Bad;

    fn apply(&self, bad: &mut Bad, _: &Datagram, fate: &mut Fate, draw: &mut Draw) -> bool {
        let (turns, loses) = match bad.0 {
            false => (self.worsens, self.good_loss),
            true => (self.recovers, self.bad_loss),
        };
        // As in netem the packet suffers what the link was before this packet turned it.
        bad.0 ^= draw.chance(turns.share());
        draw.chance(loses.share()) && fate.lose()
    }
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
