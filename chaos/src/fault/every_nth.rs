//! Regular loss: `loss every 7`.

use std::fmt;
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use super::{Fault, Stage};
use crate::language::{Form, Word};
use crate::{Datagram, Draw, Fate};

/// Every n-th packet of the link is lost, counted from when the fault began. netem has no such thing;
/// it is for tests that want loss without chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EveryNth {
    /// Every n-th packet is lost: the n.
    pub nth: NonZeroU64,
}

impl Fault for EveryNth {
    type Memory = u64;

    const WORD: &'static str = "loss";
    const FORMS: &'static [Form] = &[Form {
        word: Word {
            word: "loss every",
            form: "loss every N",
            meaning: "Every N-th packet is lost, counted on each link from when the fault began. \
                      Not in netem.",
            example: "loss every 7 on all",
        },
        parse: |cursor| {
            let nth = cursor.count("n, so that every n-th packet is lost")?;
            Ok(EveryNth { nth: nth.into() }.into())
        },
    }];
    const STAGE: Stage = Stage::Loss;
    const HARMS: bool = true;

    fn is_idle(&self) -> bool {
        false
    }

    fn apply(&self, passed: &mut u64, _: &Datagram, fate: &mut Fate, _: &mut Draw) -> bool {
        *passed = (*passed + 1) % self.nth;
        *passed == 0 && fate.lose()
    }
}

impl fmt::Display for EveryNth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "loss every {}", self.nth)
    }
}
