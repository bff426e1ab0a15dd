//! `orchestrator grade`: a program, or a folder of them, against a challenge.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use algorithms::external::Limits;
use clap::Args;

use crate::grade::{Answer, Challenge, Graded, Terms, grade, junit, object, table, text};
use crate::scenario::{Time, whole};
use crate::table::indented;
use crate::{Exit, Failure, files, interrupt, print, results};

/// What stands for the submission in the command of a folder.
const PLACE: &str = "{}";

/// Grades a program in any language against a challenge: points, and the shortest schedule that fails
///
/// `orchestrator list challenges` shows the seven of the course; a challenge of your own is a TOML file.
/// Without a program the challenge is told. Exit code 0: all points; 1: a check failed; 3: one could not be
/// decided.
#[derive(Debug, Args)]
pub(crate) struct Grade {
    /// A challenge, as `orchestrator list challenges` shows it, or a file: NAME.toml
    challenge: String,
    /// Folder of submissions, each a file or a folder; `{}` in the command stands for its path
    ///
    /// For example `--submissions handed-in -- python3 {}`, or `-- python3 {}/lock.py`. Names that begin with
    /// a point or an underscore are left out.
    #[arg(
        long,
        value_name = "DIR",
        help_heading = "Submissions",
        requires = "program"
    )]
    submissions: Option<PathBuf>,
    /// File of seeds for the runs, a whole number in each line, instead of 1, 2, 3, …
    ///
    /// The report speaks of them by their place in the file. `-` is stdin.
    #[arg(long, value_name = "FILE", help_heading = "Submissions")]
    seeds: Option<PathBuf>,
    /// Time that all checks of one submission may take
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10m",
        help_heading = "Submissions"
    )]
    within: Time,
    /// Time in which a program must answer each line
    #[arg(
        long,
        value_name = "TIME",
        default_value = "5s",
        help_heading = "Submissions"
    )]
    answer_within: Time,
    /// Memory that each program may take, in MiB, with all that it starts
    #[arg(long, value_name = "MIB", default_value_t = 1024, help_heading = "Submissions",
          value_parser = whole::<u64>)]
    program_memory: u64,
    /// Processes that each program may be, with all that it starts
    #[arg(long, value_name = "NUMBER", default_value_t = 16, help_heading = "Submissions",
          value_parser = whole::<u32>)]
    program_processes: u32,
    /// Directory for the pages of what failed [default: results/grade/UTC-TIME]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    /// One JSON object on stdout instead of the text
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// File for the results as JUnit has them
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    junit: Option<PathBuf>,
    /// The program and its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<String>,
}

