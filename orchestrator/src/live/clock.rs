//! Simulated time as it passes for somebody who watches.

use std::time::{Duration, Instant};

/// The slowest and the fastest pace: simulated seconds in a second.
pub(crate) const PACES: (f64, f64) = (1e-6, 10.0);

/// A clock that goes at a pace, and may stand still.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    since: Instant,
    /// What it showed then, in simulated nanoseconds.
    shown_ns: u64,
    pub(super) pace: f64,
    pub(super) stands: bool,
}

impl Clock {
    pub(super) fn new(pace: f64, now: Instant) -> Self {
        Self {
            since: now,
            shown_ns: 0,
            pace: pace.clamp(PACES.0, PACES.1),
            stands: false,
        }
    }

    /// The simulated time that the clock shows.
    pub(super) fn now_ns(&self, now: Instant) -> u64 {
        if self.stands {
            return self.shown_ns;
        }
        let passed = now.saturating_duration_since(self.since).as_nanos() as f64;
        self.shown_ns.saturating_add((passed * self.pace) as u64)
    }

    /// How long it takes until it shows that; never while it stands.
    pub(super) fn until(&self, at_ns: u64, now: Instant) -> Option<Duration> {
        let left_ns = at_ns.saturating_sub(self.now_ns(now)) as f64 / self.pace;
        (!self.stands).then(|| Duration::from_nanos(left_ns as u64))
    }

    /// Changes how it goes from now on.
    pub(super) fn change(&mut self, now: Instant, change: impl FnOnce(&mut Self)) {
        self.shown_ns = self.now_ns(now);
        self.since = now;
        change(self);
        self.pace = self.pace.clamp(PACES.0, PACES.1);
    }

    /// Sets it forward, if it does not show that yet.
    pub(super) fn advance_to(&mut self, at_ns: u64, now: Instant) {
        let shown_ns = self.now_ns(now).max(at_ns);
        self.since = now;
        self.shown_ns = shown_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_at_its_pace_and_stands_still() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut clock = Clock::new(0.01, start);
        assert_eq!(clock.now_ns(at(100)), 1_000_000);
        assert_eq!(
            clock.until(1_500_000, at(100)),
            Some(Duration::from_millis(50))
        );
        clock.change(at(100), |clock| clock.stands = true);
        assert_eq!(clock.now_ns(at(900)), 1_000_000);
        assert_eq!(clock.until(1_500_000, at(900)), None);
        clock.change(at(900), |clock| (clock.stands, clock.pace) = (false, 0.02));
        assert_eq!(clock.now_ns(at(1_000)), 3_000_000);
        clock.advance_to(5_000_000, at(1_000));
        assert_eq!(clock.now_ns(at(1_000)), 5_000_000);
        clock.advance_to(1, at(1_000));
        assert_eq!(clock.now_ns(at(1_000)), 5_000_000, "it never goes back");
    }
}
