//! Every claim quotes its source, to the letter.
//!
//! The sources' texts are not ours to publish. A reader who has them puts them into a directory and names it
//! in `TURNSTILE_TEXTS`; by default it is `../shared/papers`, beside the repository. The test then finds
//! each quotation in its text. `experiments/claims/quotations.csv` holds a digest of each text and of each
//! quotation that was found in it, so that without the texts a changed quotation is noticed all the same.
//!
//! With `UPDATE=1`, and the texts, the table is written again.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::{Finished, Place};

const TABLE: &str = "experiments/claims/quotations.csv";

/// A quotation of a claim, as the claim files have it.
struct Quotation {
    id: String,
    text: String,
    words: String,
}

/// A line of the table: where the quotation stands in its text, and digests of both.
#[derive(Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Found {
    id: String,
    text: String,
    text_digest: String,
    offset: usize,
    characters: usize,
    digest: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// White space and hyphens are the typesetter's: without them a quotation is what it is in the text.
fn folded(words: &str) -> String {
    let hyphen = |letter: char| matches!(letter, '-' | '\u{ad}' | '\u{2010}' | '\u{2011}');
    words
        .chars()
        .filter(|&letter| !letter.is_whitespace() && !hyphen(letter))
        .collect()
}

fn digest(folded: &str) -> String {
    let hash = blake3::hash(folded.as_bytes()).to_hex();
    hash[..32].to_owned()
}

fn quotations() -> Vec<Quotation> {
    let mut command = Place::new().command(["list", "claims", "--json"]);
    let listed = Finished::new(command.current_dir(root()).output().unwrap()).expect(0);
    let claims = serde_json::from_str::<Vec<serde_json::Value>>(&listed.stdout).unwrap();
    let mut quotations = Vec::new();
    for claim in claims {
        let Some(text) = claim["text"].as_str() else {
            continue;
        };
        for words in claim["quote"].as_array().unwrap() {
            quotations.push(Quotation {
                id: claim["id"].as_str().unwrap().to_owned(),
                text: text.to_owned(),
                words: words.as_str().unwrap().to_owned(),
            });
        }
    }
    quotations
}

/// The directory of the texts, if it is there.
fn texts() -> Option<PathBuf> {
    let named = std::env::var_os("TURNSTILE_TEXTS").map(PathBuf::from);
    let texts = named.unwrap_or_else(|| root().join("../shared/papers"));
    texts.is_dir().then_some(texts)
}

fn table() -> Vec<Found> {
    let mut reader = csv::Reader::from_path(root().join(TABLE)).unwrap();
    let lines = reader.deserialize();
    lines.collect::<Result<_, _>>().unwrap()
}

#[test]
fn every_quotation_is_the_one_that_was_found_in_its_source() {
    let table = table();
    let quotations = quotations();
    assert!(quotations.len() > 150, "only {}", quotations.len());
    let listed = quotations.iter().map(|one| {
        let words = folded(&one.words);
        (
            one.id.as_str(),
            one.text.as_str(),
            digest(&words),
            words.chars().count(),
        )
    });
    let found = table.iter().map(|one| {
        let Found {
            id,
            text,
            digest,
            characters,
            ..
        } = one;
        (id.as_str(), text.as_str(), digest.clone(), *characters)
    });
    let (listed, found) = (listed.collect::<Vec<_>>(), found.collect::<Vec<_>>());
    let changed = listed.iter().filter(|one| !found.contains(one));
    let gone = found.iter().filter(|one| !listed.contains(one));
    let changed = changed.chain(gone).map(|one| one.0).collect::<Vec<_>>();
    if std::env::var_os("UPDATE").is_none() {
        assert!(
            changed.is_empty(),
            "other quotations than in {TABLE}: {changed:?}"
        );
    }
}

#[test]
fn every_quotation_stands_in_its_source() {
    let Some(directory) = texts() else {
        eprintln!(
            "skipped: the sources' texts are not here; TURNSTILE_TEXTS names their directory"
        );
        return;
    };
    let mut texts = BTreeMap::new();
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for one in quotations() {
        let text = texts.entry(one.text.clone()).or_insert_with(|| {
            let path = directory.join(format!("{}.txt", one.text));
            folded(&fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}")))
        });
        let words = folded(&one.words);
        match text.find(&words) {
            Some(place) => found.push(Found {
                id: one.id,
                text_digest: digest(text),
                offset: text[..place].chars().count(),
                characters: words.chars().count(),
                digest: digest(&words),
                text: one.text,
            }),
            None => missing.push(format!("{}: {}", one.id, one.words)),
        }
    }
    assert!(
        missing.is_empty(),
        "not in the source:\n{}",
        missing.join("\n")
    );
    if std::env::var_os("UPDATE").is_some() {
        let mut writer = csv::Writer::from_path(root().join(TABLE)).unwrap();
        for line in &found {
            writer.serialize(line).unwrap();
        }
        writer.flush().unwrap();
    }
    assert_eq!(table(), found, "UPDATE=1 writes {TABLE} again");
}
