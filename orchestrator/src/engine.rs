//! The one way in which commands run a plan, whichever engine it is for.

use std::ops::ControlFlow;
use std::path::Path;

use analysis::files::Events;
use cluster::Cluster;
use cluster::hosts::Hosts;
use cluster::live::Person;
use model::engine::{EngineError, Observer, Progress};
use model::event::Event;
use model::plan::Plan;
use model::run::{Engine, Run};
use tracing::debug;

use crate::progress::Bar;
use crate::result_table::warn;

/// Runs a plan; processes, on these hosts if there are some, leave their records in this directory.
/// Clusters are started from the main thread only.
pub(crate) fn run(
    engine: Engine,
    plan: &Plan,
    hosts: Option<Hosts>,
    dir: &Path,
    observer: &mut dyn Observer,
) -> Result<Run, EngineError> {
    match engine {
        Engine::Sim => simulator::run(plan, observer),
        Engine::Cluster => cluster(hosts, dir).run(plan, observer),
    }
}

/// Runs a plan with processes, while a person watches and interferes.
pub(crate) fn run_live(
    plan: &Plan,
    hosts: Option<Hosts>,
    dir: &Path,
    observer: &mut dyn Observer,
    person: &mut dyn Person,
) -> Result<Run, EngineError> {
    cluster(hosts, dir).run_live(plan, observer, person)
}

fn cluster(hosts: Option<Hosts>, dir: &Path) -> Cluster {
    Cluster {
        hosts,
        ..Cluster::of_this_program(dir)
    }
}

/// What commands do with what an engine tells them.
pub(crate) struct Watch<'a> {
    /// Says whether somebody wants the run to end.
    pub(crate) stopped: &'a dyn Fn() -> bool,
    /// Shows how far the run has come, if anybody looks.
    pub(crate) bar: Option<&'a Bar>,
    /// Where the run is traced to, if it is.
    pub(crate) events: Option<&'a mut Events>,
    /// Whether events go to the log. Processes write their own.
    pub(crate) logged: bool,
}

impl<'a> Watch<'a> {
    /// Only looks whether the run should end.
    pub(crate) fn until(stopped: &'a dyn Fn() -> bool) -> Self {
        Self {
            stopped,
            bar: None,
            events: None,
            logged: false,
        }
    }
}

impl Observer for Watch<'_> {
    fn event(&mut self, event: &Event) {
        if self.logged {
            debug!("{}", event.line());
        }
        if let Some(events) = &mut self.events {
            events.add(event);
        }
    }

    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        if let Some(bar) = self.bar {
            bar.show(&progress);
        }
        // A run whose events cannot be written has failed, however long it would still take.
        let failed = self
            .events
            .as_ref()
            .is_some_and(|events| events.has_failed());
        match failed || (self.stopped)() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn warning(&mut self, text: &str) {
        warn(text);
    }
}
