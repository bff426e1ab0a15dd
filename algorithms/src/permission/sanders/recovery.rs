//! Local recovery (section 7.1), repaired.
//!
//! A node that learns that j has died takes it out of its sets and asks directly all those it used
//! to meet only at j:
//!
//! ```text
//!     0 coordinates 1 and 2:   I_1 ∩ I_2 = {0}
//!     0 dies:                  1 asks 2, and 2 asks 1, as if there had never been a 0
//! ```
//!
//! The paper lets everybody do that alone, "requiring absolutely no coordination", and that is not
//! safe: one of the two may know of the death while the other still relies on the dead (sanders-L1,
//! L2, L3, L5). Two fields repair it without a message more. A REQUEST says who is dead, so that its
//! receiver learns it before it can answer, and asks back; and it says which attempt it is, so that a
//! GRANT of the time before is void.

use super::machine::{Message, Sanders};
use super::structure::Set;
use crate::common::phase::Phase;
use crate::contract::{NodeId, Outbox};

impl Sanders {
    /// What is to be done when `dead` has stopped for ever.
    pub(super) fn learn_of_death(&mut self, dead: NodeId, out: &mut Outbox<Message>) {
        let Some(structure) = self.structure.clone() else {
            // Recovery is off: what the dead owed is owed for ever.
            return;
        };
        if dead == self.me || dead.0 >= structure.nodes() {
            out.protocol_error(format!("{dead} cannot have died"));
            return;
        }
        let known_before = self.down.clone();
        if !self.down.insert(dead) {
            return;
        }
        let repairs = self.rules.repairs;
        // Those we met at the dead and nowhere else that is alive.
        let inform_set = structure.inform_set(self.me);
        let meets = |k: NodeId, down: &Set| {
            let mut alive = inform_set.difference(down);
            alive.any(|&arbiter| structure.informs(k, arbiter))
        };
        let met_only_there =
            |&k: &NodeId| k != self.me && meets(k, &known_before) && !meets(k, &self.down);
        let living = structure.ids().filter(|k| !self.down.contains(k));
        let additions: Set = living.filter(met_only_there).collect();

        let grant_was_missing = self.request_set.contains(&dead) && !self.got.contains(&dead);
        let asked_before = self.request_set.clone();
        self.request_set.extend(&additions);
        self.request_set.remove(&dead);
        self.inform_set.remove(&dead);
        self.status_set.remove(&dead);
        // sanders-L6: the print does not say that what the dead asked for and answered is forgotten.
        if repairs.the_dead_are_forgotten {
            self.got.remove(&dead);
            self.failed.remove(&dead);
            self.yielded.remove(&dead);
            self.pending.remove(&dead);
            self.queue.retain(|asked| asked.stamp.id != dead);
            self.told.remove(&dead);
        }
        // sanders-L5: as printed, additions are asked only if the grant of the dead was missing.
        let asks = repairs.additions_are_always_asked || grant_was_missing;
        if self.phase == Phase::Waiting && asks {
            for &arbiter in &additions {
                self.ask_anew(arbiter, &asked_before, out);
            }
        }
        if self.csstat.is_some_and(|asked| asked.stamp.id == dead) {
            self.free(out);
        } else {
            self.serve(out);
        }
        // sanders-L6: fewer need be asked now, and perhaps all of them have granted.
        if repairs.the_dead_are_forgotten {
            self.try_enter(out);
        }
    }

    fn ask_anew(&mut self, arbiter: NodeId, asked_before: &Set, out: &mut Outbox<Message>) {
        if self.rules.repairs.old_grants_are_void {
            self.got.remove(&arbiter);
            self.failed.remove(&arbiter);
            *self.attempts.entry(arbiter).or_default() += 1;
        } else if asked_before.contains(&arbiter) {
            // sanders-L3: as printed, who is in R already is no addition, and its old GRANT counts.
            return;
        }
        self.ask(arbiter, out);
    }
}
