//! Watching a run until it is over: asking round, conducting, and doing what is due.

use std::time::Duration;

use algorithms::NodeId;
use algorithms::registry::LinkContract;
use member::referee::{self, Seen, Still};
use model::run::End;
use model::workload::Settled;
use node::control::ToMember;
use tokio::time::{Instant, sleep_until};

use super::Supervisor;
use super::seat::{Life, Seat};
use crate::settled::Finding;
use model::engine::{EngineError, Progress};

/// How often the group is asked whether it still moves, while it may.
const ASK_EVERY: Duration = Duration::from_millis(200);
/// How often the group is asked where a conductor waits for the answer.
const CONDUCT_EVERY: Duration = Duration::from_micros(500);
/// How often an interruption is noticed.
const LOOK_UP_EVERY: Duration = Duration::from_millis(50);

impl Supervisor<'_> {
    /// Watches the run until it is over.
    pub(crate) async fn watch(&mut self) -> Result<End, EngineError> {
        let limit_ns = self.plan.time_limit_ns.unwrap_or(u64::MAX);
        loop {
            let (next_task, may_ask) = (self.next_task(), self.may_ask());
            let next_turn = self.next_turn();
            tokio::select! {
                heard = self.heard.recv() => {
                    let heard = heard.expect("the supervisor keeps a sender of its own");
                    if let Some(finding) = self.hear(heard)?
                        && let Some(end) = self.judge(finding)
                    {
                        return Ok(end);
                    }
                }
                () = sleep_until(self.ask_at), if may_ask => self.ask(),
                () = sleep_until(next_turn.unwrap_or(next_task)), if next_turn.is_some() => {
                    self.turn();
                    self.perform_due()?;
                }
                () = sleep_until(next_task) => self.perform_due()?,
            }
            if self.program_failed {
                return Ok(End::ProgramFailed);
            }
            self.look_for_stops();
            let progress = Progress {
                now_ns: self.now_ns(),
                entries: self.entries,
                ..Progress::default()
            };
            if self.observer.progress(progress).is_break() {
                return Ok(End::Interrupted);
            }
            if self.now_ns() >= limit_ns {
                return Ok(End::TimeLimit);
            }
        }
    }

    fn perform_due(&mut self) -> Result<(), EngineError> {
        let now_ns = self.now_ns();
        while let Some(task) = self.faults.queue.due(now_ns) {
            self.perform(task)?;
        }
        Ok(())
    }

    /// When the next task is due, or else when to look up again.
    fn next_task(&self) -> Instant {
        let now = Instant::now();
        let next_ns = self.faults.queue.next_ns();
        let next_ns = next_ns.map(|at_ns| at_ns.saturating_sub(self.now_ns()));
        now + next_ns.map_or(LOOK_UP_EVERY, |ns| {
            Duration::from_nanos(ns).min(LOOK_UP_EVERY)
        })
    }

    /// Whether a round of questions would be answered: nobody is paused, or about to be reaped.
    fn may_ask(&self) -> bool {
        let answers = |seat: &Seat| match seat.life {
            Life::Running | Life::Dead | Life::Revived => true,
            Life::Paused | Life::Killed(_) => false,
        };
        !self.rounds.is_open() && self.seats.iter().all(answers)
    }

    /// Begins a round of questions.
    fn ask(&mut self) {
        let asked = self.running().collect::<Vec<_>>();
        let nodes = (0..self.seats.len() as u32).map(NodeId);
        let dead = nodes
            .filter(|node| !asked.contains(node))
            .collect::<Vec<_>>();
        let round = self.rounds.begin(asked.len());
        for node in asked {
            let dead = dead.clone();
            self.seats[node.index()].tell(ToMember::Count { round, dead });
        }
    }

    /// What a completed round of answers means for the run.
    fn judge(&mut self, finding: Finding) -> Option<End> {
        let end = self.end_by(finding)?;
        if self.waits_for_the_person() {
            self.ask_at = Instant::now() + ASK_EVERY;
            return None;
        }
        Some(end)
    }

    /// How the run ends, by a completed round of answers.
    fn end_by(&mut self, finding: Finding) -> Option<End> {
        let Finding {
            still,
            settled,
            sum,
        } = finding;
        if sum.entries > self.entries {
            self.entries = sum.entries;
        }
        let seen = Seen {
            sent: sum.sent,
            under_way: sum.sent.saturating_sub(sum.received),
            entries: sum.entries,
            inside: self.conductor.is_none() && sum.inside > 0,
            waiting: sum.waiting > 0,
            through: self.all_idle(),
        };
        if self.referee.is_live_locked(seen) {
            return Some(End::LiveLock);
        }
        let soon = self.conductor.is_some() || self.all_idle();
        self.ask_at = Instant::now() + if soon { CONDUCT_EVERY } else { ASK_EVERY };
        if !still {
            self.stirred_ns = self.now_ns();
        }
        let waiting = sum.waiting > 0;
        if !settled {
            self.moved_ns = self.now_ns();
            return self.given_up(waiting);
        }
        let world = Settled {
            now_ns: self.now_ns(),
            inside: sum.inside > 0,
            waiting,
        };
        let conductor = self.conductor.as_mut();
        if let Some((node, cue)) = conductor.and_then(|conductor| conductor.next(world)) {
            self.seats[node.index()].idle = false;
            self.seats[node.index()].tell(ToMember::Cue { cue });
            self.referee.got_on(sum.sent);
            return None;
        }
        let at_rest = referee::at_rest(waiting, || {
            let fault_to_come = !self.faults.queue.is_empty();
            let sessions_may_end =
                self.tells_of_links() && referee::sessions_may_end(self.plan, self.now_ns());
            fault_to_come || sessions_may_end || self.expects_suspicion()
        });
        at_rest.or_else(|| self.given_up(waiting))
    }

    /// What the group has come to where nobody has done anything for longer than anybody would wait, and
    /// nothing new will happen.
    fn given_up(&self, waiting: bool) -> Option<End> {
        let still = Still {
            now_ns: self.now_ns(),
            moved_ns: self.stirred_ns,
            waiting,
            tells_of_links: self.tells_of_links(),
        };
        referee::given_up(self.plan, still, || {
            let process_faults = &self.faults.process_faults;
            let mut tasks = self.faults.queue.iter();
            tasks.any(|task| process_faults.is_news(task))
                || still.now_ns <= self.faults.links_changed_ns
        })
    }

    /// Whether members are told of links that go down or come up.
    fn tells_of_links(&self) -> bool {
        self.plan.info().link_contract == LinkContract::Sessions
    }

    fn expects_suspicion(&self) -> bool {
        let changed_ns = self.faults.links_changed_ns;
        let suspects_after_ns = self.plan.suspects_after_ns();
        suspects_after_ns.is_some_and(|silence_ns| {
            referee::expects_suspicion(silence_ns, self.now_ns(), self.moved_ns, changed_ns)
        })
    }

    pub(crate) fn all_idle(&self) -> bool {
        self.seats.iter().all(|seat| seat.idle || !seat.is_alive())
    }
}
