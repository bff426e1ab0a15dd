//! The cluster engine: it runs a plan with a process for every member, and UDP between them.
//!
//! ```text
//!   launch ──► hello ──► start ──► ready ──► go ──► (play) ──► finish ──► done ──► merge
//! ```
//!
//! [`child`] is one process, `supervisor` is all of them from launch to finish, `settled` decides
//! when nothing moves any more, `faults` kills, pauses and restarts, [`live`] lets a person interfere, and
//! `merge` makes one account of the files they left. The processes are on this host, or on several with an
//! [`agent`] each, which [`hosts`] are told of. What a member does is decided in `node` and `member`, not here.
//!
//! ```no_run
//! use std::{env, path::Path, process::ExitCode};
//!
//! use model::engine::{EngineError, Silent};
//!
//! fn main() -> Result<ExitCode, EngineError> {
//!     // The members are this program, too.
//!     if let Some(exit) = cluster::child_main(env::args_os()) {
//!         return Ok(exit);
//!     }
//!     let raymond = algorithms::registry::find("raymond").expect("it is registered");
//!     let plan = model::plan::Plan::usual(raymond, 5, 1);
//!     let run = cluster::Cluster::of_this_program(Path::new("a-run")).run(&plan, &mut Silent)?;
//!     assert!(run.requests.iter().all(|request| request.left_ns.is_some()));
//!     Ok(ExitCode::SUCCESS)
//! }
//! ```

pub mod agent;
pub mod child;
mod connection;
mod faults;
pub mod hosts;
mod limits;
pub mod live;
mod merge;
mod place;
mod proxy;
mod sealed;
mod settled;
mod supervisor;

use std::ffi::{CString, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{fs, io};

use algorithms::NodeId;
use model::engine::{EngineError, Observer};
use model::plan::Plan;
use model::run::Run;
use safe_io::to_stderr;
use tokio::sync::mpsc;
use wire::ChildArgs;

use child::{Heard, Launcher};
use hosts::{Fleet, Hosts};
use live::Person;
use place::Place;
use supervisor::{Played, Supervisor};

/// This very program, even if its file is replaced meanwhile.
pub const THIS_PROGRAM: &str = "/proc/self/exe";

/// Where and by what a plan is run.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The program that is a member when told so; see [`child_main`].
    pub executable: PathBuf,
    /// The run's directory; members leave their records in `members` below it.
    pub dir: PathBuf,
    /// Processors to deal the members to in turn; none to let the kernel decide.
    pub cores: Vec<usize>,
    /// The hosts that the members are on, where it is not this one; the plan then says which member is on
    /// which.
    pub hosts: Option<Hosts>,
}

impl Cluster {
    /// Members that are this very program and leave their records in this directory.
    pub fn of_this_program(dir: &Path) -> Self {
        Self {
            executable: THIS_PROGRAM.into(),
            dir: dir.to_owned(),
            cores: Vec::new(),
            hosts: None,
        }
    }

    /// Runs a plan. Must be called on the main thread, which is the one the children depend on. A run
    /// that fails when it has begun is a run whose end is [`End::Failed`](model::run::End::Failed).
    pub fn run(&self, plan: &Plan, observer: &mut dyn Observer) -> Result<Run, EngineError> {
        self.run_watched(plan, observer, None)
    }

    /// The same, while a person watches and interferes. The faults that they asked for are those of the
    /// plan behind which they stand in the outcomes.
    pub fn run_live(
        &self,
        plan: &Plan,
        observer: &mut dyn Observer,
        person: &mut dyn Person,
    ) -> Result<Run, EngineError> {
        self.run_watched(plan, observer, Some(person))
    }

