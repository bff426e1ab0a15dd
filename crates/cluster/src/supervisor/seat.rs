//! One member as the supervisor sees it: its process, and how far it has come.

use model::run::UsageRow;
use node::control::ToMember;
use rustix::process::Signal;

use crate::child::Child;

/// One member as the orchestrator sees it.
#[derive(Debug, Default)]
pub(crate) struct Seat {
    pub(crate) child: Option<Child<ToMember>>,
    pub(crate) life: Life,
    pub(crate) incarnation: u32,
    pub(crate) port: u16,
    pub(crate) ready: bool,
    pub(crate) idle: bool,
    pub(crate) done: Option<(u64, Option<u64>, UsageRow)>,
    /// Since when it stands still though nobody asked for that.
    pub(crate) stopped_ns: Option<u64>,
    /// A fault let it go on, and it has not been seen running since.
    pub(crate) resumed: bool,
    /// It did not finish in time, and was killed.
    pub(crate) given_up: bool,
}

/// What a member's process is like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Life {
    #[default]
    Running,
    Paused,
    /// Killed on purpose, and its exit status not collected yet; with the nanoseconds after which it
    /// comes back, if it does.
    Killed(Option<u64>),
    /// Dead, and its exit status was collected.
    Dead,
    /// In a later life, in which it runs no algorithm.
    Revived,
}

impl Seat {
    /// Tells the member something. One that runs no algorithm is only told to begin and to end: it
    /// may not even have been told who it is.
    pub(crate) fn tell(&self, order: ToMember) {
        let for_all = matches!(
            order,
            ToMember::Start(_) | ToMember::Go { .. } | ToMember::Finish
        );
        if let Some(child) = &self.child
            && (for_all || self.is_alive())
        {
            child.tell(order);
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(child) = &self.child {
            child.signal(signal);
        }
    }

    /// Whether it runs the algorithm.
    pub(crate) fn is_alive(&self) -> bool {
        match self.life {
            Life::Running | Life::Paused => true,
            Life::Killed(_) | Life::Dead | Life::Revived => false,
        }
    }

    pub(crate) fn kill(&mut self, revive_after_ns: Option<u64>) {
        self.life = Life::Killed(revive_after_ns);
        self.signal(Signal::KILL);
    }

    pub(crate) fn resume(&mut self) {
        self.life = Life::Running;
        self.resumed = true;
        self.signal(Signal::CONT);
    }

    pub(crate) fn pause(&mut self) {
        self.life = Life::Paused;
        self.signal(Signal::STOP);
    }
}
