//! What ties a program to the process that started it, and limits what it takes.
//!
//! A program is started through this very executable, which ties itself to its parent, takes on the limits
//! and then becomes the program. So nothing between fork and exec has to be done by hand.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use algorithms::external::Limits;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getppid, kill_process, set_parent_process_death_signal,
    setrlimit,
};
use safe_io::to_stderr;

/// The hidden first argument of an executable that is to become a program.
pub const CHILD: &str = "--child=program";

/// The variable by which all processes that come from one program are known.
pub(crate) const MARK: &str = "TURNSTILE_PROGRAM";

/// The arguments before those of the program itself.
pub(crate) fn arguments(limits: Limits) -> Vec<String> {
    let mut arguments = vec![CHILD.to_owned(), format!("--parent={}", std::process::id())];
    arguments.extend(limits.memory_bytes.map(|bytes| format!("--memory={bytes}")));
    arguments.push("--".to_owned());
    arguments
}

/// Becomes the program that the arguments after [`CHILD`] say.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let failed = |why: String| {
        to_stderr(&format!("{why}\n"));
        ExitCode::from(127)
    };
    let mut arguments = arguments;
    for argument in arguments.by_ref() {
        let text = argument.to_string_lossy();
        if text == "--" {
            break;
        }
        let number = |text: &str| text.parse::<u64>().ok();
        let tied = match text.split_once('=') {
            Some(("--parent", pid)) => number(pid).is_some_and(die_with),
            Some(("--memory", bytes)) => number(bytes).is_some_and(limit_memory),
            _ => false,
        };
        if !tied {
            return failed(format!("cannot start a program with {text}"));
        }
    }
    let Some(program) = arguments.next() else {
        return failed("no program is named".to_owned());
    };
    let error = Command::new(&program).args(arguments).exec();
    failed(format!("cannot run {}: {error}", program.to_string_lossy()))
}

/// Asks the kernel to kill this process when its parent dies.
fn die_with(parent: u64) -> bool {
    let asked = set_parent_process_death_signal(Some(Signal::KILL)).is_ok();
    // The parent may have died before the kernel was asked.
    let living = getppid().map(Pid::as_raw_nonzero);
    asked && living.is_some_and(|pid| pid.get() as u64 == parent)
}

fn limit_memory(bytes: u64) -> bool {
    let limit = Rlimit {
        current: Some(bytes),
        maximum: Some(bytes),
    };
    setrlimit(Resource::As, limit).is_ok()
}

/// Ends whatever has this mark in its environment: what a program started, and what left its process
/// group. Says how many there were.
pub(crate) fn end_marked(mark: &str) -> usize {
    end_if(|found| found == mark)
}

/// Ends whatever was started by programs of that process, which is gone.
pub fn end_programs_of(process: u32) -> usize {
    let prefix = format!("{process}.");
    end_if(|found| found.starts_with(&prefix))
}

/// How many processes come from programs of this process.
pub fn count_of_ours() -> usize {
    let prefix = format!("{}.", std::process::id());
    marked(|found| found.starts_with(&prefix)).len()
}

fn end_if(is_it: impl Fn(&str) -> bool) -> usize {
    let mut ended = 0;
    // What is killed may have started something a moment before.
    loop {
        let found = marked(&is_it);
        if found.is_empty() || ended > 10_000 {
            return ended;
        }
        for pid in &found {
            let _ = kill_process(*pid, Signal::KILL);
        }
        ended += found.len();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// The processes with such a mark that are alive.
fn marked(is_it: impl Fn(&str) -> bool) -> Vec<Pid> {
    let found = processes().into_iter();
    let found = found.filter(|(_, mark)| is_it(mark));
    found.map(|(pid, _)| pid).collect()
}

/// How many processes have each mark.
pub(crate) fn counts() -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for (_, mark) in processes() {
        *counts.entry(mark).or_insert(0) += 1;
    }
    counts
}

/// All processes with a mark but this one, each with its mark.
fn processes() -> Vec<(Pid, String)> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let variable = format!("{MARK}=");
    let found = processes.filter_map(|entry| {
        let entry = entry.ok()?;
        let pid = entry.file_name().to_str()?.parse::<i32>().ok()?;
        // Empty for a process that is gone and not reaped, unreadable for those of others.
        let environment = fs::read(entry.path().join("environ")).ok()?;
        let mut variables = environment.split(|&byte| byte == 0);
        let mark = variables.find_map(|one| one.strip_prefix(variable.as_bytes()))?;
        let mark = std::str::from_utf8(mark).ok()?;
        Some((Pid::from_raw(pid)?, mark.to_owned()))
    });
    let ours = std::process::id() as i32;
    found
        .filter(|(pid, _)| pid.as_raw_nonzero().get() != ours)
        .collect()
}
