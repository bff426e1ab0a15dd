//! `orchestrator reproduce`: the sources' claims, put to the test.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ValueEnum};
use model::run::Engine;
use safe_io::to_stderr;

use crate::claims::{
    CLAIMS, Claim, ClaimFile, ClaimResult, ClaimRunner, ClusterResult, Findings, PAPERS, Picture,
    Questions, apart, check_papers, claim_files, counted, csv, of_sources, overview, page,
};
use crate::figures::{self, Figure};
use crate::result_table::warn;
use crate::suggest::did_you_mean;
use crate::sweep::Shard;
use crate::table::Table;
use crate::{Exit, Failure, interrupt, print, repeat_line, results};

/// Puts the claims of the papers to the test, and says which are true
///
/// Runs what each claim in experiments/claims needs, and writes claims.csv, RESULTS.md and report.html. Exit code
/// 0: every claim asked for got the verdict that was published; 1: one got another. An
/// interrupted reproduction goes on where it was when it is started again.
///
/// With --figures it makes the published figures instead, a table and a picture of every sweep in
/// experiments/sweeps. Exit code 0: all are what they were, or new; 1: one has changed.
#[derive(Debug, Args)]
pub(crate) struct Reproduce {
    /// Claims, such as SAN-6 BAN-29, or figures, such as kanrar-figure-5.6 [default: all]
    ids: Vec<String>,
    /// Claims of this source only, such as banta, or kanrar for kanrar-token and kanrar-voting; may
    /// be given several times
    #[arg(long, value_name = "SOURCE")]
    paper: Vec<String>,
    /// What runs them; on the cluster only claims about runs that fit there
    #[arg(long, value_enum, default_value_t = Engines::Sim)]
    engine: Engines,
    /// Test only the I-th of N shares of the claims; claims that look at the same runs stay together
    ///
    /// All shards write to one directory, --out. When they are done the same command without --shard makes
    /// the tables of all, and runs nothing again. docs/hosts.md has job arrays.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["publish", "figures"])]
    shard: Option<Shard>,
    /// Only claims that take a moment
    #[arg(long)]
    quick: bool,
    /// Writes the published tables of the repository in this directory, too: RESULTS.md, and
    /// claims.csv and a page for each source in results/reference; of all claims on both engines
    #[arg(long, conflicts_with_all = ["ids", "paper", "quick"])]
    publish: bool,
    /// Makes the figures, NAME.csv and NAME.svg, in this directory [default: results/reference]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = REFERENCE)]
    #[arg(conflicts_with_all = ["quick", "publish", "engine"])]
    figures: Option<PathBuf>,
    /// Directory for the results, which may hold an interrupted reproduction [default:
    /// results/reproduction/COMMIT]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Directory of the claim files; those of the repository are part of the program
    #[arg(long, value_name = "DIR", default_value = CLAIMS)]
    claims: PathBuf,
    /// Directory of the published numbers; those of the repository are part of the program
    #[arg(long, value_name = "DIR", default_value = PAPERS)]
    papers: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engines {
    /// The simulator and the explorer
    Sim,
    /// Processes
    Cluster,
    /// One after the other, to see whether they agree
    Both,
}

impl Engines {
    fn name(self) -> &'static str {
        match self {
            Engines::Sim => "sim",
            Engines::Cluster => "cluster",
            Engines::Both => "both",
        }
    }
}

