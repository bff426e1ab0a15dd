//! What becomes of the checks of a challenge with one program.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::external::Start;
use ::external::conformance::{self, Outcome};
use algorithms::external::{self, Limits};
use analysis::claims::{self, Evidence, Row};
use analysis::{Judgement, Summary};
use model::run::{End, Engine, Run};
use serde::Serialize;
use toml::Value;

use super::challenge::{Challenge, Check, Kind, NODES, Runs, with};
use crate::Failure;
use crate::commands::explore::WorldSpec;
use crate::commands::run::execute;
use crate::engine::{self, Watch};
use crate::numbers::{count, many};
use crate::results::{self, Pending};
use crate::scenario::{Layers, Resolved, Scenario, Time};

/// On what terms a program is graded.
pub(crate) struct Terms<'a> {
    /// How long it may take to answer a line.
    pub(crate) answer_within: Time,
    /// What it may take of the machine.
    pub(crate) limits: Limits,
    /// How long all its checks may take.
    pub(crate) within: Duration,
    /// Seeds that nobody who wrote a program knows, instead of 1, 2, 3, …
    pub(crate) seeds: Option<&'a [u64]>,
    /// Where the pages of what went wrong go.
    pub(crate) directory: &'a Path,
    pub(crate) interrupted: &'a AtomicBool,
}

/// One program with what became of every check.
#[derive(Serialize)]
pub(crate) struct Graded {
    /// Whose it is: the file or folder that was handed in, or the command.
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) score: Score,
    pub(crate) seconds: f64,
    pub(crate) checks: Vec<Checked>,
}

/// How many points were given, of how many there are: `3/5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Score {
    pub(crate) points: u32,
    pub(crate) of: u32,
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.points, self.of)
    }
}

/// What became of one check.
#[derive(Serialize)]
pub(crate) struct Checked {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) score: Score,
    pub(crate) answer: Answer,
    /// What was seen, in a sentence or a few.
    pub(crate) seen: String,
    /// The schedule that ends badly, a line for each step.
    pub(crate) schedule: Vec<String>,
    /// The page that shows it, in the directory of the results.
    pub(crate) page: Option<PathBuf>,
    /// The command that shows it again.
    pub(crate) again: Option<String>,
    pub(crate) seconds: f64,
}

/// What became of one check, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    Passed,
    Failed,
    /// The check did not decide it.
    Undecided,
    /// The time was over before.
    #[serde(rename = "not run")]
    NotRun,
}

/// What a check saw.
struct Seen {
    answer: Answer,
    seen: String,
    schedule: Vec<String>,
    page: Option<PathBuf>,
    again: Option<String>,
}

impl Seen {
    fn new(answer: Answer, seen: impl Into<String>) -> Self {
        Self {
            answer,
            seen: seen.into(),
            schedule: Vec::new(),
            page: None,
            again: None,
        }
    }
}

/// Makes all checks with this program; `None` if somebody interrupted.
pub(crate) fn grade(
    challenge: &Challenge,
    name: &str,
    command: &[String],
    terms: &Terms<'_>,
) -> Result<Option<Graded>, Failure> {
    let began = Instant::now();
    let deadline = began.checked_add(terms.within);
    let interrupted = || terms.interrupted.load(Ordering::Relaxed);
    let time_is_up = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let grader = Grader {
        challenge,
        command,
        terms,
        folder: file_name(name),
        stopped: &|| interrupted() || time_is_up(),
    };
    let mut checks = Vec::new();
    for (place, check) in challenge.checks.iter().enumerate() {
        let start = Instant::now();
        let late = || {
            let within = terms.within;
            Seen::new(
                Answer::NotRun,
                format!("the time of this program was over: {within:?}; --within gives it more"),
            )
        };
        let seen = match time_is_up() {
            true => late(),
            false => grader.seen(place + 1, check)?.unwrap_or_else(late),
        };
        if interrupted() {
            return Ok(None);
        }
        let points = match seen.answer {
            Answer::Passed => check.points,
            Answer::Failed | Answer::Undecided | Answer::NotRun => 0,
        };
        checks.push(Checked {
            name: check.name.clone(),
            score: Score {
                points,
                of: check.points,
            },
            answer: seen.answer,
            seen: seen.seen,
            schedule: seen.schedule,
            page: seen.page,
            again: seen.again,
            seconds: start.elapsed().as_secs_f64(),
        });
    }
    Ok(Some(Graded {
        name: name.to_owned(),
        score: Score {
            points: checks.iter().map(|check| check.score.points).sum(),
            of: challenge.points(),
        },
        seconds: began.elapsed().as_secs_f64(),
        checks,
    }))
}

/// A name as it may stand in a path.
fn file_name(name: &str) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || c == '.' || c == '_' {
        true => c,
        false => '-',
    };
    let name = name.chars().take(60).map(plain).collect::<String>();
    // Neither hidden nor like a flag: `./yours` is `yours`.
    name.trim_start_matches(['.', '-']).to_owned()
}

