//! When a run is over, as far as both engines have to agree on it.
//!
//! The simulator looks after every event, the orchestrator after every round of questions; what they
//! see means the same.

use model::plan::Plan;
use model::run::End;

/// What an engine sees of the whole group at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Algorithm messages sent so far.
    pub sent: u64,
    /// Those of them that have not arrived yet.
    pub under_way: u64,
    /// Requests served so far.
    pub entries: u64,
    /// Whether somebody who was let in is inside and will leave by itself: it is not paused, and no
    /// conductor keeps it there until the group comes to rest.
    pub inside: bool,
    /// Whether somebody has asked and not entered.
    pub waiting: bool,
    /// Whether no client will ever ask again.
    pub through: bool,
}

/// Notices a live-lock: messages without end and nobody gets in.
///
/// Counted are messages while nobody is inside, from the last entry or from when somebody began to
/// wait. A member that waits may well try again and again while another one stays inside for long. What
/// was under way at that moment may be answered: as many more are no live-lock.
#[derive(Clone, Debug)]
pub struct Referee {
    /// More messages than this without an entry are a live-lock.
    limit: u64,
    /// Messages sent before those that count.
    before: u64,
    /// Messages that were under way when counting began.
    unanswered: u64,
    /// Messages sent up to the last look, and those of them that were under way.
    sent: u64,
    under_way: u64,
    entries: u64,
    waited: bool,
}

impl Referee {
    /// Nothing has happened; more messages than these without an entry are a live-lock.
    pub fn new(live_lock_messages: u64) -> Self {
        Self {
            limit: live_lock_messages,
            before: 0,
            unanswered: 0,
            sent: 0,
            under_way: 0,
            entries: 0,
            waited: false,
        }
    }

    /// The group got on: the messages sent so far no longer count.
    pub fn got_on(&mut self, sent: u64) {
        self.before = sent;
    }

    /// Takes a look; says whether the group goes round in circles.
    pub fn is_live_locked(&mut self, seen: Seen) -> bool {
        if seen.inside || seen.entries > self.entries {
            (self.before, self.unanswered) = (seen.sent, seen.under_way);
        } else if seen.waiting && !self.waited {
            (self.before, self.unanswered) = (self.sent, self.under_way);
        }
        self.sent = seen.sent;
        self.under_way = seen.under_way;
        self.entries = seen.entries;
        self.waited = seen.waiting;
        // Where somebody died, what it had sent no longer counts.
        self.before = self.before.min(seen.sent);
        seen.sent - self.before > self.limit + self.unanswered && (seen.waiting || seen.through)
    }
}

/// What a settled group has come to; `None` if something may yet set it in motion: a fault to come,
/// a link that goes down or comes up, a silence that is not yet taken for a death.
pub fn at_rest(waiting: bool, may_move: impl FnOnce() -> bool) -> Option<End> {
    match waiting {
        false => Some(End::Finished),
        true if may_move() => None,
        true => Some(End::Deadlock),
    }
}

/// A group in which nothing has happened to anybody for so long is given up, though faults still come
/// and go in it, or the transport still tries.
const PATIENCE_NS: u64 = 60_000_000_000;

/// Where members are told of links, this many silences are enough: all sessions that can begin again
/// have done so, even if every other datagram is lost.
const SILENCES_IN_VAIN: u64 = 20;

/// After this many silences since links could last lose something, every session that ended has begun
/// again.
const SESSIONS_SETTLE: u64 = 5;

/// What a group has come to in which nothing will ever happen again, though it is not settled: a member
/// that has something to do is paused for good, or faults keep it from everybody. Where there is a time
/// limit that is the end instead, unless members are told of links: then this is how it is seen that
/// nothing moves any more.
pub fn at_standstill(waiting: bool, has_time_limit: bool, tells_of_links: bool) -> End {
    match waiting {
        _ if has_time_limit && !tells_of_links => End::TimeLimit,
        false => End::Finished,
        true => End::Deadlock,
    }
}

/// A group in which nothing seems to happen any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Still {
    /// The moment at which the engine looks.
    pub now_ns: u64,
    /// When something last happened to a member.
    pub moved_ns: u64,
    /// Whether somebody has asked and not entered.
    pub waiting: bool,
    /// Whether members are told of links that go down or come up.
    pub tells_of_links: bool,
}