impl Reproduce {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        if self.publish && self.engine != Engines::Both {
            let why = "--publish: what is published is of both engines; add --engine both";
            return Err(Failure::Usage(why.to_owned()));
        }
        if self.publish && !Path::new(REFERENCE).is_dir() {
            let why = format!("--publish: there is no directory {REFERENCE} here");
            return Err(Failure::Usage(why));
        }
        let claim_files = claim_files(&self.claims, &self.papers).map_err(Failure::Usage)?;
        let out = self.out.clone().unwrap_or_else(|| {
            let commit = option_env!("TURNSTILE_COMMIT").unwrap_or("unknown");
            Path::new("results/reproduction").join(commit)
        });
        if let Some(directory) = &self.figures {
            return self.make_figures(&claim_files, directory, &out.join("figures"));
        }
        let wanted = self.wanted(&claim_files).map_err(Failure::Usage)?;
        let wanted = match self.shard {
            Some(shard) => dealt(&wanted, shard),
            None => wanted,
        };
        let figures = Figure::all().map_err(Failure::Usage)?;
        let questions = Questions::read(Path::new(QUESTIONS)).map_err(Failure::Usage)?;
        let findings = Findings::read(Path::new(FINDINGS)).map_err(Failure::Usage)?;
        let interrupted = interrupt::flag_on_interrupt()?;
        let mut reproduction = Reproduction {
            engines: self.engine,
            out: &out,
            interrupted: &interrupted,
            claims: wanted.iter().map(|(_, claims)| claims.len()).sum(),
            results: Vec::new(),
            skipped: Vec::new(),
            pictures: Vec::new(),
        };
        for (file, claims) in &wanted {
            reproduction.run(file, claims)?;
            if interrupted.load(Ordering::Relaxed) {
                print(&format!(
                    "interrupted after {} of {} claims; the same command goes on from there\n",
                    reproduction.results.len(),
                    reproduction.claims
                ))?;
                return Ok(Exit::Interrupted);
            }
        }
        if let Some(shard) = self.shard {
            let files = out.display();
            print(&format!(
                "{}this was shard {shard}; when all are done, the same command without --shard makes the \
                 tables\nfiles: {files}\n",
                show(&reproduction.results)
            ))?;
            return Ok(exit(&reproduction.results));
        }
        let table = csv(&reproduction.results).map_err(Failure::Testbed)?;
        let mut texts = vec![
            ("claims.csv".to_owned(), table),
            (
                "RESULTS.md".to_owned(),
                overview(&reproduction.results, &findings),
            ),
        ];
        texts.extend(of_sources(&reproduction.results, &figures));
        fs::create_dir_all(&out)
            .map_err(|error| Failure::Testbed(format!("cannot make {}: {error}", out.display())))?;
        for (name, text) in &texts {
            results::replace(&out.join(name), text)?;
        }
        if self.publish {
            publish(&texts)?;
        }
        let unwritten = results::afterwards("report.html", || {
            let again = repeat_line::line_with("--engine", self.engine.name());
            let page = page(
                &reproduction.results,
                &reproduction.pictures,
                &questions,
                &again,
            );
            results::replace(&out.join("report.html"), &page.html())
        });
        let unlinked = results::make_latest(&out);
        let mut text = show(&reproduction.results);
        if !reproduction.skipped.is_empty() {
            text += &format!("not on this engine: {}\n", reproduction.skipped.join(", "));
        }
        print(&(text + &format!("files: {}\n", out.display())))?;
        unwritten
            .iter()
            .chain(&unlinked)
            .for_each(|text| warn(text));
        Ok(exit(&reproduction.results))
    }

    /// Makes the figures that are asked for.
    fn make_figures(
        &self,
        claim_files: &[ClaimFile],
        directory: &Path,
        runs: &Path,
    ) -> Result<Exit, Failure> {
        check_papers(claim_files, &self.paper).map_err(Failure::Usage)?;
        let of_paper = claim_files
            .iter()
            .filter(|file| file.is_of_any(&self.paper));
        let of_paper = of_paper.collect::<Vec<_>>();
        let of_paper = (!self.paper.is_empty()).then_some(of_paper.as_slice());
        let figures = Figure::wanted(&self.ids, of_paper).map_err(Failure::Usage)?;
        if figures
            .iter()
            .any(|figure| Path::new(&figure.name) == directory)
        {
            let name = directory.display();
            return Err(Failure::Usage(format!(
                "--figures takes a directory, and {name} is a figure; write `orchestrator reproduce \
                 {name} --figures`"
            )));
        }
        if directory == Path::new(REFERENCE) && !directory.is_dir() {
            return Err(Failure::Usage(format!(
                "--figures: there is no directory {REFERENCE} here; name another: --figures DIR"
            )));
        }
        let interrupted = interrupt::flag_on_interrupt()?;
        figures::make(&figures, directory, runs, &interrupted)
    }

    /// The claims that are asked for, by file.
    fn wanted<'a>(
        &self,
        claim_files: &'a [ClaimFile],
    ) -> Result<Vec<(&'a ClaimFile, Vec<&'a Claim>)>, String> {
        check_papers(claim_files, &self.paper)?;
        let ids = claim_files.iter().flat_map(|file| &file.claims);
        let ids = ids.map(|claim| claim.id.as_str());
        for id in &self.ids {
            if !ids.clone().any(|known| known.eq_ignore_ascii_case(id)) {
                let hint = did_you_mean(id, ids.clone());
                return Err(format!(
                    "there is no claim '{id}'{hint}\n`orchestrator list claims` shows all."
                ));
            }
        }
        let asked = |file: &ClaimFile, claim: &Claim| {
            let by_id = self.ids.iter().any(|id| id.eq_ignore_ascii_case(&claim.id));
            let by_paper = file.is_of_any(&self.paper);
            (self.ids.is_empty() || by_id) && by_paper && (!self.quick || claim.quick)
        };
        let wanted = claim_files.iter().map(|file| {
            let claims = file.claims.iter().filter(|claim| asked(file, claim));
            (file, claims.collect::<Vec<_>>())
        });
        let wanted = wanted.collect::<Vec<_>>();
        match wanted.iter().all(|(_, claims)| claims.is_empty()) {
            true => Err("no claim is all of that at once".to_owned()),
            false => Ok(wanted),
        }
    }
}

