//! `claims.csv`: a row for each claim.

use std::borrow::Cow;
use std::fmt;

use analysis::claims::{Answer, Disagreement, Verdict};

use super::file::{Claim, ClaimFile};
use super::runner::{TestResult, Verdicts};

/// A claim of a source, and what became of it.
#[derive(Clone, Debug)]
pub(crate) struct ClaimResult<'a> {
    /// The file that the claim stands in.
    pub(crate) file: &'a ClaimFile,
    pub(crate) claim: &'a Claim,
    /// What the simulator and the explorer say of it.
    pub(crate) verdicts: Verdicts,
    /// What processes say of it, if it ran on them too.
    pub(crate) real: Option<ClusterResult>,
}

/// What became of a claim that ran on processes.
#[derive(Clone, Debug)]
pub(crate) struct ClusterResult {
    pub(crate) verdict: Verdict,
    /// How many of the claim's tests ran there.
    pub(crate) tests: usize,
    /// The most nodes of a cell that ran there, where larger ones did not.
    pub(crate) most_nodes: Option<u64>,
    /// Where the two engines differ by more than chance; empty if they agree.
    pub(crate) disagreements: Vec<Disagreement>,
}

/// What processes say of a claim whenever they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnProcesses {
    Says(Verdict),
    /// Another thing from run to run: timing decides there.
    Varies,
}

impl fmt::Display for OnProcesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Says(verdict) => write!(f, "{verdict}"),
            Self::Varies => f.write_str("varies"),
        }
    }
}

const COLUMNS: [&str; 16] = [
    "id",
    "source",
    "place",
    "claim",
    "verdict",
    "published",
    "lab",
    "means",
    "evidence",
    "again",
    "cluster_verdict",
    "engines",
    "kind",
    "depends_on",
    "number",
    "quote",
];

impl ClaimResult<'_> {
    /// Whether it got the verdict that was published.
    pub(crate) fn as_published(&self) -> bool {
        self.claim.verdict == Some(self.verdicts.verdict)
    }

    /// What all tests saw, one after another, each with its case.
    pub(crate) fn evidence(&self) -> String {
        let tests = self.verdicts.tests.iter().map(|test| {
            let seen = &test.outcome.seen;
            match &test.case {
                Some(case) => format!("{case}: {} ({seen})", test.outcome.answer),
                None => seen.clone(),
            }
        });
        tests.collect::<Vec<_>>().join("; ")
    }

    /// The one number that says most: of a test that speaks against it, if one does.
    pub(crate) fn number(&self) -> String {
        let number = self.bare_number();
        match (
            self.telling().and_then(|test| test.case.as_ref()),
            self.verdicts.tests.len(),
        ) {
            (Some(case), 2..) => format!("{case}: {number}"),
            _ => number,
        }
    }

    /// The same without the case that it is of.
    pub(crate) fn bare_number(&self) -> String {
        let test = self.telling();
        test.map_or_else(String::new, |test| test.outcome.number.clone())
    }

    /// The test whose number says most.
    fn telling(&self) -> Option<&TestResult> {
        let tests = &self.verdicts.tests;
        let wanted = match self.verdicts.verdict {
            Verdict::Reproduced => Answer::Yes,
            _ => Answer::No,
        };
        let telling = tests.iter().find(|test| test.outcome.answer == wanted);
        telling.or(tests.first())
    }

    /// What processes say of it, in a table that is kept: only what every run says. `None` if they were not asked.
    pub(crate) fn on_processes(&self) -> Option<OnProcesses> {
        let real = self.real.as_ref()?;
        Some(match self.claim.varies {
            true => OnProcesses::Varies,
            false => OnProcesses::Says(real.verdict),
        })
    }

    /// Whether the engines agree, in words; empty if only one was asked. Numbers that processes
    /// measured are never the same twice: they stand in the report, and not in a table that is kept.
    fn engines(&self) -> &'static str {
        match &self.real {
            None => "",
            Some(_) if self.claim.varies => "vary",
            Some(real) if real.disagreements.is_empty() => "agree",
            Some(_) => "differ",
        }
    }

    fn cells(&self) -> [String; 16] {
        let tests = &self.verdicts.tests;
        let mut methods = tests.iter().map(|test| test.method).collect::<Vec<_>>();
        methods.dedup();
        let mut again = tests
            .iter()
            .map(|test| test.again.as_str())
            .collect::<Vec<_>>();
        again.dedup();
        let published = self.claim.verdict.map(|verdict| verdict.to_string());
        [
            self.claim.id.clone(),
            self.file.source.clone(),
            self.claim.place.clone(),
            self.claim.says.clone(),
            self.verdicts.verdict.to_string(),
            published.unwrap_or_default(),
            self.claim.lab.clone(),
            methods.join(" "),
            self.evidence(),
            again.join("; "),
            self.on_processes()
                .map_or_else(String::new, |says| says.to_string()),
            self.engines().to_owned(),
            self.claim.statement.to_string(),
            self.claim
                .condition
                .map_or_else(String::new, |condition| condition.to_string()),
            self.number(),
            self.claim.quotes.join(" … "),
        ]
    }
}

/// A cell that a spreadsheet takes for text and not for a formula to obey.
fn inert(cell: &str) -> Cow<'_, str> {
    match cell.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => Cow::Owned(format!("'{cell}")),
        false => Cow::Borrowed(cell),
    }
}

/// The text of `claims.csv`.
pub(crate) fn csv(results: &[ClaimResult<'_>]) -> Result<String, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let wrong = |error: csv::Error| error.to_string();
    writer.write_record(COLUMNS).map_err(wrong)?;
    for one in results {
        let cells = one.cells();
        let cells = cells.iter().map(|cell| inert(cell).into_owned());
        writer.write_record(cells).map_err(wrong)?;
    }
    let bytes = writer.into_inner().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_claim_file_are_not_obeyed() {
        assert_eq!(inert("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
        assert_eq!(inert("2*(nodes-1)"), "2*(nodes-1)");
    }
}
