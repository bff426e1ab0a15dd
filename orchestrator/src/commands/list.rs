//! `orchestrator list`: what there is.

mod runs;
mod surveyed;

use std::path::{Path, PathBuf};

use algorithms::registry::{self, Family};
use algorithms::topology::Shape;
use chaos::language::glossary;
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::claims::{CLAIMS, Claim, PAPERS, check_papers, claim_files};
use crate::grade::course;
use crate::results::RESULTS;
use crate::table::{Table, wrap};
use crate::{Exit, Failure, print};

/// Shows what there is: algorithms by default, or something else by name.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// What to list.
    #[arg(value_enum, default_value_t = What::Algorithms)]
    what: What,
    /// Directory whose runs to list [default: results].
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
    /// All algorithms that the four sources name: where, and which of ours it is or why it is not built.
    #[arg(long)]
    surveyed: bool,
    /// Claims of this source only, such as banta; may be given several times.
    #[arg(long, value_name = "SOURCE")]
    paper: Vec<String>,
    /// Directory of the claim files; those of the repository are part of the program.
    #[arg(long, value_name = "DIR", default_value = CLAIMS, hide_default_value = true)]
    claims: PathBuf,
    /// One JSON array on stdout instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Every algorithm: name, family, what it costs, where it is from
    Algorithms,
    /// Every shape that links can have
    Topologies,
    /// Every word of --fault, in netem's meaning unless it says otherwise
    Faults,
    /// Every claim of the sources in experiments/claims, and its last verdict
    Claims,
    /// Every challenge of the course for programs of your own, in the order of their difficulty
    Challenges,
    /// Every run below results or DIR: when it began, its verdict, and whether it came to its end
    Runs,
}

impl List {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        if !self.paper.is_empty() && !matches!(self.what, What::Claims) {
            let why = "--paper: only claims have one; write 'list claims --paper banta'";
            return Err(Failure::Usage(why.to_owned()));
        }
        if self.directory.is_some() && !matches!(self.what, What::Runs) {
            let why = "only runs lie in a directory; write 'list runs DIR'";
            return Err(Failure::Usage(why.to_owned()));
        }
        if self.surveyed {
            return self.perform_surveyed();
        }
        let text = match (self.what, self.json) {
            (What::Algorithms, false) => algorithms_table(),
            (What::Algorithms, true) => algorithms_json(),
            (What::Topologies, false) => topologies_table(),
            (What::Topologies, true) => topologies_json(),
            (What::Faults, false) => faults_table(),
            (What::Faults, true) => faults_json(),
            (What::Challenges, json) => challenges(json).map_err(Failure::Usage)?,
            (What::Runs, json) => {
                let directory = self.directory.as_deref();
                runs::list(directory.unwrap_or(Path::new(RESULTS)), json)?
            }
            (What::Claims, json) => {
                claims(&self.claims, &self.paper, json).map_err(Failure::Usage)?
            }
        };
        print(&text)?;
        Ok(Exit::Holds)
    }

    fn perform_surveyed(&self) -> Result<Exit, Failure> {
        let text = match (self.what, self.json) {
            (What::Algorithms, false) => surveyed::table(),
            (What::Algorithms, true) => surveyed::json(),
            (What::Topologies | What::Faults | What::Claims | What::Challenges | What::Runs, _) => {
                let why = "--surveyed: only algorithms were; write 'list --surveyed'";
                return Err(Failure::Usage(why.to_owned()));
            }
        };
        print(&text)?;
        Ok(Exit::Holds)
    }
}

fn algorithms_table() -> String {
    let mut table = Table::new(["name", "family", "what it costs, and where it is from"]);
    for info in registry::ALL {
        let about = format!("{}\n{}", info.cost, info.paper);
        table.row([info.name, family(info.family), &about]);
    }
    table.show()
}

fn algorithms_json() -> String {
    let entries = registry::ALL.iter().map(|info| {
        json!({
            "name": info.name,
            "title": info.title,
            "family": family(info.family),
            "cost": info.cost,
            "paper": info.paper,
        })
    });
    let list = serde_json::Value::Array(entries.collect());
    format!("{list:#}\n")
}