/// What a group has come to in which nothing has happened to anybody for longer than anybody would wait;
/// `None` as long as something may come of it, such as a fault that has never struck yet, and where the
/// time limit ends it. Faults that have struck before and the transport may go on for ever.
pub fn given_up(plan: &Plan, still: Still, may_move: impl FnOnce() -> bool) -> Option<End> {
    let patience_ns = match still.tells_of_links {
        true => PATIENCE_NS.min(plan.silence_ns.saturating_mul(SILENCES_IN_VAIN)),
        false => PATIENCE_NS,
    };
    let long_since = |from_ns| still.now_ns.saturating_sub(from_ns) > patience_ns;
    // This is asked after every event: what takes longer to find out comes last.
    if !long_since(still.moved_ns) || !long_since(plan.faults.last_change_ns()) {
        return None;
    }
    let limited = plan.time_limit_ns.is_some();
    match at_standstill(still.waiting, limited, still.tells_of_links) {
        End::TimeLimit => None,
        end => (!may_move()).then_some(end),
    }
}

/// Whether a session may just have ended, or may be about to begin again, where links have them: something
/// could get lost until a moment ago.
pub fn sessions_may_end(plan: &Plan, now_ns: u64) -> bool {
    let until_ns = plan.faults.harms_until_ns();
    let settle_ns = SESSIONS_SETTLE * plan.silence_ns;
    let over_ns = until_ns.map(|until_ns| until_ns.saturating_add(settle_ns));
    over_ns.is_some_and(|over_ns| now_ns < over_ns)
}

