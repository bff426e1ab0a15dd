//! A process that another process of this program started: what its arguments say, and what ties it to
//! its parent.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_setaffinity};
use signal_hook::consts::SIGXFSZ;

use crate::log;

/// Where a socket may be bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bind {
    /// The address to bind the socket to.
    pub address: IpAddr,
    /// The first and the last port that may be taken, if not any.
    pub ports: Option<(u16, u16)>,
}

impl Bind {
    /// Any port of loopback.
    pub const LOOPBACK: Self = Self {
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        ports: None,
    };
}

/// What a member is told when its process starts; everything else comes over the control channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChildArgs {
    /// The number of the member, shown in the list of processes.
    pub member: Option<u32>,
    /// The process that started this one, if it must not outlive it.
    pub parent: Option<u32>,
    /// The processor to stay on, if it is not to be moved; for measuring.
    pub core: Option<usize>,
    /// The port to bind; 0 for any that may be taken.
    pub port: u16,
    /// Where to bind it, if not on loopback.
    pub address: Option<IpAddr>,
    /// The first and the last port that may be taken, if not any.
    pub ports: Option<(u16, u16)>,
}

impl ChildArgs {
    /// Reads `--port=PORT`, `--bind=ADDRESS`, `--ports=LOW-HIGH`, `--parent=PID`, `--core=NUMBER`,
    /// `--member=NUMBER` and `--run=DIR`, all of which may be left out; the last is only there to be seen
    /// in the list of processes.
    pub fn from_arguments(arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut arguments_read = ChildArgs::default();
        for argument in arguments {
            let text = argument.to_string_lossy();
            let number = |digits: &str| format!("'{digits}' in '{text}' is not a number that fits");
            if let Some(digits) = text.strip_prefix("--port=") {
                arguments_read.port = digits.parse().map_err(|_| number(digits))?;
            } else if let Some(address) = text.strip_prefix("--bind=") {
                let wrong = |_| format!("'{address}' in '{text}' is not an address");
                arguments_read.address = Some(address.parse().map_err(wrong)?);
            } else if let Some(range) = text.strip_prefix("--ports=") {
                let (low, high) = range.split_once('-').unwrap_or((range, range));
                let low = low.parse().map_err(|_| number(low))?;
                let high = high.parse().map_err(|_| number(high))?;
                arguments_read.ports = Some((low, high));
            } else if let Some(digits) = text.strip_prefix("--parent=") {
                arguments_read.parent = Some(digits.parse().map_err(|_| number(digits))?);
            } else if let Some(digits) = text.strip_prefix("--core=") {
                arguments_read.core = Some(digits.parse().map_err(|_| number(digits))?);
            } else if let Some(digits) = text.strip_prefix("--member=") {
                arguments_read.member = Some(digits.parse().map_err(|_| number(digits))?);
            } else if !text.starts_with("--run=") {
                return Err(format!(
                    "unknown argument '{text}'; there are --port=PORT, --bind=ADDRESS, \
                     --ports=LOW-HIGH, --parent=PID, --core=NUMBER, --member=NUMBER and --run=DIR"
                ));
            }
        }
        Ok(arguments_read)
    }
}

/// Has a write beyond the limit of a file's size fail, rather than end the process without a word.
pub fn survive_file_limit() -> Result<(), String> {
    let noticed = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGXFSZ, noticed)
        .map(drop)
        .map_err(|error| format!("cannot watch for SIGXFSZ: {error}"))
}

impl ChildArgs {
    /// Where its socket may be bound: a port that it is told is the only one.
    pub fn place(&self) -> Bind {
        let only = (self.port != 0).then_some((self.port, self.port));
        Bind {
            address: self.address.unwrap_or(Bind::LOOPBACK.address),
            ports: only.or(self.ports),
        }
    }

    /// Ties this process to its parent and to its processor, as far as it is told to, and lets it
    /// speak as loud as the environment asks.
    pub fn settle(&self) -> Result<(), String> {
        log::begin()?;
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
