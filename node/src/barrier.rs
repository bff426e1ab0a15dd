//! How a member stands still until a fault is in force.
//!
//! What a member did is on disk and nothing of it has left, so nobody can have seen what comes after
//! the event that the fault waited for.

use crate::ControlChannel;
use crate::control::{FromMember, ToMember};
use crate::event_loop::Member;
use model::event::What;

impl Member {
    /// Reports what faults wait for, and waits until they are in force.
    pub(crate) async fn wait_for_faults(
        &mut self,
        control: &mut ControlChannel,
    ) -> Result<(), String> {
        let hits = std::mem::take(&mut self.hits);
        for step in &hits {
            control.say(&FromMember::Hit { step: *step });
        }
        self.wait_to_go_on(hits.len(), control).await
    }

    /// Stops for a fault that has yet to find out whom it hits.
    pub(crate) async fn halt(&mut self, control: &mut ControlChannel) -> Result<(), String> {
        self.say_halted(control);
        self.wait_to_go_on(1, control).await
    }

    fn say_halted(&self, control: &ControlChannel) {
        control.say(&FromMember::Halted {
            inside_since_ns: self.inside_since_ns,
            token_since_ns: self.token_since_ns,
        });
    }

    /// Waits for this number of `GoOn` messages. Everything else is put off, except for counting.
    async fn wait_to_go_on(
        &mut self,
        mut times: usize,
        control: &mut ControlChannel,
    ) -> Result<(), String> {
        let since_ns = self.now_ns();
        while times > 0 {
            match control.next().await? {
                Some(ToMember::GoOn { catch }) => {
                    self.catch = catch.or(self.catch);
                    times -= 1;
                }
                Some(order @ ToMember::Count { .. }) => self.obey(order, control)?,
                Some(ToMember::Halt) => {
                    self.say_halted(control);
                    times += 1;
                }
                Some(ToMember::Finish) => {
                    self.postponed.push_back(ToMember::Finish);
                    break;
                }
                Some(order) => self.postponed.push_back(order),
                None => return Err("stdin ended while a fault was to come into force".to_owned()),
            }
        }
        let now_ns = self.now_ns();
        let ns = now_ns - since_ns;
        self.keep(now_ns, What::Stall { ns });
        Ok(())
    }
}
