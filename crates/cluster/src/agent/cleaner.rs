//! What removes the directory of an agent that was killed and could not do so itself.
//!
//! It is a process of its own, and waits for the end of a pipe whose other end only the agent has. However
//! the agent ends, the kernel then closes that.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;
use std::{fs, io, thread};

use crate::THIS_PROGRAM;

/// The argument that says that a process is this one.
pub(crate) const CHILD: &str = "--child=cleaner";
/// How the name of an agent's directory begins: nothing else is ever removed.
pub(super) const PREFIX: &str = "turnstile-agent-";
/// How often, and how long after each other, it is tried: members that die with the agent may just be
/// writing a file.
const TRIES: u32 = 20;
const BETWEEN: Duration = Duration::from_millis(50);

/// The process, as the agent has it.
pub(super) struct Cleaner {
    process: Child,
}

impl Cleaner {
    /// Waits from now on for the end of this process.
    pub(super) fn start(dir: &Path) -> io::Result<Self> {
        let program = std::env::args_os().next().unwrap_or_default();
        let process = Command::new(THIS_PROGRAM)
            .arg0(program)
            .arg(CHILD)
            .arg(dir)
            .stdin(Stdio::piped())
            // Whoever waits for all that this host writes must not wait for it.
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self { process })
    }
}

impl Drop for Cleaner {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Is that process.
pub(crate) fn main(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let dir = arguments.next().map(PathBuf::from).unwrap_or_default();
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    if !name.starts_with(PREFIX) {
        return ExitCode::from(2);
    }
    // Nobody writes to it; it ends.
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    for _ in 0..TRIES {
        match fs::remove_dir_all(&dir) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return ExitCode::SUCCESS,
            Err(_) => thread::sleep(BETWEEN),
        }
    }
    ExitCode::from(4)
}
