//! `orchestrator reproduce`: the sources' claims, put to the test.

use std::collections::BTreeMap;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use analysis::claims::Verdict;
use clap::{Args, ValueEnum};
use node::run::Engine;

use crate::claims::{Book, CLAIMS, Claim, PAPERS, Trial, Tried, books, csv};
use crate::suggest::did_you_mean;
use crate::table::Table;
use crate::{Exit, Failure, interrupt, print};

/// Puts the claims of the papers to the test, and says which are true
///
/// Runs what each claim in experiments/claims needs, and writes claims.csv and report.html. Exit code
/// 0: every claim asked for got the verdict that was published; 1: one got another. An
/// interrupted reproduction goes on where it was when it is started again.
#[derive(Debug, Args)]
pub(crate) struct Reproduce {
    /// Claims, such as SAN-6 BAN-29 [default: all]
    ids: Vec<String>,
    /// Claims of this source only, such as banta; may be given several times
    #[arg(long, value_name = "SOURCE")]
    paper: Vec<String>,
    /// What runs them; on the cluster only claims about runs that fit there
    #[arg(long, value_enum, default_value_t = Engines::Sim)]
    engine: Engines,
    /// Only claims that take a moment
    #[arg(long)]
    quick: bool,
    /// Directory for the results, which may hold an interrupted reproduction [default:
    /// results/reproduction/COMMIT]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Directory of the claim files
    #[arg(long, value_name = "DIR", default_value = CLAIMS)]
    claims: PathBuf,
    /// Directory of the published numbers
    #[arg(long, value_name = "DIR", default_value = PAPERS)]
    papers: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engines {
    /// The simulator and the explorer
    Sim,
    /// Processes
    Cluster,
}

impl Reproduce {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        let books = books(&self.claims, &self.papers).map_err(Failure::Usage)?;
        let wanted = self.wanted(&books).map_err(Failure::Usage)?;
        let out = self.out.clone().unwrap_or_else(|| {
            let commit = option_env!("TURNSTILE_COMMIT").unwrap_or("unknown");
            Path::new("results/reproduction").join(commit)
        });
        let engine = match self.engine {
            Engines::Sim => Engine::Sim,
            Engines::Cluster => Engine::Cluster,
        };
        let interrupted = interrupt::flag_on_interrupt()?;
        let mut tried = Vec::new();
        let mut skipped = Vec::new();
        let number = wanted.iter().map(|(_, claims)| claims.len()).sum::<usize>();
        for (book, claims) in &wanted {
            let mut trial = Trial::new(book, engine, out.clone(), &interrupted);
            for claim in claims {
                let verdicts = trial.claim(claim)?;
                if interrupted.load(Ordering::Relaxed) {
                    print(&format!(
                        "interrupted after {} of {number} claims; the same command goes on from there\n",
                        tried.len()
                    ))?;
                    return Ok(Exit::Interrupted);
                }
                match verdicts {
                    None => skipped.push(claim.id.as_str()),
                    Some(verdicts) => {
                        let one = Tried {
                            source: &book.source,
                            claim,
                            verdicts,
                        };
                        progress(tried.len() + 1, number, &one);
                        tried.push(one);
                    }
                }
            }
        }
        let failed = |why: String| Failure::Testbed(format!("cannot write the table: {why}"));
        fs::create_dir_all(&out).map_err(|error| failed(error.to_string()))?;
        let path = out.join("claims.csv");
        fs::write(&path, csv(&tried).map_err(failed)?)
            .map_err(|error| failed(error.to_string()))?;
        let mut text = show(&tried);
        if !skipped.is_empty() {
            text += &format!("not on this engine: {}\n", skipped.join(", "));
        }
        print(&(text + &format!("files: {}\n", path.display())))?;
        Ok(exit(&tried))
    }

    /// The claims that are asked for, by book.
    fn wanted<'a>(&self, books: &'a [Book]) -> Result<Vec<(&'a Book, Vec<&'a Claim>)>, String> {
        let sources = books.iter().map(|book| book.source.as_str());
        for paper in &self.paper {
            if !sources.clone().any(|known| known == paper) {
                let hint = did_you_mean(paper, sources.clone());
                let known = sources.collect::<Vec<_>>().join(", ");
                return Err(format!(
                    "--paper: there is no source '{paper}'{hint}\nThere are {known}."
                ));
            }
        }
        let ids = books.iter().flat_map(|book| &book.claims);
        let ids = ids.map(|claim| claim.id.as_str());
        for id in &self.ids {
            if !ids.clone().any(|known| known.eq_ignore_ascii_case(id)) {
                let hint = did_you_mean(id, ids.clone());
                return Err(format!(
                    "there is no claim '{id}'{hint}\n`orchestrator list claims` shows all."
                ));
            }
        }
        let asked = |book: &Book, claim: &Claim| {
            let by_id = self.ids.iter().any(|id| id.eq_ignore_ascii_case(&claim.id));
            let by_paper = self.paper.is_empty() || self.paper.contains(&book.source);
            (self.ids.is_empty() || by_id) && by_paper && (!self.quick || claim.quick)
        };
        let wanted = books.iter().map(|book| {
            let claims = book.claims.iter().filter(|claim| asked(book, claim));
            (book, claims.collect::<Vec<_>>())
        });
        let wanted = wanted.collect::<Vec<_>>();
        match wanted.iter().all(|(_, claims)| claims.is_empty()) {
            true => Err("no claim is all of that at once".to_owned()),
            false => Ok(wanted),
        }
    }
}

/// A line for each claim as it is decided, where somebody watches.
fn progress(number: usize, all: usize, one: &Tried<'_>) {
    if std::io::stderr().is_terminal() {
        eprintln!(
            "{number} of {all}: {} {}",
            one.claim.id, one.verdicts.verdict
        );
    }
}

fn show(tried: &[Tried<'_>]) -> String {
    let mut table = Table::new(["claim", "verdict", "what was seen"]);
    for one in tried {
        let mut verdict = one.verdicts.verdict.to_string();
        if !one.as_published() {
            verdict += match one.claim.verdict {
                Some(_) => " (!)",
                None => " (new)",
            };
        }
        table.row([&one.claim.id, &verdict, &one.evidence()]);
    }
    let mut counts = BTreeMap::<Verdict, usize>::new();
    for one in tried {
        *counts.entry(one.verdicts.verdict).or_default() += 1;
    }
    let counts = counts
        .iter()
        .map(|(verdict, number)| format!("{number} {verdict}"));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let mut text = format!("{}\n{} claims: {counts}\n", table.show(), tried.len());
    let other = tried.iter().filter(|one| !one.as_published());
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

fn exit(tried: &[Tried<'_>]) -> Exit {
    match tried.iter().all(Tried::as_published) {
        true => Exit::Holds,
        false => Exit::Violated,
    }
}
