//! The published pages: `RESULTS.md` for all claims, and a page for each source.
//!
//! They hold nothing that changes from one reproduction to the next: no commit, no time, no path. Whoever
//! reproduces everything gets the same text.

use std::collections::BTreeMap;

use algorithms::printed::Defect;
use algorithms::registry;
use analysis::claims::Verdict;

use super::file::ClaimFile;
use super::report::counted;
use super::table::ClaimResult;
use crate::embedded;

/// Where the sweeps are whose pictures the pages show.
const SWEEPS: &str = "experiments/sweeps";

/// What the published pages begin with.
const WRITTEN: &str = "Written by `orchestrator reproduce --engine both --publish`.";

/// The text of `RESULTS.md`: counts, what does not hold, and every claim with one number.
pub(crate) fn overview(results: &[ClaimResult<'_>]) -> String {
    let is_ours = |one: &&ClaimResult<'_>| one.file.text.is_none();
    let ours = results.iter().filter(is_ours).count();
    let of_sources = results.iter().filter(|one| !is_ours(one));
    let of_sources = of_sources.cloned().collect::<Vec<_>>();
    let mut text = format!(
        "# What the sources claim, and what we see\n\n\
         {WRITTEN} {}; besides, {ours} statements of our own.\n\n\
         A claim is a sentence of a source; the source's page quotes it. What the verdicts mean stands in\n\
         [docs/claims.md](docs/claims.md#the-verdict), what changed and why in\n\
         [docs/claims-history.md](docs/claims-history.md); `results/reference/claims.csv` has everything that was\n\
         seen, and the commands that show it again. `orchestrator reproduce ID` repeats one claim.\n\n",
        counted(&of_sources)
    );
    text += &counts(results);
    text += "\n## What does not hold\n\n";
    let fails = results.iter().filter(|one| {
        let verdict = one.verdicts.verdict;
        matches!(verdict, Verdict::Refuted | Verdict::NotReproduced)
    });
    for one in fails {
        text += &format!(
            "- **{}**, {}: {} {}\n",
            linked(one),
            one.verdicts.verdict,
            plain(&one.claim.says),
            plain(&finding(one)),
        );
    }
    text += "\n## Every claim\n";
    let mut source = "";
    for one in results {
        if one.file.source != source {
            source = &one.file.source;
            text += &format!(
                "\n### {}\n\n{}\n\n| claim | verdict | it says | seen |\n|---|---|---|---|\n",
                plain(source),
                plain(&one.file.title)
            );
        }
        text += &format!(
            "| {} | {} | {} | {} |\n",
            linked(one),
            worded(one),
            plain(&one.claim.says),
            plain(&one.number()),
        );
    }
    text
}

/// A page for each source, by its file name: quotations, verdicts, the defects of its text, pictures.
pub(crate) fn of_sources(results: &[ClaimResult<'_>]) -> BTreeMap<String, String> {
    let mut sources = BTreeMap::<&str, Vec<&ClaimResult<'_>>>::new();
    for one in results {
        sources.entry(page(one.file)).or_default().push(one);
    }
    let pages = sources.iter();
    let pages = pages.map(|(name, results)| (format!("{name}.md"), of_source(name, results)));
    pages.collect()
}

fn of_source(name: &str, results: &[&ClaimResult<'_>]) -> String {
    let mut text = format!("# {name}: what it claims, and what we see\n\n{WRITTEN}\n");
    let mut files = results.iter().map(|one| one.file).collect::<Vec<_>>();
    files.dedup_by_key(|file| &file.source);
    for file in files {
        text += &format!("\n## {}\n", plain(&file.title));
        if let Some(counting) = &file.counting {
            text += &format!("\nCounted: {}\n", plain(counting));
        }
        for one in results {
            if one.file.source == file.source {
                text += &of_claim(one);
            }
        }
    }
    text + &errata(name) + &figures(name)
}

/// A claim in a few lines: what the source says, to the letter, and what was seen.
fn of_claim(one: &ClaimResult<'_>) -> String {
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
        let engines = match real.disagreements.is_empty() {
            true => "the engines agree",
            false => "the engines differ",
        };
        text += &format!("On processes: {}; {engines}.\n", real.verdict);
    }
    text + &format!("`orchestrator reproduce {}`\n", claim.id)
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

/// The pictures of the source's sweeps, which `scripts/references` draws.
fn figures(name: &str) -> String {
    let sweeps = embedded::list(std::path::Path::new(SWEEPS), "toml").unwrap_or_default();
    let mut text = String::new();
    for path in sweeps {
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else {
            continue;
        };
        let read = embedded::read_text(&path).unwrap_or_default();
        let drawn = read.parse::<toml::Table>();
        let drawn = drawn.is_ok_and(|sweep| sweep.contains_key("plot"));
        if drawn && stem.starts_with(&format!("{name}-")) {
            text += &format!(
                "\n![{stem}]({stem}.svg)\n\n`orchestrator sweep experiments/sweeps/{stem}.toml`\n"
            );
        }
    }
    match text.is_empty() {
        true => text,
        false => format!("\n## Figures\n{text}"),
    }
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

fn linked(one: &ClaimResult<'_>) -> String {
    let (id, page) = (&one.claim.id, page(one.file));
    let anchor = id.to_lowercase();
    format!("[{}](results/reference/{page}.md#{anchor})", plain(id))
}

/// Words of a claim file in Markdown: no tag of HTML among them, no end of a table's cell.
fn plain(words: &str) -> String {
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
