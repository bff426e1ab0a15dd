//! The algorithm's timers.

use algorithms::{After, NodeId, Timer};
use model::workload::{Purpose, draw};
use rustc_hash::FxHashMap;

/// A timer that was set, as an engine knows it. It goes off exactly once, also when it was moved or
/// cancelled in the meantime; then nothing happens. So an engine never has to search for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerId(pub(crate) u32);

/// All timers of some members.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    /// Those that will go off; `None` in a place that is free.
    set: Vec<Option<Set>>,
    free: Vec<u32>,
    /// Those that will go off and still mean something.
    live: FxHashMap<(NodeId, Timer), TimerId>,
    /// How many delays have been drawn for each node, where any were.
    drawn: FxHashMap<NodeId, u64>,
}

#[derive(Clone, Copy, Debug)]
struct Set {
    node: NodeId,
    timer: Timer,
}

impl Timers {
    /// How many are set, and neither moved nor cancelled since.
    pub(crate) fn live(&self) -> usize {
        self.live.len()
    }

    /// Sets a timer, or moves it; says when it goes off.
    pub(crate) fn set(
        &mut self,
        seed: u64,
        now_ns: u64,
        node: NodeId,
        timer: Timer,
        after: After,
    ) -> (u64, TimerId) {
        let id = self.free.pop().unwrap_or_else(|| {
            self.set.push(None);
            u32::try_from(self.set.len() - 1).expect("fewer than 2^32 timers are set")
        });
        self.set[id as usize] = Some(Set { node, timer });
        self.live.insert((node, timer), TimerId(id));
        let after_ns = self.after_ns(seed, node, after);
        (now_ns.saturating_add(after_ns), TimerId(id))
    }

    /// Cancels a timer, if it is set.
    pub(crate) fn cancel(&mut self, node: NodeId, timer: Timer) {
        self.live.remove(&(node, timer));
    }

    /// The member whose timer it is.
    pub(crate) fn node(&self, id: TimerId) -> NodeId {
        self.set[id.0 as usize].expect("it has not gone off").node
    }

    /// The timer that goes off; `None` if it was moved or cancelled.
    pub(crate) fn goes_off(&mut self, id: TimerId) -> Option<Timer> {
        let Set { node, timer } = self.set[id.0 as usize].take().expect("it has not gone off");
        self.free.push(id.0);
        if self.live.get(&(node, timer)) != Some(&id) {
            return None;
        }
        self.live.remove(&(node, timer));
        Some(timer)
    }

    fn after_ns(&mut self, seed: u64, node: NodeId, after: After) -> u64 {
        let ns =
            |duration: std::time::Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        match after {
            After::Exactly(duration) | After::Again(duration) => ns(duration),
            After::Uniform(least, most) => {
                let nth = self.drawn.entry(node).or_default();
                let mut draw = draw(seed, Purpose::Timer, node, *nth);
                *nth += 1;
                let room_ns = ns(most).saturating_sub(ns(least));
                ns(least).saturating_add(draw.below(room_ns.saturating_add(1)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const RETRY: Timer = Timer::named("retry");
    const SECOND: After = After::Exactly(Duration::from_secs(1));

    #[test]
    fn a_moved_timer_goes_off_once() {
        let mut timers = Timers::default();
        let (_, first) = timers.set(1, 0, NodeId(3), RETRY, SECOND);
        let (at_ns, second) = timers.set(1, 7, NodeId(3), RETRY, SECOND);
        assert_eq!((at_ns, timers.live()), (1_000_000_007, 1));
        assert_eq!(timers.node(first), NodeId(3));
        assert_eq!(timers.goes_off(first), None);
        assert_eq!(timers.goes_off(second), Some(RETRY));
        assert_eq!(timers.live(), 0);
    }

    #[test]
    fn a_cancelled_timer_means_nothing_even_when_its_name_is_used_again() {
        let mut timers = Timers::default();
        let (_, first) = timers.set(1, 0, NodeId(3), RETRY, SECOND);
        timers.cancel(NodeId(3), RETRY);
        timers.cancel(NodeId(3), RETRY);
        assert_eq!(timers.live(), 0);
        let (_, second) = timers.set(1, 0, NodeId(3), RETRY, SECOND);
        assert_ne!(first, second);
        assert_eq!(timers.goes_off(first), None);
        assert_eq!(timers.goes_off(second), Some(RETRY));
    }

    #[test]
    fn a_drawn_delay_lies_between_its_bounds_and_repeats() {
        let between = After::Uniform(Duration::from_nanos(10), Duration::from_nanos(12));
        let draw_twenty = || {
            let mut timers = Timers::default();
            let mut set = || timers.set(9, 0, NodeId(0), RETRY, between).0;
            std::iter::repeat_with(&mut set)
                .take(20)
                .collect::<Vec<_>>()
        };
        let drawn = draw_twenty();
        assert_eq!(drawn, draw_twenty());
        assert!((10..=12).all(|ns| drawn.contains(&ns)), "{drawn:?}");
        assert!(drawn.iter().all(|ns| (10..=12).contains(ns)), "{drawn:?}");
    }
}
