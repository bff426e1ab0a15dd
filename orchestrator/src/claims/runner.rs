//! Claims put to the test.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use analysis::claims::{Answer, Disagreement, Evidence, Outcome, Verdict, disagreement};
use model::run::Engine;
use serde::{Deserialize, Serialize};

use super::file::{Claim, ClaimFile, Kind, Method, Test};
use super::published::{Published, PublishedKeys};
use super::search;
use crate::sweep::manifest::repetitions_in;
use crate::sweep::{Share, draw, sweep};
use crate::{Failure, files, results};

/// Claims of one source being tested; runs that several claims look at are run once.
pub(crate) struct ClaimRunner<'a> {
    file: &'a ClaimFile,
    engine: Engine,
    directory: PathBuf,
    interrupted: &'a AtomicBool,
    swept: BTreeMap<&'a str, Evidence>,
    pictures: Vec<(&'a str, PathBuf)>,
}

/// What became of a claim: one line for each of its tests, and all of them together.
#[derive(Clone, Debug)]
pub(crate) struct Verdicts {
    /// The verdict of all tests together.
    pub(crate) verdict: Verdict,
    /// Each test: its case, what it says, and how to see it again.
    pub(crate) tests: Vec<TestResult>,
}

/// What one test of a claim found.
#[derive(Clone, Debug)]
pub(crate) struct TestResult {
    pub(crate) case: Option<String>,
    pub(crate) method: &'static str,
    pub(crate) outcome: Outcome,
    /// The directory of the runs within the reproduction's, or the line that searches again.
    pub(crate) again: String,
}

/// Claims in groups that share no sweep, in the order of the first of each: different programs can test
/// different groups at the same time.
pub(crate) fn apart<'a>(claims: &[&'a Claim]) -> Vec<Vec<&'a Claim>> {
    let mut groups: Vec<(BTreeSet<&str>, Vec<&Claim>)> = Vec::new();
    for &claim in claims {
        let tests = match &claim.method {
            Method::Tests(tests) => tests.as_slice(),
            Method::None(_) => &[],
        };
        let sweeps = tests.iter().filter_map(|test| match &test.kind {
            Kind::Runs { sweep, .. } => Some(sweep.as_str()),
            Kind::Explore { .. } | Kind::Recompute { .. } => None,
        });
        let mut sweeps = sweeps.collect::<BTreeSet<_>>();
        let shares = |group: &(BTreeSet<&str>, _)| !group.0.is_disjoint(&sweeps);
        let place = groups.iter().position(shares).unwrap_or(groups.len());
        let (mut joined, others) = (Vec::new(), std::mem::take(&mut groups));
        for group in others {
            match shares(&group) {
                true => joined.push(group),
                false => groups.push(group),
            }
        }
        let mut members = Vec::new();
        for (more, claims) in joined {
            sweeps.extend(more);
            members.extend(claims);
        }
        members.push(claim);
        groups.insert(place.min(groups.len()), (sweeps, members));
    }
    groups.into_iter().map(|(_, claims)| claims).collect()
}

impl<'a> ClaimRunner<'a> {
    /// Tests claims of this file, and keeps the runs in this directory.
    pub(crate) fn new(
        file: &'a ClaimFile,
        engine: Engine,
        directory: PathBuf,
        interrupted: &'a AtomicBool,
    ) -> Self {
        Self {
            file,
            engine,
            directory,
            interrupted,
            swept: BTreeMap::new(),
            pictures: Vec::new(),
        }
    }

    /// Puts a claim to the test; `None` if that was interrupted, or this engine cannot.
    pub(crate) fn claim(&mut self, claim: &'a Claim) -> Result<Option<Verdicts>, Failure> {
        let tests = match &claim.method {
            Method::None(why) => {
                let untested = TestResult {
                    case: None,
                    method: "none",
                    outcome: Outcome {
                        answer: Answer::Undecided(None),
                        seen: why.clone(),
                        number: String::new(),
                        example: None,
                    },
                    again: String::new(),
                };
                return Ok(Some(Verdicts {
                    verdict: Verdict::NotTestable,
                    tests: vec![untested],
                }));
            }
            Method::Tests(tests) => tests,
        };
        let mut tested = Vec::new();
        for (number, test) in tests.iter().enumerate() {
            match self.test(&format!("{}.{number}", claim.id), test)? {
                Some(done) => tested.push(done),
                None if self.interrupted.load(Ordering::Relaxed) => return Ok(None),
                None => {}
            }
        }
        if tested.is_empty() {
            return Ok(None);
        }
        let answers = tested.iter().map(|test| test.outcome.answer);
        Ok(Some(Verdicts {
            verdict: Verdict::of(claim.statement, &answers.collect::<Vec<_>>()),
            tests: tested,
        }))
    }