struct Grader<'a> {
    challenge: &'a Challenge,
    command: &'a [String],
    terms: &'a Terms<'a>,
    /// The folder of its pages, in the directory of the results.
    folder: String,
    stopped: &'a dyn Fn() -> bool,
}

impl Grader<'_> {
    /// What a check sees; `None` if it was stopped.
    fn seen(&self, number: usize, check: &Check) -> Result<Option<Seen>, Failure> {
        match &check.kind {
            Kind::Protocol => self.protocol(),
            Kind::Explore(world) => self.explored(number, world),
            Kind::Runs(runs) => self.ran(number, runs),
        }
    }

    fn protocol(&self) -> Result<Option<Seen>, Failure> {
        let start = Start {
            command: self.command.to_vec(),
            directory: crate::commands::external::current_directory()?,
            answer_within: Duration::from_nanos(self.terms.answer_within.0),
            limits: self.terms.limits,
            executable: Some(PathBuf::from(cluster::THIS_PROGRAM)),
            in_our_group: false,
        };
        let (mut done, mut missed) = (0, Vec::new());
        let ended = conformance::check(&start, self.stopped, &mut |line| match line.outcome {
            Outcome::DoesNot(why) => missed.push(format!("{}: {why}", line.what)),
            Outcome::Does | Outcome::NeedNot(_) => done += 1,
        });
        if !ended {
            return Ok(None);
        }
        let mut seen = match missed.first() {
            None => Seen::new(Answer::Passed, format!("{done} things tried")),
            Some(first) => {
                let more = missed.len() - 1;
                let more = match more {
                    0 => String::new(),
                    more => format!(" (and {more} more)"),
                };
                Seen::new(
                    Answer::Failed,
                    format!("it does not do this: {first}{more}"),
                )
            }
        };
        let program = crate::repeat_line::joined(self.command);
        seen.again = (seen.answer == Answer::Failed)
            .then(|| format!("orchestrator external --check -- {program}"));
        Ok(Some(seen))
    }

    fn explored(&self, number: usize, world: &toml::Table) -> Result<Option<Seen>, Failure> {
        let words = self.command.iter().map(|word| Value::from(word.as_str()));
        let mut keys = vec![
            ("algorithm", Value::from(external::NAME)),
            ("program", words.collect::<Vec<_>>().into()),
            ("answer-within", self.terms.answer_within.to_string().into()),
            ("declares", self.challenge.declares.clone().into()),
        ];
        let limits = self.scenario();
        let memory = limits
            .program_memory
            .and_then(|mib| i64::try_from(mib).ok());
        keys.extend(memory.map(|mib| ("program-memory", mib.into())));
        let processes = limits.program_processes.map(i64::from);
        keys.extend(processes.map(|most| ("program-processes", most.into())));
        let spec = with(world, keys).try_into::<WorldSpec>();
        let spec = spec.map_err(|error| Failure::Testbed(error.to_string()))?;
        let world = match spec.world() {
            Ok(world) => world,
            Err(why) => return Ok(Some(Seen::new(Answer::Failed, why))),
        };
        let report = world.searched(self.stopped)?;
        let states = many(report.states, "state", "states");
        let Some(finding) = &report.finding else {
            return Ok(match report.complete {
                true => Some(Seen::new(Answer::Passed, format!("all {states}"))),
                false if (self.stopped)() => None,
                false => {
                    let why = format!(
                        "nothing bad in {states}, and there are more than may be looked at"
                    );
                    Some(Seen::new(Answer::Undecided, why))
                }
            });
        };
        let page = self.page(&format!("{number}.html"));
        let path = self.terms.directory.join(&page);
        if let Some(folder) = path.parent() {
            let made = std::fs::create_dir_all(folder);
            made.map_err(|error| Failure::Usage(format!("--out: {}: {error}", folder.display())))?;
        }
        world.page_of(&report)?.write(&path)?;
        let steps = finding.told.len() as u64;
        let steps = many(steps, "step", "steps");
        Ok(Some(Seen {
            schedule: crate::commands::explore::steps_of(finding),
            page: Some(page),
            again: Some(format!("orchestrator explore {}", spec.replaying(finding))),
            ..Seen::new(
                Answer::Failed,
                format!("{} after {steps}: {}", finding.kind, finding.why),
            )
        }))
    }

    /// The scenario that says which program runs, and on what terms.
    fn scenario(&self) -> Scenario {
        let limits = self.terms.limits;
        Scenario {
            algorithm: Some(external::NAME.to_owned()),
            program: self.command.to_vec(),
            answer_within: Some(self.terms.answer_within),
            program_memory: limits.memory_bytes.map(|bytes| bytes >> 20),
            program_processes: limits.processes,
            declares: self.challenge.declares.clone(),
            ..Scenario::default()
        }
    }

    fn ran(&self, number: usize, runs: &Runs) -> Result<Option<Seen>, Failure> {
        let layers =
            Layers::over_table(runs.scenario.clone(), &self.challenge.path, self.scenario());
        let layers = layers.map_err(Failure::Testbed)?;
        let usual = (1..=runs.runs).collect::<Vec<_>>();
        let seeds = self.terms.seeds.unwrap_or(&usual);
        let mut rows = Vec::new();
        for (place, &seed) in seeds.iter().enumerate() {
            let resolved = match layers.resolve_with_seed(seed) {
                Ok(resolved) => resolved,
                Err(why) => return Ok(Some(Seen::new(Answer::Failed, why))),
            };
            let run = self.run(&resolved)?;
            if run.end == End::Interrupted {
                return Ok(None);
            }
            let judgement = analysis::judge(&resolved.plan, &resolved.topology, &run);
            let answer = match judgement.conclusion() {
                analysis::Verdict::Holds => Answer::Passed,
                analysis::Verdict::Violated => Answer::Failed,
                analysis::Verdict::Inconclusive => Answer::Undecided,
            };
            if answer != Answer::Passed {
                let why = format!(
                    "{}: {}",
                    self.seed(place, seed),
                    judgement.reasons.join("; ")
                );
                let seen = Seen::new(answer, why);
                return Ok(Some(self.with_page(seen, number, &resolved)?));
            }
            rows.push(Row {
                cell: 0,
                repetition: place as u64,
                values: self.values(runs, &resolved, &run, &judgement),
            });
        }
        let all = many(seeds.len() as u64, "run holds", "runs hold");
        let Some(expects) = &runs.expects else {
            return Ok(Some(Seen::new(Answer::Passed, all)));
        };
        let evidence = Evidence {
            keys: Vec::new(),
            cells: vec![Vec::new()],
            rows,
        };
        let outcome = expects.judge(&evidence, &claims::Selection::default());
        let answer = match outcome.answer {
            claims::Answer::Yes => return Ok(Some(Seen::new(Answer::Passed, outcome.seen))),
            claims::Answer::No => Answer::Failed,
            claims::Answer::Undecided(_) => Answer::Undecided,
        };
        let example = outcome.example.map_or(0, |(_, place)| place as usize);
        let seed = seeds[example];
        let resolved = layers.resolve_with_seed(seed).map_err(Failure::Testbed)?;
        let why = match outcome.example {
            Some(_) => format!("{}: {}", self.seed(example, seed), outcome.seen),
            None => outcome.seen,
        };
        let seen = Seen::new(answer, why);
        Ok(Some(self.with_page(seen, number, &resolved)?))
    }

    /// What is known of a run, by name.
    fn values(
        &self,
        runs: &Runs,
        resolved: &Resolved,
        run: &Run,
        judgement: &Judgement,
    ) -> BTreeMap<String, f64> {
        let summary: &Summary = &judgement.summary;
        let measured = runs.measured.iter().filter_map(|(name, quantity)| {
            let value = quantity.of(&resolved.plan, run, summary)?;
            Some((name.clone(), value))
        });
        let nodes = (NODES.to_owned(), f64::from(resolved.plan.nodes));
        let numbers = crate::claims::numbers_of(summary).chain(measured);
        numbers.chain([nodes]).collect()
    }

    /// How a run is called: a hidden seed by its place in the file alone.
    fn seed(&self, place: usize, seed: u64) -> String {
        match self.terms.seeds {
            Some(_) => format!("hidden seed {}", count(place as u64 + 1)),
            None => format!("seed {seed}"),
        }
    }

    fn run(&self, resolved: &Resolved) -> Result<Run, Failure> {
        let mut watch = Watch::until(self.stopped);
        if resolved.engine == Engine::Sim {
            return Ok(simulator::run(&resolved.plan, &mut watch)?);
        }
        let place = self.terms.directory.join(self.page("run"));
        let pending = Pending::begin_kept(&place, resolved)?;
        let run = engine::run(
            resolved.engine,
            &resolved.plan,
            None,
            pending.dir(),
            &mut watch,
        );
        match run {
            Ok(run) => {
                pending.discard();
                Ok(run)
            }
            Err(error) => Err(pending.give_up(resolved, error.into())),
        }
    }

    /// Makes the run again with a trace, and the page that steps through it. A run of processes is another
    /// each time, and its page with it.
    fn with_page(&self, seen: Seen, number: usize, resolved: &Resolved) -> Result<Seen, Failure> {
        let mut resolved = resolved.clone();
        resolved.plan.trace = true;
        let place = self.terms.directory.join(self.page(&number.to_string()));
        let pending = Pending::begin_kept(&place, &resolved)?;
        let run = match execute(&resolved, None, pending.dir(), self.terms.interrupted, None) {
            Ok(run) => run,
            Err(failure) => return Err(pending.give_up(&resolved, failure)),
        };
        let judgement = analysis::judge(&resolved.plan, &resolved.topology, &run);
        let directory = pending.finish(&resolved, &run, &judgement)?.directory;
        results::view_of(&directory, &judgement)?;
        let page = self.page(&format!("{number}/{}", crate::view::NAME));
        Ok(Seen {
            page: Some(page),
            ..seen
        })
    }

    fn page(&self, name: &str) -> PathBuf {
        Path::new(&self.folder).join(name)
    }
}