fn topologies_table() -> String {
    let mut table = Table::new(["--topology", "what it is"]);
    for (name, meaning) in Shape::ALL {
        table.row([name, meaning]);
    }
    table.row([
        "file:EDGES",
        "the edges of a file, one in each line: 0-1, or 0>1 with a direction",
    ]);
    table.show()
}

fn topologies_json() -> String {
    let shapes = Shape::ALL.iter();
    let shapes = shapes.map(|(name, meaning)| json!({ "name": name, "meaning": meaning }));
    let list = serde_json::Value::Array(shapes.collect());
    format!("{list:#}\n")
}

/// The forms are too long for a column: each has a line of its own, and below it what it means.
fn faults_table() -> String {
    let mut text = String::new();
    for word in glossary::words() {
        text += word.form;
        text.push('\n');
        for line in wrap(word.meaning, FAULT_WIDTH) {
            text += &format!("    {line}\n");
        }
        text += &format!("    --fault \"{}\"\n\n", word.example);
    }
    text
}

/// Lines of this width fit on a terminal when they are indented.
const FAULT_WIDTH: usize = 90;

fn faults_json() -> String {
    let words = glossary::words().map(|word| {
        json!({
            "word": word.word,
            "form": word.form,
            "meaning": word.meaning,
            "example": word.example,
        })
    });
    let list = serde_json::Value::Array(words.collect());
    format!("{list:#}\n")
}

fn challenges(json: bool) -> Result<String, String> {
    let course = course()?;
    if json {
        let challenges = course.iter().map(|challenge| {
            json!({
                "name": challenge.name,
                "title": challenge.title,
                "asks": challenge.asks,
                "points": challenge.points(),
            })
        });
        let list = serde_json::Value::Array(challenges.collect());
        return Ok(format!("{list:#}\n"));
    }
    let mut table = Table::new(["challenge", "points", "what is to be achieved"]);
    for challenge in &course {
        let points = challenge.points().to_string();
        table.row([&challenge.name, &points, &challenge.title]);
    }
    Ok(table.show())
}

fn claims(directory: &Path, papers: &[String], json: bool) -> Result<String, String> {
    let mut claim_files = claim_files(directory, Path::new(PAPERS))?;
    check_papers(&claim_files, papers)?;
    claim_files.retain(|file| file.is_of_any(papers));
    let claims = claim_files
        .iter()
        .flat_map(|file| file.claims.iter().map(move |claim| (file, claim)));
    let published = |claim: &Claim| match claim.verdict {
        Some(verdict) => verdict.to_string(),
        None => "not yet".to_owned(),
    };
    if json {
        let claims = claims.map(|(file, claim)| {
            json!({
                "id": claim.id,
                "source": file.source,
                "place": claim.place,
                "text": file.text,
                "quote": claim.quotes,
                "claim": claim.says,
                "kind": claim.statement,
                "verdict": published(claim),
                "depends_on": claim.condition,
                "lab": claim.lab,
                "differs": claim.differs,
            })
        });
        let list = serde_json::Value::Array(claims.collect());
        return Ok(format!("{list:#}\n"));
    }
    let mut text = String::new();
    for file in &claim_files {
        let mut table = Table::new(["claim", "verdict", "what it says, and where"]);
        for claim in &file.claims {
            let says = format!("{} ({})", claim.says, claim.place);
            table.row([&claim.id, &published(claim), &says]);
        }
        text += &format!("{} · {}\n\n{}\n", file.source, file.title, table.show());
    }
    Ok(text)
}

/// The name of a family of algorithms, as it is shown.
pub(crate) fn family(family: Family) -> &'static str {
    match family {
        Family::Coordinator => "coordinator",
        Family::Permission => "permission",
        Family::Token => "token",
        Family::Structure => "structure",
        Family::Voting => "voting",
        Family::Controller => "controller",
    }
}
