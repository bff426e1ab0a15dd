//! What it costs to ask a program, as a ratio to a bare pipe with the same JSON.
//!
//! A run of five programs is recorded once: what each was asked, and in which order. The product is that run; the
//! limit is five of the same programs that are asked the same lines in the same order by a loop that only writes a
//! line and reads one, and does not look at it. Of both a short run is taken away from a long one, so that starting
//! and ending programs does not count.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use model::engine::Silent;
use model::run::End;
use orchestrator::Failure;
use orchestrator::scenario::{Layers, Resolved, Scenario};

use crate::comparison;

/// How many members there are, each a program.
const NODES: u32 = 5;
/// So many entries of each make about a hundred thousand events: an entry is a request, an exit and eight messages.
const ENTRIES: u32 = 2_000;
/// For the comparison, which is made several times: a long run, and a short one that is taken away from it.
const LONG: u32 = 400;
const SHORT: u32 = 10;

/// What was measured.
pub(crate) struct Measured {
    /// Exchanges per second of the run and of the bare pipes, in turns.
    pub(crate) pairs: Vec<(f64, f64)>,
    /// How many questions a hundred thousand events were.
    pub(crate) questions: u64,
    /// How long these took.
    pub(crate) took: Duration,
}

/// Measures with this program, which is also the recorder.
pub(crate) fn measure(this: &Path, program: &[String], times: usize) -> Result<Measured, Failure> {
    external::drive(Some(this.to_owned()));
    let place = comparison::directory()?;
    let [long, short] = [LONG, SHORT].map(|entries| -> Result<_, Failure> {
        let directory = place.path().join(entries.to_string());
        fs::create_dir(&directory).map_err(|error| failed(&error))?;
        let recorder = [this, Path::new(RECORDER), &directory];
        let recorder = recorder.map(|word| word.display().to_string());
        let recorded = [&recorder[..], program].concat();
        run(&resolved(&recorded, entries)?)?;
        let script = script(&directory).map_err(|error| failed(&error))?;
        Ok((resolved(program, entries)?, script))
    });
    let (long, short) = (long?, short?);
    let asked = (long.1.len() - short.1.len()) as f64;
    let mut pairs = Vec::new();
    for _ in 0..times {
        let product = run(&long.0)?.saturating_sub(run(&short.0)?);
        let limit = bare(program, &long.1).map_err(|error| failed(&error))?;
        let limit = limit.saturating_sub(bare(program, &short.1).map_err(|error| failed(&error))?);
        pairs.push((asked / product.as_secs_f64(), asked / limit.as_secs_f64()));
    }
    let took = run(&resolved(program, ENTRIES)?)?;
    Ok(Measured {
        pairs,
        // For each entry a request, a release, and a message to and from every other member.
        questions: u64::from(NODES * ENTRIES) * u64::from(2 + 2 * (NODES - 1)),
        took,
    })
}

fn failed(error: &io::Error) -> Failure {
    Failure::Testbed(error.to_string())
}

fn resolved(program: &[String], entries: u32) -> Result<Resolved, Failure> {
    let (nodes, entries) = (NODES.to_string(), entries.to_string());
    let flags = [
        "-n",
        &nodes,
        "--entries",
        &entries,
        "--engine",
        "sim",
        "--seed",
        "1",
    ];
    let mut flags = Scenario::from_flags(&flags).map_err(Failure::Usage)?;
    flags.program = program.to_vec();
    let layers = Layers::new("external", flags).map_err(Failure::Usage)?;
    layers.resolve().map_err(Failure::Usage)
}

/// Runs it, and says how long that took.
fn run(resolved: &Resolved) -> Result<Duration, Failure> {
    let start = Instant::now();
    let run = simulator::run(&resolved.plan, &mut Silent)?;
    let took = start.elapsed();
    match run.end {
        End::Finished => Ok(took),
        end => Err(Failure::Testbed(format!("the run ended as {end:?}"))),
    }
}

/// The first argument of a recorder: a program that is another and writes down what that is asked.
pub(crate) const RECORDER: &str = "--child=recorder";

/// Is a recorder: the directory for what it writes down, and the program.
pub(crate) fn record(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let Some(directory) = arguments.next() else {
        return ExitCode::from(2);
    };
    let recorded = || -> io::Result<()> {
        let command = arguments.collect::<Vec<_>>();
        let mut asked = Asked::start(&command)?;
        let path = PathBuf::from(directory).join(format!("{}.asked", std::process::id()));
        let mut file = BufWriter::new(File::create(path)?);
        for line in io::stdin().lock().lines() {
            let line = line? + "\n";
            writeln!(file, "{} {}", now_ns(), line.trim_end())?;
            // The last line before it is killed counts as well.
            file.flush()?;
            let answer = asked.ask(line.as_bytes())?;
            let mut stdout = io::stdout().lock();
            stdout.write_all(answer)?;
            stdout.flush()?;
        }
        Ok(())
    };
    match recorded() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// A clock that all processes share.
fn now_ns() -> u128 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| since.as_nanos())
}

/// What was asked, in its order: which program, and the line.
fn script(directory: &Path) -> io::Result<Vec<(usize, String)>> {
    let mut lines = Vec::new();
    let mut programs = 0;
    for file in fs::read_dir(directory)? {
        let text = fs::read_to_string(file?.path())?;
        // The program is also started once to be asked what it is.
        if text.lines().count() < 2 {
            continue;
        }
        for line in text.lines() {
            let (ns, line) = line.split_once(' ').unwrap_or_default();
            let ns = ns.parse::<u128>().unwrap_or_default();
            lines.push((ns, programs, format!("{line}\n")));
        }
        programs += 1;
    }
    lines.sort();
    Ok(lines.into_iter().map(|(_, of, line)| (of, line)).collect())
}

/// Asks the programs what the script says, and says how long that took.
fn bare(program: &[String], script: &[(usize, String)]) -> io::Result<Duration> {
    let start = Instant::now();
    let command = program.iter().map(OsString::from).collect::<Vec<_>>();
    let programs = (0..NODES).map(|_| Asked::start(&command));
    let mut programs = programs.collect::<io::Result<Vec<_>>>()?;
    for (of, line) in script {
        programs[*of].ask(line.as_bytes())?;
    }
    Ok(start.elapsed())
}

/// A program behind bare pipes; it is ended when this is dropped.
struct Asked {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    answer: Vec<u8>,
}

impl Asked {
    fn start(command: &[OsString]) -> io::Result<Self> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take().expect("stdin is a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        Ok(Self {
            child,
            stdin,
            stdout,
            answer: Vec::new(),
        })
    }

    fn ask(&mut self, line: &[u8]) -> io::Result<&[u8]> {
        self.stdin.write_all(line)?;
        self.answer.clear();
        match self.stdout.read_until(b'\n', &mut self.answer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(&self.answer),
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
