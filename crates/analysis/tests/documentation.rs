//! What is written about columns follows from their tables.

use std::fs;
use std::path::{Path, PathBuf};

use analysis::Summary;
use analysis::quantity::Quantity;

/// A page of the repository, wherever in it this crate is.
fn page(name: &str) -> PathBuf {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let root = folders.find(|folder| folder.join(name).is_file());
    root.expect("the repository has the page").join(name)
}

/// Checks that the table under a heading has these rows; with UPDATE=1, writes them.
fn has_table(name: &str, heading: &str, rows: impl Iterator<Item = String>) {
    let path = page(name);
    let text = fs::read_to_string(&path).expect("a page");
    let start = text.find(heading).expect("the page has the table") + heading.len();
    let end = start + text[start..].find("\n\n").expect("the table ends");
    let rows = rows.map(|row| format!("\n{row}")).collect::<String>();
    if std::env::var_os("UPDATE").is_some() {
        fs::write(path, [&text[..start], &rows, &text[end..]].concat())
            .expect("a page can be written");
        return;
    }
    assert!(
        text[start..end] == rows,
        "UPDATE=1 cargo test -p analysis --test documentation rewrites {name}"
    );
}

#[test]
fn every_column_of_the_summary_is_explained() {
    has_table(
        "results/README.md",
        "| column | kind | unit | meaning |\n|---|---|---|---|",
        Summary::columns().iter().map(analysis::Column::documented),
    );
}

#[test]
fn every_quantity_is_explained() {
    has_table(
        "docs/sweeps.md",
        "| name | is |\n|---|---|",
        Quantity::documented(),
    );
}
