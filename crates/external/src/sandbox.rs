//! What ties a program to the process that started it, and limits what it takes.
//!
//! A program is started through this very executable, which ties itself to its parent, takes on the limits
//! and then becomes the program. So nothing between fork and exec has to be done by hand.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use rustix::process::{
    Pid, Signal, getppid, kill_process, set_child_subreaper, set_parent_process_death_signal,
    setsid,
};
use safe_io::to_stderr;

/// The hidden first argument of an executable that is to become a program.
pub const CHILD: &str = "--child=program";

/// The variable by which all processes that come from one program are known.
pub(crate) const MARK: &str = "TURNSTILE_PROGRAM";

/// The arguments before those of the program itself. With a session of its own it has no terminal, and is in no
/// group but its own.
pub(crate) fn arguments(own_session: bool) -> Vec<String> {
    let mut arguments = vec![CHILD.to_owned(), format!("--parent={}", std::process::id())];
    arguments.extend(own_session.then(|| "--session".to_owned()));
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
        let tied = match text.split_once('=') {
            Some(("--parent", pid)) => pid.parse().is_ok_and(die_with),
            None if text == "--session" => setsid().is_ok(),
            _ => false,
        };
        if !tied {
            return failed(format!("cannot start a program with {text}"));
        }
    }
    let Some(program) = arguments.next() else {
        return failed("no program is named".to_owned());
    };
    // What it starts stays below it, no matter which of them ends first, and so it can be found.
    if set_child_subreaper(Some(Pid::INIT)).is_err() {
        return failed("cannot keep together what a program starts".to_owned());
    }
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

/// A process, told from all others that ever have its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Individual {
    number: i32,
    /// When it was started, in the kernel's ticks.
    started: u64,
}

impl Individual {
    /// The process that has this number now.
    pub(crate) fn now(number: u32) -> Option<Self> {
        let number = i32::try_from(number).ok()?;
        let Process { started, .. } = process(number)?;
        Some(Self { number, started })
    }

    /// Its number as the kernel takes it.
    pub(crate) fn pid(self) -> Option<Pid> {
        Pid::from_raw(self.number)
    }

    /// Sends it a signal, if it is still there.
    fn signal(self, signal: Signal) {
        let is_it = |now: Process| now.started == self.started && !now.is_gone;
        if let Some(pid) = self.pid()
            && process(self.number).is_some_and(is_it)
        {
            let _ = kill_process(pid, signal);
        }
    }
}

/// What comes from a program: how many processes, and the bytes of memory they have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Family {
    pub(crate) members: Vec<Individual>,
    pub(crate) resident_bytes: u64,
}

/// The programs that are looked for, each by the mark in its environment, and by processes that are known to be its
/// own.
pub(crate) type Programs = BTreeMap<String, Vec<Individual>>;

/// Ends these programs and what they started, also what has left its process group or has cleared its environment:
/// whatever hangs below one of those that are known.
pub(crate) fn end_families(programs: &Programs) {
    end_until_none(|| {
        let found = all_families(programs).into_values();
        found.flat_map(|family| family.members).collect()
    });
}

/// Ends whatever was started by programs of that process, which is gone.
pub fn end_programs_of(process: u32) -> usize {
    end_until_none(|| from_programs_of(process))
}

/// How many processes come from programs of this process.
pub fn count_of_ours() -> usize {
    from_programs_of(std::process::id()).len()
}

fn from_programs_of(process: u32) -> Vec<Individual> {
    let prefix = format!("{process}.");
    let by = |mark: &str| mark.starts_with(&prefix).then(|| mark.to_owned());
    let found = families(by, &Programs::new()).into_values();
    found.flat_map(|family| family.members).collect()
}

/// What comes from each program that is looked for.
pub(crate) fn all_families(programs: &Programs) -> BTreeMap<String, Family> {
    families(|_| None, programs)
}

