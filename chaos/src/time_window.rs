//! When a fault is in force.

use serde::{Deserialize, Serialize};

use crate::span::show_ns;

/// Stretches of time, in nanoseconds from the start of the run: one, or one every so often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeWindow {
    /// When the first stretch begins.
    pub from_ns: u64,
    /// How long each stretch lasts; by default it has no end.
    pub length_ns: Option<u64>,
    /// How long after the beginning of one the next begins, if there are several.
    pub every_ns: Option<u64>,
    /// When it is over for good, even in the middle of a stretch.
    pub until_ns: Option<u64>,
}

impl TimeWindow {
    /// The window from the beginning to the end of time.
    pub const ALWAYS: Self = Self {
        from_ns: 0,
        length_ns: None,
        every_ns: None,
        until_ns: None,
    };

    /// When the latest stretch began that has begun by now, whether or not it is over.
    pub fn latest(&self, now_ns: u64) -> Option<u64> {
        let last_ns = match self.until_ns {
            Some(until_ns) => now_ns.min(until_ns.checked_sub(1)?),
            None => now_ns,
        };
        let since_ns = last_ns.checked_sub(self.from_ns)?;
        Some(match self.every_ns {
            Some(every_ns) => last_ns - since_ns % every_ns.max(1),
            None => self.from_ns,
        })
    }

    /// When the stretch began that is in force now, if one is.
    pub fn current(&self, now_ns: u64) -> Option<u64> {
        let began_ns = self.latest(now_ns)?;
        (now_ns < self.end_ns(began_ns)).then_some(began_ns)
    }

    /// When the stretch that began then ends; the end of time if it does not.
    pub fn end_ns(&self, began_ns: u64) -> u64 {
        let until_ns = self.until_ns.unwrap_or(u64::MAX);
        match self.length_ns {
            Some(length_ns) => began_ns.saturating_add(length_ns).min(until_ns),
            None => until_ns,
        }
    }

    /// When the last stretch ends; the end of time if none is the last.
    pub fn over_ns(&self) -> u64 {
        match self.every_ns {
            Some(_) => self.until_ns.unwrap_or(u64::MAX),
            None => self.end_ns(self.from_ns),
        }
    }

    /// The first moment after this one at which a stretch begins or ends.
    pub(crate) fn next_change_ns(&self, now_ns: u64) -> Option<u64> {
        let over = |at_ns: u64| self.until_ns.is_some_and(|until_ns| at_ns >= until_ns);
        let Some(began_ns) = self.latest(now_ns) else {
            return (self.from_ns > now_ns && !over(self.from_ns)).then_some(self.from_ns);
        };
        let end_ns =
            Some(self.end_ns(began_ns)).filter(|end_ns| (now_ns + 1..u64::MAX).contains(end_ns));
        let next_ns = self
            .every_ns
            .map(|every_ns| began_ns.saturating_add(every_ns.max(1)))
            .filter(|next_ns| *next_ns > now_ns && !over(*next_ns));
        [end_ns, next_ns].into_iter().flatten().min()
    }

    /// When the first stretch begins after this moment, if one does.
    pub(crate) fn next_beginning_ns(&self, after_ns: u64) -> Option<u64> {
        let next_ns = match after_ns.checked_sub(self.from_ns) {
            None => self.from_ns,
            Some(since_ns) => {
                let every_ns = self.every_ns?.max(1);
                after_ns.checked_add(every_ns - since_ns % every_ns)?
            }
        };
        let over = self.until_ns.is_some_and(|until_ns| next_ns >= until_ns);
        (!over).then_some(next_ns)
    }

    /// Is over for good by then, if it would not be earlier.
    pub fn end(&mut self, at_ns: u64) {
        self.until_ns = Some(self.until_ns.map_or(at_ns, |until_ns| until_ns.min(at_ns)));
    }
}

impl std::fmt::Display for TimeWindow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&show_ns(self.from_ns))?;
        let end_ns = self.end_ns(self.from_ns);
        if end_ns < u64::MAX && self.every_ns.is_none_or(|_| self.length_ns.is_some()) {
            write!(f, " to {}", show_ns(end_ns))?;
        }
        let Some(every_ns) = self.every_ns else {
            return Ok(());
        };
        write!(f, ", every {}", show_ns(every_ns))?;
        match self.until_ns {
            Some(until_ns) => write!(f, " until {}", show_ns(until_ns)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PULSE: TimeWindow = TimeWindow {
        from_ns: 100,
        length_ns: Some(10),
        every_ns: Some(50),
        until_ns: Some(205),
    };

    #[test]
    fn a_window_is_open_for_its_length_and_closed_in_between() {
        let open = |now_ns| PULSE.current(now_ns);
        assert_eq!(open(99), None);
        assert_eq!(open(100), Some(100));
        assert_eq!(open(109), Some(100));
        assert_eq!(open(110), None);
        assert_eq!(open(150), Some(150));
        assert_eq!(open(204), Some(200));
        assert_eq!(open(205), None, "over for good");
        assert_eq!(PULSE.latest(1_000), Some(200));
        assert_eq!(TimeWindow::ALWAYS.current(u64::MAX - 1), Some(0));
    }

    #[test]
    fn the_changes_are_exactly_where_the_answer_changes() {
        let mut listed = Vec::new();
        let mut now_ns = 0;
        while let Some(next_ns) = PULSE.next_change_ns(now_ns) {
            listed.push(next_ns);
            now_ns = next_ns;
        }
        let open = |now_ns| PULSE.current(now_ns);
        let seen = (1..1_000).filter(|now_ns| open(now_ns - 1) != open(*now_ns));
        assert_eq!(listed, seen.collect::<Vec<_>>());
        let begins = [0, 99, 100, 149, 150, 199, 200].map(|ns| PULSE.next_beginning_ns(ns));
        let expected = [100, 100, 150, 150, 200, 200].map(Some);
        assert_eq!((&begins[..6], begins[6]), (&expected[..], None));
        assert_eq!(TimeWindow::ALWAYS.next_change_ns(5), None);
    }
}
