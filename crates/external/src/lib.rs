//! Algorithms that are programs in any language: one line of JSON in, one line out, strictly in turn.
//!
//! ```text
//!   engine ──► group, atlas ──► member ──► process ──► a program: stdin, stdout
//! ```
//!
//! [`protocol`] is the lines, `json` how strictly they are read, `process` a program with a deadline on its
//! answers, `member` one program that is one member, `group` and `atlas` what the engines ask for, [`sandbox`]
//! how a program is tied to us and ended with all it started, `crowd` how it is limited. `docs/protocol.md` is
//! for those who write programs.
//!
//! ```
//! use external::protocol::{Answer, Question, Wish};
//!
//! let asked = Question::Request { priority: 0 }.line();
//! assert_eq!(asked, b"{\"request\":{\"priority\":0}}\n");
//! let told = r#"{"do":[{"send":{"to":0,"message":{"kind":"REQUEST"}}}]}"#;
//! let answer: Answer = serde_json::from_str(told)?;
//! assert!(matches!(&answer.effects[..], [Wish::Send(send)] if send.to == 0));
//! # Ok::<(), serde_json::Error>(())
//! ```

pub mod conformance;
pub mod protocol;
pub mod sandbox;

mod atlas;
mod crowd;
mod group;
mod json;
mod member;
mod names;
mod process;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use algorithms::Setting;
use algorithms::erased::{Atlas, Group};
use algorithms::external::{Declaration, Driver, External, Limits};

use process::{Process, ProgramError};
use protocol::{Answer, Init, Question};

pub use process::{START_WITHIN, Start};

/// Names this crate as what drives the programs of this process. Programs are started through
/// `executable`, which must call [`sandbox::main`] when told so; without it they are started directly and
/// nothing ties them to this process but the end of their stdin.
pub fn drive(executable: Option<PathBuf>) {
    static PROGRAMS: OnceLock<Programs> = OnceLock::new();
    let programs = PROGRAMS.get_or_init(|| Programs {
        executable,
        in_our_group: false,
    });
    algorithms::external::drive_with(programs);
}

/// Like [`drive`], for a process that is a member: its program belongs to its process group, so that it is
/// paused and killed with it.
pub fn drive_in_our_group(executable: PathBuf) {
    static PROGRAMS: OnceLock<Programs> = OnceLock::new();
    let programs = PROGRAMS.get_or_init(|| Programs {
        executable: Some(executable),
        in_our_group: true,
    });
    algorithms::external::drive_with(programs);
}

/// Why an answer to `init` must want nothing done.
pub(crate) const TOO_EARLY: &str = "nothing can be done before the first event";

/// How programs are started.
struct Programs {
    executable: Option<PathBuf>,
    in_our_group: bool,
}

impl Driver for Programs {
    fn group(&self, of: External, setting: &Setting, members: Range<u32>) -> Box<dyn Group> {
        Box::new(group::Programs::start(
            of,
            &self.start(of),
            setting,
            members,
        ))
    }

    fn atlas(&self, of: External, setting: Setting) -> Box<dyn Atlas> {
        Box::new(atlas::Asked::new(of, self.start(of), setting))
    }
}

impl Programs {
    fn start(&self, of: External) -> Start {
        let program = of.program;
        Start {
            command: program.command.clone(),
            directory: PathBuf::from(&program.directory),
            answer_within: Duration::from_nanos(program.answer_within_ns),
            limits: program.limits,
            executable: self.executable.clone(),
            in_our_group: self.in_our_group,
        }
    }
}

/// Starts the program once, as member 0 of that many, and reads what it declares.
pub fn declaration(
    command: &[String],
    directory: PathBuf,
    answer_within: Duration,
    limits: Limits,
    executable: Option<PathBuf>,
    init: &Init,
) -> Result<Declaration, String> {
    let start = Start {
        command: command.to_vec(),
        directory,
        answer_within,
        limits,
        executable,
        in_our_group: false,
    };
    let mut process = Process::start(&start).map_err(|error| error.to_string())?;
    let declared = declared(&mut process, init);
    process::end_all(vec![process]);
    let declares = declared.map_err(|error| error.to_string())?;
    declares
        .check()
        .map_err(|why| format!("it declares what cannot be: {why}"))?;
    Ok(declares)
}

pub(crate) fn declared(process: &mut Process, init: &Init) -> Result<Declaration, ProgramError> {
    let question = Question::Init(init).line();
    let line = process.ask(&question)?;
    let answer: Answer<'_> = protocol::read(&question, &line)?;
    if !answer.effects.is_empty() {
        return Err(ProgramError::Impossible {
            asked: protocol::shown(&question),
            line: protocol::shown(&line),
            why: TOO_EARLY.to_owned(),
        });
    }
    Ok(answer.declares.unwrap_or_default())
}
