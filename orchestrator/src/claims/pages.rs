//! The published pages: `RESULTS.md` for all claims, and a page for each source.
//!
//! They hold nothing that changes from one reproduction to the next: no commit, no time, no path. A
//! reader who reproduces everything gets the same text.

use std::collections::{BTreeMap, BTreeSet};

use algorithms::printed::Defect;
use algorithms::registry;
use analysis::claims::Verdict;

use super::file::ClaimFile;
use super::findings::Findings;
use super::report::counted;
use super::table::{ClaimResult, OnProcesses};
use crate::figures::Figure;

/// What the published pages begin with.
const WRITTEN: &str = "Written by `orchestrator reproduce --engine both --publish`.";

/// What runs where a case does not say, in the pages of the sources.
const REPAIRED: &str = "Rules are repaired where a case does not say that they are as printed; what is wrong with the \
                        printed ones stands at the end of the page.";

/// The text of `RESULTS.md`: what was found, counts, and every claim with one number.
pub(crate) fn overview(results: &[ClaimResult<'_>], findings: &Findings) -> String {
    let is_ours = |one: &&ClaimResult<'_>| one.file.text.is_none();
    let ours = results.iter().filter(is_ours).count();
    let of_sources = results.iter().filter(|one| !is_ours(one));
    let of_sources = of_sources.cloned().collect::<Vec<_>>();
    let mut text = format!(
        "# What the sources claim, and what we see\n\n\
         {WRITTEN} {}; besides, {ours} statements of our own.\n\n\
         A claim is a sentence of a source; the source's page quotes it, has all that was seen and the defects of\n\
         the printed text. `orchestrator reproduce ID` repeats one claim, `results/reference/claims.csv` has the\n\
         command of every test. What the verdicts mean stands in [docs/claims.md](docs/claims.md#the-verdict), what\n\
         changed and why in [docs/claims-history.md](docs/claims-history.md).\n\n",
        counted(&of_sources)
    );
    text += &counts(results);
    let (found, named) = findings.told(results);
    if !found.is_empty() {
        text += &format!("\n## What was found\n{found}");
    }
    text += &other_failures(results, &named);
    text += &on_processes(results);
    text += "\n## Every claim\n\n| claim | verdict | it says | seen |\n|---|---|---|---|\n";
    for one in results {
        text += &format!(
            "| {} | {} | {} | {} |\n",
            linked(one),
            worded(one),
            plain(&one.claim.says),
            plain(&one.bare_number()),
        );
    }
    text
}

/// The claims that do not hold and that no finding names.
fn other_failures(results: &[ClaimResult<'_>], named: &BTreeSet<String>) -> String {
    let others = results.iter().filter(|one| {
        let verdict = one.verdicts.verdict;
        let fails = matches!(verdict, Verdict::Refuted | Verdict::NotReproduced);
        fails && !named.contains(&one.claim.id)
    });
    let lines = others.map(|one| {
        let (id, verdict) = (linked(one), one.verdicts.verdict);
        format!(
            "- {id}, {verdict}: {} {}\n",
            plain(&one.claim.says),
            plain(&finding(one))
        )
    });
    match lines.collect::<String>() {
        lines if lines.is_empty() => lines,
        lines => format!("\n## What else does not hold\n\n{lines}"),
    }
}

/// A page for each source, by its file name: quotations, verdicts, the defects of its text, pictures.
pub(crate) fn of_sources(
    results: &[ClaimResult<'_>],
    figures: &[Figure],
) -> BTreeMap<String, String> {
    let mut sources = BTreeMap::<&str, Vec<&ClaimResult<'_>>>::new();
    for one in results {
        sources.entry(page(one.file)).or_default().push(one);
    }
    let pages = sources.iter();
    let pages =
        pages.map(|(name, results)| (format!("{name}.md"), of_source(name, results, figures)));
    pages.collect()
}

fn of_source(name: &str, results: &[&ClaimResult<'_>], figures: &[Figure]) -> String {
    let mut text = format!("# {name}: what it claims, and what we see\n\n{WRITTEN}\n");
    let mut files = results.iter().map(|one| one.file).collect::<Vec<_>>();
    files.dedup_by_key(|file| &file.source);
    for file in files {
        text += &format!("\n## {}\n", plain(&file.title));
        if let Some(counting) = &file.counting {
            text += &format!("\nCounted: {}\n", plain(counting));
        }
        if file.text.is_some() {
            text += &format!("\n{REPAIRED}\n");
        }
        for one in results {
            if one.file.source == file.source {
                text += &of_claim(one, figures);
            }
        }
    }
    text + &errata(name) + &pictures(results, figures)
}

/// A claim in a few lines: what the source says, to the letter, and what was seen.
fn of_claim(one: &ClaimResult<'_>, figures: &[Figure]) -> String {
    let claim = one.claim;
    let mut text = format!("\n### {}\n\n", claim.id);
    for quote in &claim.quotes {
        text += &format!("> {}\n", plain(quote));
    }
    if !claim.quotes.is_empty() {
        text += ">\n";
        text += &format!("> — {}\n\n", plain(&claim.place));
    }
    text += &format!(
        "**{}** ({}). {} {}\n",
        worded(one),
        claim.statement,
        plain(&claim.says),
        plain(&finding(one)),
    );
    if let Some(real) = &one.real {
        let says = match real.disagreements.is_empty() {
            _ if claim.varies => "another thing from run to run".to_owned(),
            true => format!("{}; the engines agree", real.verdict),
            false => format!("{}; the engines differ", real.verdict),
        };
        let tests = one.verdicts.tests.len();
        let mut where_it_ran = match real.tests == tests {
            true => String::new(),
            false => format!(", {} of {tests} tests", real.tests),
        };
        if let Some(most) = real.most_nodes {
            where_it_ran += &format!(", at most {most} nodes");
        }
        text += &format!("On processes{where_it_ran}: {says}.\n");
    }
    text += &format!("`orchestrator reproduce {}`\n", claim.id);
    let links = figures.iter().filter(|figure| figure.is_about(claim));
    let links = links.map(|figure| format!("[{0}]({0}.svg)", figure.name));
    let links = links.collect::<Vec<_>>();
    if !links.is_empty() {
        text += &format!("Figure: {}\n", links.join(", "));
    }
    text
}

/// The defects of a source's printed text, with the command that shows each.
fn errata(name: &str) -> String {
    let prefix = format!("{name}-");
    let mut text = String::new();
    for info in registry::ALL {
        let defects = info.more.defects.iter();
        let mut defects = defects
            .filter(|defect| defect.id.starts_with(&prefix))
            .peekable();
        if defects.peek().is_none() {
            continue;
        }
        text += &format!("\n### {}\n\n", info.title);
        for defect in defects {
            text += &erratum(info.name, defect);
        }
    }
    match text.is_empty() {
        true => text,
        false => format!("\n## Defects of the printed text\n{text}"),
    }
}

fn erratum(algorithm: &str, defect: &Defect) -> String {
    let (id, what, result) = (defect.id, plain(defect.what), plain(defect.result));
    match defect.line_as_printed(algorithm) {
        Some(line) => format!("- **{id}**: {what}. Then {result}. `orchestrator {line}`\n"),
        None => format!("- **{id}**: {what}. Told, not run: {result}.\n"),
    }
}

/// The pictures that belong to claims of the page, each with the command that makes it.
fn pictures(results: &[&ClaimResult<'_>], figures: &[Figure]) -> String {
    let mut text = String::new();
    for figure in figures {
        let claims = results.iter().map(|one| one.claim);
        let claims = claims.filter(|claim| figure.is_about(claim));
        let claims = claims.map(|claim| format!("[{0}](#{1})", claim.id, claim.id.to_lowercase()));
        let claims = claims.collect::<Vec<_>>();
        let Some(plot) = figure.plot().filter(|_| !claims.is_empty()) else {
            continue;
        };
        let (name, title) = (
            &figure.name,
            plain(plot.title.as_deref().unwrap_or_default()),
        );
        text += &format!("\n![{title}]({name}.svg)\n\nTo {}. ", claims.join(", "));
        text += &format!(
            "Numbers: [{name}.csv]({name}.csv). `orchestrator reproduce {name} --figures`\n"
        );
    }
    match text.is_empty() {
        true => text,
        false => format!(
            "\n## Figures\n\nCircles and lines in colour were measured, with 95 % intervals; what is black is in print.\n{text}"
        ),
    }
}

/// Which claims ran on processes too, and those that came out otherwise there.
fn on_processes(results: &[ClaimResult<'_>]) -> String {
    let asked = results.iter();
    let asked = asked.filter_map(|one| Some((one, one.real.as_ref()?, one.on_processes()?)));
    let asked = asked.collect::<Vec<_>>();
    if asked.is_empty() {
        return String::new();
    }
    let listed = |wanted: &dyn Fn(&ClaimResult<'_>, OnProcesses) -> bool| {
        let asked = asked.iter().filter(|(one, _, says)| wanted(one, *says));
        let words = asked.map(|(one, real, says)| {
            let (simulated, tests) = (one.verdicts.verdict, one.verdicts.tests.len());
            let there = format!("there {} of {tests} tests", real.tests);
            format!("{} ({simulated}; {there}: {says})", linked(one))
        });
        words.collect::<Vec<_>>()
    };
    let undecided = OnProcesses::Says(Verdict::Undecided);
    let same = listed(&|one, says| says == OnProcesses::Says(one.verdicts.verdict));
    let open = listed(&|_, says| says == undecided);
    let varying = listed(&|_, says| says == OnProcesses::Varies);
    let other = listed(&|one, says| match says {
        OnProcesses::Varies => false,
        OnProcesses::Says(verdict) => says != undecided && verdict != one.verdicts.verdict,
    });
    let mut text = format!(
        "\n## On processes\n\n\
         {} claims ran on processes too, as far as their sizes allow; {} got the same verdict there. Where only\n\
         some tests of a claim can run there, as a search cannot, its verdict is of those alone.\n",
        asked.len(),
        same.len()
    );
    for (what, claims) in [
        ("Undecided there", open),
        ("Another verdict there", other),
        (
            "Undecided or decided there, by timing, from run to run",
            varying,
        ),
    ] {
        if !claims.is_empty() {
            text += &format!("\n{what}: {}.\n", claims.join(", "));
        }
    }
    text
}

/// How many claims of each source have each verdict.
fn counts(results: &[ClaimResult<'_>]) -> String {
    const VERDICTS: [Verdict; 6] = [
        Verdict::Reproduced,
        Verdict::Conditional,
        Verdict::NotReproduced,
        Verdict::Refuted,
        Verdict::NotTestable,
        Verdict::Undecided,
    ];
    let headings = VERDICTS.map(|verdict| verdict.to_string()).join(" | ");
    let mut text = format!("| source | claims | {headings} |\n|---|---|---|---|---|---|---|---|\n");
    let mut sources = results.iter().map(|one| one.file).collect::<Vec<_>>();
    sources.dedup_by_key(|file| &file.source);
    for file in sources {
        let of = results.iter().filter(|one| one.file.source == file.source);
        let of = of.map(|one| one.verdicts.verdict).collect::<Vec<_>>();
        let numbers = VERDICTS.map(|verdict| {
            let number = of.iter().filter(|one| **one == verdict).count();
            number.to_string()
        });
        let (page, source) = (page(file), plain(&file.source));
        text += &format!(
            "| [{source}](results/reference/{page}.md) | {} | {} |\n",
            of.len(),
            numbers.join(" | ")
        );
    }
    text
}

/// The page that a file's claims stand on: a source may have several files.
fn page(file: &ClaimFile) -> &str {
    let source = &file.source;
    source.split_once('-').map_or(source, |(first, _)| first)
}

/// What was found instead, or the number that says most.
fn finding(one: &ClaimResult<'_>) -> String {
    let number = one.number();
    let mut words = match number.is_empty() {
        true => one.evidence(),
        false => format!("Seen: {number}"),
    };
    if !words.ends_with('.') {
        words.push('.');
    }
    match &one.claim.differs {
        Some(finding) => format!("{words} {finding}"),
        None => words,
    }
}

/// The verdict, and what it depends on.
fn worded(one: &ClaimResult<'_>) -> String {
    let verdict = one.verdicts.verdict;
    match one
        .claim
        .condition
        .filter(|_| verdict == Verdict::Conditional)
    {
        Some(condition) => format!("{verdict} on {condition}"),
        None => verdict.to_string(),
    }
}

/// A link to the claim on its source's page.
pub(super) fn linked(one: &ClaimResult<'_>) -> String {
    let (id, page) = (&one.claim.id, page(one.file));
    let anchor = id.to_lowercase();
    format!("[{}](results/reference/{page}.md#{anchor})", plain(id))
}

/// Words of a claim file in Markdown: no tag of HTML among them, no end of a table's cell.
pub(super) fn plain(words: &str) -> String {
    let words = words.replace('|', "\\|").replace('\n', " ");
    words.replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_claim_file_are_not_obeyed() {
        assert_eq!(plain("a|<script>\nb"), "a\\|&lt;script> b");
    }
}
