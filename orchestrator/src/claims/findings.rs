//! What was found, in prose: `experiments/findings.toml`. Every number in it comes from the results.

use std::collections::BTreeSet;
use std::path::Path;

use algorithms::registry;
use serde::Deserialize;

use super::pages::{linked, plain};
use super::table::ClaimResult;
use crate::scenario::read_toml;

/// The findings of all sources, grouped.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Findings {
    #[serde(default)]
    group: Vec<Group>,
}

/// Findings of one sort, and why they matter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    title: String,
    /// What they have in common.
    #[serde(default)]
    about: Option<String>,
    /// Each in a few sentences. `[KAV-17]` is a link to that claim, `{KAV-17}` what was seen of it, `{KAV-17.2}`
    /// the second number in that, and `{KAV-8#3}` what its third test saw.
    finding: Vec<String>,
}

impl Findings {
    /// Reads the file of findings.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        read_toml(path, "findings")
    }

    /// The findings whose claims are all among the results, and the claims that they name.
    pub(super) fn told(&self, results: &[ClaimResult<'_>]) -> (String, BTreeSet<String>) {
        let mut text = String::new();
        let mut named = BTreeSet::new();
        for group in &self.group {
            let about = group.about.as_ref().and_then(|about| told(about, results));
            let findings = group.finding.iter();
            let findings = findings.filter_map(|finding| told(finding, results));
            let findings = findings.collect::<Vec<_>>();
            if findings.is_empty() {
                continue;
            }
            text += &format!("\n### {}\n\n", plain(&group.title));
            if let Some(about) = about {
                text += &format!("{}\n\n", about.words);
                named.extend(about.claims);
            }
            for finding in findings {
                text += &format!("- {}\n", finding.words);
                named.extend(finding.claims);
            }
        }
        (text, named)
    }
}

/// A finding with its numbers, and the claims that it links to.
struct Told {
    words: String,
    claims: Vec<String>,
}

/// `None` where a claim or a number of it is not among the results.
fn told(words: &str, results: &[ClaimResult<'_>]) -> Option<Told> {
    let mut told = Told {
        words: String::new(),
        claims: Vec::new(),
    };
    let mut rest = words;
    while let Some(place) = rest.find(['[', '{']) {
        let (before, from) = rest.split_at(place);
        told.words += &plain(before);
        let end = from.find([']', '}'])?;
        let (mark, name) = (&from[..1], &from[1..end]);
        rest = &from[end + 1..];
        if mark == "{" {
            told.words += &plain(&number(name, results)?);
        } else {
            let one = results.iter().find(|one| one.claim.id == name)?;
            told.words += &linked(one);
            told.claims.push(name.to_owned());
        }
    }
    told.words += &plain(rest);
    Some(told)
}

/// What stands for a name in braces.
fn number(name: &str, results: &[ClaimResult<'_>]) -> Option<String> {
    let defects = || {
        registry::ALL.iter().flat_map(|info| {
            let defects = info.more.defects.iter();
            defects.map(|defect| defect.line_as_printed(info.name))
        })
    };
    match name {
        "defects" => return Some(defects().count().to_string()),
        "defects shown" => return Some(defects().flatten().count().to_string()),
        _ => {}
    }
    let (name, which) = match name.split_once('.') {
        Some((name, which)) => (name, Some(which.parse::<usize>().ok()?)),
        None => (name, None),
    };
    let (id, test) = match name.split_once('#') {
        Some((id, test)) => (id, Some(test.parse::<usize>().ok()?)),
        None => (name, None),
    };
    let one = results.iter().find(|one| one.claim.id == id)?;
    let seen = match test {
        Some(test) => {
            let test = one.verdicts.tests.get(test.checked_sub(1)?)?;
            test.outcome.number.clone()
        }
        None => one.bare_number(),
    };
    let Some(which) = which else {
        return Some(seen).filter(|seen| !seen.is_empty());
    };
    let words = seen.split([' ', ',']);
    let mut numbers = words.filter(|word| word.parse::<f64>().is_ok());
    numbers.nth(which.checked_sub(1)?).map(shortened)
}

/// `6` for `6.000`.
fn shortened(number: &str) -> String {
    match number.contains('.') {
        true => number
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned(),
        false => number.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_people_do() {
        let written = ["6.000", "30", "0.4116", "36.00"].map(shortened);
        assert_eq!(written, ["6", "30", "0.4116", "36"]);
    }

    #[test]
    fn a_finding_without_its_claim_is_left_out() {
        assert!(told("it takes {KAV-17.1} messages", &[]).is_none());
        assert!(told("see [KAV-17]", &[]).is_none());
        assert!(told("see [KAV-17", &[]).is_none());
        let told = told("{defects} defects", &[]).expect("no claim is named");
        let number = told.words.trim_end_matches(" defects");
        assert!(
            number.parse::<u32>().is_ok_and(|number| number > 50),
            "{number}"
        );
    }
}