/// Whether somebody may be silent who has not been for long enough to be taken for dead. A silence
/// begins within a quarter of that time, when the next question stays unanswered.
pub fn expects_suspicion(
    silence_ns: u64,
    now_ns: u64,
    moved_ns: u64,
    links_changed_ns: u64,
) -> bool {
    let last_ns = moved_ns.max(links_changed_ns);
    now_ns < last_ns.saturating_add(silence_ns.saturating_mul(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::faults;

    const WAITS: Seen = Seen {
        sent: 0,
        under_way: 0,
        entries: 0,
        inside: false,
        waiting: true,
        through: false,
    };

    const IDLE: Seen = Seen {
        waiting: false,
        ..WAITS
    };

    #[test]
    fn messages_without_an_entry_are_a_live_lock_once_there_are_too_many() {
        let mut referee = Referee::new(10);
        assert!(!referee.is_live_locked(WAITS));
        assert!(!referee.is_live_locked(Seen { sent: 10, ..WAITS }));
        assert!(referee.is_live_locked(Seen { sent: 11, ..WAITS }));
        let served = Seen {
            sent: 11,
            entries: 1,
            ..WAITS
        };
        assert!(!referee.is_live_locked(served));
    }

    /// A member that enters by itself may have sent thousands of requests that nobody has seen yet.
    #[test]
    fn answers_to_what_was_under_way_at_the_last_entry_are_no_live_lock() {
        let mut referee = Referee::new(10);
        let entered = Seen {
            sent: 5_000,
            under_way: 5_000,
            entries: 1,
            ..WAITS
        };
        assert!(!referee.is_live_locked(entered));
        let answered = |sent| Seen {
            sent,
            under_way: 0,
            ..entered
        };
        assert!(!referee.is_live_locked(answered(10_010)));
        assert!(referee.is_live_locked(answered(10_011)));
    }

    #[test]
    fn who_waits_may_try_again_while_another_is_inside() {
        let mut referee = Referee::new(10);
        let inside = |sent| Seen {
            sent,
            entries: 1,
            inside: true,
            ..WAITS
        };
        assert!(!referee.is_live_locked(inside(5)));
        assert!(!referee.is_live_locked(inside(1_000)));
        // It leaves: from now on they count.
        let left = |sent| Seen {
            inside: false,
            ..inside(sent)
        };
        assert!(!referee.is_live_locked(left(1_010)));
        assert!(referee.is_live_locked(left(1_011)));
    }

    #[test]
    fn what_was_sent_before_somebody_waits_does_not_count() {
        let mut referee = Referee::new(10);
        assert!(!referee.is_live_locked(Seen { sent: 100, ..IDLE }));
        assert!(!referee.is_live_locked(Seen { sent: 101, ..WAITS }));
        assert!(referee.is_live_locked(Seen { sent: 112, ..WAITS }));
    }

    #[test]
    fn a_group_that_nobody_asks_any_more_must_come_to_rest() {
        let mut referee = Referee::new(10);
        let through = |sent| Seen {
            sent,
            through: true,
            ..IDLE
        };
        assert!(!referee.is_live_locked(through(10)));
        assert!(referee.is_live_locked(through(11)));
        // The dead take their messages with them.
        assert!(!referee.is_live_locked(through(3)));
    }

    #[test]
    fn somebody_who_waits_in_a_settled_group_waits_for_ever_unless_something_may_move_it() {
        assert_eq!(at_rest(false, || true), Some(End::Finished));
        assert_eq!(at_rest(true, || true), None);
        assert_eq!(at_rest(true, || false), Some(End::Deadlock));
    }

    #[test]
    fn a_standstill_is_a_deadlock_where_somebody_waits_and_nothing_else_ends_the_run() {
        assert_eq!(at_standstill(false, false, false), End::Finished);
        assert_eq!(at_standstill(true, false, false), End::Deadlock);
        assert_eq!(at_standstill(true, true, true), End::Deadlock);
        assert_eq!(at_standstill(true, true, false), End::TimeLimit);
    }

    /// More than a minute since anything happened.
    const STILL: Still = Still {
        now_ns: 60_000_000_001,
        moved_ns: 0,
        waiting: true,
        tells_of_links: false,
    };

    /// A plan in which a link is cut for good at five seconds.
    fn cut_for_good() -> Plan {
        let mut plan = crate::sample::plan();
        plan.faults = faults(&["at 5s cut 0-1"]);
        plan
    }

    #[test]
    fn sessions_settle_some_silences_after_links_could_last_lose_something() {
        let mut plan = crate::sample::plan();
        assert!(!sessions_may_end(&plan, 0));
        plan.faults = faults(&["at 5s cut 0-1 for 1s"]);
        let settled_ns = 6_000_000_000 + 5 * plan.silence_ns;
        assert!(sessions_may_end(&plan, settled_ns - 1));
        assert!(!sessions_may_end(&plan, settled_ns));
        assert!(sessions_may_end(&cut_for_good(), u64::MAX - 1));
    }

    #[test]
    fn a_group_that_is_told_of_links_is_given_up_after_twenty_silences() {
        let plan = cut_for_good();
        let told = |now_ns| Still {
            now_ns,
            tells_of_links: true,
            ..STILL
        };
        let changed_ns = 5_000_000_000;
        let patience_ns = 20 * plan.silence_ns;
        let end = |still| given_up(&plan, still, || false);
        assert_eq!(end(told(changed_ns + patience_ns)), None);
        let over = told(changed_ns + patience_ns + 1);
        assert_eq!(end(over), Some(End::Deadlock));
        // Something has happened since, or may.
        let moved_ns = changed_ns + 1;
        assert_eq!(end(Still { moved_ns, ..over }), None);
        assert_eq!(given_up(&plan, over, || true), None);
        // Nobody waits: all that was wanted is done.
        let waiting = false;
        assert_eq!(end(Still { waiting, ..over }), Some(End::Finished));
    }

    #[test]
    fn a_time_limit_ends_what_is_not_told_of_links() {
        let mut plan = cut_for_good();
        let now_ns = 65_000_000_001;
        let still = Still { now_ns, ..STILL };
        assert_eq!(given_up(&plan, STILL, || false), None);
        assert_eq!(given_up(&plan, still, || false), Some(End::Deadlock));
        plan.time_limit_ns = Some(100_000_000_000);
        assert_eq!(given_up(&plan, still, || false), None);
        let tells_of_links = true;
        let told = Still {
            tells_of_links,
            ..still
        };
        assert_eq!(given_up(&plan, told, || false), Some(End::Deadlock));
    }

    #[test]
    fn a_silence_is_waited_for_after_the_last_move_and_the_last_change_of_links() {
        assert!(expects_suspicion(10, 119, 100, 0));
        assert!(!expects_suspicion(10, 120, 100, 0));
        assert!(expects_suspicion(10, 120, 100, 101));
    }
}
