//! Structures in TOML files.
//!
//! ```toml
//! # Figure 4.
//! [[node]]
//! inform = [0]
//! request = [0, 1]
//!
//! [[node]]
//! inform = [1]
//! request = [0, 1]
//!
//! [[node]]
//! inform = [0, 1, 2]
//! request = [0, 1, 2]
//! ```

use serde::Deserialize;

use super::structure::{Set, Structure};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "node")]
    nodes: Vec<Sets>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sets {
    inform: Set,
    request: Set,
}

/// The structure that a file's text describes.
pub fn parse(text: &str) -> Result<Structure, String> {
    let file: File = toml::from_str(text).map_err(|error| pointed_at(text, &error))?;
    let sets = file.nodes.into_iter();
    Structure::listed(sets.map(|sets| (sets.inform, sets.request)).collect())
}

/// What is wrong, and the line in which it is, marked.
fn pointed_at(text: &str, error: &toml::de::Error) -> String {
    let wrong = error
        .message()
        .replace("expected u32", "expected the number of a node");
    let span = error.span().unwrap_or_default();
    let (Some(before), Some(marked)) = (text.get(..span.start), text.get(span)) else {
        return wrong;
    };
    let number = 1 + before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    // A tab would tear the marks from what they are below.
    let line = line.replace(|c: char| c.is_control(), " ");
    let indent = " ".repeat(before[start..].chars().count());
    let marked = marked.lines().next().unwrap_or_default();
    let marks = "^".repeat(marked.chars().count().max(1));
    format!("line {number}: {wrong}\n  {line}\n  {indent}{marks}")
}

/// The same, written out in a word.
pub(super) fn condense(text: &str) -> Result<String, String> {
    parse(text).map(|structure| structure.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_the_word_says() {
        let text =
            "[[node]]\ninform = [0]\nrequest = [0, 1]\n[[node]]\ninform = [1]\nrequest = [1, 0]";
        assert_eq!(condense(text).as_deref(), Ok("0/0,1;1/0,1"));
    }

    #[test]
    fn what_is_wrong_in_a_file_is_pointed_at() {
        let why = |text| parse(text).unwrap_err();
        assert!(why("[[node]]\ninform = [0]").contains("missing field `request`"));
        assert!(why("[[node]]\ninform = [0]\nrequest = [3]").contains("R0 names node 3"));
        assert!(why("[[knot]]").contains("unknown field `knot`"));
        assert_eq!(
            why("[[node]]\ninform =  [0, \"one\"]\nrequest = [0]"),
            "line 2: invalid type: string \"one\", expected the number of a node\n  \
             inform =  [0, \"one\"]\n                ^^^^^"
        );
    }
}
