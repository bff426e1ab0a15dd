//! `orchestrator list runs`: the runs in a directory, and how far each came.

use std::fs;
use std::path::{Path, PathBuf};

use analysis::files::{self, FilesError, Head};
use serde_json::{Value, json};

use crate::table::Table;
use crate::{Failure, results};

/// How deep below the directory a run may lie: `NAME.sweep/failed/cell-0.repetition-1`.
const DEPTH: u32 = 3;

/// The runs below that directory, the oldest first. What killed orchestrators left is published
/// before.
pub(super) fn list(directory: &Path, json: bool) -> Result<String, Failure> {
    if !directory.is_dir() {
        let directory = directory.display();
        return Err(Failure::Usage(format!(
            "there is no directory {directory}; write 'list runs DIR' for the runs below another one"
        )));
    }
    results::recover_below(directory);
    let mut places = Vec::new();
    find(directory, DEPTH, &mut places);
    let heads = places.into_iter().map(|place| (files::head(&place), place));
    let mut runs = heads.collect::<Vec<_>>();
    let started = |head: &Result<Head, FilesError>| {
        let head = head.as_ref().ok();
        head.map(|head| head.provenance.started.clone())
    };
    runs.sort_by_key(|(head, place)| (started(head), place.clone()));
    let name = |place: &Path| name(directory, place);
    Ok(match json {
        true => {
            let rows = runs
                .iter()
                .map(|(head, place)| object(head, place, &name(place)));
            format!("{:#}\n", Value::Array(rows.collect()))
        }
        false => {
            let headings = [
                "started",
                "name",
                "algorithm",
                "nodes",
                "engine",
                "verdict",
                "state",
                "path",
            ];
            let mut table = Table::new(headings);
            for (head, place) in &runs {
                table.row(
                    cells(head, place, &name(place))
                        .each_ref()
                        .map(String::as_str),
                );
            }
            table.show()
        }
    })
}

/// Looks for directories with a `run.json`, which have none below them. Links are not followed.
fn find(directory: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    if directory.join("run.json").is_file() {
        found.push(directory.to_owned());
        return;
    }
    if depth == 0 {
        return;
    }
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    for file in files {
        let hidden = file.file_name().as_encoded_bytes().starts_with(b".");
        if !hidden && file.file_type().is_ok_and(|kind| kind.is_dir()) {
            find(&file.path(), depth - 1, found);
        }
    }
}

/// The name of a run: `raymond` of `results/raymond/<time>`, `mine` of `results/mine`.
fn name(directory: &Path, place: &Path) -> String {
    let below = place.strip_prefix(directory).unwrap_or(place);
    let parent = below.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(below).display().to_string()
}

fn object(head: &Result<Head, FilesError>, place: &Path, name: &str) -> Value {
    let path = place.display().to_string();
    match head {
        Ok(head) => json!({
            "name": name,
            "started": head.provenance.started,
            "algorithm": head.plan.algorithm.name,
            "nodes": head.plan.nodes,
            "engine": head.engine,
            "verdict": head.verdict,
            "state": head.state,
            "path": path,
        }),
        Err(error) => json!({ "name": name, "path": path, "error": error.to_string() }),
    }
}

fn cells(head: &Result<Head, FilesError>, place: &Path, name: &str) -> [String; 8] {
    let path = place.display().to_string();
    let name = name.to_owned();
    match head {
        Ok(head) => [
            head.provenance.started.clone(),
            name,
            head.plan.algorithm.name.to_owned(),
            head.plan.nodes.to_string(),
            head.engine.to_string(),
            head.verdict.to_string(),
            head.state.to_string(),
            path,
        ],
        Err(_) => {
            let [started, algorithm, nodes, engine, verdict] = [const { String::new() }; 5];
            let state = "unreadable".to_owned();
            [
                started, name, algorithm, nodes, engine, verdict, state, path,
            ]
        }
    }
}