    /// The pictures that the sweeps run so far ask for, each with the sweep's name.
    pub(crate) fn pictures(&self) -> &[(&'a str, PathBuf)] {
        &self.pictures
    }

    /// Where the runs that a claim looks at differ from those of another engine: each quantity
    /// that does, none if all agree; `None` if there is nothing to compare.
    pub(crate) fn disagreements(
        &self,
        claim: &Claim,
        real: &ClaimRunner<'_>,
    ) -> Option<Vec<Disagreement>> {
        let Method::Tests(tests) = &claim.method else {
            return None;
        };
        let compared = tests.iter().filter_map(|test| match &test.kind {
            Kind::Runs {
                sweep,
                among,
                expectation,
                ..
            } => {
                let simulated = self.swept.get(sweep.as_str())?;
                let real = real.swept.get(sweep.as_str())?;
                let formulas = expectation.formulas();
                let value = formulas.first().copied()?;
                disagreement(simulated, real, among, value)
            }
            Kind::Explore { .. } | Kind::Recompute { .. } => None,
        });
        let compared = compared.collect::<Vec<_>>();
        (!compared.is_empty()).then(|| compared.into_iter().flatten().collect())
    }

    /// Puts one test of a claim to the test; its name is its own among those of the file.
    fn test(&mut self, name: &str, test: &'a Test) -> Result<Option<TestResult>, Failure> {
        let interrupted = self.interrupted;
        let (method, outcome, again) = match &test.kind {
            Kind::Runs {
                sweep,
                among,
                expectation,
                published,
            } => {
                let runs = &self.file.sweeps[sweep.as_str()];
                let mut repetitions = match (self.engine, runs.cluster) {
                    (Engine::Sim, _) => runs.grid.repetitions,
                    (Engine::Cluster, Some(cluster)) => cluster.repetitions,
                    (Engine::Cluster, None) => return Ok(None),
                };
                // Each test looks at the first repetitions alone, however many another test needed,
                // so that its answer is the same whichever claims are asked for.
                let on_processes = self.engine == Engine::Cluster;
                let outcome = loop {
                    let Some(evidence) = self.runs(sweep, repetitions)? else {
                        return Ok(None);
                    };
                    // What no process measures, such as the messages of one entry, is not tested there.
                    if on_processes && !expectation.is_measured(evidence, among) {
                        return Ok(None);
                    }
                    let mut evidence = evidence.first(repetitions);
                    if let Some((keys, table)) = published {
                        evidence = beside(evidence, keys, table).map_err(Failure::Usage)?;
                    }
                    let outcome = expectation.judge(&evidence, among);
                    let undecided = matches!(outcome.answer, Answer::Undecided(_));
                    let grows = self.engine == Engine::Sim && repetitions < runs.up_to;
                    if !undecided || !grows {
                        break outcome;
                    }
                    repetitions = repetitions.saturating_mul(2).min(runs.up_to);
                };
                let again = self.folder(sweep).display().to_string();
                let again = match outcome.example {
                    None => again,
                    Some((cell, repetition)) => {
                        let cell = self.swept[sweep.as_str()].label(cell);
                        format!("{again}: {cell} repetition {repetition}")
                    }
                };
                ("runs", outcome, again)
            }
            Kind::Explore { .. } | Kind::Recompute { .. } if self.engine == Engine::Cluster => {
                return Ok(None);
            }
            Kind::Explore { searches, finds } => {
                let kept = SavedOutcome {
                    path: self
                        .directory
                        .join(&self.file.source)
                        .join(format!("{name}.explored.json")),
                    question: format!("{searches:?} finds {finds:?}"),
                };
                let outcome = match kept.read() {
                    Some(outcome) => outcome,
                    None => {
                        let outcome = search::judge(searches, *finds, interrupted)?;
                        if interrupted.load(Ordering::Relaxed) {
                            return Ok(None);
                        }
                        kept.write(&outcome)?;
                        outcome
                    }
                };
                let again = searches.iter().map(|search| &search.line);
                let again = again.map(|line| format!("orchestrator explore {line}"));
                ("explore", outcome, again.collect::<Vec<_>>().join("; "))
            }
            Kind::Recompute { table, expectation } => {
                let outcome = expectation.judge(&table.recomputed(), &Default::default());
                ("recompute", outcome, String::new())
            }
        };
        Ok(Some(TestResult {
            case: test.case.clone(),
            method,
            outcome,
            again,
        }))
    }

    /// The runs of a sweep, at least so many of each cell; `None` if somebody interrupted.
    fn runs(&mut self, name: &'a str, repetitions: u64) -> Result<Option<&Evidence>, Failure> {
        let known = self.swept.get(name);
        if known.is_none_or(|known| known.repetitions() < repetitions) {
            let runs = &self.file.sweeps[name];
            let place = self.place(name);
            let grid = match self.engine {
                // An earlier reproduction may have needed more of them.
                Engine::Sim => {
                    let there = repetitions_in(&place).unwrap_or(0).min(runs.up_to);
                    runs.simulated(name, repetitions.max(there))
                }
                Engine::Cluster => runs.on_the_cluster(name, repetitions),
            };
            let grid = grid.map_err(Failure::Usage)?;
            for folder in place.ancestors().take(2) {
                files::refuse_links(folder).map_err(|error| {
                    Failure::Usage(format!(
                        "cannot write results to {}: {error}",
                        folder.display()
                    ))
                })?;
            }
            let swept = sweep(&grid, &place, Share::default(), self.interrupted)?;
            if swept.missing > 0 {
                return Ok(None);
            }
            let evidence = grid.evidence(&swept.done);
            let drawn = draw(&grid, &swept)?;
            self.pictures.retain(|(sweep, _)| *sweep != name);
            self.pictures.extend(drawn.map(|path| (name, path)));
            self.swept.insert(name, evidence);
        }
        Ok(self.swept.get(name))
    }

    /// Where the runs of a sweep are kept, below the directory of the reproduction.
    fn folder(&self, sweep: &str) -> PathBuf {
        let engine = self.engine.to_string();
        Path::new(&self.file.source).join(format!("{sweep}.{engine}"))
    }

    fn place(&self, sweep: &str) -> PathBuf {
        self.directory.join(self.folder(sweep))
    }
}

/// What searches came to, kept so that a reproduction that goes on need not search again.
struct SavedOutcome {
    path: PathBuf,
    /// What was searched for in which worlds.
    question: String,
}

/// The file in which an outcome is kept.
#[derive(Serialize, Deserialize)]
struct Explored {
    /// The commit of the program that searched.
    commit: Option<String>,
    question: String,
    outcome: Outcome,
}

impl SavedOutcome {
    /// The outcome of the same searches by the same program, if it is there.
    fn read(&self) -> Option<Outcome> {
        let text = safe_io::input::read_text(&self.path).ok()?;
        let kept = serde_json::from_str::<Explored>(&text).ok()?;
        let known = kept.commit.is_some() && kept.commit == results::commit();
        (known && kept.question == self.question).then_some(kept.outcome)
    }

    fn write(&self, outcome: &Outcome) -> Result<(), Failure> {
        let kept = Explored {
            commit: results::commit(),
            question: self.question.clone(),
            outcome: outcome.clone(),
        };
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| {
                Failure::Testbed(format!("cannot make {}: {error}", folder.display()))
            })?;
        }
        let text = serde_json::to_string_pretty(&kept).expect("an outcome is plain data");
        results::replace(&self.path, &(text + "\n"))
    }
}

/// The evidence with the published numbers of each cell beside it.
fn beside(
    mut evidence: Evidence,
    keys: &PublishedKeys,
    table: &Published,
) -> Result<Evidence, String> {
    let place = evidence.keys.iter().position(|key| *key == keys.key);
    let place = place.ok_or_else(|| format!("published: the sweep has no key {}", keys.key))?;
    for row in &mut evidence.rows {
        let word = &evidence.cells[row.cell][place];
        for column in table.columns() {
            // A column of keys has no numbers.
            if let Ok(number) = table.number(&keys.column, word, column) {
                row.values.insert(format!("paper.{column}"), number);
            }
        }
    }
    Ok(evidence)
}