/// The claims that are dealt to a shard: groups of claims that share runs, in turn.
fn dealt<'a>(
    wanted: &[(&'a ClaimFile, Vec<&'a Claim>)],
    shard: Shard,
) -> Vec<(&'a ClaimFile, Vec<&'a Claim>)> {
    let mut groups = 0..;
    let of_file = wanted.iter().map(|(file, claims)| {
        let dealt = apart(claims).into_iter().zip(groups.by_ref());
        let dealt = dealt.filter(|(_, place)| shard.has(*place));
        (*file, dealt.flat_map(|(claims, _)| claims).collect())
    });
    of_file.collect()
}

/// Where the published tables are, but for the one that everybody reads first.
const REFERENCE: &str = "results/reference";

/// Puts the tables of a reproduction in the place of those that are published.
fn publish(texts: &[(String, String)]) -> Result<(), Failure> {
    for (name, text) in texts {
        let place = match name.as_str() {
            "RESULTS.md" => PathBuf::from(name),
            _ => Path::new(REFERENCE).join(name),
        };
        results::replace(&place, text)?;
    }
    Ok(())
}

/// Questions that the sources leave open, for the end of the report.
const QUESTIONS: &str = "experiments/questions.toml";

/// What was found, in prose, for the beginning of `RESULTS.md`.
const FINDINGS: &str = "experiments/findings.toml";

/// The state of a reproduction that is under way.
struct Reproduction<'a> {
    engines: Engines,
    out: &'a Path,
    interrupted: &'a AtomicBool,
    claims: usize,
    results: Vec<ClaimResult<'a>>,
    skipped: Vec<&'a str>,
    pictures: Vec<Picture>,
}

impl<'a> Reproduction<'a> {
    /// Tests these claims of a file.
    fn run(&mut self, file: &'a ClaimFile, claims: &[&'a Claim]) -> Result<(), Failure> {
        let runner = |engine| ClaimRunner::new(file, engine, self.out.to_owned(), self.interrupted);
        let (mut first, mut second) = match self.engines {
            Engines::Sim => (runner(Engine::Sim), None),
            Engines::Cluster => (runner(Engine::Cluster), None),
            Engines::Both => (runner(Engine::Sim), Some(runner(Engine::Cluster))),
        };
        for &claim in claims {
            let verdicts = first.claim(claim)?;
            let real = match &mut second {
                Some(second) => second.claim(claim)?,
                None => None,
            };
            if self.interrupted.load(Ordering::Relaxed) {
                return Ok(());
            }
            let Some(verdicts) = verdicts else {
                self.skipped.push(&claim.id);
                continue;
            };
            let real = real.zip(second.as_ref()).and_then(|(real, second)| {
                Some(ClusterResult {
                    verdict: real.verdict,
                    tests: real.tests.len(),
                    most_nodes: file.most_nodes_on_the_cluster(claim),
                    disagreements: first.disagreements(claim, second)?,
                })
            });
            let one = ClaimResult {
                file,
                claim,
                verdicts,
                real,
            };
            progress(self.results.len() + 1, self.claims, &one);
            self.results.push(one);
        }
        let pictures = first.pictures().iter().map(|(sweep, path)| Picture {
            source: file.source.clone(),
            sweep: (*sweep).to_owned(),
            path: path.clone(),
        });
        self.pictures.extend(pictures);
        Ok(())
    }
}

/// A line for each claim as it is decided, where somebody watches.
fn progress(number: usize, all: usize, one: &ClaimResult<'_>) {
    if std::io::stderr().is_terminal() {
        let (id, verdict) = (&one.claim.id, one.verdicts.verdict);
        to_stderr(&format!("{number} of {all}: {id} {verdict}\n"));
    }
}

fn show(results: &[ClaimResult<'_>]) -> String {
    let mut table = Table::new(["claim", "verdict", "what was seen"]);
    for one in results {
        let mut verdict = one.verdicts.verdict.to_string();
        if !one.as_published() {
            verdict += match one.claim.verdict {
                Some(_) => " (!)",
                None => " (new)",
            };
        }
        table.row([&one.claim.id, &verdict, &one.evidence()]);
    }
    let mut text = format!("{}\n{}\n", table.show(), counted(results));
    let other = results.iter().filter(|one| !one.as_published());
    for one in other {
        text += &match one.claim.verdict {
            Some(published) => format!(
                "(!) {}: {} where {published} was published\n",
                one.claim.id, one.verdicts.verdict
            ),
            None => format!("(new) {}: nothing was published yet\n", one.claim.id),
        };
    }
    text
}

fn exit(results: &[ClaimResult<'_>]) -> Exit {
    match results.iter().all(ClaimResult::as_published) {
        true => Exit::Holds,
        false => Exit::Violated,
    }
}
