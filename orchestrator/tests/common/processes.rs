//! The program while it runs, and the processes that it starts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::{Finished, Place, words};

/// How many bytes of records this file of a member has; it is longer than that while the member lives.
pub(crate) fn recorded(file: &Path) -> u64 {
    let mut head = [0; 8];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut head));
    read.map_or(0, |()| u64::from_le_bytes(head))
}

/// A process that is ended with the value that holds it.
pub(crate) struct OwnChild(pub(crate) Child);

impl Drop for OwnChild {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program that does not outlive its test, and what it prints.
pub(crate) struct Guarded {
    child: OwnChild,
    stderr: String,
    stdout: String,
}

impl Guarded {
    pub(crate) fn start(mut command: Command) -> Self {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        Self {
            child: OwnChild(child.expect("the program can be started")),
            stderr: String::new(),
            stdout: String::new(),
        }
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(self.child.0.id() as i32).unwrap()
    }

    /// The processes of its members, once there are that many and each has a socket.
    pub(crate) fn members(&self, how_many: usize) -> Vec<Pid> {
        let mut members = Vec::new();
        wait_until("the members are there", || {
            members = children(self.pid());
            members.len() == how_many && members.iter().all(|pid| udp_port(*pid).is_some())
        });
        members
    }

    pub(crate) fn code(&mut self) -> i32 {
        let mut stderr = self.child.0.stderr.take().unwrap();
        let mut stdout = self.child.0.stdout.take().unwrap();
        let reader = thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).map(|_| text)
        });
        stdout.read_to_string(&mut self.stdout).unwrap();
        let code = self
            .child
            .0
            .wait()
            .unwrap()
            .code()
            .expect("no signal ended it");
        self.stderr = reader.join().unwrap().unwrap();
        code
    }

    /// Waits for the end of the process.
    pub(crate) fn finish(&mut self) -> Finished {
        Finished {
            code: self.code(),
            stdout: self.stdout.clone(),
            stderr: self.stderr.clone(),
        }
    }

    pub(crate) fn stderr(&self) -> &str {
        &self.stderr
    }

    pub(crate) fn stdout(&self) -> &str {
        &self.stdout
    }
}

/// Waits for a condition, for 20 s at most: nothing else in these tests waits for time to pass.
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "not within 20 s: {what}");
        thread::park_timeout(Duration::from_millis(5));
    }
}

/// The state and the parent of a process, unless it is gone or a zombie.
fn stat(pid: Pid) -> Option<(char, i32)> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    (state != 'Z').then_some((state, parent))
}

pub(crate) fn state(pid: Pid) -> Option<char> {
    stat(pid).map(|(state, _)| state)
}

pub(crate) fn children(parent: Pid) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let pids = pids.filter_map(Pid::from_raw);
    let ours = |pid: &Pid| stat(*pid).is_some_and(|(_, of)| of == parent.as_raw_nonzero().get());
    let mut pids = pids.filter(ours).collect::<Vec<_>>();
    pids.sort_by_key(|pid| pid.as_raw_nonzero());
    pids
}

/// The bytes that wait at that port, and how many datagrams the kernel had no room for there.
pub(crate) fn udp_queue(port: u16) -> Option<(u64, u64)> {
    let table = fs::read_to_string("/proc/net/udp").ok()?;
    let mine = format!(":{port:04X}");
    table.lines().find_map(|line| {
        let fields = line.split_whitespace().collect::<Vec<_>>();
        fields.get(1).filter(|address| address.ends_with(&mine))?;
        let (_, waiting) = fields.get(4)?.split_once(':')?;
        let waiting = u64::from_str_radix(waiting, 16).ok()?;
        Some((waiting, fields.last()?.parse().ok()?))
    })
}

/// The port of the UDP socket that a process has open.
pub(crate) fn udp_port(pid: Pid) -> Option<u16> {
    let files = fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())).ok()?;
    let links = files
        .flatten()
        .filter_map(|file| fs::read_link(file.path()).ok());
    let inode = |link: PathBuf| {
        let inode = link
            .to_str()?
            .strip_prefix("socket:[")?
            .strip_suffix(']')?
            .to_owned();
        Some(inode)
    };
    let inodes = links.filter_map(inode).collect::<Vec<_>>();
    let table = BufReader::new(File::open("/proc/net/udp").ok()?);
    table.lines().map_while(Result::ok).find_map(|line| {
        let fields = line.split_whitespace().collect::<Vec<_>>();
        let mine = inodes
            .iter()
            .any(|inode| fields.get(9) == Some(&inode.as_str()));
        let (_, port) = fields.get(1)?.split_once(':')?;
        mine.then(|| u16::from_str_radix(port, 16).ok()).flatten()
    })
}

/// Whether a process has a handler for a signal.
pub(crate) fn catches(pid: Pid, signal: Signal) -> bool {
    let path = format!("/proc/{}/status", pid.as_raw_nonzero());
    let status = fs::read_to_string(path).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & (1 << (signal.as_raw() - 1)) != 0)
}

/// Processor time that a process has taken, in hundredths of a second.
pub(crate) fn cpu_ticks(pid: Pid) -> u64 {
    let path = format!("/proc/{}/stat", pid.as_raw_nonzero());
    let stat = fs::read_to_string(path).unwrap_or_default();
    let fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let user = fields
        .split(' ')
        .nth(11)
        .and_then(|ticks| ticks.parse().ok());
    user.unwrap_or(0)
}

/// Runs a line to its end, and fails if something that it started is still there then. All that it starts is marked
/// for that, in the variable `TURNSTILE_TEST`.
pub(crate) fn run_and_look(place: &Place, line: &str) -> Finished {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let number = RUNS.fetch_add(1, Ordering::Relaxed);
    let mark = format!("marked-{}-{number}-", std::process::id());
    let mut command = place.command(words(line));
    command.env("TURNSTILE_TEST", &mark);
    let output = command.output().unwrap();
    let left = left_running(&mark);
    assert!(left.is_empty(), "{line}\nleft running: {left:?}");
    Finished {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The commands of all processes with this mark in their environment or in their command.
fn left_running(mark: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap();
    let left = processes.filter_map(|process| {
        let process = process.ok()?.path();
        let read = |name: &str| fs::read(process.join(name)).ok();
        let command = String::from_utf8_lossy(&read("cmdline")?).replace('\0', " ");
        let environment = String::from_utf8_lossy(&read("environ")?).into_owned();
        let is_marked = environment.contains(mark) || command.contains(mark);
        is_marked.then_some(command)
    });
    left.collect()
}
