//! The cluster engine: every member a process of its own, speaking UDP.
//!
//! ```text
//!   launch ──► hello ──► start ──► ready ──► go ──► (play) ──► finish ──► done ──► merge
//! ```
//!
//! [`child`] is one process, [`stage`] is all of them from launch to finish, [`settled`] decides
//! when nothing moves any more, [`faults`] kills, pauses and restarts, and [`merge`] makes one account of the files they left.

pub(crate) mod child;
mod faults;
mod merge;
pub(crate) mod proxy;
mod settled;
mod stage;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use std::{fs, io};

use algorithms::NodeId;
use analysis::files::Events;
use model::plan::Plan;
use model::run::Run;
use tokio::sync::mpsc;

use crate::Failure;
use child::Launcher;
use stage::{Played, Stage};

/// What the engine needs to know.
pub(crate) struct Cluster<'a> {
    /// What to run.
    pub(crate) plan: &'a Plan,
    /// The program that is a member when told so.
    pub(crate) executable: &'a Path,
    /// The run's directory; members leave their records in `members` below it.
    pub(crate) dir: &'a Path,
    /// Processors to deal the members to in turn; none to let the kernel decide.
    pub(crate) cores: Vec<usize>,
    /// Set when somebody wants the run to stop.
    pub(crate) interrupted: &'a AtomicBool,
    /// Told now and then how many have entered.
    pub(crate) progress: &'a dyn Fn(u64),
}

impl Cluster<'_> {
    /// Runs it. Must be called on the main thread, which is the one the children depend on. A run
    /// that fails when it has begun is a run whose end is [`End::Failed`](model::run::End::Failed).
    pub(crate) fn run(&self) -> Result<Run, Failure> {
        self.run_traced(None)
    }

    /// The same; what its members trace, where the plan asks for that, goes to the events.
    pub(crate) fn run_traced(&self, events: Option<&mut Events>) -> Result<Run, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::Testbed(format!("cannot start a runtime: {error}")))?;
        let members = self.dir.join("members");
        fs::create_dir_all(&members).map_err(|error| {
            Failure::Testbed(format!("cannot make {}: {error}", members.display()))
        })?;
        let played = runtime.block_on(async { Stage::new(self, members.clone())?.play().await })?;
        let run = merge::merge(self.plan, &members, played, events)?;
        // Empty files do no harm.
        let _ = sweep_up(&members);
        Ok(run)
    }
}

/// What the members of a run have recorded whose orchestrator was killed.
pub(crate) fn salvage(
    plan: &Plan,
    dir: &Path,
    events: Option<&mut Events>,
) -> Result<Run, Failure> {
    let members = dir.join("members");
    let run = merge::merge(plan, &members, Played::abandoned(), events)?;
    let _ = sweep_up(&members);
    Ok(run)
}

/// How long it takes to start so many members, until each has said hello.
pub(crate) fn launch_time(
    executable: &Path,
    dir: &Path,
    members: usize,
) -> Result<Duration, Failure> {
    child::allow_files(members)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let failed = |error| Failure::Testbed(format!("cannot launch {members} members: {error}"));
    runtime.map_err(failed)?.block_on(async {
        let (ear, mut heard) = mpsc::unbounded_channel();
        let launcher = Launcher {
            executable: executable.to_owned(),
            members: dir.to_owned(),
            ear,
            cores: Vec::new(),
        };
        let start = Instant::now();
        let nodes = (0..members as u32).map(NodeId);
        let started = nodes
            .map(|node| launcher.start(node, 0, 0))
            .collect::<Result<Vec<_>, _>>();
        let _children = started.map_err(failed)?;
        for _ in 0..members {
            heard.recv().await;
        }
        Ok(start.elapsed())
    })
}

/// Removes what only mattered while the run went on: lock files, and last words never spoken.
fn sweep_up(members: &Path) -> io::Result<()> {
    for file in fs::read_dir(members)? {
        let file = file?;
        let name = file.file_name();
        let silent = file.metadata()?.len() == 0;
        if silent && !name.to_string_lossy().ends_with(".rec") {
            fs::remove_file(file.path())?;
        }
    }
    Ok(())
}
