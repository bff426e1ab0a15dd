//! A program as a process: asked with a deadline on the answer, and ended for certain.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use algorithms::external::Limits;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;
use rustix::process::{Signal, kill_process_group};

use crate::crowd::Crowd;
use crate::protocol::shown;
use crate::sandbox::{self, Individual};

/// The longest line that a program may write. A message of a megabyte has much room in it.
pub(crate) const LONGEST_LINE: usize = 16 << 20;
/// How long a program may take until it first answers, at least: interpreters take their time to start.
pub const START_WITHIN: Duration = Duration::from_secs(30);
/// How long a program that is no longer needed may take to end by itself.
const FAREWELL: Duration = Duration::from_millis(300);
/// How long a program that has closed its stdout may take to be gone.
const LAST_BREATH: Duration = Duration::from_millis(500);
/// How many bytes are read at once.
const CHUNK: usize = 64 << 10;
/// How many bytes of its stderr are kept for an error message.
const KEPT_STDERR: usize = 4096;

/// How a program is started.
#[derive(Clone, Debug)]
pub struct Start {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The directory in which it is started.
    pub directory: PathBuf,
    /// How long it may take to answer.
    pub answer_within: Duration,
    /// What it may take of the machine.
    pub limits: Limits,
    /// The program that starts it and calls [`sandbox::main`] for that, if there is one.
    pub executable: Option<PathBuf>,
    /// Whether it belongs to the process group of this process.
    pub in_our_group: bool,
}

/// What went wrong with a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProgramError {
    /// It could not be started.
    Unstarted {
        /// The program that was to be started.
        program: String,
        /// What the kernel says.
        why: String,
    },
    /// It ended, or closed its stdout.
    Ended {
        /// What it was asked.
        asked: String,
        /// How it ended, if it did.
        status: Option<String>,
        /// The end of its stderr.
        stderr: String,
    },
    /// It was ended, because it and what it started took too much.
    TooMuch {
        /// What it was asked.
        asked: String,
        /// What it took, and what is allowed.
        taken: String,
    },
    /// It did not answer in time.
    Late {
        /// What it was asked.
        asked: String,
        /// How long it was given.
        within: Duration,
        /// What it had written of the answer.
        begun: String,
        /// The end of its stderr.
        stderr: String,
    },
    /// It wrote a line without end.
    TooLong {
        /// What it was asked.
        asked: String,
        /// How the line begins.
        line: String,
    },
    /// It wrote something before it was asked.
    Unasked {
        /// What it wrote.
        line: String,
    },
    /// What it wrote is no answer.
    NoAnswer {
        /// What it was asked.
        asked: String,
        /// What it wrote.
        line: String,
        /// What is wrong with it.
        why: String,
    },
    /// It wants something done that cannot be done.
    Impossible {
        /// What it was asked.
        asked: String,
        /// What it wrote.
        line: String,
        /// What is wrong with it.
        why: String,
    },
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wrote = |stderr: &str| match stderr {
            "" => "it wrote nothing to stderr".to_owned(),
            lines => format!("the end of its stderr:\n{lines}"),
        };
        match self {
            ProgramError::Unstarted { program, why } => write!(f, "cannot start {program}: {why}"),
            ProgramError::Ended {
                asked,
                status,
                stderr,
            } => {
                let how = match status {
                    Some(status) => format!("ended ({status})"),
                    None => "closed its stdout".to_owned(),
                };
                write!(f, "it {how} and did not answer {asked}; {}", wrote(stderr))
            }
            ProgramError::TooMuch { asked, taken } => write!(
                f,
                "asked {asked} it and what it started {taken}; all were ended"
            ),
            ProgramError::Late {
                asked,
                within,
                begun,
                stderr,
            } => {
                let begun = match begun.as_str() {
                    "" => "it wrote nothing".to_owned(),
                    begun => format!("it wrote `{begun}` and no end of line"),
                };
                write!(
                    f,
                    "no answer to {asked} within {within:?}: {begun}; {}. It must flush each line; \
                     --answer-within gives it more time",
                    wrote(stderr)
                )
            }
            ProgramError::TooLong { asked, line } => write!(
                f,
                "its answer to {asked} is longer than {} MiB and has no end of line: {line}",
                LONGEST_LINE >> 20
            ),
            ProgramError::Unasked { line } => write!(
                f,
                "it wrote a line that nobody asked for: {line}; each question has one line of \
                 answer, and anything else goes to stderr"
            ),
            ProgramError::NoAnswer { asked, line, why } => {
                write!(
                    f,
                    "asked {asked} it wrote `{line}`, which is no answer: {why}"
                )
            }
            ProgramError::Impossible { asked, line, why } => {
                write!(f, "asked {asked} it wrote `{line}`: {why}")
            }
        }
    }
}

