//! One member as the stage sees it: its process, and how far it has come.

use model::run::UsageRow;
use node::control::Order;
use rustix::process::Signal;

use crate::cluster::child::Child;

/// One member as the orchestrator sees it.
#[derive(Debug, Default)]
pub(in crate::cluster) struct Place {
    pub(super) child: Option<Child<Order>>,
    pub(in crate::cluster) life: Life,
    pub(super) incarnation: u32,
    pub(super) port: u16,
    pub(super) ready: bool,
    pub(super) idle: bool,
    pub(super) done: Option<(u64, UsageRow)>,
    /// Since when it stands still though nobody asked for that.
    pub(super) stopped_ns: Option<u64>,
    /// A fault let it go on, which has yet to be seen.
    pub(super) resumed: bool,
    /// It did not finish in time, and was killed.
    pub(super) given_up: bool,
}

/// What a member's process is like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cluster) enum Life {
    #[default]
    Running,
    Paused,
    /// Killed on purpose, and not reaped yet; it may come back after so many nanoseconds.
    Killed(Option<u64>),
    /// Reaped.
    Dead,
    /// In a later life, in which it runs no algorithm.
    Revived,
}

impl Place {
    /// Tells the member something. One that runs no algorithm is only told to begin and to end: it
    /// may not even have been told who it is.
    pub(in crate::cluster) fn tell(&self, order: Order) {
        let for_all = matches!(order, Order::Start(_) | Order::Go { .. } | Order::Finish);
        if let Some(child) = &self.child
            && (for_all || self.is_alive())
        {
            child.tell(order);
        }
    }

    pub(in crate::cluster) fn signal(&self, signal: Signal) {
        if let Some(child) = &self.child {
            child.signal(signal);
        }
    }

    /// Whether it runs the algorithm.
    pub(in crate::cluster) fn is_alive(&self) -> bool {
        match self.life {
            Life::Running | Life::Paused => true,
            Life::Killed(_) | Life::Dead | Life::Revived => false,
        }
    }

    pub(in crate::cluster) fn kill(&mut self, revive_after_ns: Option<u64>) {
        self.life = Life::Killed(revive_after_ns);
        self.signal(Signal::KILL);
    }

    pub(in crate::cluster) fn resume(&mut self) {
        self.life = Life::Running;
        self.resumed = true;
        self.signal(Signal::CONT);
    }

    pub(in crate::cluster) fn pause(&mut self) {
        self.life = Life::Paused;
        self.signal(Signal::STOP);
    }
}