impl Grade {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let challenge = Challenge::find(&self.challenge).map_err(Failure::Usage)?;
        if self.program.is_empty() {
            print(&told(&challenge))?;
            return Ok(Exit::Holds);
        }
        let submissions = self.handed_in().map_err(Failure::Usage)?;
        let seeds = self.seeds.as_deref().map(seeds).transpose();
        let seeds = seeds.map_err(Failure::Usage)?;
        let limits = self.limits().map_err(Failure::Usage)?;
        let interrupted = interrupt::flag_on_interrupt()?;
        let directory = match &self.out {
            Some(out) => out.clone(),
            None => results::reserve("grade")?,
        };
        let terms = Terms {
            answer_within: self.answer_within,
            limits,
            within: Duration::from_nanos(self.within.0),
            seeds: seeds.as_deref(),
            directory: &directory,
            interrupted: &interrupted,
        };
        let mut graded = Vec::new();
        for (name, command) in &submissions {
            let Some(one) = grade(&challenge, name, command, &terms)? else {
                // It is there only if it holds something.
                let _ = fs::remove_dir(&directory);
                return Ok(Exit::Interrupted);
            };
            if !self.json {
                let gap = if graded.is_empty() { "" } else { "\n" };
                print(&format!("{gap}{}", text(&challenge, &one)))?;
            }
            graded.push(one);
        }
        let exit = exit(&graded);
        if let Some(path) = &self.junit {
            files::replace(path, junit(&challenge, &graded).as_bytes()).map_err(|error| {
                Failure::Testbed(format!("--junit: {}: {error}", path.display()))
            })?;
        }
        if self.json {
            print(&object(&challenge, &graded, exit.code()))?;
        } else if self.submissions.is_some() {
            print(&format!("\n{}", table(&challenge, &graded)))?;
        }
        let is_empty = self.out.is_none() && fs::remove_dir(&directory).is_ok();
        if !self.json && !is_empty {
            print(&format!("\nfiles: {}\n", directory.display()))?;
        }
        Ok(exit)
    }

    /// The submissions, each with its name and its command.
    fn handed_in(&self) -> Result<Vec<(String, Vec<String>)>, String> {
        let Some(folder) = &self.submissions else {
            let name = crate::repeat_line::joined(&self.program);
            return Ok(vec![(name, self.program.clone())]);
        };
        if !self.program.iter().any(|word| word.contains(PLACE)) {
            return Err(format!(
                "--submissions: {PLACE} in the command stands for a submission, such as -- python3 {PLACE}"
            ));
        }
        let cannot =
            |error: std::io::Error| format!("--submissions: {}: {error}", folder.display());
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(cannot)? {
            let name = entry.map_err(cannot)?.file_name();
            let name = name.into_string().map_err(|name| {
                let name = name.to_string_lossy();
                format!("--submissions: the name of '{name}' is no text")
            })?;
            if !name.starts_with(['.', '_']) {
                names.push(name);
            }
        }
        names.sort();
        if names.is_empty() {
            return Err(format!(
                "--submissions: there is nothing in {}",
                folder.display()
            ));
        }
        let handed_in = names.into_iter().map(|name| {
            let path = folder.join(&name).display().to_string();
            let command = self.program.iter().map(|word| word.replace(PLACE, &path));
            // In one line, whatever it is called, so that no name writes lines of a report.
            (name.replace(['\n', '\r'], "?"), command.collect())
        });
        Ok(handed_in.collect())
    }

    fn limits(&self) -> Result<Limits, String> {
        for (flag, given) in [
            ("--within", self.within.0),
            ("--answer-within", self.answer_within.0),
            ("--program-memory", self.program_memory),
            ("--program-processes", self.program_processes.into()),
        ] {
            if given == 0 {
                return Err(format!("{flag}: nothing can be done with 0"));
            }
        }
        Ok(Limits {
            memory_bytes: Some(self.program_memory.saturating_mul(1 << 20)),
            processes: Some(self.program_processes),
        })
    }
}

/// What is asked, and what there is to be had for it.
fn told(challenge: &Challenge) -> String {
    let mut text = format!("{} · {}\n\n", challenge.name, challenge.title);
    text += &indented("  ", challenge.asks.trim());
    text += "\n";
    for check in &challenge.checks {
        text += &indented(&format!("  {:>3}  ", check.points), &check.name);
    }
    text += &format!("\n{} points\n", challenge.points());
    if let Some(solution) = &challenge.solution {
        text += &format!("A program that gets them all: {solution}\n");
    }
    text
}

fn exit(graded: &[Graded]) -> Exit {
    let mut answers = graded.iter().flat_map(|one| &one.checks);
    let any =
        |wanted: fn(&Answer) -> bool| move |check: &crate::grade::Checked| wanted(&check.answer);
    if answers.clone().any(any(|answer| *answer == Answer::Failed)) {
        return Exit::Violated;
    }
    match answers.all(any(|answer| *answer == Answer::Passed)) {
        true => Exit::Holds,
        false => Exit::Inconclusive,
    }
}

/// The seeds in a file: whole numbers, a line each; what follows # is left out.
fn seeds(path: &Path) -> Result<Vec<u64>, String> {
    /// More are a mistake.
    const MOST: usize = 10_000;
    let at = |why: String| format!("--seeds: {}{why}", path.display());
    let text = match path == Path::new("-") {
        true => from_stdin(),
        false => safe_io::input::read_text(path),
    };
    let text = text.map_err(|error| at(format!(": {error}")))?;
    let mut seeds = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let word = line.split('#').next().unwrap_or_default().trim();
        if !word.is_empty() {
            let seed = word.parse::<u64>();
            seeds.push(seed.map_err(|_| at(format!(":{number}: '{word}' is no whole number")))?);
        }
    }
    match seeds.len() {
        1..=MOST => Ok(seeds),
        many => Err(at(format!(": {many} seeds; there are 1 to {MOST}"))),
    }
}

/// What stands in stdin, which is no more than all seeds that there may be.
fn from_stdin() -> std::io::Result<String> {
    const LONGEST: u64 = 1 << 20;
    let mut text = String::new();
    std::io::stdin().take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}