/// A program that runs.
pub(crate) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    /// What one read may bring; made once, since it is large.
    chunk: Box<[u8]>,
    /// What was read and is no whole line yet.
    pending: Vec<u8>,
    /// How far `pending` is known to have no end of line.
    searched: usize,
    /// How many lines it has written.
    pub(crate) lines: u64,
    answer_within: Duration,
    in_our_group: bool,
    mark: String,
    crowd: Option<Crowd>,
    /// It and what it had started when it was told to end.
    known: Vec<Individual>,
    /// All that it started is known to have ended.
    is_alone: bool,
    stderr: Arc<Mutex<VecDeque<u8>>>,
    listener: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts a program. Whether it lives is known when it has answered.
    pub(crate) fn start(start: &Start) -> Result<Self, ProgramError> {
        let [program, arguments @ ..] = start.command.as_slice() else {
            return Err(ProgramError::Unstarted {
                program: "nothing".to_owned(),
                why: "no command is given".to_owned(),
            });
        };
        let unstarted = |error: io::Error| ProgramError::Unstarted {
            program: program.clone(),
            why: error.to_string(),
        };
        let mark = new_mark();
        let mut command = match &start.executable {
            Some(executable) => {
                let mut command = Command::new(executable);
                command.args(sandbox::arguments(!start.in_our_group));
                command.arg(program);
                command
            }
            None => {
                let mut command = Command::new(program);
                if !start.in_our_group {
                    command.process_group(0);
                }
                command
            }
        };
        command
            .args(arguments)
            .current_dir(&start.directory)
            .env(sandbox::MARK, &mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(unstarted)?;
        let limits = start.limits;
        let program = Individual::now(child.id());
        let is_limited = limits.processes.is_some() || limits.memory_bytes.is_some();
        let crowd = is_limited.then(|| Crowd::watch(mark.clone(), program, limits));
        let stdin = child.stdin.take().expect("stdin is a pipe");
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let pipe = child.stderr.take().expect("stderr is a pipe");
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&stderr);
        let echoes = start.in_our_group;
        let listener = std::thread::Builder::new()
            .name("program's stderr".to_owned())
            .spawn(move || listen(pipe, &kept, echoes))
            .ok();
        let process = Self {
            child,
            stdin: Some(stdin),
            stdout,
            chunk: vec![0; CHUNK].into(),
            pending: Vec::new(),
            searched: 0,
            lines: 0,
            answer_within: start.answer_within,
            in_our_group: start.in_our_group,
            mark,
            crowd,
            known: Vec::new(),
            is_alone: false,
            stderr,
            listener,
        };
        ioctl_fionbio(&process.stdout, true).map_err(|error| unstarted(error.into()))?;
        ioctl_fionbio(process.stdin.as_ref().expect("it is open"), true)
            .map_err(|error| unstarted(error.into()))?;
        Ok(process)
    }

    /// Asks a question, a line with its end, and waits for the answer, a line without it.
    pub(crate) fn ask(&mut self, question: &[u8]) -> Result<Vec<u8>, ProgramError> {
        if !self.pending.is_empty() {
            let line = shown(&self.pending);
            return Err(ProgramError::Unasked { line });
        }
        let deadline = Instant::now() + self.within();
        let mut rest = question;
        loop {
            if !rest.is_empty() {
                rest = self.tell(rest, question)?;
            }
            if let Some(line) = self.whole_line() {
                // It cannot have read what it was asked, or has said more than it was asked.
                let answers = line.trim_ascii_start().starts_with(b"{");
                return match (rest, self.pending.as_slice()) {
                    ([], more) if answers && !more.is_empty() => {
                        Err(ProgramError::Unasked { line: shown(more) })
                    }
                    // A greeting before the answer is shown as what it is: no answer.
                    ([], _) => Ok(line),
                    (_, _) => Err(ProgramError::Unasked { line: shown(&line) }),
                };
            }
            if self.pending.len() > LONGEST_LINE {
                return Err(ProgramError::TooLong {
                    asked: shown(question),
                    line: shown(&self.pending[..400]),
                });
            }
            self.wait(!rest.is_empty(), deadline, question)?;
            self.hear(question)?;
        }
    }

    /// How long the next answer may take.
    fn within(&self) -> Duration {
        match self.lines {
            0 => self.answer_within.max(START_WITHIN),
            _ => self.answer_within,
        }
    }

    /// Writes as much as fits, and gives back the rest.
    fn tell<'a>(&mut self, rest: &'a [u8], question: &[u8]) -> Result<&'a [u8], ProgramError> {
        let stdin = self.stdin.as_mut().expect("it is open while it is asked");
        match stdin.write(rest) {
            Ok(written) => Ok(&rest[written..]),
            Err(error) if is_not_now(&error) => Ok(rest),
            Err(_) => Err(self.ended(question)),
        }
    }

    /// Reads what there is.
    fn hear(&mut self, question: &[u8]) -> Result<(), ProgramError> {
        match self.stdout.read(&mut self.chunk) {
            Ok(0) => Err(self.ended(question)),
            Ok(heard) => {
                self.pending.extend_from_slice(&self.chunk[..heard]);
                Ok(())
            }
            Err(error) if is_not_now(&error) => Ok(()),
            Err(_) => Err(self.ended(question)),
        }
    }

    fn whole_line(&mut self) -> Option<Vec<u8>> {
        let unsearched = &self.pending[self.searched..];
        let Some(place) = unsearched.iter().position(|&byte| byte == b'\n') else {
            self.searched = self.pending.len();
            return None;
        };
        let rest = self.pending.split_off(self.searched + place + 1);
        let mut line = std::mem::replace(&mut self.pending, rest);
        line.pop();
        self.searched = 0;
        self.lines += 1;
        Some(line)
    }

    /// Waits until something can be read, or written where there is something to write.
    fn wait(&self, writes: bool, deadline: Instant, question: &[u8]) -> Result<(), ProgramError> {
        let stdin = self.stdin.as_ref().expect("it is open while it is asked");
        let mut both = [
            PollFd::from_borrowed_fd(self.stdout.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::OUT),
        ];
        let watched = if writes {
            &mut both[..]
        } else {
            &mut both[..1]
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(watched, Some(&timeout)) {
            Ok(0) => Err(ProgramError::Late {
                asked: shown(question),
                within: self.within(),
                begun: shown(&self.pending),
                stderr: self.last_lines(),
            }),
            // An interrupted wait is begun again.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// It has closed a pipe: most likely it is gone, or about to be.
    fn ended(&mut self, question: &[u8]) -> ProgramError {
        let status = self.end_within(LAST_BREATH);
        if let Some(taken) = self.crowd.as_ref().and_then(Crowd::exceeded) {
            return ProgramError::TooMuch {
                asked: shown(question),
                taken,
            };
        }
        if status.is_some() {
            self.listen_to_the_end();
        }
        ProgramError::Ended {
            asked: shown(question),
            status: status.map(|status| status.to_string()),
            stderr: self.last_lines(),
        }
    }

    /// What it wrote to stderr is all there once it is gone, unless something that it started lives on.
    fn listen_to_the_end(&mut self) {
        let deadline = Instant::now() + LAST_BREATH;
        while let Some(listener) = &self.listener
            && !listener.is_finished()
            && Instant::now() < deadline
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn end_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + patience;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Ok(None) | Err(_) => return None,
            }
        }
    }

    fn last_lines(&self) -> String {
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = kept.iter().copied().collect::<Vec<_>>();
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().collect::<Vec<_>>();
        let last = &lines[lines.len().saturating_sub(5)..];
        safe_io::visible(&last.join("\n")).into_owned()
    }

    /// Ends its stdin, and says whether it ends then.
    pub(crate) fn ends_by_itself(mut self) -> bool {
        /// Long enough for a busy machine.
        const PATIENCE: Duration = Duration::from_secs(3);
        self.stdin = None;
        self.end_within(PATIENCE).is_some()
    }

    /// Its process, if that is still there.
    fn living(&mut self) -> Option<Individual> {
        match self.child.try_wait() {
            Ok(None) => Individual::now(self.child.id()),
            Ok(Some(_)) | Err(_) => None,
        }
    }

    /// What is known without looking for it: itself, if it is still there, and what was seen earlier.
    fn known(&mut self) -> Vec<Individual> {
        let mut known = std::mem::take(&mut self.known);
        known.extend(self.living());
        known.extend(self.crowd.iter().flat_map(Crowd::known));
        known
    }

    /// Ends it now, with what it started in its process group.
    fn kill(&mut self) {
        let group = self.living().and_then(Individual::pid);
        if let Some(group) = group.filter(|_| !self.in_our_group) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        // It may be gone already.
        let _ = self.child.kill();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_alone {
            let family = (self.mark.clone(), self.known());
            sandbox::end_families(&[family].into());
        }
        self.stdin = None;
        self.kill();
        let _ = self.child.wait();
    }
}

