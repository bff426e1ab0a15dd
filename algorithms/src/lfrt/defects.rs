//! What is wrong in chapter 4 of the book.

use super::machine::{IDLE_HOLDER_SERVES, MERGED_ON_ARRIVAL, SERVED_IS_KNOWN};
use crate::printed::Defect;

pub(super) const LFRT: &[Defect] = &[IDLE_HOLDER, SERVED, MERGED];

pub(super) const LFRT_P: &[Defect] = &[IDLE_HOLDER, SERVED, MERGED];

const IDLE_HOLDER: Defect = Defect {
    id: "kanrar-L1",
    what: "only leaving hands the token on: an idle holder just queues who asks, itself too",
    rules: &[IDLE_HOLDER_SERVES],
    needs_printed: &[],
    needs_repaired: &[],
    with: &[],
    schedule: "on edges:0>1,1>2,2>0; req 1; 1>2:REQUEST; 2>0:REQUEST",
    result: "deadlock: 0 has the token and no use for it, 1 waits",
};

const SERVED: Defect = Defect {
    id: "kanrar-L3",
    what: "a copy of a served request that travels slowly is taken for a new one",
    rules: &[SERVED_IS_KNOWN],
    needs_printed: &[],
    needs_repaired: &[],
    with: &[],
    schedule: "on edges:2>0,2>1,1>0; req 2; 2>0:REQUEST; 2>1:REQUEST; 0>2:TOKEN; exit 2; \
               req 0; 0>2:REQUEST; 2>0:TOKEN; 1>0:REQUEST; exit 0; \
               0>1:TOKEN; 1>2:FIND; 2>1:FOUND; 1>2:TOKEN",
    result: "the token comes to 2, which did not ask again: a protocol error",
};

const MERGED: Defect = Defect {
    id: "kanrar-L4",
    what: "a request that meets the token in between is bounced on every edge and forgotten",
    rules: &[MERGED_ON_ARRIVAL],
    needs_printed: &[],
    needs_repaired: &[],
    with: &[],
    schedule: "on edges:2>1,1>0; req 2; 2>1:REQUEST; 1>0:REQUEST; req 1; 0>1:TOKEN; 1>2:TOKEN; \
               1>0:REQUEST; exit 2",
    result: "deadlock: the token came by 1 and did not hear of its request",
};
