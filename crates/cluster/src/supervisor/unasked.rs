//! What happens to members that no fault asked for.

use std::time::Duration;

use algorithms::NodeId;
use model::run::{FaultKind, FaultOutcome, Happened};
use tokio::time::Instant;

use super::Supervisor;
use super::seat::Life;
use crate::child::Child;

/// How often a group of up to two hundred is looked at; a larger one is looked at more seldom.
const LOOK_EVERY: Duration = Duration::from_millis(50);
const GROUP: u32 = 200;

impl Supervisor<'_> {
    /// Takes note of members that somebody has stopped, or has let go on.
    pub(crate) fn look_for_stops(&mut self) {
        let now = Instant::now();
        if now < self.look_for_stops_at {
            return;
        }
        self.look_for_stops_at = now + LOOK_EVERY * (1 + self.seats.len() as u32 / GROUP);
        self.see_stops();
    }

    fn see_stops(&mut self) {
        let now_ns = self.now_ns();
        for (node, seat) in self.seats.iter_mut().enumerate() {
            let child = seat.child.as_ref();
            let Some(stopped) = child.and_then(Child::stopped) else {
                continue;
            };
            match (stopped, seat.life) {
                // A fault asked for it.
                (true, Life::Paused | Life::Killed(_) | Life::Dead) => {}
                // A fault asked for this one, too, and for its end since: an agent's word comes later.
                (true, _) if seat.resumed => {}
                (true, Life::Running | Life::Revived) => seat.stopped_ns = Some(now_ns),
                (false, _) => {
                    let asked = std::mem::take(&mut seat.resumed);
                    // It may have stopped and gone on between two looks.
                    let since_ns = seat.stopped_ns.take().or((!asked).then_some(now_ns));
                    let pause = since_ns.map(|at_ns| pause(node, at_ns, Some(now_ns)));
                    self.unasked.extend(pause);
                }
            }
        }
    }

    /// Takes note, when the run is over, of members that still stand still: they did so to the end.
    pub(crate) fn close_unasked_pauses(&mut self) {
        self.see_stops();
        for (node, seat) in self.seats.iter_mut().enumerate() {
            let since_ns = seat.stopped_ns.take();
            self.unasked
                .extend(since_ns.map(|at_ns| pause(node, at_ns, None)));
        }
    }

    /// A member died that nobody killed on purpose.
    pub(crate) fn died_unasked(&mut self, node: NodeId) {
        let happened = Happened::from(self.now_ns(), None);
        self.unasked
            .push(FaultOutcome::unasked(FaultKind::Kill, node, happened));
    }
}

fn pause(node: usize, at_ns: u64, until_ns: Option<u64>) -> FaultOutcome {
    let happened = Happened::from(at_ns, until_ns);
    FaultOutcome::unasked(FaultKind::Pause, NodeId(node as u32), happened)
}