/// Ends programs that are no longer needed: each may end by itself when its stdin ends, all in the same
/// short time.
pub(crate) fn end_all(mut processes: Vec<Process>) {
    let programs = processes
        .iter_mut()
        .map(|process| (process.mark.clone(), process.known()));
    let mut families = sandbox::all_families(&programs.collect());
    for process in &mut processes {
        // Once it has ended by itself nothing leads to what it has started.
        process.known = families.remove(&process.mark).unwrap_or_default().members;
        process.stdin = None;
    }
    let deadline = Instant::now() + FAREWELL;
    for process in &mut processes {
        let left = deadline.saturating_duration_since(Instant::now());
        process.end_within(left);
    }
    // All at once: each search looks at all processes of the machine.
    let programs = processes
        .iter_mut()
        .map(|process| (process.mark.clone(), process.known()));
    sandbox::end_families(&programs.collect());
    for process in &mut processes {
        process.is_alone = true;
    }
}

/// Keeps the end of what a program writes to stderr, and lets it through where that is a log.
fn listen(mut pipe: ChildStderr, kept: &Mutex<VecDeque<u8>>, echoes: bool) {
    let mut chunk = [0; 4096];
    loop {
        let heard = match pipe.read(&mut chunk) {
            Ok(0) => return,
            Ok(heard) => &chunk[..heard],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        if echoes {
            // A log that cannot be written does not end the run.
            let _ = io::stderr().write_all(heard);
        } else {
            tracing::debug!(stderr = %String::from_utf8_lossy(heard), "a program says");
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(heard);
        let spare = kept.len().saturating_sub(KEPT_STDERR);
        kept.drain(..spare);
    }
}

fn is_not_now(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// By this, in its environment, everything that a program starts is known.
fn new_mark() -> String {
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    format!("{}.{number}", std::process::id())
}
