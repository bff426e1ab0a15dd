//! `claims.csv`: a row for each claim.

use std::borrow::Cow;

use analysis::claims::Verdict;

use super::file::Claim;
use super::runner::Verdicts;

/// A claim of a source, and what became of it.
#[derive(Clone, Debug)]
pub(crate) struct ClaimResult<'a> {
    /// The name of the source's claim file.
    pub(crate) source: &'a str,
    /// Author, title and year of the source.
    pub(crate) title: &'a str,
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
    /// Where the two engines differ by more than chance; empty if they agree.
    pub(crate) disagreements: Vec<String>,
}

const COLUMNS: [&str; 12] = [
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

    /// Whether the engines agree, in words; empty if only one was asked.
    pub(crate) fn engines(&self) -> String {
        match &self.real {
            None => String::new(),
            Some(real) if real.disagreements.is_empty() => "agree".to_owned(),
            Some(real) => format!("differ: {}", real.disagreements.join("; ")),
        }
    }

    fn cells(&self) -> [String; 12] {
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
            self.source.to_owned(),
            self.claim.place.clone(),
            self.claim.says.clone(),
            self.verdicts.verdict.to_string(),
            published.unwrap_or_default(),
            self.claim.lab.clone(),
            methods.join(" "),
            self.evidence(),
            again.join("; "),
            self.real
                .as_ref()
                .map_or_else(String::new, |real| real.verdict.to_string()),
            self.engines(),
        ]
    }
}

/// The same for people, as Markdown.
pub(crate) fn markdown(results: &[ClaimResult<'_>], counted: &str) -> String {
    let commit = option_env!("TURNSTILE_COMMIT").unwrap_or("unknown");
    let mut text = format!(
        "# What the sources claim, and what we see\n\n\
         {counted}.\n\n\
         Written by `orchestrator reproduce` at commit {commit}; `claims.csv` has the same with the\n\
         commands that repeat it. What the verdicts mean stands in\n\
         [experiments/claims](experiments/claims/README.md).\n"
    );
    let mut source = "";
    for one in results {
        if one.source != source {
            source = one.source;
            text += &format!(
                "\n## {}\n\n{}\n\n| claim | verdict | it says | seen |\n|---|---|---|---|\n",
                plain(source),
                plain(one.title)
            );
        }
        let mut seen = plain(&one.evidence());
        if let Some(differs) = &one.claim.differs {
            seen += &format!(" *{}*", plain(differs));
        }
        text += &format!(
            "| {} | {} | {} ({}) | {seen} |\n",
            plain(&one.claim.id),
            one.verdicts.verdict,
            plain(&one.claim.says),
            plain(&one.claim.place),
        );
    }
    text
}

/// Words of a claim file in a cell of a Markdown table: no tag of HTML among them, no end of the cell.
fn plain(words: &str) -> String {
    let words = words.replace('|', "\\|").replace('\n', " ");
    words.replace('<', "&lt;")
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
        assert_eq!(plain("a|<script>\nb"), "a\\|&lt;script> b");
        assert_eq!(inert("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
        assert_eq!(inert("2*(nodes-1)"), "2*(nodes-1)");
    }
}
