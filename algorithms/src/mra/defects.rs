//! What is wrong in sections 3.1 and 3.2 of the book.

use super::machine::{CROSSED_IS_IGNORED, IDLE_HOLDER_SERVES};
use crate::printed::Defect;

pub(super) const MRA: &[Defect] = &[IDLE_HOLDER, CROSSED];

pub(super) const MRA_P: &[Defect] = &[IDLE_HOLDER, CROSSED];

const IDLE_HOLDER: Defect = Defect {
    id: "kanrar-M1",
    what: "only leaving hands the token on: an idle holder just queues who asks, itself too",
    rules: &[IDLE_HOLDER_SERVES],
    needs_printed: &[],
    needs_repaired: &[],
    with: &[],
    schedule: "req 1; 1>0:REQUEST",
    result: "deadlock: 0 has the token and no use for it, 1 waits",
};

const CROSSED: Defect = Defect {
    id: "kanrar-M8",
    what: "a request that crosses the token on an edge is accepted by the old holder and sent back",
    rules: &[CROSSED_IS_IGNORED],
    needs_printed: &[],
    needs_repaired: &[],
    with: &[],
    schedule: "req 2; 2>1:REQUEST; 1>0:REQUEST; req 1; 1>0:REQUEST; 0>1:TOKEN; 0>1:REQUEST",
    result: "1 is asked to pass on its own request: a protocol error",
};
