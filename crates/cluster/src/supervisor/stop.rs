//! The end of a run: everybody writes what is left and ends, or is ended.

use std::time::Duration;

use algorithms::NodeId;
use model::run::End;
use node::control::ToMember;
use rustix::process::Signal;
use tokio::time::{Instant, timeout_at};

use super::seat::Life;
use super::{PATIENCE, PATIENCE_PER_MEMBER, Supervisor};
use crate::proxy;
use model::engine::EngineError;

/// How long all members together may take to finish where nobody waits for a result.
const SHORT_PATIENCE: Duration = Duration::from_secs(2);

impl Supervisor<'_> {
    /// Has all members finish, and kills those that do not: what they have recorded is on disk. The
    /// first thing that fails is an error, unless the run was given up anyway.
    pub(crate) async fn stop(
        &mut self,
        watched: &Result<End, EngineError>,
    ) -> Result<(), EngineError> {
        for seat in &mut self.seats {
            if seat.life == Life::Paused {
                seat.life = Life::Running;
            }
            // A member that was stopped from outside finishes as well.
            seat.signal(Signal::CONT);
        }
        let patience = match watched {
            Ok(End::Interrupted | End::Failed | End::Abandoned) | Err(_) => SHORT_PATIENCE,
            Ok(
                End::Finished | End::Deadlock | End::LiveLock | End::TimeLimit | End::ProgramFailed,
            ) => PATIENCE,
        };
        let patience = patience + PATIENCE_PER_MEMBER * self.seats.len() as u32;
        self.tell_all(&ToMember::Finish);
        let mut failed = self.reap(patience, Self::late_member).await;
        if !self.proxies.is_empty() {
            for proxy in &self.proxies {
                proxy.tell(proxy::ToProxy::Finish);
            }
            let late = |supervisor: &Self| {
                let mut proxies = supervisor.proxies.iter();
                let late = proxies.position(|proxy| !proxy.ended);
                late.map(|host| supervisor.place.proxy_name(host))
            };
            failed = failed.and(self.reap(patience, late).await);
        }
        match (watched, failed) {
            (Ok(End::Interrupted), Err(failure)) => {
                let text = format!("{failure}.\nWhat was recorded before is here.");
                self.observer.warning(&text);
                Ok(())
            }
            (_, failed) => failed,
        }
    }

    /// Listens until nobody is late any more; kills those who are when patience ends.
    async fn reap(
        &mut self,
        patience: Duration,
        late: impl Fn(&Self) -> Option<String>,
    ) -> Result<(), EngineError> {
        let mut failed = Ok(());
        let deadline = Instant::now() + patience;
        while let Some(who) = late(self) {
            match timeout_at(deadline, self.heard.recv()).await {
                Ok(heard) => {
                    let heard = self.hear(heard.expect("the supervisor keeps a sender of its own"));
                    failed = failed.and(heard.map(drop));
                }
                Err(_) => {
                    let why = format!("{who} did not finish within {patience:?}, and was killed");
                    return failed.and(self.kill_all(why).await);
                }
            }
        }
        failed
    }

    /// Kills the members that are left, and waits until all are reaped.
    async fn kill_all(&mut self, why: String) -> Result<(), EngineError> {
        for seat in &mut self.seats {
            seat.given_up = true;
            seat.signal(Signal::KILL);
        }
        for proxy in &mut self.proxies {
            proxy.give_up();
        }
        let deadline = Instant::now() + SHORT_PATIENCE;
        while self.late_member().is_some() {
            // A process that not even this ends cannot be helped; its records are there.
            let Ok(Some(heard)) = timeout_at(deadline, self.heard.recv()).await else {
                break;
            };
            drop(self.hear(heard));
        }
        Err(EngineError::Testbed(why))
    }

    fn late_member(&self) -> Option<String> {
        let late = self.seats.iter().position(|seat| seat.child.is_some());
        late.map(|node| self.place.who(NodeId(node as u32)))
    }
}
