//! A child process: started, spoken to, listened to, reaped.
//!
//! Children are this very program, re-executed with a hidden first argument, so a fresh clone, an
//! installed copy and a test all find them. They must be started from the main thread: a child asks
//! the kernel to be killed when its parent dies, and the kernel means the parent *thread*.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus, Stdio};
use std::sync::Arc;

use algorithms::NodeId;
use chaos::proxy::child::{FromProxy, ToProxy};
use node::control::{FromMember, ToMember};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::sync::mpsc;
use wire::{Bind, ChildArgs};

use crate::hosts::Remote;

/// What is heard of the children, all in one place.
#[derive(Debug)]
pub enum Heard {
    /// A member wrote something or ended, in one of its lives.
    Member {
        /// The number of the member.
        from: NodeId,
        /// The life of that member.
        incarnation: u32,
        /// What it wrote, or that it ended.
        what: Output<FromMember>,
    },
    /// The proxy on the members' side of a host wrote something or ended.
    Proxy {
        /// The place of the host among the run's; 0 where there is one.
        host: usize,
        /// What it wrote, or that it ended.
        what: Output<FromProxy>,
    },
    /// A host is lost, and everything on it.
    Lost {
        /// The place of the host among the run's.
        host: usize,
        /// What became of it.
        why: String,
    },
}

/// What is heard of one child.
#[derive(Debug)]
pub enum Output<R> {
    /// A message in the child's control protocol.
    Message(R),
    /// A line that is no message of the control protocol.
    Unparsable(String),
    /// It ended, and has been reaped.
    Ended(Ended),
}

/// How a child ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status, where that is known.
    pub status: io::Result<ExitStatus>,
    /// The last lines that it wrote to stderr.
    pub stderr_end: String,
}

/// What a child does, before anybody has read what it wrote.
#[derive(Debug)]
pub(crate) enum Raw {
    /// It wrote a line.
    Line(String),
    /// It ended, and has been reaped.
    Ended(Ended),
}

impl<R: DeserializeOwned> From<Raw> for Output<R> {
    fn from(raw: Raw) -> Self {
        match raw {
            Raw::Line(line) => match serde_json::from_str(&line) {
                Ok(report) => Output::Message(report),
                Err(_) => Output::Unparsable(line),
            },
            Raw::Ended(ended) => Output::Ended(ended),
        }
    }
}

/// Starts child processes, all with the same program and the same listener.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The program that is a child when told so.
    pub executable: PathBuf,
    /// Where the children's stderr goes.
    pub members: PathBuf,
    /// Where everything that children say goes.
    pub reports: mpsc::UnboundedSender<Heard>,
    /// Processors to deal the members to in turn; none to let the kernel decide.
    pub cores: Vec<usize>,
}

/// A child as long as it lives, wherever its process is: what it understands are `O`s, a line each.
#[derive(Debug)]
pub struct Child<O> {
    end: End,
    speaks: PhantomData<fn(O)>,
}

/// Where the process of a child is.
#[derive(Debug)]
enum End {
    /// It is on this host.
    Here(Process),
    /// It is on the host of an agent.
    There(Remote),
}

/// A process that was started by this one.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Pid,
    lines: mpsc::UnboundedSender<Arc<[u8]>>,
}

/// The line of a message.
pub(crate) fn line(order: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(order).expect("an order is plain data");
    line.push(b'\n');
    line
}

impl Launcher {
    /// Starts a member; its port is 0 unless it takes over that of an earlier life.
    pub(crate) fn start(
        &self,
        node: NodeId,
        incarnation: u32,
        port: u16,
    ) -> io::Result<Child<ToMember>> {
        let reports = self.reports.clone();
        let process = self.start_member(node, incarnation, port, None, move |raw| {
            drop(reports.send(Heard::Member {
                from: node,
                incarnation,
                what: raw.into(),
            }));
        });
        process.map(Child::here)
    }

    /// Starts what stands between the members: the proxy, or something to compare it with.
    pub fn start_between(&self, kind: &str, core: Option<usize>) -> io::Result<Child<ToProxy>> {
        let reports = self.reports.clone();
        let process = self.start_proxy(kind, core, move |raw| {
            drop(reports.send(Heard::Proxy {
                host: 0,
                what: raw.into(),
            }));
        });
        process.map(Child::here)
    }

    /// Starts the process of a member, on loopback or on this address and one of these ports.
    pub(crate) fn start_member(
        &self,
        node: NodeId,
        incarnation: u32,
        port: u16,
        place: Option<Bind>,
        hear: impl Fn(Raw) + Send + Sync + 'static,
    ) -> io::Result<Process> {
        let stderr_log = self.stderr_log(node, incarnation);
        let mut command = self.command("node", &stderr_log)?;
        command
            .arg(format!("--member={node}"))
            .arg(format!("--port={port}"))
            .args(place.map(|Bind { address, .. }| format!("--bind={address}")))
            .args(
                place
                    .and_then(|place| place.ports)
                    .map(|(first, last)| format!("--ports={first}-{last}")),
            )
            .args(self.core_of(node).map(|core| format!("--core={core}")));
        spawn(command, stderr_log, hear)
    }

