//! MIGRATION_INFO: when the role moves. Where it goes is [`super::target`].
//!
//! `test_migration_condition` is [`MigrationInfo::due`]. The paper asks it at exits only; asked also
//! when a request finds the role idle ("token style") it makes Suzuki and Kasami's, Raymond's and
//! Martin's algorithms instances of the framework, which they are not otherwise.

use serde::Serialize;

use super::chosen::Chosen;
use super::columns::{Counter, Each, Never, Timed};
use crate::contract::{Outbox, Timer};

/// The column of the taxonomy, at one node.
pub(super) trait MigrationInfo {
    /// We are the controller, in this epoch, and about to decide something. Called at every
    /// decision: the first controller is never told that its tenure begins.
    fn watch<M>(&mut self, _epoch: u64, _out: &mut Outbox<M>) {}

    /// `test_migration_condition`, once per cause.
    fn due(&mut self, cause: Cause) -> bool;

    /// The tenure's timer went off.
    fn expired(&mut self) {}

    /// The role moves on.
    fn tenure_ends<M>(&mut self, _epoch: u64, _out: &mut Outbox<M>) {}
}

/// Why the controller decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The role has just come: it does not move on at once.
    Begin,
    /// A client has left the critical section.
    Exit,
    /// A request finds nobody inside.
    Wake,
}

/// One of the columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) enum Column {
    Never(Never),
    Each(Each),
    Counter(Counter),
    Timed(Timed),
}

impl Column {
    /// The column that the parameters name.
    pub(super) fn chosen(chosen: &Chosen<'_>) -> Self {
        match chosen.word("migrate", "counter") {
            "never" => Column::Never(Never),
            "each" => Column::Each(Each),
            "timer" => Column::Timed(Timed::new(chosen.max_time())),
            _ => Column::Counter(Counter::new(chosen.max_req())),
        }
    }

    /// A timer went off at a controller since that epoch, or at nobody's: it must be the tenure's.
    pub(super) fn went_off<M>(
        &mut self,
        timer: Timer,
        controller_since: Option<u64>,
        out: &mut Outbox<M>,
    ) {
        match controller_since.map(tenure) == Some(timer) {
            true => self.expired(),
            false => out.protocol_error(format!("{} went off after its tenure", timer.name)),
        }
    }
}

impl MigrationInfo for Column {
    fn watch<M>(&mut self, epoch: u64, out: &mut Outbox<M>) {
        match self {
            Column::Never(never) => never.watch(epoch, out),
            Column::Each(each) => each.watch(epoch, out),
            Column::Counter(counter) => counter.watch(epoch, out),
            Column::Timed(timed) => timed.watch(epoch, out),
        }
    }

    fn due(&mut self, cause: Cause) -> bool {
        match self {
            Column::Never(never) => never.due(cause),
            Column::Each(each) => each.due(cause),
            Column::Counter(counter) => counter.due(cause),
            Column::Timed(timed) => timed.due(cause),
        }
    }

    fn expired(&mut self) {
        match self {
            Column::Never(never) => never.expired(),
            Column::Each(each) => each.expired(),
            Column::Counter(counter) => counter.expired(),
            Column::Timed(timed) => timed.expired(),
        }
    }

    fn tenure_ends<M>(&mut self, epoch: u64, out: &mut Outbox<M>) {
        match self {
            Column::Never(never) => never.tenure_ends(epoch, out),
            Column::Each(each) => each.tenure_ends(epoch, out),
            Column::Counter(counter) => counter.tenure_ends(epoch, out),
            Column::Timed(timed) => timed.tenure_ends(epoch, out),
        }
    }
}

/// The timer of the tenure that began in this epoch.
pub(super) fn tenure(epoch: u64) -> Timer {
    Timer {
        name: "tenure",
        tag: epoch,
    }
}
