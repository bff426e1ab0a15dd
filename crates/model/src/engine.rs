//! What every engine has in common: it runs a plan and tells an observer what happens.
//!
//! Both engines have one signature, `run(&Plan, &mut dyn Observer) -> Result<Run, EngineError>`. The
//! trace file, the progress bar and Ctrl-C are observers.

use std::ops::ControlFlow;

use thiserror::Error;

use crate::event::Event;

/// Somebody who watches a run and may end it.
pub trait Observer {
    /// Something happened. Only a plan that asks for a trace has its events told. The simulator tells
    /// them at once, processes when their records are merged.
    fn event(&mut self, event: &Event) {
        let _ = event;
    }

    /// How far the run has come; told now and then. `Break` ends the run.
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        let _ = progress;
        ControlFlow::Continue(())
    }

    /// Something went wrong that does not end the run.
    fn warning(&mut self, text: &str) {
        let _ = text;
    }
}

/// Watches a run only to see whether it should end.
impl<F: FnMut(Progress) -> ControlFlow<()>> Observer for F {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        self(progress)
    }
}

/// Watches nothing and lets every run go on to its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Keeps every event, for runs small enough to be kept.
impl Observer for Vec<Event> {
    fn event(&mut self, event: &Event) {
        self.push(event.clone());
    }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Nanoseconds from the run's start: virtual time in the simulator.
    pub now_ns: u64,
    /// Entries since the start.
    pub entries: u64,
    /// Messages that arrived and timers that went off; only the simulator counts them.
    pub events: u64,
    /// Messages under way and timers armed; only the simulator counts them.
    pub in_flight: usize,
}

/// Why a plan could not be run to an end.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EngineError {
    /// The plan cannot be run, here or anywhere: its author can mend it.
    #[error("{0}")]
    Plan(String),
    /// The testbed could not do something that is possible: a process died, a disk is full.
    #[error("{0}")]
    Testbed(String),
}