    /// Starts the process of what stands between the members.
    pub(crate) fn start_proxy(
        &self,
        kind: &str,
        core: Option<usize>,
        hear: impl Fn(Raw) + Send + Sync + 'static,
    ) -> io::Result<Process> {
        let stderr_log = self.members.join("chaos.log");
        let mut command = self.command(kind, &stderr_log)?;
        command.args(core.map(|core| format!("--core={core}")));
        spawn(command, stderr_log, hear)
    }

    fn command(&self, kind: &str, stderr_log: &Path) -> io::Result<Command> {
        let mut command = Command::new(&self.executable);
        let program = std::env::args_os().next().unwrap_or_default();
        let run = self.members.parent().unwrap_or(&self.members);
        command
            .arg0(program)
            .arg(format!("--child={kind}"))
            .arg(format!("--run={}", run.display()))
            .arg(format!("--parent={}", std::process::id()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(stderr_log)?)
            // Ctrl-C is for the orchestrator, which then tells its children.
            .process_group(0)
            .kill_on_drop(true);
        Ok(command)
    }

    fn core_of(&self, node: NodeId) -> Option<usize> {
        let turn = node.index().checked_rem(self.cores.len())?;
        Some(self.cores[turn])
    }

    /// The file that holds what a member wrote to stderr.
    fn stderr_log(&self, node: NodeId, incarnation: u32) -> PathBuf {
        self.members.join(format!("{node}.{incarnation}.log"))
    }
}

/// Starts a process, gives it tasks that write its stdin and read its stdout, and reaps it when it
/// ends.
fn spawn(
    mut command: Command,
    stderr_log: PathBuf,
    hear: impl Fn(Raw) + Send + Sync + 'static,
) -> io::Result<Process> {
    let mut process = command.spawn()?;
    let id = process.id().expect("it has not been reaped");
    let pid = Pid::from_raw(id as i32).expect("a process id is not 0");
    let mut stdin = process.stdin.take().expect("stdin is a pipe");
    let stdout = process.stdout.take().expect("stdout is a pipe");
    let (lines, mut told) = mpsc::unbounded_channel::<Arc<[u8]>>();
    tokio::spawn(async move {
        while let Some(line) = told.recv().await {
            // A dead child is noticed where it is reaped.
            if stdin.write_all(&line).await.is_err() {
                break;
            }
        }
    });
    tokio::spawn(async move {
        let mut lines = BufReader::new(stdout).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            hear(Raw::Line(line));
        }
        let status = process.wait().await;
        let went_well = status.as_ref().is_ok_and(ExitStatus::success);
        let stderr_end = match went_well {
            true => String::new(),
            false => last_lines(&stderr_log),
        };
        hear(Raw::Ended(Ended { status, stderr_end }));
    });
    Ok(Process { pid, lines })
}

impl Process {
    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get() as u32
    }

    /// Writes a line to its stdin; a process that is gone does not read it.
    pub(crate) fn tell_line(&self, line: Arc<[u8]>) {
        drop(self.lines.send(line));
    }

    /// Whether it has stopped (`true`) or gone on since this was last asked.
    pub(crate) fn stopped(&self) -> Option<bool> {
        let options = WaitIdOptions::STOPPED | WaitIdOptions::CONTINUED | WaitIdOptions::NOHANG;
        let status = waitid(WaitId::Pid(self.pid), options).ok()??;
        Some(status.stopped())
    }

    /// Sends it a signal, and to the programs that it has started. One that has just ended does not get
    /// it.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.pid, signal);
    }
}

impl<O: Serialize> Child<O> {
    fn here(process: Process) -> Self {
        Self {
            end: End::Here(process),
            speaks: PhantomData,
        }
    }

    pub(crate) fn there(process: Remote) -> Self {
        Self {
            end: End::There(process),
            speaks: PhantomData,
        }
    }

    /// Tells the child something; a child that is gone does not hear it.
    pub fn tell(&self, order: O) {
        self.tell_line(line(&order).into());
    }

    /// Tells the child a line, which others may be told as well.
    pub(crate) fn tell_line(&self, line: Arc<[u8]>) {
        match &self.end {
            End::Here(process) => process.tell_line(line),
            End::There(process) => process.tell_line(&line),
        }
    }

    /// Whether it has stopped (`true`) or gone on since this was last asked.
    pub(crate) fn stopped(&self) -> Option<bool> {
        match &self.end {
            End::Here(process) => process.stopped(),
            End::There(process) => process.stopped(),
        }
    }

    /// Sends it a signal, and to the programs that it has started. One that has just ended does not get
    /// it.
    pub fn signal(&self, signal: Signal) {
        match &self.end {
            End::Here(process) => process.signal(signal),
            End::There(process) => process.signal(signal),
        }
    }

    /// It has been reaped: ends what its program started and took out of its process group.
    pub(crate) fn end_programs(&self) {
        match &self.end {
            End::Here(process) => {
                external::sandbox::end_programs_of(process.id());
            }
            // Its agent does so when it reaps it.
            End::There(_) => {}
        }
    }
}

/// The last lines of a log, for an error message.
pub(crate) fn last_lines(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().collect::<Vec<_>>();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

/// Is a child that does this until it is told to finish, or its stdin ends.
pub fn be(arguments: ChildArgs, serve: impl Future<Output = Result<(), String>>) -> ExitCode {
    let served = arguments.settle().and_then(|()| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .map_err(|error| format!("cannot start a runtime: {error}"))?;
        runtime.block_on(serve)
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            safe_io::to_stderr(&format!("error: {why}\n"));
            ExitCode::from(4)
        }
    }
}