    fn run_watched(
        &self,
        plan: &Plan,
        observer: &mut dyn Observer,
        person: Option<&mut dyn Person>,
    ) -> Result<Run, EngineError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| EngineError::Testbed(format!("cannot start a runtime: {error}")))?;
        let members = self.dir.join("members");
        fs::create_dir_all(&members).map_err(|error| {
            EngineError::Testbed(format!("cannot make {}: {error}", members.display()))
        })?;
        let played = runtime.block_on(async {
            let (reports, heard) = mpsc::unbounded_channel();
            let place = self.place(plan, &members, &reports, observer).await?;
            let mut supervisor = Supervisor::new(plan, (place, heard), &mut *observer)?;
            if let Some(person) = person {
                supervisor.watched_by(person);
            }
            supervisor.play().await
        })?;
        let run = merge::merge(plan, &members, played, observer)?;
        // They do no harm.
        let _ = remove_passing_files(&members);
        Ok(run)
    }
}

impl Cluster {
    /// Where the members will be: here, or on hosts that have joined when this is done.
    async fn place(
        &self,
        plan: &Plan,
        members: &Path,
        reports: &mpsc::UnboundedSender<Heard>,
        observer: &mut dyn Observer,
    ) -> Result<Place, EngineError> {
        let Some((hosts, placement)) = self.hosts.as_ref().zip(plan.placement.as_ref()) else {
            limits::allow(plan.nodes as usize, proxy::is_needed(plan))?;
            return Ok(Place::Here {
                launcher: Launcher {
                    executable: self.executable.clone(),
                    members: members.to_owned(),
                    reports: reports.clone(),
                    cores: self.cores.clone(),
                },
                dir: self.dir.clone(),
            });
        };
        let fleet = Fleet::gather(hosts, placement, members, reports, observer).await?;
        Ok(Place::Hosts {
            fleet,
            placement: placement.clone(),
        })
    }
}

/// Is a member of a cluster, or the proxy between them, if the arguments say that this process was
/// started to be one. The first of them is the program itself.
///
/// A program that launches members calls this before anything else looks at the arguments.
pub fn child_main(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    let kind = arguments.next()?;
    let main = match kind.to_str()? {
        external::sandbox::CHILD => return Some(external::sandbox::main(arguments)),
        agent::cleaner::CHILD => return Some(agent::cleaner::main(arguments)),
        "--child=node" => node::main,
        "--child=chaos" => proxy::main,
        _ => return None,
    };
    Some(match ChildArgs::from_arguments(arguments) {
        Ok(arguments) => {
            let name = match arguments.member {
                Some(member) => format!("member {member}"),
                None => kind.to_string_lossy().replace("--child=", "orch. "),
            };
            // It is only for people who look at the list of processes.
            let _ = CString::new(name).map(|name| rustix::thread::set_name(&name));
            main(arguments)
        }
        Err(why) => {
            to_stderr(&format!("error: {why}\n"));
            ExitCode::from(2)
        }
    })
}

/// Makes a run of what its members have recorded, where the orchestrator was killed.
pub fn salvage(plan: &Plan, dir: &Path, observer: &mut dyn Observer) -> Result<Run, EngineError> {
    let members = dir.join("members");
    let run = merge::merge(plan, &members, Played::abandoned(plan), observer)?;
    let _ = remove_passing_files(&members);
    Ok(run)
}

/// How long it takes to start this number of members, until each has said hello.
pub fn launch_time(executable: &Path, dir: &Path, members: usize) -> Result<Duration, EngineError> {
    limits::allow(members, false)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let failed = |error| EngineError::Testbed(format!("cannot launch {members} members: {error}"));
    runtime.map_err(failed)?.block_on(async {
        let (reports, mut heard) = mpsc::unbounded_channel();
        let launcher = Launcher {
            executable: executable.to_owned(),
            members: dir.to_owned(),
            reports,
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

/// Removes what only mattered while the run went on: the witness, and logs that nobody wrote to.
fn remove_passing_files(members: &Path) -> io::Result<()> {
    for file in fs::read_dir(members)? {
        let file = file?;
        let name = file.file_name();
        let name = name.to_string_lossy();
        let empty = file.metadata()?.len() == 0 && !name.ends_with(".rec");
        if empty || name.starts_with(node::WITNESS_FILES) {
            fs::remove_file(file.path())?;
        }
    }
    Ok(())
}
