//! A cut: `cut 3->4`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Fault, FaultInfo, Packet, Stage};
use crate::language::Form;

/// Nothing that is sent while the link is cut arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// What becomes of datagrams that are under way when the cut begins.
    pub in_flight: InFlight,
}

/// What becomes of datagrams that are under way when a cut begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InFlight {
    /// They are lost, as if the cable were cut.
    #[default]
    Drop,
    /// Those that would arrive during the cut arrive when it is over.
    Hold,
    /// They arrive as if nothing had happened.
    Deliver,
}

impl FaultInfo for Cut {
    const STAGE: Stage = Stage::Entrance;
    const FORMS: &'static [Form] = &[];
    const WORD: &'static str = "cut";
}

impl Fault for Cut {
    type Memory = ();

    fn apply(&self, (): &mut (), packet: &mut Packet<'_>) -> bool {
        packet.fate.lose()
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.in_flight {
            InFlight::Drop => f.write_str("cut"),
            InFlight::Hold | InFlight::Deliver => write!(f, "cut {}", self.in_flight),
        }
    }
}

impl fmt::Display for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InFlight::Drop => "drop",
            InFlight::Hold => "hold",
            InFlight::Deliver => "deliver",
        })
    }
}
