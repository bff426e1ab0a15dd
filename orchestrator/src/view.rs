//! The page that steps through a run: one file that opens from disk and asks nobody for anything.
//!
//! `analysis::view` makes the recording; the scripts beside this file show it. They are plain scripts
//! that share one scope, in this order, and need nothing else.

mod of_run;
mod of_world;

use std::path::Path;

use analysis::view::Recording;
use serde::Serialize;
use serde_json::Value;

use crate::{Failure, results};
pub(crate) use of_run::{Around, At, Choice, of_run};
pub(crate) use of_world::{Graph, MOST_STATES, of_map, of_schedule};

/// What the page is called in the directory of a run.
pub(crate) const NAME: &str = "view.html";

const PAGE: &str = include_str!("view/page.html");
const STYLE: &str = include_str!("view/style.css");
const SCRIPTS: [&str; 6] = [
    include_str!("view/run.js"),
    include_str!("view/lanes.js"),
    include_str!("view/graph.js"),
    include_str!("view/main.js"),
    include_str!("view/live.js"),
    include_str!("view/walk.js"),
];

/// Nothing may be fetched from anywhere, and nothing sent.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data:; form-action 'none'; base-uri 'none'";

/// A live page also asks the program that serves it.
const LIVE_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; \
                           style-src 'unsafe-inline'; img-src data:; connect-src 'self'; \
                           form-action 'none'; base-uri 'none'";

/// What stands above the picture.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Heading {
    /// What ran, in one line.
    #[serde(skip)]
    pub(crate) title: String,
    /// The verdict, in a word.
    pub(crate) verdict: String,
    /// The reasons for the verdict.
    pub(crate) because: Vec<String>,
    /// What the reader has to know about the page, a sentence each.
    pub(crate) notes: Vec<String>,
    /// The number of the event that the page opens at, if not the first.
    pub(crate) open_at: Option<u64>,
}

/// A page that steps through a run, and what it is told.
#[derive(Serialize)]
pub(crate) struct ViewPage {
    pub(crate) page: Heading,
    #[serde(flatten)]
    pub(crate) recording: Recording,
    /// What the page has to know if the run still goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) live: Option<Value>,
    /// The world in which the person chooses what happens, if that is what the page shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) graph: Option<Graph>,
}

impl ViewPage {
    /// The page as one file.
    pub(crate) fn html(&self) -> String {
        let recording = serde_json::to_string(self).expect("a recording is plain data");
        // Within a script nothing may look like the end of one.
        let recording = recording.replace('<', "\\u003c");
        let script = SCRIPTS.join("\n") + "begin();";
        let policy = self.live.as_ref().map_or(POLICY, |_| LIVE_POLICY);
        let title = escaped(&self.page.title);
        let parts = [
            ("policy", policy),
            ("title", &title),
            ("heading", &title),
            ("style", STYLE),
            ("script", &script),
            ("recording", &recording),
        ];
        filled(PAGE, &parts)
    }

    /// Writes the page to a file.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        results::replace(path, &self.html())
    }
}

/// The template with its places filled, each once; what is put in is not looked at again.
fn filled(template: &str, parts: &[(&str, &str)]) -> String {
    let mut html = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("the template is well formed");
        let part = parts.iter().find(|(known, _)| *known == name);
        html.push_str(before);
        html.push_str(part.expect("the template has only known places").1);
        rest = after;
    }
    html.push_str(rest);
    html
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
