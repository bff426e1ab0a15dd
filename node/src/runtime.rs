//! A member as a process: the core and the transport around one UDP socket.
//!
//! ```text
//!   datagram ─► transport ─► core ─► effects ─► records to disk ─► datagrams leave ─► wait
//! ```
//!
//! The order is the point: what others could see of an event is in the file before they can see it.
//! Everything that decides lives in [`members`](crate::members) and [`transport`](crate::transport);
//! this module owns the socket, the clock, the files and the control channel.

mod barrier;
pub mod diagnostics;
mod member;
mod recorder;
mod usage;
mod witness;

use std::ffi::OsString;
use std::io;
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use chaos::wire::{Channel, to_stderr};
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_setaffinity};
use signal_hook::consts::SIGXFSZ;

use crate::control::{Order, Report};

/// The member's end of the control channel.
type ControlChannel = Channel<Order, Report>;

/// What a member is told when its process starts; everything else comes over the control channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Birth {
    /// The port to bind on loopback; 0 for any.
    pub port: u16,
    /// The process that started this one, if it must not outlive it.
    pub parent: Option<u32>,
    /// The processor to stay on, if it is not to be moved; for measuring.
    pub core: Option<usize>,
    /// Which member this is, for whoever looks at the list of processes.
    pub member: Option<u32>,
}

impl Birth {
    /// Reads `--port=PORT`, `--parent=PID`, `--core=NUMBER`, `--member=NUMBER` and `--run=DIR`, all of
    /// which may be left out; the last is only there to be seen in the list of processes.
    pub fn from_arguments(arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut birth = Birth::default();
        for argument in arguments {
            let text = argument.to_string_lossy();
            let number = |digits: &str| format!("'{digits}' in '{text}' is not a number that fits");
            if let Some(digits) = text.strip_prefix("--port=") {
                birth.port = digits.parse().map_err(|_| number(digits))?;
            } else if let Some(digits) = text.strip_prefix("--parent=") {
                birth.parent = Some(digits.parse().map_err(|_| number(digits))?);
            } else if let Some(digits) = text.strip_prefix("--core=") {
                birth.core = Some(digits.parse().map_err(|_| number(digits))?);
            } else if let Some(digits) = text.strip_prefix("--member=") {
                birth.member = Some(digits.parse().map_err(|_| number(digits))?);
            } else if !text.starts_with("--run=") {
                return Err(format!(
                    "unknown argument '{text}'; there are --port=PORT, --parent=PID, \
                     --core=NUMBER, --member=NUMBER and --run=DIR"
                ));
            }
        }
        Ok(birth)
    }
}

/// Has a write beyond the limit of a file's size fail, rather than end the process without a word.
pub fn survive_file_limit() -> Result<(), String> {
    let noticed = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGXFSZ, noticed)
        .map(drop)
        .map_err(|error| format!("cannot watch for SIGXFSZ: {error}"))
}

/// The error, with what a person can do about it where the system's words do not say.
pub fn explained(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::FileTooLarge => io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("{error}; a limit on the size of files is in force (ulimit -f)"),
        ),
        _ => error,
    }
}

impl Birth {
    /// Ties this process to its parent and to its processor, as far as it is told to, and lets it
    /// speak as loud as the environment asks.
    pub fn settle(&self) -> Result<(), String> {
        diagnostics::begin()?;
        survive_file_limit()?;
        if let Some(parent) = self.parent {
            die_with(parent)?;
        }
        if let Some(core) = self.core {
            let mut only = CpuSet::new();
            only.set(core);
            sched_setaffinity(None, &only)
                .map_err(|error| format!("cannot stay on processor {core}: {error}"))?;
        }
        Ok(())
    }
}

/// Runs a member until it is told to finish, its stdin ends, or it cannot go on.
pub fn main(birth: Birth) -> ExitCode {
    if let Err(why) = birth.settle() {
        to_stderr(&format!("error: {why}\n"));
        return ExitCode::from(4);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build();
    let served = match runtime {
        Ok(runtime) => runtime.block_on(member::serve((Ipv4Addr::LOCALHOST, birth.port).into())),
        Err(error) => Err(format!("cannot start a runtime: {error}")),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            to_stderr(&format!("error: {why}\n"));
            ExitCode::from(4)
        }
    }
}

/// Asks the kernel to kill this process when its parent dies: a member that is paused, or stuck,
/// would never notice that its stdin has ended.
fn die_with(parent: u32) -> Result<(), String> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("cannot tie this process to its parent: {error}"))?;
    // The parent may have died before the kernel was asked.
    match getppid().map(Pid::as_raw_nonzero) {
        Some(living) if living.get() as u32 == parent => Ok(()),
        _ => Err("the parent is gone".to_owned()),
    }
}