/// Ends all that are found, until there are none.
fn end_until_none(find: impl Fn() -> Vec<Individual>) -> usize {
    let mut ended = 0;
    loop {
        let mut found = find();
        if found.is_empty() || ended > 10_000 {
            return ended;
        }
        // Who is stopped starts nobody whom we should miss.
        loop {
            let before = found.len();
            found.iter().for_each(|one| one.signal(Signal::STOP));
            found.extend(find());
            found.sort();
            found.dedup();
            if found.len() == before || before > 10_000 {
                break;
            }
        }
        found.iter().for_each(|one| one.signal(Signal::KILL));
        ended += found.len();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// What the kernel says of a process.
struct Process {
    parent: i32,
    started: u64,
    /// It is over, and only waits to be asked how it ended.
    is_gone: bool,
}

fn process(number: i32) -> Option<Process> {
    let text = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The name of a program may have anything in it, also brackets.
    let (_, fields) = text.rsplit_once(") ")?;
    let fields = fields.split(' ').collect::<Vec<_>>();
    // They are numbered from 1 in proc_pid_stat(5), and the first here is the third there.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(Process {
        parent: fields.get(1)?.parse().ok()?,
        started: number(22)?,
        is_gone: matches!(fields.first(), Some(&("Z" | "X"))),
    })
}

/// The bytes of memory that a process has.
fn resident_bytes(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kib = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib = kib.trim().strip_suffix(" kB")?.parse::<u64>().ok()?;
    Some(kib << 10)
}

/// All processes that come from programs, by their marks: those that have the mark in their environment, and all that
/// hang below one that has. `other` says which marks are looked for besides.
fn families(
    other: impl Fn(&str) -> Option<String>,
    programs: &Programs,
) -> BTreeMap<String, Family> {
    let ours = std::process::id() as i32;
    let processes = processes(ours);
    let mut marks = BTreeMap::<i32, String>::new();
    for &pid in processes.keys() {
        if let Some(mark) = mark_of(pid) {
            let is_looked_for = programs.contains_key(&mark);
            let mark = if is_looked_for {
                Some(mark)
            } else {
                other(&mark)
            };
            marks.extend(mark.map(|mark| (pid, mark)));
        }
    }
    for (mark, known) in programs {
        let started = |one: &Individual| processes.get(&one.number).map(|process| process.started);
        let known = known.iter().filter(|one| started(one) == Some(one.started));
        marks.extend(known.map(|one| (one.number, mark.clone())));
    }
    let mut families = BTreeMap::<String, Family>::new();
    for (&pid, process) in processes.iter().filter(|(_, process)| !process.is_gone) {
        let upwards = std::iter::successors(Some(pid), |pid| Some(processes.get(pid)?.parent));
        // A tree is not deeper than there are processes, even if it changes while it is read.
        let upwards = upwards.take(processes.len() + 1);
        let Some(mark) = upwards.filter_map(|pid| marks.get(&pid)).next() else {
            continue;
        };
        let family = families.entry(mark.clone()).or_default();
        family.resident_bytes += resident_bytes(pid).unwrap_or(0);
        family.members.push(Individual {
            number: pid,
            started: process.started,
        });
    }
    families
}

/// All processes but this one.
fn processes(ours: i32) -> BTreeMap<i32, Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    let found = entries.filter_map(|entry| {
        let pid = entry.ok()?.file_name().to_str()?.parse::<i32>().ok()?;
        (pid != ours).then_some((pid, process(pid)?))
    });
    found.collect()
}

/// The mark in the environment of a process: none for one that is gone, or that belongs to somebody else.
fn mark_of(pid: i32) -> Option<String> {
    let variable = format!("{MARK}=");
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut variables = environment.split(|&byte| byte == 0);
    let mark = variables.find_map(|one| one.strip_prefix(variable.as_bytes()))?;
    std::str::from_utf8(mark).ok().map(str::to_owned)
}
